"""The builder behind every benchmark, and load_dataset on top of it."""

import csv
import dataclasses
import errno
import logging
import os
import pickle
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from datasets import ClassLabel, Features, Value, load_dataset, load_dataset_builder

from temporal_rumors import benchmark, builder
from temporal_rumors.builder import TemporalBuilder
from temporal_rumors.dataset_scripts.sample_temporal.builder import SampleTemporal
from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.records import Post, Posts, sha256
from temporal_rumors.sources.files import CACHE_VARIABLE, DATA_VARIABLE, SourceFile

SAMPLE = benchmark.get("sample_temporal")
COLUMNS = ["id", "text", "label", "created_at", "event"]
PARTS = ["train", "validation", "test"]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"the network was asked for {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of datasets, empty; every test that builds names it."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def upstream(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder with a copy of the sample's file, which sample_temporal now needs as others need theirs."""
    assert SAMPLE.source.file.path is not None
    file = SourceFile("posts.csv", SAMPLE.source.file.sha256, "https://example.org/posts.csv")
    source = dataclasses.replace(SAMPLE.source, file=file)
    monkeypatch.setattr(SampleTemporal, "BENCHMARKS", (dataclasses.replace(SAMPLE, source=source),))
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "downloads"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "upstream"
    folder.mkdir()
    shutil.copy(SAMPLE.source.file.path, folder / "posts.csv")
    return folder


def append(folder: Path, *rows: str) -> str:
    """Add rows to a copy of the sample's file and return the new sha256."""
    with (folder / "posts.csv").open("a", encoding="utf-8") as stream:
        stream.writelines(f"{row}\n" for row in rows)
    return sha256((folder / "posts.csv").read_bytes())


def lines(folder: Path) -> int:
    """Return the number of the last line of a copy of the sample's file."""
    return (folder / "posts.csv").read_bytes().count(b"\n")


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the builder logged."""
    return [record.getMessage() for record in caplog.records if record.name == "temporal_rumors.builder"]


@pytest.mark.usefixtures("cache")
class TestLoadDataset:
    @pytest.mark.parametrize("protocol", SAMPLE.protocols)
    def test_gives_the_parts_of_the_split_in_time_order(self, protocol: str) -> None:
        loaded = load_dataset("sample_temporal", protocol)
        posts = SAMPLE.posts()
        split = SAMPLE.split(posts, protocol)
        assert list(loaded) == PARTS
        for part, rows in split.parts().items():
            assert loaded[part]["id"][:] == posts.ids[rows].tolist()
            assert loaded[part]["text"][:] == posts.texts[rows].tolist()
            assert loaded[part]["label"][:] == posts.labels[rows].tolist()
            assert loaded[part]["event"][:] == posts.events[rows].tolist()
            assert loaded[part]["created_at"][:] == sorted(loaded[part]["created_at"][:])

    def test_takes_chrono_where_no_config_is_named(self) -> None:
        assert load_dataset("sample_temporal", split="test").info.config_name == "chrono"
        assert datasets.get_dataset_default_config_name("sample_temporal") == "chrono"

    def test_columns_have_the_promised_types(self) -> None:
        part = load_dataset("sample_temporal", split="train")
        assert part.column_names == COLUMNS
        assert part.features == Features(
            {
                "id": Value("string"),
                "text": Value("string"),
                "label": ClassLabel(names=["non-rumour", "rumour"]),
                "created_at": Value("timestamp[ms, tz=UTC]"),
                "event": Value("string"),
            }
        )
        assert part.data.schema.field("created_at").type == pa.timestamp("ms", "UTC")
        by_id = {post["id"]: post for post in part}
        with SAMPLE.source.file.path.open(encoding="utf-8", newline="") as stream:
            rows = [row for row in csv.DictReader(stream) if row["id"] in by_id]
        assert len(rows) == len(part)
        for row in rows:
            assert by_id[row["id"]] == {
                **row,
                "label": part.features["label"].str2int(row["label"]),
                "created_at": datetime.fromisoformat(row["created_at"].replace("Z", "+00:00")),
            }

    @pytest.mark.parametrize(
        ("split", "ids"),
        [
            ("train[:10]", lambda parts: parts["train"][:10]),
            ("train[-3:]+test[:2]", lambda parts: parts["train"][-3:] + parts["test"][:2]),
            ("validation+test", lambda parts: parts["validation"] + parts["test"]),
            ("all", lambda parts: parts["train"] + parts["validation"] + parts["test"]),
            (datasets.Split.TEST, lambda parts: parts["test"]),
            (datasets.ReadInstruction("test", to=7, unit="abs"), lambda parts: parts["test"][:7]),
        ],
    )
    def test_takes_every_form_of_split(self, split: object, ids: object) -> None:
        parts = {name: part["id"][:] for name, part in load_dataset("sample_temporal").items()}
        assert load_dataset("sample_temporal", split=split)["id"][:] == ids(parts)

    def test_streams_what_it_builds(self) -> None:
        streamed = load_dataset("sample_temporal", "loo_zoo-escape", streaming=True)
        assert list(streamed) == PARTS
        built = load_dataset("sample_temporal", "loo_zoo-escape")
        for part in PARTS:
            assert list(streamed[part]) == list(built[part])
            assert streamed[part].features == built[part].features
        one = load_dataset_builder("sample_temporal", "loo_zoo-escape").as_streaming_dataset(split="test")
        assert [post["event"] for post in one] == ["zoo-escape"] * len(built["test"])

    def test_streaming_writes_no_data(self, cache: Path) -> None:
        next(iter(load_dataset("sample_temporal", split="train", streaming=True)))
        assert not list(cache.rglob("*.arrow"))

    @pytest.mark.parametrize(
        "arguments",
        [
            {"keep_in_memory": True},
            {"download_mode": "force_redownload"},
            {"num_proc": 2},
            {"token": "hf_none"},
            {"revision": "main"},
            {"verification_mode": "all_checks"},
            {"trust_remote_code": True},
            {"cache_dir": "elsewhere"},
            {"allow_modified": True},
        ],
        ids=lambda arguments: next(iter(arguments)),
    )
    def test_takes_the_usual_arguments(
        self, arguments: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        plain = load_dataset("sample_temporal", split="test")
        assert load_dataset("sample_temporal", split="test", **arguments)[:] == plain[:]

    def test_survives_save_to_disk(self, tmp_path: Path) -> None:
        loaded = load_dataset("sample_temporal")
        loaded.save_to_disk(tmp_path / "saved")
        again = datasets.load_from_disk(tmp_path / "saved")
        for part in PARTS:
            assert again[part][:] == loaded[part][:]
            assert again[part].features == loaded[part].features

    def test_an_unknown_protocol_lists_the_valid_ones(self) -> None:
        with pytest.raises(UserError) as error:
            load_dataset("sample_temporal", "choronological")
        assert "choronological" in str(error.value)
        assert all(protocol in str(error.value) for protocol in SAMPLE.protocols)

    @pytest.mark.parametrize("name", ["pheme", "sample", "pheme-temporal", "smaple_temporal", "nothing_temporal"])
    def test_an_unknown_benchmark_lists_the_valid_ones(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        with pytest.raises(datasets.exceptions.DatasetNotFoundError) as error:
            load_dataset(name)
        assert repr(name) in str(error.value)
        assert all(known in str(error.value) for known in benchmark.names())

    @pytest.mark.parametrize("name", ["squad", "owner/pheme_temporal", "./sample_temporal", ""])
    def test_other_names_fail_as_they_do_without_us(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        with pytest.raises(Exception) as error:
            load_dataset(name)
        assert "temporal-rumors" not in str(error.value)

    def test_data_files_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="data_dir="):
            load_dataset("sample_temporal", data_files=str(tmp_path / "posts.csv"))

    def test_a_builder_says_what_it_is_before_and_after_it_builds(self) -> None:
        before = load_dataset_builder("sample_temporal", "chrono_stratified").info
        load_dataset("sample_temporal", "chrono_stratified")
        after = load_dataset_builder("sample_temporal", "chrono_stratified").info
        for info in (before, after):
            assert SAMPLE.description in info.description
            assert "chrono_stratified" in info.description
            assert SAMPLE.source.file.sha256 in info.description
            assert (info.citation, info.homepage, info.license) == (SAMPLE.citation, SAMPLE.homepage, SAMPLE.license)
            assert (info.dataset_name, info.config_name) == ("sample_temporal", "chrono_stratified")
            assert str(info.version) == SAMPLE.version
            assert list(info.features) == COLUMNS
        assert before.splits is None
        assert sum(part.num_examples for part in after.splits.values()) == len(SAMPLE.posts())

    def test_every_config_has_its_info(self) -> None:
        infos = datasets.get_dataset_infos("sample_temporal")
        assert list(infos) == SAMPLE.protocols
        assert all(list(info.splits) == PARTS for info in infos.values())


class TestFeatures:
    OWN = builder.features_of(SAMPLE)

    def test_other_types_are_cast(self, cache: Path) -> None:
        wanted = Features({**self.OWN, "text": Value("large_string"), "created_at": Value("timestamp[s, tz=UTC]")})
        plain, cast = load_dataset("sample_temporal"), load_dataset("sample_temporal", features=wanted)
        assert cast["test"].features == wanted
        assert cast["test"][:] == plain["test"][:]

    @pytest.mark.parametrize(
        "changed",
        [
            {**OWN, "label": ClassLabel(names=["rumour", "non-rumour"])},
            {**OWN, "label": Value("string")},
            {name: type for name, type in OWN.items() if name != "event"},
            {**OWN, "author": Value("string")},
        ],
        ids=["classes swapped", "label as text", "column lacking", "column too many"],
    )
    def test_what_would_change_the_meaning_is_refused(self, changed: dict[str, object], cache: Path) -> None:
        with pytest.raises(UserError, match="id, text, label, created_at, event"):
            load_dataset("sample_temporal", features=Features(changed))


class TestWithoutThePlugin:
    def test_a_builder_class_is_enough(self, cache: Path) -> None:
        sample = SampleTemporal(config_name="random_fold1")
        sample.download_and_prepare()
        assert sample.as_dataset()["test"][:] == load_dataset("sample_temporal", "random_fold1", split="test")[:]

    def test_takes_chrono_where_no_config_is_named(self, cache: Path) -> None:
        assert SampleTemporal().config.name == "chrono"

    def test_shares_the_cache_with_load_dataset(self, cache: Path) -> None:
        direct = SampleTemporal(config_name="random_fold1", dataset_name="other", hash="other")
        assert direct.cache_dir == load_dataset_builder("sample_temporal", "random_fold1").cache_dir
        assert direct.cache_dir.endswith(f"/{builder._code_digest('sample_temporal')}")

    def test_writes_parquet(self, cache: Path, tmp_path: Path) -> None:
        sample = SampleTemporal(config_name="chrono")
        sample.download_and_prepare(str(tmp_path / "out"), file_format="parquet")
        rows = sum(pyarrow.parquet.read_metadata(path).num_rows for path in (tmp_path / "out").glob("*.parquet"))
        assert rows == len(SAMPLE.posts())

    def test_pickles_before_and_after_it_builds(self, cache: Path) -> None:
        sample = pickle.loads(pickle.dumps(SampleTemporal(config_name="loo_zoo-escape")))
        sample.download_and_prepare()
        again = pickle.loads(pickle.dumps(sample))
        assert again.as_dataset(split="test")[:] == sample.as_dataset(split="test")[:]
        stream = pickle.loads(pickle.dumps(again.as_streaming_dataset(split="test")))
        assert list(stream) == list(sample.as_dataset(split="test"))

    def test_two_benchmarks_do_not_share_a_cache_key(self) -> None:
        keys = {builder._code_digest(name) for name in benchmark.names()}
        assert len(keys) == len(benchmark.names())


class TestSource:
    def test_names_and_info_need_no_data(self, upstream: Path) -> None:
        assert datasets.get_dataset_config_names("sample_temporal") == SAMPLE.protocols
        assert datasets.get_dataset_split_names("sample_temporal", "random_fold0") == PARTS
        assert load_dataset_builder("sample_temporal").info.description

    def test_missing_data_says_what_to_do(self, upstream: Path) -> None:
        with pytest.raises(DataNotFoundError, match=r"https://example.org/posts.csv.*data_dir="):
            load_dataset("sample_temporal")
        with pytest.raises(DataNotFoundError, match="no-such-folder"):
            load_dataset("sample_temporal", data_dir="no-such-folder")

    def test_data_dir_may_be_a_path_or_come_from_the_environment(
        self, upstream: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ids = load_dataset("sample_temporal", data_dir=str(upstream), split="all")["id"][:]
        assert len(ids) == len(SAMPLE.posts())
        assert [post["id"] for post in SampleTemporal(data_dir=upstream).as_streaming_dataset(split="all")] == ids
        monkeypatch.setenv(DATA_VARIABLE, str(upstream))
        stream = load_dataset("sample_temporal", split="all", streaming=True)
        assert [post["id"] for post in stream] == ids

    def test_a_relative_data_dir_holds_when_the_working_directory_changes(
        self, upstream: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(upstream.parent)
        stream = load_dataset("sample_temporal", data_dir="upstream", split="train", streaming=True)
        monkeypatch.chdir("/")
        assert next(iter(stream))["id"]

    def test_a_moved_folder_takes_the_cached_build(self, upstream: Path) -> None:
        first = load_dataset("sample_temporal", data_dir=str(upstream))
        moved = upstream.rename(upstream.with_name("moved"))
        # Under paper/ as well as at its top.
        (moved / "paper").mkdir()
        (moved / "posts.csv").rename(moved / "paper" / "posts.csv")
        second = load_dataset("sample_temporal", data_dir=str(moved))
        for part in PARTS:
            assert second[part]._fingerprint == first[part]._fingerprint
            assert second[part].cache_files == first[part].cache_files

    def test_a_build_outlives_its_source(self, upstream: Path) -> None:
        first = load_dataset("sample_temporal", data_dir=str(upstream))
        shutil.rmtree(upstream)
        assert load_dataset("sample_temporal")["test"][:] == first["test"][:]

    def test_a_changed_file_is_refused_unless_allowed_and_then_built_anew(self, upstream: Path) -> None:
        first = load_dataset("sample_temporal", data_dir=str(upstream), split="all")
        digest = append(upstream, "s-9999,A post of my own,2022-06-01T00:00:00Z,rumour,zoo-escape")
        with pytest.raises(UserError, match=f"{digest}.*allow_modified=True"):
            load_dataset("sample_temporal", data_dir=str(upstream))
        second = load_dataset("sample_temporal", data_dir=str(upstream), split="all", allow_modified=True)
        assert second["id"][:] == [*first["id"][:], "s-9999"]
        assert second._fingerprint != first._fingerprint
        assert f"sha256 {digest}, not the published data" in second.info.description
        assert "not the published data" not in first.info.description

    def test_the_same_bytes_share_a_build_whether_or_not_others_were_allowed(self, upstream: Path) -> None:
        builders = [SampleTemporal(data_dir=upstream, allow_modified=allowed) for allowed in (True, False)]
        assert builders[0].cache_dir == builders[1].cache_dir

    def test_a_file_that_changes_after_the_builder_was_made_is_not_built_under_the_old_name(
        self, upstream: Path
    ) -> None:
        sample = SampleTemporal(data_dir=upstream, allow_modified=True)
        append(upstream, "s-9999,A post of my own,2022-06-01T00:00:00Z,rumour,zoo-escape")
        with pytest.raises(UserError, match="changed"):
            sample.download_and_prepare()
        assert not os.path.exists(sample.cache_dir)

    def test_a_mistake_in_the_file_is_told_in_its_own_words(self, upstream: Path) -> None:
        append(upstream, "s-9999,A post of my own,2022-06-01T00:00:00Z,perhaps,zoo-escape")
        with pytest.raises(UserError, match=rf"posts.csv, line {lines(upstream)}: the label 'perhaps'"):
            load_dataset("sample_temporal", data_dir=str(upstream), allow_modified=True)

    def test_dropped_rows_are_told_when_a_data_set_is_built_and_only_then(
        self, upstream: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        append(upstream, "s-9998,,2022-06-01T00:00:00Z,rumour,zoo-escape")
        with caplog.at_level(logging.WARNING, "temporal_rumors"):
            for _ in range(2):
                load_dataset("sample_temporal", data_dir=str(upstream), allow_modified=True)
        (message,) = told(caplog)
        assert message.startswith("sample_temporal: 1 row")
        assert message.endswith(f"dropped, no text (line {lines(upstream)})")

    def test_the_source_folder_is_left_alone(self, upstream: Path) -> None:
        upstream.chmod(0o555)
        before = {path.name: path.stat().st_mtime_ns for path in (upstream, *upstream.iterdir())}
        load_dataset("sample_temporal", data_dir=str(upstream))
        assert {path.name: path.stat().st_mtime_ns for path in (upstream, *upstream.iterdir())} == before
        upstream.chmod(0o755)


class TestCache:
    def test_a_folder_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(UserError, match=rf"cannot be written.*{tmp_path / 'file'}.*cache_dir="):
            load_dataset("sample_temporal", cache_dir=str(tmp_path / "file" / "cache"))
        with pytest.raises(UserError, match=rf"cannot be written.*{tmp_path / 'file'}.*cache_dir="):
            SampleTemporal(cache_dir=str(tmp_path)).download_and_prepare(str(tmp_path / "file" / "out"))

    def test_a_full_disk_is_named_and_leaves_nothing_behind(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*args: object, **kwargs: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(datasets.arrow_writer.ArrowWriter, "write_table", full)
            with pytest.raises(UserError, match=r"No space left on device.*cache_dir="):
                load_dataset("sample_temporal")
        assert not list(cache.rglob("*.arrow"))
        assert load_dataset("sample_temporal", split="all").num_rows == len(SAMPLE.posts())

    def test_two_processes_may_build_at_once(self, tmp_path: Path) -> None:
        script = textwrap.dedent(
            """
            import sys, time
            from pathlib import Path
            import temporal_rumors
            from datasets import load_dataset
            here = Path(sys.argv[1])
            (here / sys.argv[2]).touch()
            while not all((here / name).exists() for name in "01"):
                time.sleep(0.001)
            loaded = load_dataset("sample_temporal", "chrono")
            print(len(loaded["train"]), loaded["train"]._fingerprint, loaded["train"][0]["id"])
            """
        )
        environment = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "cache")}
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(tmp_path), str(i)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for i in range(2)
        ]
        (first, errors), (second, more_errors) = [process.communicate(timeout=60) for process in processes]
        assert [process.returncode for process in processes] == [0, 0], errors + more_errors
        assert first == second
        assert first.startswith("423 ")

    def test_the_key_follows_the_code(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        digest = builder._code_digest.__wrapped__
        package = Path(builder.__file__).parent
        copy = tmp_path / "package"
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        before = digest("sample_temporal")
        monkeypatch.setattr(builder, "__file__", str(copy / "builder.py"))
        assert digest("sample_temporal") == before
        with (copy / "sources" / "table.py").open("a") as stream:
            stream.write("\n")
        assert digest("sample_temporal") != before


def test_what_is_not_known_is_null() -> None:
    posts = Posts.from_records(
        [Post("1", "one", 0, 1_420_630_200_000, "fire", 2), Post("2", "two", 1, None, None, 3)], digest=""
    )
    assert builder.as_table(SAMPLE, posts, np.array([1, 0])).to_pylist() == [
        {"id": "2", "text": "two", "label": 1, "created_at": None, "event": None},
        {
            "id": "1",
            "text": "one",
            "label": 0,
            "created_at": datetime(2015, 1, 7, 11, 30, tzinfo=timezone.utc),
            "event": "fire",
        },
    ]


@pytest.mark.usefixtures("cache")
class TestRealData:
    @pytest.mark.parametrize(
        ("name", "protocol", "sizes"),
        [
            ("pheme_temporal", "chrono", (4061, 580, 1161)),
            ("pheme_temporal", "chrono_stratified", (1380 + 2681, 197 + 383, 395 + 766)),
            ("twitter15_temporal", "chrono", (519, 75, 148)),
            ("twitter15_temporal", "chrono_stratified", (519, 74, 149)),
            ("twitter16_temporal", "chrono", (288, 41, 83)),
            ("twitter16_temporal", "chrono_stratified", (288, 42, 82)),
            ("weibo_temporal", "chrono_stratified", (3264, 466, 933)),
        ],
    )
    def test_parts_have_the_published_sizes(
        self, name: str, protocol: str, sizes: tuple[int, int, int], data_dir: Path
    ) -> None:
        loaded = load_dataset(name, protocol, data_dir=str(data_dir))
        assert tuple(len(loaded[part]) for part in PARTS) == sizes

    def test_the_event_left_out_is_the_test_part(self, data_dir: Path) -> None:
        loaded = load_dataset("pheme_temporal", "loo_ferguson", data_dir=str(data_dir))
        assert set(loaded["test"]["event"]) == {"ferguson"}
        assert loaded["test"]["label"][:].count(1) == 284
        assert len(loaded["test"]) == 284 + 859
        assert "ferguson" not in {*loaded["train"]["event"], *loaded["validation"]["event"]}

    def test_random_folds_cover_every_post_once(self, data_dir: Path) -> None:
        folds = [
            load_dataset("twitter16_temporal", f"random_fold{k}", split="test", data_dir=str(data_dir))
            for k in range(5)
        ]
        ids = [id for fold in folds for id in fold["id"]]
        assert len(ids) == len(set(ids)) == 412

    def test_a_benchmark_without_events_says_null_and_tells_of_its_empty_row(
        self, data_dir: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING, "temporal_rumors"):
            loaded = load_dataset("weibo_temporal", split="all", data_dir=str(data_dir))
        assert set(loaded["event"]) == {None}
        assert loaded["label"][:].count(loaded.features["label"].str2int("rumour")) == 2313
        (message,) = told(caplog)
        assert message.startswith("weibo_temporal: 1 row")
        assert "dropped, no text" in message

    @pytest.mark.parametrize("name", [name for name in benchmark.names() if name != "sample_temporal"])
    def test_every_config_builds_directly(self, name: str, data_dir: Path) -> None:
        module = __import__(f"{benchmark.PACKAGE}.{name}.builder", fromlist=["_"])
        (cls,) = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, TemporalBuilder) and value is not TemporalBuilder
        ]
        for b in benchmark.tasks(name):
            posts = b.posts(data_dir)
            for config, protocol in b.configs.items():
                made = cls(config_name=config, data_dir=data_dir)
                made.download_and_prepare()
                sizes = [split.num_examples for split in made.info.splits.values()]
                assert all(sizes)
                assert sum(sizes) + len(b.split(posts, protocol).excluded) == sum(b.counts.values())
