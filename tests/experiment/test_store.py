import json
from pathlib import Path

import pytest

from temporal_rumors.errors import UserError
from temporal_rumors.experiment.store import FORMAT, RunStore, read_record, run_key


def a_record(**changes):
    record = {
        "format": FORMAT,
        "benchmark": "some_temporal",
        "task": None,
        "benchmark_version": "1.0.0",
        "protocol": "chrono",
        "model": "lr",
        "model_version": "1",
        "settings": {"grid": [1.0]},
        "seed": 0,
        "classes": ["no", "yes"],
        "data_digest": "ab",
        "data_is_published": True,
        "data_remarks": [],
        "split_digest": "cd",
        "split": {},
        "timeline": {},
        "metrics": {"precision": 0.25, "recall": 0.5, "f1": 0.1 + 0.2},
        "fitted": {},
        "predictions": {"ids": ["1", "２"], "references": [0, 1], "predictions": [1, 1]},
        "timings": {},
        "versions": {},
    }
    return record | changes


def test_a_record_comes_back_as_it_was_written_with_its_key(tmp_path):
    store, record = RunStore(tmp_path / "runs"), a_record()
    assert not store.holds(record)
    path = store.write(record)
    assert store.holds(record)
    assert store.read() == [record | {"key": run_key(record)}] == [read_record(path)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("benchmark", "other_temporal"),
        ("benchmark_version", "1.0.1"),
        ("protocol", "chrono_stratified"),
        ("model", "mr"),
        ("model_version", "2"),
        ("settings", {"grid": [2.0]}),
        ("seed", 1),
        ("classes", ["yes", "no"]),
        ("data_digest", "ac"),
        ("split_digest", "ce"),
    ],
)
def test_whatever_decides_predictions_makes_another_run(tmp_path, field, value):
    store = RunStore(tmp_path)
    store.write(a_record())
    assert not store.holds(a_record(**{field: value}))
    store.write(a_record(**{field: value}))
    assert len(store.read()) == 2


@pytest.mark.parametrize("field", ["timings", "versions", "metrics"])
def test_what_does_not_decide_predictions_makes_no_other_run(tmp_path, field):
    store = RunStore(tmp_path)
    store.write(a_record())
    assert store.holds(a_record(**{field: {"changed": 1}}))


@pytest.mark.parametrize("model", ["vinai/bertweet-base", "../../escape", "a\\b"])
def test_a_model_name_never_leaves_the_store(tmp_path, model):
    path = RunStore(tmp_path).path(a_record(model=model))
    assert path.parent == tmp_path / "some_temporal" / "chrono"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not a run record"),
        ("[" * 100_000, "is not a run record"),
        ("[]", "format 2"),
        ("{}", "found None"),
        (json.dumps(a_record(format=1)), "found 1"),
        (json.dumps({**a_record(), "seed": "0"}), "'seed' is missing or not int"),
        (json.dumps({**a_record(), "key": "00"}), "was changed after it was written"),
        (json.dumps(a_record(protocol="../../x")), "knows no protocol"),
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path, content, words):
    file = tmp_path / "some_temporal" / "chrono" / "some.json"
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=words) as error:
        RunStore(tmp_path).read()
    assert str(file) in str(error.value)


@pytest.mark.parametrize(("written", "edited"), [('"seed": 0', '"seed": 7'), ('"f1": 0.3', '"f1": 0.9'), ("２", "2")])
def test_a_record_edited_by_hand_is_refused(tmp_path, written, edited):
    path = RunStore(tmp_path).write(a_record())
    assert written in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(written, edited), encoding="utf-8")
    with pytest.raises(UserError, match="changed after it was written"):
        read_record(path)


def test_files_that_are_no_records_may_stand_around_them(tmp_path):
    store = RunStore(tmp_path)
    path = store.write(a_record())
    hidden = path.parent.parent / ".ipynb_checkpoints"
    hidden.mkdir()
    for file in (tmp_path / "report.json", path.parent.parent / "notes.json", hidden / "lr.json"):
        file.write_text("{}", encoding="utf-8")
    assert len(store.read()) == 1


def test_two_records_of_one_run_count_once_if_they_agree_and_are_refused_otherwise(tmp_path):
    store = RunStore(tmp_path)
    path = store.write(a_record(timings={"fit_seconds": 1.0}))
    path.rename(path.with_name("copy.json"))
    store.write(a_record(timings={"fit_seconds": 2.0}))
    assert len(store.read()) == 1
    store.write(a_record(metrics={"precision": 0.25, "recall": 0.5, "f1": 0.5}))
    with pytest.raises(UserError, match=r"copy\.json and .* are records of one run, but disagree"):
        store.read()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UserError, match=r"there is no folder .*nowhere"):
        RunStore(tmp_path / "nowhere").read()


def test_what_a_killed_writer_left_is_not_read(tmp_path):
    store = RunStore(tmp_path)
    path = store.write(a_record())
    Path(path.parent, f".{path.name}.abc.tmp").write_text("{", encoding="utf-8")
    assert len(store.read()) == 1


def test_a_store_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        RunStore(tmp_path / "file").write(a_record())


def test_numbers_that_json_does_not_have_are_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        RunStore(tmp_path).write(a_record(metrics={"f1": float("nan")}))


@pytest.mark.parametrize(
    "metrics", [{}, {"precision": 0.5, "recall": 0.5}, {"precision": 0.5, "recall": 0.5, "f1": "x"}]
)
def test_a_record_without_macro_scores_is_no_record(tmp_path, metrics):
    with pytest.raises(UserError, match=r"the metric '(precision|f1)' is missing or no number"):
        read_record(RunStore(tmp_path).write(a_record(metrics=metrics)))
