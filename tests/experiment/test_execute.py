import json
import os
import signal
import subprocess
import sys
import time

import pytest

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, models, rumoureval
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
    module._ENCODED.clear()
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


@pytest.fixture(scope="module", params=[2017, 2019])
def year(request):
    return request.param


@pytest.fixture(scope="module")
def official(year, write_edition, tmp_path_factory):
    """Task -> record of the official split of an invented edition of RumourEval, and its folder."""
    folder, store = write_edition(year, tmp_path_factory.mktemp("edition")), tmp_path_factory.mktemp("runs")
    runs = grid([f"rumoureval{year}"], ["lr"], ["official"])
    outcomes = list(execute(runs, Settings(str(store), str(folder), allow_modified=True)))
    assert states(outcomes) == [DONE, DONE], [outcome.error for outcome in outcomes]
    return {record["task"]: record for record in RunStore(store).read()}, folder


@pytest.mark.parametrize("task", ["stance", "veracity"])
def test_a_record_of_a_task_holds_its_official_scores(year, official, task):
    records, folder = official
    record, b = records[task], benchmarks.get(f"rumoureval{year}", task)
    posts = b.posts(folder, allow_modified=True)
    test = b.split(posts, "official").test
    predicted = record["predictions"]
    assert (record["benchmark"], record["task"], record["protocol"]) == (f"rumoureval{year}", task, "official")
    assert predicted["ids"] == posts.ids[test].tolist()
    assert predicted["references"] == posts.labels[test].tolist()
    assert len(predicted["confidences"]) == len(test)
    assert all(1 / len(b.classes) <= confidence <= 1 for confidence in predicted["confidences"])
    names = {name: [b.classes[code] for code in predicted[name]] for name in ("predictions", "references")}
    macro = macro_prf(**names, labels=list(b.classes))
    expected = {name: macro[name] for name in ("precision", "recall", "f1", "accuracy")}
    confidences = {"confidences": predicted["confidences"]} if task == "veracity" else {}
    # Those of the paper's card and those of the edition; where both define a score, that of the edition.
    for edition in ("paper", str(year)):
        scores = rumoureval(**names, **confidences, task=task, edition=edition)
        expected |= {name: value for name, value in scores.items() if isinstance(value, float)}
    assert record["metrics"] == pytest.approx(expected)
    assert set(b.metrics) <= set(record["metrics"])
    assert ("confidence_rmse" in record["metrics"]) == ("final_score" in record["metrics"]) == (task == "veracity")
    assert ("macro_f1" in record["metrics"]) == (year == 2019)


def test_confidences_are_the_probabilities_of_the_predicted_classes(year, official):
    records, folder = official
    b = benchmarks.get(f"rumoureval{year}", "stance")
    posts = b.posts(folder, allow_modified=True)
    split, model = b.split(posts, "official"), models.create("lr", b.classes)
    encoded = model.encode(*b.model_texts(posts))
    labels = posts.labels
    model.fit(encoded[split.train], labels[split.train], encoded[split.validation], labels[split.validation])
    probabilities = model.predict_proba(encoded[split.test])
    predicted = records["stance"]["predictions"]
    assert predicted["confidences"] == probabilities.max(axis=1).tolist()
    assert predicted["predictions"] == model.predict(encoded[split.test]).tolist()


def test_a_model_of_stance_reads_what_a_post_answers_and_one_of_veracity_the_source_alone(year, official):
    folder = official[1]
    stance, veracity = (benchmarks.get(f"rumoureval{year}", task) for task in ("stance", "veracity"))
    posts = stance.posts(folder, allow_modified=True)
    text, parent, source = stance.model_texts(posts)
    assert text == posts.texts.tolist()
    assert parent == [held or "" for held in posts.columns["parent_text"]]
    assert "" in parent
    assert source == posts.columns["source_text"].tolist()
    posts = veracity.posts(folder, allow_modified=True)
    assert veracity.model_texts(posts) == [posts.texts.tolist()]


def test_tasks_are_runs_of_their_own(year, official, tmp_path):
    records, folder = official
    assert records["stance"]["key"] != records["veracity"]["key"]
    settings = Settings(str(tmp_path), str(folder), allow_modified=True)
    name = f"rumoureval{year}"
    assert states(execute(grid([name], ["lr"], ["official"], task_names=["veracity"]), settings)) == [DONE]
    assert states(execute(grid([name], ["lr"], ["official"]), settings)) == [DONE, SKIPPED]
    again = {record["task"]: record for record in RunStore(tmp_path).read()}
    for task, record in records.items():
        assert without_timings([again[task]]) == without_timings([record])


def test_a_run_is_told_that_its_conversations_are_split_whole(year, official, tmp_path):
    folder = official[1]
    runs = grid([f"rumoureval{year}"], ["lr"], ["random_fold0"])
    assert states(execute(runs, Settings(str(tmp_path), str(folder), allow_modified=True))) == [DONE, DONE]
    units = {record["task"]: record["split"]["unit"] for record in RunStore(tmp_path).read()}
    assert units == {"stance": "threads", "veracity": "posts"}


def test_a_key_that_changes_between_two_calls_makes_another_run(write_edition, tmp_path):
    folder = write_edition(2017, tmp_path / "edition")
    settings = Settings(str(tmp_path / "runs"), str(folder), allow_modified=True)
    runs = grid(["rumoureval2017"], ["lr"], ["official"], task_names=["veracity"])
    assert states(execute(runs, settings)) == [DONE]
    key = json.loads((folder / "subtaskb.json").read_text())
    (folder / "subtaskb.json").write_text(json.dumps(dict.fromkeys(key, "false")))
    assert states(execute(runs, settings)) == [DONE]
    assert len({record["data_digest"] for record in RunStore(tmp_path / "runs").read()}) == 2


def test_an_event_without_posts_fails_its_run_alone(write_edition, tmp_path):
    folder = write_edition(2019, tmp_path / "edition")
    runs = grid(["rumoureval2019"], ["lr"], ["loo_fire-ants", "loo_ferguson"], task_names=["veracity"])
    outcomes = execute(runs, Settings(str(tmp_path / "runs"), str(folder), allow_modified=True))
    failed = {outcome.run.protocol: outcome for outcome in outcomes if outcome.state == FAILED}
    assert list(failed) == ["loo_fire-ants"]
    assert "loo_fire-ants" in failed["loo_fire-ants"].error
    assert not failed["loo_fire-ants"].traceback
