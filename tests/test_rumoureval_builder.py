"""load_dataset on RumourEval: tasks as configurations, nested columns, and data that come in several files."""

import json
import logging
import shutil
import socket
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import datasets
import pyarrow as pa
import pytest
from datasets import ClassLabel, Features, List, Value, load_dataset, load_dataset_builder

from temporal_rumors import benchmark, builder
from temporal_rumors.dataset_scripts.rumoureval2017.builder import RumourEval2017
from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.sources.files import DATA_VARIABLE

PARTS = ["train", "validation", "test"]
YEARS = (2017, 2019)
TASKS = ("stance", "veracity")
TIME = Value("timestamp[ms, tz=UTC]")
COMMON = {"id": Value("string"), "text": Value("string")}
REST = {"created_at": TIME, "event": Value("string"), "platform": Value("string")}
FEATURES = {
    "stance": Features(
        {
            **COMMON,
            "label": ClassLabel(names=["support", "deny", "query", "comment"]),
            **REST,
            "thread_id": Value("string"),
            "parent_id": Value("string"),
            "parent_text": Value("string"),
            "source_text": Value("string"),
            "depth": Value("int32"),
        }
    ),
    "veracity": Features(
        {
            **COMMON,
            "label": ClassLabel(names=["true", "false", "unverified"]),
            **REST,
            "replies": List(
                {"id": Value("string"), "parent": Value("string"), "text": Value("string"), "created_at": TIME}
            ),
        }
    ),
}

every_task = pytest.mark.parametrize("task", TASKS)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No network, an empty cache, and no data but those that a test names."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"the network was asked for {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    if "data_dir" not in request.fixturenames:
        monkeypatch.delenv(DATA_VARIABLE, raising=False)


@pytest.fixture(params=YEARS)
def year(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def edition(write_edition: Callable[..., Path], tmp_path: Path, year: int) -> Path:
    return write_edition(year, tmp_path / "edition")


def load(year: int, config: str | None, folder: Path, **options: object) -> datasets.DatasetDict:
    return load_dataset(f"rumoureval{year}", config, data_dir=str(folder), allow_modified=True, **options)


class TestConfigurations:
    def test_are_the_tasks_and_each_with_every_protocol(self, year: int) -> None:
        names = datasets.get_dataset_config_names(f"rumoureval{year}")
        events = benchmark.get(f"rumoureval{year}").events
        rest = [*(f"random_fold{k}" for k in range(5)), "chrono", "chrono_stratified", *(f"loo_{e}" for e in events)]
        assert names == [name for task in TASKS for name in (task, *(f"{task}_{protocol}" for protocol in rest))]
        assert {"veracity_loo_ferguson", "stance_chrono"} <= set(names)

    def test_stance_is_the_default(self, year: int, edition: Path) -> None:
        assert datasets.get_dataset_default_config_name(f"rumoureval{year}") == "stance"
        loaded = load(year, None, edition)
        assert loaded["test"].info.config_name == "stance"
        assert loaded["test"][:] == load(year, "stance", edition)["test"][:]

    def test_names_of_splits_touch_no_data(self, year: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(benchmark.Benchmark, "posts", lambda *a, **k: pytest.fail("data were read"))
        for config in ("stance", "veracity", "veracity_chrono", "stance_loo_ferguson"):
            assert datasets.get_dataset_split_names(f"rumoureval{year}", config) == PARTS
            info = load_dataset_builder(f"rumoureval{year}", config).info
            assert info.features == FEATURES[config.partition("_")[0]]

    @pytest.mark.parametrize(
        ("config", "near"),
        [("stanse", "stance"), ("veracity_chron", "veracity_chrono"), ("chrono", None), ("official", None)],
    )
    def test_an_unknown_one_is_refused_with_the_valid_ones(self, year: int, config: str, near: str | None) -> None:
        with pytest.raises(UserError) as error:
            load_dataset(f"rumoureval{year}", config)
        told = str(error.value)
        assert told.startswith(f"rumoureval{year}: unknown protocol {config!r}")
        assert (f"did you mean {near!r}" in told) == (near is not None)
        assert all(
            name in told.partition("valid ones: ")[2].split(", ") for name in ("stance", "veracity_loo_ferguson")
        )

    def test_tasks_do_not_share_a_build(self, year: int, edition: Path) -> None:
        options = {"data_dir": str(edition), "allow_modified": True}
        folders = {load_dataset_builder(f"rumoureval{year}", config, **options).cache_dir for config in TASKS}
        assert len(folders) == 2


class TestRows:
    @every_task
    @pytest.mark.parametrize("protocol", ["official", "chrono", "random_fold2"])
    def test_are_those_of_the_benchmark(self, year: int, edition: Path, task: str, protocol: str) -> None:
        b = benchmark.get(f"rumoureval{year}", task)
        posts = b.posts(edition, allow_modified=True)
        loaded = load(year, b.config(protocol), edition)
        assert list(loaded) == PARTS
        for part, rows in b.split(posts, protocol).parts().items():
            assert loaded[part].features == FEATURES[task]
            assert loaded[part]["id"][:] == posts.ids[rows].tolist()
            assert loaded[part]["text"][:] == posts.texts[rows].tolist()
            assert loaded[part]["label"][:] == posts.labels[rows].tolist()
            for name in ("thread_id", "parent_id", "parent_text", "source_text", "depth", "platform"):
                if name in FEATURES[task]:
                    assert loaded[part][name][:] == posts.columns[name][rows].tolist()

    def test_have_types_that_hold_what_is_not_known(self, write_edition: Callable[..., Path], tmp_path: Path) -> None:
        folder = write_edition(2019, tmp_path / "edition")
        stance, veracity = (load(2019, task, folder)["test"] for task in TASKS)
        assert stance.data.schema.field("depth").type == pa.int32()
        (row,) = [row for row in stance if row["id"] == "r1302"]
        assert (row["text"], row["created_at"], row["event"], row["depth"]) == ("", None, None, 2)
        (row,) = [row for row in veracity if row["id"] == "r1300"]
        noon = datetime(2018, 1, 13, 12, tzinfo=timezone.utc)
        assert (row["created_at"], row["platform"], row["event"]) == (noon, "reddit", None)
        assert row["replies"] == [
            {
                "id": "r1301",
                "parent": "r1300",
                "text": "is there a source for this? 13",
                "created_at": noon.replace(minute=1),
            },
            {
                "id": "r1303",
                "parent": "r1300",
                "text": "stay safe everyone &amp; take care 13",
                "created_at": noon.replace(minute=3),
            },
            {"id": "r1302", "parent": "r1301", "text": "", "created_at": None},
        ]

    @every_task
    def test_stream_as_they_are_built(self, year: int, edition: Path, task: str, tmp_path: Path) -> None:
        streamed = load(year, task, edition, streaming=True)
        rows = {part: list(streamed[part]) for part in PARTS}
        assert not list((tmp_path / "cache").rglob("*.arrow"))
        built = load(year, task, edition)
        assert rows == {part: list(built[part]) for part in PARTS}

    @every_task
    def test_survive_parquet_and_save_to_disk(self, year: int, edition: Path, task: str, tmp_path: Path) -> None:
        loaded = load(year, task, edition)
        loaded.save_to_disk(tmp_path / "saved")
        again = datasets.load_from_disk(tmp_path / "saved")
        loaded["test"].to_parquet(tmp_path / "test.parquet")
        parquet = datasets.Dataset.from_parquet(str(tmp_path / "test.parquet"), cache_dir=str(tmp_path / "parquet"))
        for other in (again["test"], parquet):
            assert other.features == FEATURES[task]
            assert other[:] == loaded["test"][:]


class TestData:
    @every_task
    def test_that_are_missing_are_told_with_what_to_do(self, year: int, task: str, tmp_path: Path) -> None:
        with pytest.raises(DataNotFoundError, match=r"no folder is named\. Get it from https://.*data_dir="):
            load_dataset(f"rumoureval{year}", task)
        with pytest.raises(DataNotFoundError, match=f"not in data_dir='{tmp_path}'"):
            load_dataset(f"rumoureval{year}", task, data_dir=str(tmp_path))

    def test_that_are_not_the_published_ones_are_refused_unless_allowed(self, year: int, edition: Path) -> None:
        with pytest.raises(UserError, match=r"these are not the published data: .*allow_modified=True"):
            load_dataset(f"rumoureval{year}", data_dir=str(edition))
        # Nor from the cache, once they have been allowed.
        load(year, "stance", edition)
        with pytest.raises(UserError, match="these are not the published data"):
            load_dataset(f"rumoureval{year}", "stance", data_dir=str(edition))

    def test_may_be_named_by_the_environment(self, year: int, edition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        named = load(year, "veracity", edition)
        monkeypatch.setenv(DATA_VARIABLE, str(edition))
        found = load_dataset(f"rumoureval{year}", "veracity", allow_modified=True)
        assert found["train"].cache_files == named["train"].cache_files

    @every_task
    def test_that_have_not_changed_are_taken_from_the_cache(
        self, year: int, edition: Path, task: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = load(year, task, edition)
        monkeypatch.setattr(benchmark.Benchmark, "posts", lambda *a, **k: pytest.fail("built anew"))
        second = load(year, task, edition)
        for part in PARTS:
            assert second[part].cache_files == first[part].cache_files
            assert second[part]._fingerprint == first[part]._fingerprint

    def test_folder_and_archive_share_a_build(
        self, year: int, edition: Path, write_edition: Callable[..., Path], tmp_path: Path
    ) -> None:
        packed = write_edition(year, tmp_path / "packed", form=".zip")
        assert load(year, "stance", packed)["test"].cache_files == load(year, "stance", edition)["test"].cache_files

    def test_that_change_are_built_anew(self, write_edition: Callable[..., Path], tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path / "edition")
        stance, veracity = (load(2017, task, folder)["test"] for task in TASKS)
        reply = folder / "rumoureval2017-test/semeval2017-task8-test-data/1300/replies/1301.json"
        post = json.loads(reply.read_bytes())
        reply.write_text(json.dumps(post | {"text": "that was a mistake"}))
        changed = load(2017, "stance", folder)["test"]
        assert dict(zip(changed["id"], changed["text"], strict=True))["1301"] == "that was a mistake"
        assert changed._fingerprint != stance._fingerprint
        (row,) = [row for row in load(2017, "veracity", folder)["test"] if row["id"] == "1300"]
        assert row["replies"][0]["text"] == "that was a mistake"
        assert "that was a mistake" not in str(veracity[:])

    def test_a_key_of_the_other_task_builds_nothing_anew(
        self, write_edition: Callable[..., Path], tmp_path: Path
    ) -> None:
        folder = write_edition(2017, tmp_path / "edition")
        first = load(2017, "stance", folder)["test"]
        key = json.loads((folder / "subtaskb.json").read_bytes())
        (folder / "subtaskb.json").write_text(json.dumps(key | {"1200": "false"}))
        assert load(2017, "stance", folder)["test"].cache_files == first.cache_files

    def test_that_vanish_leave_their_build(self, year: int, edition: Path) -> None:
        made = load(year, "stance", edition)["test"][:]
        again = load_dataset_builder(f"rumoureval{year}", "stance", data_dir=str(edition), allow_modified=True)
        shutil.rmtree(edition)
        assert again.as_dataset("test")[:] == made

    def test_that_change_after_the_builder_was_made_are_not_built_under_the_old_name(
        self, write_edition: Callable[..., Path], tmp_path: Path
    ) -> None:
        folder = write_edition(2017, tmp_path / "edition")
        made = RumourEval2017(config_name="stance", data_dir=folder, allow_modified=True)
        key = json.loads((folder / "subtaska.json").read_bytes())
        (folder / "subtaska.json").write_text(json.dumps(key | {"1301": "deny", "1302": "deny"}))
        with pytest.raises(UserError, match="changed while it was read: call again"):
            made.download_and_prepare()

    def test_a_mistake_in_a_key_is_told_in_its_own_words(
        self, write_edition: Callable[..., Path], tmp_path: Path
    ) -> None:
        folder = write_edition(2017, tmp_path / "edition", {"subtaska.json": b"{"})
        with pytest.raises(UserError, match=r"subtaska\.json: not JSON"):
            load(2017, "stance", folder)

    def test_what_they_lack_is_told_when_they_are_built_and_only_then(
        self, write_edition: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        folder = write_edition(2017, tmp_path / "edition")
        with caplog.at_level(logging.WARNING, "temporal_rumors"):
            for _ in range(2):
                load(2017, "veracity", folder)
        told = [record.getMessage() for record in caplog.records if record.name == "temporal_rumors.builder"]
        assert [line.partition(" (")[0] for line in told] == [
            "rumoureval2017 veracity: answers nothing that leads to the source: 1",
            "rumoureval2017 veracity: event told by the month: 3",
            "rumoureval2017 veracity: named in structure.json, no file: 2",
        ]

    def test_the_cache_follows_the_code_that_reads_keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read, original = [], Path.read_bytes
        monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or original(path))
        builder._code_digest.__wrapped__("rumoureval2017")
        names = {f"{path.parent.name}/{path.name}" for path in read}
        assert {"sources/rumoureval.py", "sources/conversations.py", "rumoureval2017/benchmark.py"} <= names
        assert "rumoureval/submission.py" in names

    def test_a_builder_says_what_it_is(self, year: int, edition: Path) -> None:
        info = load(year, "veracity_chrono", edition)["test"].info
        b = benchmark.get(f"rumoureval{year}", "veracity")
        assert b.description in info.description
        assert "Protocol: chrono." in info.description
        assert b.digest(edition, allow_modified=True) in info.description
        assert (info.citation, info.homepage, info.license) == (b.citation, b.homepage, b.license)


class TestRealData:
    @pytest.mark.parametrize(
        ("config", "year", "sizes"),
        [
            (None, 2017, [4238, 281, 1049]),
            ("stance", 2017, [4238, 281, 1049]),
            ("veracity", 2017, [272, 25, 28]),
            ("stance", 2019, [5217, 1485, 1827]),
            ("veracity", 2019, [327, 38, 81]),
        ],
    )
    def test_official_parts_have_the_published_sizes(
        self, config: str | None, year: int, sizes: list[int], data_dir: Path
    ) -> None:
        loaded = load_dataset(f"rumoureval{year}", config, data_dir=str(data_dir))
        assert [len(loaded[part]) for part in PARTS] == sizes
        b = benchmark.get(f"rumoureval{year}", config)
        for part in PARTS:
            labels = loaded[part]["label"][:]
            assert {name: labels.count(i) for i, name in enumerate(b.classes)} == b.official[part]
