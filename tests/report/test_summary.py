"""What summarise makes of run records: means, the paper's values, inflation, notes, and its order."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors import benchmark as benchmarks
from temporal_rumors.errors import UserError
from temporal_rumors.report import summarise
from temporal_rumors.report.summary import Inflation, Result, Summary
from temporal_rumors.statistics import compare_means

Record = dict[str, Any]

RESULT_KEYS = {
    *("benchmark", "protocol", "model", "metric", "mean", "std", "n_runs", "paper_mean", "paper_std"),
    *("difference", "notes"),
}
INFLATION_KEYS = {
    *("benchmark", "model", "protocol", "points", "p_value", "test", "metric"),
    *("random_mean", "protocol_mean", "significant", "comparable", "notes"),
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
    assert all({"benchmark", "protocol", "sizes", "split_digest", "warnings"} <= set(row) for row in found["splits"])
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
    folds: list[Record], side: str, protocol: str
) -> None:
    (incomplete,) = [r for r in folds if r["protocol"] == protocol]
    incomplete["split"]["sizes"]["test"]["rumour"] = 0
    incomplete["split"]["absent"]["test"] = ["rumour"]
    summary = summarise(folds)
    row = inflation(summary, "chrono")
    assert (row.comparable, row.points, row.test, row.p_value, row.significant) == (False, None, None, None, None)
    assert (row.random_mean, row.protocol_mean) == (pytest.approx(84.0), pytest.approx(66.0))
    assert not row.inflated
    assert any("no rumour post" in note for note in row.notes)
    assert any("no rumour post" in note for note in result(summary, side).notes)
    assert [entry["points"] for entry in summary.to_json()["inflation"]] == [None]


def test_a_class_of_few_test_posts_is_noted(folds: list[Record]) -> None:
    folds[-1]["split"]["sizes"]["test"]["rumour"] = 8
    row = inflation(summarise(folds), "chrono")
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
    shortened["predictions"]["ids"] = shortened["predictions"]["ids"][:100]
    assert "coverage:100/430" in result(summarise([shortened]), "chrono").signature


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
