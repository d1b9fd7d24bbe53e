"""What all tests share: caches of their own, the real data where it is at hand, and tables read from a few lines."""

import atexit
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from temporal_rumors import benchmark
from temporal_rumors.records import Posts, sha256
from temporal_rumors.sources import files
from temporal_rumors.sources.files import Snapshot, SourceFile
from temporal_rumors.sources.table import Table

# datasets and huggingface_hub read these once, when they are imported.
assert not {"datasets", "huggingface_hub"} & set(sys.modules)
_CACHES = tempfile.TemporaryDirectory(prefix="temporal-rumors-tests-")
atexit.register(_CACHES.cleanup)
os.environ["HF_HOME"] = f"{_CACHES.name}/huggingface"
os.environ["HF_DATASETS_CACHE"] = f"{_CACHES.name}/datasets"
os.environ["TEMPORAL_RUMORS_CACHE"] = f"{_CACHES.name}/temporal-rumors"
os.environ.pop("HF_HUB_OFFLINE", None)

REQUIRE_VARIABLE = "TEMPORAL_RUMORS_REQUIRE_DATA"


def _lacking(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE_VARIABLE) == "1":
        pytest.fail(f"{reason}, and {REQUIRE_VARIABLE} is set")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder with the benchmarks' real files; without them a test is skipped, or fails where they are required."""
    folder = os.environ.get(files.DATA_VARIABLE)
    if not folder:
        _lacking(f"no real data: {files.DATA_VARIABLE} names no folder")
    for source in (b.source for name in benchmark.names() for b in benchmark.tasks(name)):
        if not source.at_hand(folder):
            _lacking(f"no real data: {files.DATA_VARIABLE} does not hold {source.name}")
    return Path(folder)


@pytest.fixture(scope="session")
def read_table() -> Callable[..., Posts]:
    """Return a function that reads a table from its text: ``read_table("id,text,label\\n…", time="when")``."""

    def read(
        content: str | bytes,
        *,
        labels: Mapping[str, str] = {"0": "false", "1": "true"},
        classes: tuple[str, ...] = ("false", "true"),
        **columns: Any,
    ) -> Posts:
        data = content.encode() if isinstance(content, str) else content
        table = Table(SourceFile("posts.csv", sha256(data)), labels, **columns)
        return table.parse(Snapshot("posts.csv", data, sha256(data)), classes)

    return read


@pytest.fixture(params=["Asia/Shanghai", "America/New_York"], scope="module")
def time_zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test in two time zones far apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()
