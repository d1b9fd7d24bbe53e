"""Checkpoints are downloaded and models uploaded, against a server on this machine that answers as the Hub does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from local_hub import COMMIT, Hub, serve
from tiny_checkpoints import bert

LOCATE = """
import sys
from temporal_rumors.errors import UserError
from temporal_rumors.models.transformer.checkpoints import locate
for name in sys.argv[1:]:
    try:
        found = locate(name)
        print(found.identity, sorted(file.name for file in found.folder.iterdir()))
    except UserError as error:
        print("error:", error)
"""


def run(code: str, *arguments: str, home: Path, address: str, offline: bool = False) -> list[str]:
    """Run code in a fresh process, as the address of the Hub is read once."""
    environment = os.environ | {
        "HF_ENDPOINT": address,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "1" if offline else "0",
        "HF_TOKEN": "hf_invented",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_checkpoint_is_downloaded_once_and_known_by_its_commit(tmp_path: Path) -> None:
    folder = bert(tmp_path / "bert")
    (folder / "pytorch_model.bin").write_bytes(b"the same weights in another form")
    (folder / "model.onnx").write_bytes(b"an export")
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    (old / "model.safetensors").unlink()
    hub = Hub({"owner/new": folder, "owner/old": old})
    with serve(hub) as address:
        home = tmp_path / "home"
        new, pinned, other, none, revision = run(
            LOCATE,
            "owner/new",
            f"owner/new@{COMMIT}",
            "owner/old",
            "owner/none",
            "owner/new@v9",
            home=home,
            address=address,
        )
        assert new.startswith(f"commit:{COMMIT} ")
        assert pinned == new
        assert "model.safetensors" in new
        assert ".bin" not in new + "".join(hub.requests[: len(hub.requests) // 2])
        assert "pytorch_model.bin" in other
        assert ".onnx" not in new + other
        assert none.startswith("error: unknown model 'owner/none'")
        assert "the Hub has none of that name that you may read" in none
        assert "has no revision 'v9'" in revision
        assert sum("GET" in r and "new/resolve" in r and "model.safetensors" in r for r in hub.requests) == 1
    # The Hub is gone: what is in the cache serves.
    assert run(LOCATE, "owner/new", home=home, address=address, offline=True) == [new]
    assert run(LOCATE, "owner/new", home=home, address=address) == [new]


PUSH = """
import sys
from temporal_rumors.report import push
print(push(sys.argv[1], "owner/mine"))
"""


def test_a_saved_model_is_uploaded_whole(tmp_path: Path) -> None:
    folder = bert(tmp_path / "bert")
    (folder / "README.md").write_text("---\nlanguage: en\n---\n# A card\n")
    hub = Hub({})
    with serve(hub) as address:
        assert run(PUSH, str(folder), home=tmp_path / "home", address=address) == [f"{address}/owner/mine"]
    assert hub.uploaded["owner/mine"] == {file.name: file.read_bytes() for file in folder.iterdir()}
