"""What all tests share: caches of their own, the real data where it is at hand, tables read from a few lines, and
invented editions of RumourEval."""

import atexit
import io
import json
import os
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import settings

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


# How long an example takes says nothing where other programs want the processor too.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def told_nothing_yet() -> None:
    """What data lack is told once a process; here, once a test."""
    if builder := sys.modules.get("temporal_rumors.builder"):
        builder._TOLD.clear()


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
        if source.lacking(folder):
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


# Invented editions of RumourEval, in the layout of the real ones

# Folder of the threads -> the part, and for each thread its month.
_FOLDERS: dict[int, dict[str, tuple[str, list[str]]]] = {
    2017: {
        "semeval2017-task8-dataset/rumoureval-data/charliehebdo": ("train", ["2015-01"] * 3),
        "semeval2017-task8-dataset/rumoureval-data/ferguson": ("train", ["2014-08"] * 3),
        "semeval2017-task8-dataset/rumoureval-data/ottawashooting": ("train", ["2014-10"] * 3),
        "semeval2017-task8-dataset/rumoureval-data/sydneysiege": ("validation", ["2014-12"] * 2),
        "rumoureval2017-test/semeval2017-task8-test-data": ("test", ["2014-08", "2015-03", "2016-08", "2013-05"]),
        "semeval2017-task8-dataset/rumoureval-data/ebola-essien": ("train", ["2014-09"]),
        "semeval2017-task8-dataset/rumoureval-data/prince-toronto": ("train", ["2014-11"]),
        "semeval2017-task8-dataset/rumoureval-data/putinmissing": ("train", ["2015-03"]),
    },
    2019: {
        "rumoureval-2019-training-data/twitter-english/charliehebdo": ("train", ["2015-01"] * 3),
        "rumoureval-2019-training-data/twitter-english/ferguson": ("train", ["2014-08"] * 3),
        "rumoureval-2019-training-data/twitter-english/illary": ("validation", ["2016-08"]),
        "rumoureval-2019-training-data/reddit-training-data": ("train", ["2016-02"] * 2),
        "rumoureval-2019-training-data/reddit-dev-data": ("validation", ["2017-03"]),
        "rumoureval-2019-test-data/twitter-en-test-data/ark-park": ("test", ["2017-05"] * 2),
        "rumoureval-2019-test-data/reddit-test-data": ("test", ["2018-01"] * 2),
    },
}
_SAID = {
    "support": "this is confirmed by the police",
    "deny": "that is a fake, do not share it",
    "query": "is there a source for this?",
    "comment": "stay safe everyone &amp; take care",
}


def _tweet(id: str, at: datetime, text: str, parent: str | None) -> dict[str, Any]:
    created_at = at.strftime("%a %b %d %H:%M:%S +0000 %Y")
    return {"id_str": id, "text": text, "created_at": created_at, "in_reply_to_status_id_str": parent, "lang": "en"}


def _reddit(id: str, at: datetime, text: str, parent: str | None) -> dict[str, Any]:
    if parent is None:
        post = {"id": id, "title": text, "selftext": "more in the link", "created_utc": at.timestamp()}
        return {"kind": "Listing", "data": {"children": [{"kind": "t3", "data": post}]}}
    mark = "t3_" if parent.endswith("00") else "t1_"
    return {"kind": "t1", "data": {"id": id, "body": text, "created_utc": at.timestamp(), "parent_id": mark + parent}}


def _edition(year: int) -> dict[str, Any]:
    """Path of each file -> what its JSON holds, or its bytes. Thread n is the post n00, which n01 and n03 answer, and
    n02 answers n01, a minute apart; of Reddit they are called rn00 and so on."""
    files: dict[str, Any] = {}
    labels: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    number = 0
    for folder, (part, months) in _FOLDERS[year].items():
        reddit = "reddit" in folder
        for month in months:
            number += 1
            source, first, second, third = (f"{'r' * reddit}{number}{i:02}" for i in range(4))
            noon = datetime.fromisoformat(f"{month}-{number:02}T12:00:00").replace(tzinfo=timezone.utc)
            stances = ("support", ("deny", "query")[number % 2], "comment", ("comment", "deny")[number // 2 % 2])
            parents = (None, source, first, source)
            for i, (id, stance, parent) in enumerate(
                zip((source, first, second, third), stances, parents, strict=True)
            ):
                at, text = noon + timedelta(minutes=i), f"{_SAID[stance]} {number}"
                place = f"replies/{id}.json" if i else f"source-tweet/{id}.json"
                files[f"{folder}/{source}/{place}"] = (_reddit if reddit else _tweet)(id, at, text, parent)
                labels["stance", part][id] = stance
            labels["veracity", part][source] = ("true", "false", "unverified")[number % 3]
            files[f"{folder}/{source}/structure.json"] = {source: {first: {second: []}, third: []}}
            files[f"{folder}/{source}/urls.dat"] = b"0f\thttp://t.co/x\thttp://example.org/x\n"
    if year == 2017:
        train = "semeval2017-task8-dataset/traindev"
        files[f"{train}/README"] = b"invented\n"
        for letter, task in (("A", "stance"), ("B", "veracity")):
            for name, part in (("train", "train"), ("dev", "validation")):
                files[f"{train}/rumoureval-subtask{letter}-{name}.json"] = labels[task, part]
            files[f"subtask{letter.lower()}.json"] = labels[task, "test"]
        # A tweet that nobody could fetch, and one that answers such a one outside the conversation.
        folder = "semeval2017-task8-dataset/rumoureval-data/charliehebdo/100"
        files[f"{folder}/structure.json"] = {"100": {"101": {"102": []}, "109": {"103": []}}}
        files[f"{folder}/replies/103.json"] |= {"in_reply_to_status_id_str": "109"}
        folder = "rumoureval2017-test/semeval2017-task8-test-data/1200"
        files[f"{folder}/structure.json"] = {"1200": {"1201": {"1202": []}}, "1299": {"1203": []}}
        files[f"{folder}/replies/1203.json"] |= {"in_reply_to_status_id_str": "1299"}
    else:
        train = "rumoureval-2019-training-data"
        for name, part in (("train", "train"), ("dev", "validation")):
            both = labels["stance", part], labels["veracity", part]
            files[f"{train}/{name}-key.json"] = dict(zip(("subtaskaenglish", "subtaskbenglish"), both, strict=True))
        stance, veracity = (json.dumps(labels[task, "test"]) for task in ("stance", "veracity"))
        # As in the real one, where the sub-tasks without data stand twice.
        empty = '"subtaskbdanish": {}, "subtaskbrussian": {}'
        key = f'{{"subtaskaenglish": {stance}, "subtaskbenglish": {veracity}, {empty}, {empty}}}'
        files["final-eval-key.json"] = key.encode()
        # What Reddit gives for comments that were not loaded, and for one that was taken back.
        folder = "rumoureval-2019-test-data/reddit-test-data/r1300"
        data = {
            "id": "r1302",
            "parent_id": "t1_r1301",
            "name": "t1_r1302",
            "children": ["r1302"],
            "count": 1,
            "depth": 2,
        }
        files[f"{folder}/replies/r1302.json"] = {"kind": "more", "data": data}
        files["rumoureval-2019-training-data/reddit-training-data/r800/replies/r803.json"]["data"]["body"] = "[deleted]"
        # structure.json and the tweet disagree.
        folder = "rumoureval-2019-test-data/twitter-en-test-data/ark-park/1100"
        files[f"{folder}/structure.json"] = {"1100": {"1101": {"1102": [], "1103": []}}}
        files[f"{folder}/raw.json"] = b"no JSON"
    return files


@pytest.fixture(scope="session")
def write_edition() -> Callable[..., Path]:
    """Return a function that writes an invented edition of RumourEval: ``write_edition(2017, folder)``."""

    def write(year: int, folder: Path, changes: Mapping[str, Any] = {}, form: str = "") -> Path:
        """Write the trees as folders, or as archives with the suffix `form`.

        `changes`: path of a file, as in folders -> what it holds instead, or a function of what it held; None takes
        it out.
        """
        files = _edition(year)
        for path, change in changes.items():
            files[path] = change(files[path]) if callable(change) else change
        trees: dict[str, dict[str, bytes]] = defaultdict(dict)
        for path, content in sorted(files.items()):
            if content is None:
                continue
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            if "/" in path and form:
                # This archive is not called as the folder in it.
                trees[path.split("/")[0]][path.removeprefix("rumoureval2017-test/")] = data
                continue
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        folder.mkdir(parents=True, exist_ok=True)
        for tree, members in trees.items():
            _pack(folder / f"{tree}{form}", members)
        return folder

    return write


def _pack(path: Path, members: Mapping[str, bytes]) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return
    with tarfile.open(path, "w:bz2") as packed:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
