import json
import os
import signal
import subprocess
import sys
import time

import pytest

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, models
from temporal_rumors.errors import UserError
from temporal_rumors.experiment import execute as module
from temporal_rumors.experiment.execute import DONE, FAILED, SKIPPED, Settings, execute
from temporal_rumors.experiment.grid import grid
from temporal_rumors.experiment.store import RunStore

SAMPLE = "sample_temporal"
RUNS = grid([SAMPLE], ["lr"])


def states(outcomes):
    return sorted(outcome.state for outcome in outcomes)


def without_timings(records):
    return [{name: value for name, value in record.items() if name != "timings"} for record in records]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    store = tmp_path_factory.mktemp("runs")
    assert states(execute(RUNS, Settings(str(store)))) == [DONE] * len(RUNS)
    return RunStore(store).read()


def test_a_record_says_all_that_a_reader_needs(records):
    b = benchmarks.get(SAMPLE)
    posts = b.posts()
    for record in records:
        split = b.split(posts, record["protocol"])
        assert record["split_digest"] == split.digest(posts.ids)
        assert record["data_digest"] == b.source.file.sha256
        assert record["predictions"]["ids"] == posts.ids[split.test].tolist()
        assert record["predictions"]["references"] == posts.labels[split.test].tolist()
        scores = macro_prf(
            predictions=record["predictions"]["predictions"],
            references=record["predictions"]["references"],
            labels=[0, 1],
        )
        assert record["metrics"] == {name: scores[name] for name in ("precision", "recall", "f1", "accuracy")}
        assert record["fitted"]["C"] in record["settings"]["grid"]
        assert record["classes"] == list(b.classes)
        assert {"python", "temporal-rumors", "numpy", "scikit-learn"} <= set(record["versions"])
        assert all(seconds >= 0 for seconds in record["timings"].values())


def test_a_second_call_does_nothing_and_changes_no_byte(tmp_path):
    runs = RUNS[:3]
    list(execute(runs, Settings(str(tmp_path))))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*.json")}
    assert states(execute(runs, Settings(str(tmp_path)))) == [SKIPPED] * 3
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*.json")} == before


def test_the_number_of_processes_changes_nothing(tmp_path, records):
    assert states(execute(RUNS, Settings(str(tmp_path)), jobs=2)) == [DONE] * len(RUNS)
    assert without_timings(RunStore(tmp_path).read()) == without_timings(records)


def test_a_killed_grid_goes_on_where_it_stopped(tmp_path, records):
    # The child is slow, so that the kill comes in the middle; what it wrote must be whole.
    script = (
        "import sys, time\n"
        "from temporal_rumors.experiment.execute import Settings, execute\n"
        "from temporal_rumors.experiment.grid import grid\n"
        "for outcome in execute(grid(['sample_temporal'], ['lr']), Settings(sys.argv[1])):\n"
        "    time.sleep(0.2)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    deadline = time.monotonic() + 60
    while len(list(tmp_path.rglob("*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    n_done = len(RunStore(tmp_path).read())
    assert 3 <= n_done < len(RUNS)
    expected = [SKIPPED] * n_done + [DONE] * (len(RUNS) - n_done)
    assert states(execute(RUNS, Settings(str(tmp_path)))) == sorted(expected)
    assert without_timings(RunStore(tmp_path).read()) == without_timings(records)


def test_a_run_that_fails_leaves_no_record_and_stops_no_other(tmp_path, monkeypatch):
    classifier = models.classifier_of("lr")
    original, calls = classifier._fit, []

    def fit(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise UserError("too few")
        if len(calls) == 3:
            raise ZeroDivisionError("a fault of ours")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(classifier, "_fit", fit)
    outcomes = list(execute(RUNS[:4], Settings(str(tmp_path))))
    assert [outcome.state for outcome in outcomes] == [DONE, FAILED, FAILED, DONE]
    assert (outcomes[1].error, outcomes[1].traceback) == ("too few", "")
    assert outcomes[2].error == "ZeroDivisionError: a fault of ours"
    assert "in fit" in outcomes[2].traceback
    assert len(RunStore(tmp_path).read()) == 2
    assert states(execute(RUNS[:4], Settings(str(tmp_path)))) == [DONE, DONE, SKIPPED, SKIPPED]


def test_the_whole_benchmark_is_encoded_once(tmp_path, monkeypatch):
    classifier = models.classifier_of("lr")
    original, calls = classifier.encode, []
    monkeypatch.setattr(classifier, "encode", lambda self, texts: calls.append(len(texts)) or original(self, texts))
    module._encoded.cache_clear()
    list(execute(RUNS[:4], Settings(str(tmp_path))))
    assert calls == [len(benchmarks.get(SAMPLE).posts())]


def test_modified_data_make_other_runs_that_say_so(tmp_path, data_dir):
    name = "twitter16_temporal"
    b, copy = benchmarks.get(name), tmp_path / "copy"
    copy.mkdir()
    source = data_dir / "paper" / b.source.file.name
    lines = (source if source.is_file() else data_dir / b.source.file.name).read_text(encoding="utf-8").splitlines()
    (copy / b.source.file.name).write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    runs = grid([name], ["lr"], ["chrono"])
    store = str(tmp_path / "runs")
    assert states(execute(runs, Settings(store, str(data_dir)))) == [DONE]
    (refused,) = execute(runs, Settings(store, str(copy)))
    assert refused.state == FAILED
    assert "is not the published file" in refused.error
    assert states(execute(runs, Settings(store, str(copy), allow_modified=True))) == [DONE]
    # Within one process, too, a file that changes again is read again.
    (copy / b.source.name).write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")
    assert states(execute(runs, Settings(store, str(copy), allow_modified=True))) == [DONE]
    assert len({r["data_digest"] for r in RunStore(store).read()}) == 3
    found = {(r["data_is_published"], r["data_digest"] == b.source.file.sha256) for r in RunStore(store).read()}
    assert found == {(True, True), (False, False)}


def test_records_are_json_that_any_reader_takes(records):
    assert json.loads(json.dumps(records, allow_nan=False)) == records


def test_data_that_are_not_to_be_had_are_asked_for_once(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("temporal_rumors.sources.files.find", lambda file, data_dir=None: None)

    def fail(file):
        asked.append(file.name)
        raise UserError("not to be had")

    monkeypatch.setattr("temporal_rumors.sources.files.fetch", fail)
    outcomes = list(execute(grid(["pheme_temporal"], ["lr"]), Settings(str(tmp_path))))
    assert asked == ["pheme_2603.csv"]
    assert {outcome.error for outcome in outcomes} == {"not to be had"}
    assert len(outcomes) == 12
