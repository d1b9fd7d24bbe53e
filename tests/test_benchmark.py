"""Every folder under dataset_scripts is a whole benchmark, and says what it is asked."""

from __future__ import annotations

import dataclasses
import importlib
import json
from pathlib import Path

import pytest

from temporal_rumors import benchmark
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.records import Posts, sha256
from temporal_rumors.sources.table import Table

NAMES = benchmark.names()
BENCHMARKS = [b for name in NAMES for b in benchmark.tasks(name)]
every_benchmark = pytest.mark.parametrize("b", BENCHMARKS, ids=lambda b: b.label)
# Comes with the package, so that tests may change a copy of it.
SAMPLE = "sample_temporal"


def folders() -> list[str]:
    root = Path(importlib.import_module(benchmark.PACKAGE).__path__[0])
    return sorted(path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__")


def read(b: Benchmark, request: pytest.FixtureRequest) -> Posts:
    """The posts of a benchmark whose file comes with the package, or else of the real one."""
    return b.posts(None if b.name == SAMPLE else request.getfixturevalue("data_dir"))


def record_digest(posts: Posts, at: int) -> str:
    created_at = posts.times[at].astype("datetime64[ms]").astype(object)
    record = {
        "id": str(posts.ids[at]),
        "text": posts.texts[at],
        "label": int(posts.labels[at]),
        "created_at": created_at and created_at.isoformat(timespec="milliseconds") + "Z",
        "event": posts.events[at],
        **{name: cells[at] for name, cells in posts.columns.items()},
    }
    return sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode())


def test_every_folder_is_a_benchmark() -> None:
    assert folders() == NAMES
    assert SAMPLE in NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["README.md", "benchmark.py", "builder.py", "records.json"])
def test_a_folder_holds_a_card_a_builder_and_the_digests_of_its_records(name: str, file: str) -> None:
    assert (benchmark.folder(name) / file).is_file(), f"dataset_scripts/{name}/ lacks {file}"


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_has_the_name_of_its_folder_and_tasks_of_different_names(name: str) -> None:
    found = benchmark.tasks(name)
    assert {b.name for b in found} == {name}
    tasks = [b.task for b in found]
    assert tasks == [None] or (None not in tasks and len(set(tasks)) == len(tasks))
    assert len({b.version for b in found}) == 1


@every_benchmark
def test_a_benchmark_is_whole(b: Benchmark) -> None:
    for text in (b.title, b.language, b.description, b.license, b.version):
        assert text.strip()
    assert set(b.classes) == set(b.counts)
    if b.official:
        assert set(b.official) == {"train", "validation", "test"}
        assert {c: sum(part[c] for part in b.official.values()) for c in b.classes} == b.counts
    if isinstance(b.source, Table):
        assert set(b.source.labels.values()) == set(b.classes)
        assert len(b.source.sha256) == 64
    if b.name != SAMPLE:
        assert b.source.url.startswith("https://")
        assert b.homepage.startswith("https://")
        assert b.citation.startswith("@")
    assert set(b.cuts) <= set(b.protocols)
    assert list(b.events) == sorted(set(b.events))


@every_benchmark
def test_cut_points_sum_to_the_posts_there_are(b: Benchmark) -> None:
    if "chrono" in b.cuts:
        assert sum(b.cuts["chrono"]) == sum(b.counts.values())
    for label, sizes in b.cuts.get("chrono_stratified", {}).items():
        assert sum(sizes) == b.counts[label]


@pytest.mark.parametrize("name", NAMES)
def test_a_builder_builds_the_benchmark_of_its_folder(name: str) -> None:
    module = importlib.import_module(f"{benchmark.PACKAGE}.{name}.builder")
    (builder,) = [
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    assert builder.BENCHMARKS is benchmark.tasks(name)
    assert list(builder.builder_configs) == [config for b in benchmark.tasks(name) for config in b.configs]


@every_benchmark
def test_the_published_data_hold_the_expected_records(b: Benchmark, request: pytest.FixtureRequest) -> None:
    posts = read(b, request)
    assert b.is_published(posts)
    assert {c: int((posts.labels == i).sum()) for i, c in enumerate(b.classes)} == b.counts
    assert {e for e in posts.events if e is not None} == set(b.events)
    found = {
        "posts": len(posts),
        "first": record_digest(posts, 0),
        "tenth": record_digest(posts, 9),
        "last": record_digest(posts, -1),
    }
    path = benchmark.folder(b.name) / "records.json"
    expected = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if b.task:
        expected = expected.get(b.task)
    assert expected == found, f"{path}{f', {b.task}' if b.task else ''} should be {json.dumps(found, indent=2)}"


@every_benchmark
def test_every_protocol_of_a_benchmark_splits_its_posts(b: Benchmark, request: pytest.FixtureRequest) -> None:
    posts = read(b, request)
    for protocol in b.protocols:
        split = b.split(posts, protocol)
        assert sum(map(len, [*split.parts().values(), split.excluded])) == len(posts)
        report = b.report(posts, split)
        assert {label for part in report.sizes.values() for label in part} == set(b.classes)
        if posts.threads is not None:
            threads = [set(posts.threads[rows]) for rows in (*split.parts().values(), split.excluded)]
            assert sum(map(len, threads)) == len(set.union(*threads))
        elif protocol in ("chrono", "chrono_stratified"):
            assert len(split.excluded) == sum(posts.times != posts.times)  # NaT is unequal to itself


@every_benchmark
def test_published_results_are_percentages_by_model_and_protocol(b: Benchmark) -> None:
    rows = b.published
    keys = [(row["model"], row["protocol"]) for row in rows]
    assert len(keys) == len(set(keys))
    assert {protocol for _, protocol in keys} <= {"random", "chrono", "chrono_stratified", "loo"}
    for row in rows:
        assert all(0 <= float(v) <= 100 for key, v in row.items() if v and key not in ("model", "protocol"))


# What a benchmark is asked


def test_an_unknown_benchmark_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"unknown benchmark 'pheme' \(did you mean 'pheme_temporal'\?\).*weibo_tempor"):
        benchmark.get("pheme")
    with pytest.raises(UserError, match=r"unknown benchmark '\.\./tests'; valid ones: pheme_temporal"):
        benchmark.get("../tests")


def test_an_unknown_protocol_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"weibo_temporal: unknown protocol 'loo_ferguson'.*valid ones: random_fold0"):
        benchmark.get("weibo_temporal").config("loo_ferguson")
    with pytest.raises(UserError, match="loo_ferguson"):
        benchmark.get("pheme_temporal").config("loo_fergusson")


def test_an_unknown_task_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"rumoureval2017: unknown task 'stanse' \(did you mean 'stance'\?\)"):
        benchmark.get("rumoureval2017", "stanse")
    with pytest.raises(UserError, match="pheme_temporal has no tasks, so no 'stance'"):
        benchmark.get("pheme_temporal", "stance")


def test_configurations_name_task_and_protocol_and_the_official_split_by_the_task_alone() -> None:
    stance = benchmark.get("rumoureval2017")
    assert stance.task == "stance"
    assert list(stance.configs.items())[:2] == [("stance", "official"), ("stance_random_fold0", "random_fold0")]
    assert stance.config("loo_ferguson") == "stance_loo_ferguson"
    assert benchmark.get("pheme_temporal").config("chrono") == "chrono"


def copied_sample(tmp_path: Path, *, drop_rows: int = 0) -> Benchmark:
    """The sample on a copy of its file, some rows short of the published one."""
    b = benchmark.get(SAMPLE)
    assert isinstance(b.source, Table)
    assert b.source.file.path is not None
    lines = b.source.file.path.read_bytes().splitlines(keepends=True)
    (tmp_path / b.source.file.name).write_bytes(b"".join(lines[: len(lines) - drop_rows]))
    file = dataclasses.replace(b.source.file, path=None, url="https://example.org/posts.csv")
    return dataclasses.replace(b, source=dataclasses.replace(b.source, file=file))


def test_cut_points_hold_for_the_published_file_alone(tmp_path: Path) -> None:
    b = copied_sample(tmp_path)
    n = sum(b.counts.values())
    b = dataclasses.replace(b, cuts={"chrono": (n - 7, 3, 4)})
    assert [len(rows) for rows in b.split(b.posts(tmp_path), "chrono").parts().values()] == [n - 7, 3, 4]
    cut = copied_sample(tmp_path, drop_rows=1)
    posts = cut.posts(tmp_path, allow_modified=True)
    assert not cut.is_published(posts)
    test = dataclasses.replace(cut, cuts=b.cuts).split(posts, "chrono").test
    assert abs(len(test) - (n - 1) / 5) < 1


def test_stratified_cut_points_are_given_by_class_name(tmp_path: Path) -> None:
    b = copied_sample(tmp_path)
    cuts = {name: (n - 2 - i, 1, 1 + i) for i, (name, n) in enumerate(b.counts.items())}
    b = dataclasses.replace(b, cuts={"chrono_stratified": cuts})
    posts = b.posts(tmp_path)
    sizes = b.report(posts, b.split(posts, "chrono_stratified")).sizes
    assert {name: tuple(part[name] for part in sizes.values()) for name in b.classes} == cuts


def test_wrong_counts_of_the_published_file_are_our_mistake(tmp_path: Path) -> None:
    b = copied_sample(tmp_path)
    b = dataclasses.replace(b, counts=dict.fromkeys(b.counts, 1))
    with pytest.raises(AssertionError, match=f"{SAMPLE}: read from the published data: .* posts, not 1"):
        b.posts(tmp_path)


def test_a_digest_names_the_bytes_that_are_read(tmp_path: Path) -> None:
    b = copied_sample(tmp_path, drop_rows=1)
    with pytest.raises(UserError, match="is not the published file"):
        b.digest(tmp_path)
    changed = (tmp_path / b.source.file.name).read_bytes()
    assert b.digest(tmp_path, allow_modified=True) == sha256(changed) == b.posts(tmp_path, allow_modified=True).digest


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("PHEME_temporal", "pheme_temporal"), ("weibo_tmporal", "weibo_temporal"), ("foo_temporal", None)],
)
def test_a_name_is_offered_only_for_one_that_is_like_it(name: str, nearest: str | None) -> None:
    with pytest.raises(UserError) as error:
        benchmark.get(name)
    assert ("did you mean" in str(error.value)) == (nearest is not None)
    assert nearest is None or f"did you mean {nearest!r}?" in str(error.value)
