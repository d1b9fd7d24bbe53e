"""What summarise makes of run records: means, the paper's values, inflation, notes, and its order."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from temporal_rumors import benchmark as benchmarks
from temporal_rumors.errors import UserError
from temporal_rumors.experiment.store import run_key
from temporal_rumors.report import summarise
from temporal_rumors.report.summary import Inflation, Result, Summary
from temporal_rumors.signature import parse
from temporal_rumors.statistics import compare_means

Record = dict[str, Any]

RESULT_KEYS = {
    *("benchmark", "task", "protocol", "model", "metric", "mean", "std", "n_runs", "paper_mean", "paper_std"),
    *("difference", "notes"),
}
INFLATION_KEYS = {
    *("benchmark", "task", "model", "protocol", "points", "p_value", "test", "metric"),
    *("random_mean", "protocol_mean", "significant", "comparable", "pooled", "notes"),
}


def result(summary: Summary, protocol: str, metric: str = "f1", model: str = "lr") -> Result:
    (found,) = [r for r in summary.results if (r.protocol, r.metric, r.model) == (protocol, metric, model)]
    return found


def inflation(summary: Summary, protocol: str, benchmark: str = "pheme_temporal", model: str = "lr") -> Inflation:
    wanted = benchmark, protocol, model
    (found,) = [r for r in summary.inflation if (r.benchmark, r.protocol, r.model) == wanted]
    return found


@pytest.fixture
def folds(make_record: Any) -> list[Record]:
    """Five random folds and a chronological split on PHEME."""
    scores = (0.85, 0.83, 0.84, 0.86, 0.82)
    return [
        *(make_record(protocol=f"random_fold{k}", f1=f1) for k, f1 in enumerate(scores)),
        make_record(protocol="chrono", f1=0.66),
    ]


def test_json_has_the_contract_and_survives_a_round_trip(grid: list[Record]) -> None:
    found = summarise(grid).to_json()
    assert set(found) == {"results", "inflation", "splits"}
    assert all(set(row) >= RESULT_KEYS for row in found["results"])
    assert all(set(row) >= INFLATION_KEYS for row in found["inflation"])
    assert all(
        {"benchmark", "task", "protocol", "sizes", "split_digest", "warnings"} <= set(row) for row in found["splits"]
    )
    assert json.loads(json.dumps(found, allow_nan=False))["results"] == found["results"]
    differences = {None if r["paper_mean"] is None else r["mean"] - r["paper_mean"] for r in found["results"]}
    assert {r["difference"] for r in found["results"]} == differences > {None}


def test_scores_are_means_and_sample_deviations_over_runs_in_percent(grid: list[Record]) -> None:
    for row in summarise(grid).results:
        prefix = {"random": "random_fold", "loo": "loo_"}.get(row.protocol)
        scores = [
            100 * r["metrics"][row.metric]
            for r in grid
            if (r["benchmark"], r["model"]) == (row.benchmark, row.model)
            and (r["protocol"].startswith(prefix) if prefix else r["protocol"] == row.protocol)
        ]
        assert row.n_runs == len(scores)
        assert row.mean == pytest.approx(np.mean(scores))
        if len(scores) == 1:
            assert row.std is None
        else:
            assert row.std == pytest.approx(np.std(scores, ddof=1))


def test_rows_stand_in_the_order_benchmark_model_protocol_metric(grid: list[Record]) -> None:
    protocols, metrics = ["random", "chrono", "chrono_stratified", "loo"], ["precision", "recall", "f1"]
    keys = [
        (r.benchmark, r.model, protocols.index(r.protocol), metrics.index(r.metric)) for r in summarise(grid).results
    ]
    assert keys == sorted(keys)
    assert len(keys) == len(set(keys))


@given(st.randoms(use_true_random=False))
def test_order_and_repetition_of_records_do_not_matter(grid: list[Record], rng: random.Random) -> None:
    shuffled = [*grid, *rng.sample(grid, 5)]
    rng.shuffle(shuffled)
    assert summarise(shuffled) == summarise(grid)


def test_every_published_value_of_a_model_and_protocol_is_shown_beside_ours(grid: list[Record]) -> None:
    summary = summarise(grid)
    shown = 0
    for name in ("pheme_temporal", "twitter16_temporal"):
        for paper in benchmarks.get(name).published:
            for row in summary.results:
                if (row.benchmark, row.model, row.protocol) == (name, paper["model"], paper["protocol"]):
                    assert row.paper_mean == float(paper[row.metric])
                    assert row.paper_std == float(paper[f"{row.metric}_std"])
                    assert row.difference == pytest.approx(row.mean - float(paper[row.metric]))
                    shown += 1
    assert shown == sum(row.paper_mean is not None for row in summary.results) > 0


def test_benchmarks_and_models_that_the_paper_lacks_have_no_paper_value(make_record: Any) -> None:
    summary = summarise([make_record(benchmark="my_own_benchmark"), make_record(model="my/model")])
    assert {(r.paper_mean, r.paper_std, r.difference) for r in summary.results} == {(None, None, None)}
    assert summary.titles == {("my_own_benchmark", None): "my_own_benchmark", ("pheme_temporal", None): "PHEME"}


def test_inflation_is_random_minus_protocol_with_the_test_of_the_scores(grid: list[Record]) -> None:
    summary = summarise(grid)
    for model in ("lr", "bert-base-uncased"):
        scores = {
            group: [
                100 * r["metrics"]["f1"]
                for r in grid
                if (r["benchmark"], r["model"]) == ("pheme_temporal", model) and r["protocol"].startswith(group)
            ]
            for group in ("random_fold", "loo_")
        }
        row = inflation(summary, "loo", model=model)
        assert row.points == pytest.approx(np.mean(scores["random_fold"]) - np.mean(scores["loo_"]))
        expected = compare_means(scores["random_fold"], scores["loo_"])
        assert row.test == expected.test
        assert row.p_value == pytest.approx(expected.p_value)
        assert row.significant == (row.p_value is not None and row.p_value < 0.05)


def test_a_single_deterministic_run_is_compared_by_a_one_sample_test(folds: list[Record]) -> None:
    row = inflation(summarise(folds), "chrono")
    assert (row.test, row.significant, row.notes) == ("one-sample", True, [])
    assert row.points == pytest.approx(18.0)


def test_without_random_folds_there_is_no_inflation(make_record: Any) -> None:
    assert summarise([make_record(protocol="chrono")]).inflation == []


def test_one_run_on_each_side_has_inflation_but_no_test(make_record: Any) -> None:
    row = inflation(summarise([make_record(protocol="random_fold0", f1=0.8), make_record(f1=0.7)]), "chrono")
    assert row.points == pytest.approx(10.0)
    assert (row.test, row.p_value, row.significant) == (None, None, None)
    assert "no test: neither side's scores vary (1 against 1 runs)" in row.notes


def test_missing_folds_and_events_are_noted(folds: list[Record], make_record: Any) -> None:
    summary = summarise([*folds[:3], folds[-1], make_record(protocol="loo_ferguson")])
    assert result(summary, "random").notes == ["3 of 5 folds"]
    assert result(summary, "loo").notes == ["1 of 5 events"]
    assert result(summary, "chrono").notes == []
    assert inflation(summary, "chrono").notes == ["random folds: 3 of 5 folds"]
    seeds = summarise([*folds, make_record(protocol="random_fold0", seed=1)])
    assert result(seeds, "random").notes == ["6 of 10 runs (5 folds, 2 seeds)"]
    assert result(summarise(folds), "random").notes == []


@pytest.mark.parametrize(("side", "protocol"), [("random", "random_fold3"), ("chrono", "chrono")])
def test_a_class_absent_from_a_test_part_leaves_no_inflation_to_state(
    folds: list[Record], make_record: Any, side: str, protocol: str
) -> None:
    (whole,) = [r for r in folds if r["protocol"] == protocol]
    incomplete = make_record(protocol=protocol, f1=whole["metrics"]["f1"], absent=("rumour",))
    summary = summarise([incomplete if r is whole else r for r in folds])
    row = inflation(summary, "chrono")
    assert (row.comparable, row.points, row.test, row.p_value, row.significant) == (False, None, None, None, None)
    assert (row.random_mean, row.protocol_mean) == (pytest.approx(84.0), pytest.approx(66.0))
    assert not row.inflated
    assert any("no rumour post" in note for note in row.notes)
    assert any("no rumour post" in note for note in result(summary, side).notes)
    assert [entry["points"] for entry in summary.to_json()["inflation"]] == [None]


def test_a_class_of_few_test_posts_is_noted(folds: list[Record], make_record: Any) -> None:
    row = inflation(summarise([*folds[:-1], make_record(test_sizes={"rumour": 8})]), "chrono")
    assert row.comparable
    assert row.notes == ["only 8 rumour posts in the test part"]


def test_modified_data_is_noted_and_not_set_against_the_paper(folds: list[Record], make_record: Any) -> None:
    summary = summarise([make_record(protocol=r["protocol"], data="mine") for r in folds])
    assert "not the published data" in result(summary, "random").notes
    assert "not the published data" in inflation(summary, "chrono").notes
    assert {(r.paper_mean, r.paper_std, r.difference) for r in summary.results} == {(None, None, None)}
    assert result(summarise(folds), "chrono").paper_mean is not None


@pytest.mark.parametrize(
    ("random_scores", "chrono", "expected"),
    [
        ((0.85, 0.83, 0.84), 0.66, True),
        ((0.605, 0.606, 0.607), 0.6, False),  # certain, but small
        ((0.6095, 0.6096, 0.6097), 0.6, True),  # 0.96 points, printed as 1.0
        ((0.5, 0.9, 0.4), 0.55, False),  # large, but uncertain
        ((0.5, 0.51, 0.52), 0.6, False),  # lower
        ((0.7, 0.7, 0.7), 0.6, False),  # no test
    ],
)
def test_a_score_is_inflated_only_if_it_is_higher_by_a_point_and_significantly(
    make_record: Any, random_scores: tuple[float, ...], chrono: float, expected: bool
) -> None:
    records = [make_record(protocol=f"random_fold{k}", f1=f1) for k, f1 in enumerate(random_scores)]
    assert inflation(summarise([*records, make_record(f1=chrono)]), "chrono").inflated is expected


@pytest.mark.parametrize(
    "change", [{"settings": {"C": [1]}}, {"model_version": "2"}, {"data": "mine"}, {"classes": ("a", "b")}]
)
def test_variants_of_a_model_are_named_apart_and_not_averaged(
    folds: list[Record], make_record: Any, change: dict[str, Any]
) -> None:
    summary = summarise([*folds, make_record(protocol="chrono", f1=0.5, **change)])
    names = {r.model for r in summary.results}
    assert len(names) == 2
    assert all(name.startswith("lr@") and len(name) == len("lr@") + 6 for name in names)
    means = sorted(r.mean for r in summary.results if (r.protocol, r.metric) == ("chrono", "f1"))
    assert means == pytest.approx([50.0, 66.0])
    assert len(summary.inflation) == 1  # the variant has no random folds of its own
    paper = {r.paper_mean for r in summary.results if r.protocol == "chrono" and r.metric == "f1"}
    assert paper == ({63.9, None} if change == {"data": "mine"} else {63.9})


def test_variants_say_what_tells_them_apart_and_nothing_else(folds: list[Record], make_record: Any) -> None:
    other = make_record(protocol="chrono", settings={"C": [1], "ngrams": [1, 3]}, data="mine")
    found = sorted(runs.differs for runs in summarise([*folds, other]).runs)
    digests = [r["data_digest"][:8] for r in (folds[0], other)]
    assert found == [
        ["C = [0.1, 1, 10]", f"data {digests[0]} (as published)"],
        ["C = [1]", f"data {digests[1]} (not the published data)"],
    ]
    lacking = make_record(protocol="chrono", settings={"ngrams": [1, 3]})
    assert sorted(runs.differs for runs in summarise([*folds, lacking]).runs) == [["C = [0.1, 1, 10]"], ["no C"]]
    newer = make_record(protocol="chrono", model_version="2")
    versions = [["model version 1"], ["model version 2"]]
    assert sorted(runs.differs for runs in summarise([*folds, newer]).runs) == versions
    renamed = make_record(protocol="chrono", classes=("false", "true"))
    classes = [["classes false, true"], ["classes non-rumour, rumour"]]
    assert sorted(runs.differs for runs in summarise([*folds, renamed]).runs) == classes
    assert [runs.differs for runs in summarise(folds).runs] == [[]]


@pytest.mark.parametrize("seed", [0, 1])
def test_runs_on_different_splits_are_not_averaged(folds: list[Record], make_record: Any, seed: int) -> None:
    moved = make_record(protocol="chrono", seed=seed) | {"split_digest": "f" * 64, "key": "0" * 64}
    found = rf"pheme_temporal under chrono .*{folds[-1]['split_digest'][:8]} \(seed 0, .*: delete the older one"
    with pytest.raises(UserError, match=found) as error:
        summarise([*folds, moved])
    assert f"ffffffff (seed {seed}, record 000000000000)" in str(error.value)


def test_seeds_are_runs_of_one_mean(make_record: Any) -> None:
    f1 = [0.6, 0.62, 0.7]
    row = result(summarise([make_record(seed=seed, f1=x) for seed, x in enumerate(f1)]), "chrono")
    assert (row.model, row.n_runs) == ("lr", 3)
    assert row.mean == pytest.approx(64.0)


def test_each_split_is_listed_once_with_its_warnings(grid: list[Record]) -> None:
    splits = summarise(grid).splits
    assert len(splits) == len({(r["benchmark"], r["protocol"]) for r in grid})
    by_protocol = {(s.benchmark, s.protocol): s for s in splits}
    absent = by_protocol["twitter16_temporal", "chrono"]
    assert "no true post in the test part" in absent.warnings
    assert absent.sizes["test"]["true"] == 0
    assert any("newer than the first test post" in w for w in by_protocol["pheme_temporal", "random_fold0"].warnings)


def test_classes_that_were_renamed_have_splits_and_a_timeline_of_their_own(
    folds: list[Record], make_record: Any
) -> None:
    summary = summarise([*folds, make_record(protocol="chrono", classes=("false", "true"))])
    assert [list(t.counts) for t in summary.timelines] == [["false", "true"], ["non-rumour", "rumour"]]
    assert all(set(cuts) == set(t.counts) for t in summary.timelines for cuts in t.cuts.values())
    chrono = [list(split.sizes["test"]) for split in summary.splits if split.protocol == "chrono"]
    assert chrono == [["false", "true"], ["non-rumour", "rumour"]]


def test_timelines_collect_the_cuts_of_both_chronological_protocols(grid: list[Record]) -> None:
    timelines = {t.benchmark: t for t in summarise(grid).timelines}
    assert set(timelines) == {"pheme_temporal", "twitter16_temporal"}
    assert set(timelines["pheme_temporal"].cuts) == {"chrono", "chrono_stratified"}


def test_a_signature_tells_splits_data_and_seeds_apart(folds: list[Record], make_record: Any) -> None:
    signatures = [
        result(summarise([record]), "chrono").signature
        for record in (
            folds[-1],
            make_record(data="mine"),
            make_record(seed=1),
            make_record(model_version="2"),
            make_record(settings={"C": [1]}),
        )
    ]
    assert len(set(signatures)) == 5
    assert all("coverage:430/430" in signature for signature in signatures)
    shortened = make_record()
    shortened["predictions"] = {name: values[:100] for name, values in shortened["predictions"].items()}
    found = result(summarise([shortened]), "chrono")
    assert "coverage:100/430" in found.signature
    (note,) = (note for note in found.notes if "have a prediction" in note)
    assert note.startswith("100 of 430 test posts have a prediction; with all of them macro-F1 is from ")


def test_a_signature_names_the_score_that_it_stands_beside(folds: list[Record]) -> None:
    for row in summarise(folds).results:
        assert parse(row.signature)["metric"] == row.metric


def test_no_records_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"no run records.*temporal-rumors run"):
        summarise([])


def test_posts_left_out_are_noted_where_they_are_left_out(folds: list[Record], make_record: Any) -> None:
    summary = summarise([*folds, make_record(protocol="chrono", excluded=150)])
    (row,) = summary.inflation
    assert row.notes == ["150 posts without a time or event left out: other posts than under random folds"]


def test_what_reading_the_data_dropped_is_told(make_record: Any) -> None:
    remark = "1 row dropped, no text (line 7)"
    summary = summarise([make_record(protocol=p, data_remarks=(remark,)) for p in ("chrono", "random_fold0")])
    assert [runs.data_remarks for runs in summary.runs] == [[remark]]
    assert {tuple(row["data_remarks"]) for row in summary.to_json()["splits"]} == {(remark,)}


# Benchmarks of several tasks

VERACITY, STANCE = ("true", "false", "unverified"), ("support", "deny", "query", "comment")


def predicted(record: Record, rows: dict[str, tuple[int, int]]) -> Record:
    """A record with these predictions, id -> reference and prediction, and with what they make of its test part."""
    references, predictions = (list(column) for column in zip(*rows.values(), strict=True))
    n = len(record["classes"])
    score = f1_score(references, predictions, labels=range(n), average="macro", zero_division=0)
    split = record["split"] | {
        "sizes": record["split"]["sizes"]
        | {"test": {name: references.count(code) for code, name in enumerate(record["classes"])}},
        "absent": record["split"]["absent"]
        | {"test": [name for code, name in enumerate(record["classes"]) if code not in references]},
    }
    return record | {
        "split": split,
        "metrics": record["metrics"] | {"f1": score},
        "predictions": {"ids": list(rows), "references": references, "predictions": predictions},
    }


def events_and_folds(of_task: Any, seeds: tuple[int, ...] = (0,), n_events: int = 6) -> list[Record]:
    """60 posts under random folds and under leave-one-out, whose events hold one class each, but for the last."""
    records = []
    for seed in seeds:
        rng = random.Random(seed)
        references = {str(i): (i // 10 % 3 if i < 50 else i % 3) for i in range(60)}
        for protocol, parts in (
            ("random_fold{}", [[str(i) for i in range(60) if i % 5 == k] for k in range(5)]),
            ("loo_{}", [[str(i) for i in range(60) if i // 10 == k] for k in range(n_events)]),
        ):
            names = benchmarks.get("rumoureval2017").events if "loo" in protocol else range(5)
            for name, ids in zip(names, parts, strict=False):
                rows = {id: (references[id], references[id] if rng.random() < 0.6 else rng.randrange(3)) for id in ids}
                records.append(predicted(of_task("veracity", protocol.format(name), seed), rows))
    return records


def pooled_f1(records: list[Record], start: str, ids: set[str], seed: int = 0) -> float:
    """Macro-F1 in percent over the posts named, by scikit-learn."""
    rows = [
        row
        for record in records
        if record["protocol"].startswith(start) and record["seed"] == seed
        for row in zip(*(record["predictions"][n] for n in ("ids", "references", "predictions")), strict=True)
        if row[0] in ids
    ]
    assert len(rows) == len(ids)
    return 100 * f1_score([row[1] for row in rows], [row[2] for row in rows], average="macro")


def test_tasks_of_one_benchmark_are_told_apart(of_task: Any, make_record: Any) -> None:
    records = [
        *(of_task("veracity", f"random_fold{k}", f1=0.5 + 0.01 * k) for k in range(5)),
        *(of_task("stance", f"random_fold{k}", f1=0.4 + 0.01 * k) for k in range(5)),
        of_task("veracity", "official", f1=0.3),
        of_task("stance", "official", f1=0.35),
        make_record(),
    ]
    summary = summarise(records)
    assert summary.titles == {
        ("pheme_temporal", None): "PHEME",
        ("rumoureval2017", "stance"): "RumourEval 2017 stance",
        ("rumoureval2017", "veracity"): "RumourEval 2017 veracity",
    }
    f1 = {(r.task, r.protocol): r.mean for r in summary.results if r.metric == "f1"}
    assert f1 == {
        (None, "chrono"): pytest.approx(60.0),
        ("stance", "random"): pytest.approx(42.0),
        ("stance", "official"): pytest.approx(35.0),
        ("veracity", "random"): pytest.approx(52.0),
        ("veracity", "official"): pytest.approx(30.0),
    }
    assert [(r.task, r.points) for r in summary.inflation] == [
        ("stance", pytest.approx(7.0)),
        ("veracity", pytest.approx(22.0)),
    ]
    for rows in summary.to_json().values():
        assert {row["task"] for row in rows} == (
            {"stance", "veracity"} if "points" in rows[0] else {None, "stance", "veracity"}
        )
    assert [(s.task, list(s.sizes["test"])) for s in summary.splits if s.protocol == "official"] == [
        ("stance", list(STANCE)),
        ("veracity", list(VERACITY)),
    ]
    assert [(t.task, list(t.counts)) for t in summary.timelines] == [
        (None, ["non-rumour", "rumour"]),
        ("stance", list(STANCE)),
        ("veracity", list(VERACITY)),
    ]
    assert [(runs.benchmark, runs.task) for runs in summary.runs] == list(summary.titles)
    tasks = {r.signature: r.task for r in summary.results}
    assert all((f"task:{task}|" in signature) == (task is not None) for signature, task in tasks.items())


def test_runs_of_two_tasks_may_share_the_name_of_a_split(of_task: Any) -> None:
    records = [of_task(task, "official") for task in ("stance", "veracity")]
    assert len({record["split_digest"] for record in records}) == 2
    assert [(r.task, r.n_runs) for r in summarise(records).results if r.metric == "f1"] == [
        ("stance", 1),
        ("veracity", 1),
    ]


def test_the_official_split_stands_last_and_is_compared_with_random_folds(of_task: Any) -> None:
    protocols = ("official", "chrono", "loo_ferguson", *(f"random_fold{k}" for k in range(5)))
    summary = summarise([of_task("stance", p, f1=0.5 + 0.01 * i) for i, p in enumerate(protocols)])
    assert list(dict.fromkeys(r.protocol for r in summary.results)) == ["random", "chrono", "loo", "official"]
    assert [r.protocol for r in summary.inflation] == ["chrono", "loo", "official"]


def test_a_benchmark_with_official_scores_has_all_of_them_and_shows_its_own(of_task: Any, make_record: Any) -> None:
    summary = summarise([of_task("veracity", "official"), of_task("stance", "official"), make_record()])
    metrics: dict[Any, list[str]] = {}
    for row in summary.results:
        metrics.setdefault(row.subject, []).append(row.metric)
    macro = ["precision", "recall", "f1"]
    assert metrics == {
        ("pheme_temporal", None): macro,
        ("rumoureval2017", "stance"): [*macro, "accuracy"],
        ("rumoureval2017", "veracity"): [*macro, "accuracy", "balanced_accuracy", "confidence_rmse", "final_score"],
    }
    assert summary.metrics == {
        ("pheme_temporal", None): ("precision", "recall", "f1"),
        ("rumoureval2017", "stance"): ("accuracy", "f1"),
        ("rumoureval2017", "veracity"): ("accuracy", "f1", "confidence_rmse"),
    }
    rmse = next(r for r in summary.results if r.metric == "confidence_rmse")
    assert (rmse.mean, rmse.paper_mean) == (pytest.approx(80.0), None)


def test_records_of_a_task_that_is_not_known_here_are_reported_all_the_same(of_task: Any) -> None:
    record = of_task("stance", "official") | {"task": "sarcasm"}
    summary = summarise([record | {"key": run_key(record)}])
    assert summary.titles == {("rumoureval2017", "sarcasm"): "rumoureval2017 sarcasm"}
    assert summary.metrics == {("rumoureval2017", "sarcasm"): ("precision", "recall", "f1")}


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 2)])
def test_inflation_over_leave_one_out_is_that_of_pooled_predictions_where_single_events_lack_a_class(
    of_task: Any, seeds: tuple[int, ...]
) -> None:
    records = events_and_folds(of_task, seeds)
    row = inflation(summarise(records), "loo", "rumoureval2017")
    ids = {str(i) for i in range(60)}
    expected = [np.mean([pooled_f1(records, start, ids, seed) for seed in seeds]) for start in ("random_fold", "loo_")]
    assert row.comparable
    assert (row.random_mean, row.protocol_mean) == (pytest.approx(expected[0]), pytest.approx(expected[1]))
    assert row.points == pytest.approx(expected[0] - expected[1])
    assert (row.test, row.statistic, row.p_value, row.significant) == (None, None, None, None)
    assert row.pooled
    assert any(
        "compared by pooled predictions for the 60 posts that both kinds of test part hold" in note
        for note in row.notes
    )
    # The table's own row stays the mean over events, each with its absent classes as 0.
    means = [100 * r["metrics"]["f1"] for r in records if r["protocol"].startswith("loo_")]
    assert result(summarise(records), "loo").mean == pytest.approx(np.mean(means))
    assert abs(np.mean(means) - row.protocol_mean) > 5


def test_posts_that_only_one_side_predicts_are_left_out_of_the_pool(of_task: Any) -> None:
    records = [r for r in events_and_folds(of_task) if r["protocol"] != "random_fold3"]
    row = inflation(summarise(records), "loo", "rumoureval2017")
    ids = {str(i) for i in range(60) if i % 5 != 3}
    assert row.random_mean == pytest.approx(pooled_f1(records, "random_fold", ids))
    assert row.protocol_mean == pytest.approx(pooled_f1(records, "loo_", ids))
    assert any("for the 48 posts that both" in note for note in row.notes)


def test_every_seed_of_the_pool_is_of_the_same_posts(of_task: Any) -> None:
    records = events_and_folds(of_task, (0, 1))
    records = [r for r in records if (r["protocol"], r["seed"]) != ("random_fold3", 1)]
    row = inflation(summarise(records), "loo", "rumoureval2017")
    ids = {str(i) for i in range(60) if i % 5 != 3}
    for mean, start in ((row.random_mean, "random_fold"), (row.protocol_mean, "loo_")):
        assert mean == pytest.approx(np.mean([pooled_f1(records, start, ids, seed) for seed in (0, 1)]))
    assert any("for the 48 posts that both" in note for note in row.notes)


def test_pooled_predictions_that_lack_a_class_are_not_comparable(of_task: Any) -> None:
    # The first two events hold two of the three classes between them.
    records = events_and_folds(of_task, n_events=2)
    row = inflation(summarise(records), "loo", "rumoureval2017")
    assert (row.comparable, row.points, row.test, row.significant) == (False, None, None, None)
    assert not row.pooled
    assert not any("pooled" in note for note in row.notes)
    disjoint = [r for r in records if not r["protocol"].startswith("loo_")]
    disjoint.append(predicted(of_task("veracity", "loo_ferguson"), {"other": (0, 0)}))
    assert not inflation(summarise(disjoint), "loo", "rumoureval2017").comparable


def test_only_leave_one_out_is_pooled(of_task: Any) -> None:
    records = [r for r in events_and_folds(of_task) if r["protocol"].startswith("random")]
    rows = {str(i): (i % 2, 0) for i in range(20)}
    for protocol in ("chrono", "official"):
        row = inflation(
            summarise([*records, predicted(of_task("veracity", protocol), rows)]), protocol, "rumoureval2017"
        )
        assert (row.comparable, row.points) == (False, None)


def test_events_that_all_hold_every_class_are_tested_as_ever(of_task: Any) -> None:
    records = [r for r in events_and_folds(of_task) if r["protocol"].startswith("random")]
    for k, event in enumerate(benchmarks.get("rumoureval2017").events):
        rows = {str(i): (i % 3, (i + k) % 4 % 3) for i in range(60) if i % 9 != k}
        records.append(predicted(of_task("veracity", f"loo_{event}"), rows))
    row = inflation(summarise(records), "loo", "rumoureval2017")
    assert row.test == "welch"
    assert row.p_value is not None
    assert not row.pooled
    assert not any("pooled" in note for note in row.notes)


@pytest.mark.parametrize(("n_lacking", "told"), [(3, False), (4, True)])
def test_of_many_test_parts_that_lack_a_class_only_the_number_is_told(of_task: Any, n_lacking: int, told: bool) -> None:
    events = benchmarks.get("rumoureval2017").events
    records = [
        of_task("veracity", f"loo_{event}", absent=("true",) if i < n_lacking else ()) for i, event in enumerate(events)
    ]
    found = [note for note in result(summarise(records), "loo").notes if "absent class" in note]
    if told:
        assert found == ["4 of 9 test parts lack a class, and macro scores count an absent class as 0"]
    else:
        assert len(found) == 3
        assert found[0].startswith(f"no true post in the test part of loo_{events[0]}, and macro scores count")
