"""Find a pretrained checkpoint, on this machine or on the Hub, and say exactly which one it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from temporal_rumors.errors import UserError
from temporal_rumors.models import available
from temporal_rumors.records import json_digest

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
# Weights for other frameworks, and whatever stands in sub-folders.
_UNREAD = ["*.h5", "*.msgpack", "*.ot", "*.onnx", "*.tflite", "*.mlmodel", "*.gguf", "*.pt", "*/*"]
_PICKLED = "*.bin"
_NO_PART = (".md", ".gitattributes")
_CHUNK = 1 << 20
_NOT_HERE = f"none of this package ({', '.join(available())}), no folder here"


@dataclass(frozen=True)
class Checkpoint:
    """A pretrained model.

    Attributes:
        name: as the user named it.
        folder: its files.
        identity: "commit:" and the Hub's commit, or "sha256:" and the digest of the files.
    """

    name: str
    folder: Path
    identity: str


def locate(name: str) -> Checkpoint:
    """Return a checkpoint, downloading it if it is on the Hub and not at hand.

    Args:
        name: a folder that `save_pretrained` wrote, or a name on the Hub, with `@` and a branch, tag or commit if it
            is not to be the newest.

    Raises:
        UserError: neither such a folder nor to be had from the Hub.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UserError(f"{name} is a folder without config.json: expected one that `save_pretrained` wrote")
        return Checkpoint(name, path, f"sha256:{_digest(path)}")
    repo, _, revision = name.partition("@")
    if not _HUB_NAME.fullmatch(repo):
        raise UserError(f"unknown model {name!r}: {_NOT_HERE}, and no name that the Hub takes, such as owner/model")
    folder = _download(repo, revision or None)
    return Checkpoint(name, folder, f"commit:{folder.name}")


def _digest(folder: Path) -> str:
    found = {}
    for file in sorted(folder.iterdir()):
        if file.is_file() and not file.name.startswith(".") and not file.name.endswith(_NO_PART):
            status = file.stat()
            found[file.name] = _digest_of(file, status.st_mtime_ns, status.st_size)
    return json_digest(found)


@lru_cache(maxsize=64)
def _digest_of(file: Path, mtime: int, size: int) -> str:
    # Time and size are part of the key: a file that changes is read anew.
    digest = sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _download(repo: str, revision: str | None) -> Path:
    """Return the folder of a revision, which is named by its commit; from the cache where the Hub is out of reach."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    def fetch(*unread: str) -> Path:
        return Path(snapshot_download(repo, revision=revision, ignore_patterns=[*_UNREAD, *unread], tqdm_class=_bar()))

    try:
        folder = fetch(_PICKLED)
        return folder if any(folder.glob("*.safetensors")) else fetch()
    except RevisionNotFoundError:
        raise UserError(f"{repo} on the Hub has no revision {revision!r}: name a branch, a tag or a commit") from None
    except RepositoryNotFoundError:
        raise UserError(
            f"unknown model {repo!r}: {_NOT_HERE}, and the Hub has none of that name that you may read: check the "
            "name, or log in with `hf auth login`"
        ) from None
    except LocalEntryNotFoundError:
        raise UserError(
            f"unknown model {repo!r}: {_NOT_HERE}, and it is neither in the cache nor to be had from the Hub, which "
            f"cannot be reached: download it where there is a network, with `hf download {repo}`, or name a folder"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{repo!r} cannot be downloaded from the Hub: {str(error).splitlines()[0]}") from None


def _bar() -> Any:
    """A progress bar that keeps quiet where standard error is not a terminal."""
    from tqdm.auto import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": None})

    return Bar
