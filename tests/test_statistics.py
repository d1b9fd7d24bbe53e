"""The tests and intervals: what they compute, beside scipy where it has the test, and what they refuse."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from temporal_rumors.errors import UserError
from temporal_rumors.metrics.paired_test import scoring
from temporal_rumors.statistics import (
    Answers,
    approximate_randomisation,
    area_under_time,
    bootstrap_difference,
    bootstrap_score,
    compare_means,
    holm,
    macro_f1,
    mcnemar_exact,
)

score = st.floats(0, 100).map(lambda x: round(x, 3))
scores = st.lists(score, min_size=2, max_size=12).filter(lambda xs: max(xs) - min(xs) > 0.01)


def welch(a: list[float], b: list[float]) -> tuple[float, float]:
    """Welch's t and two-sided p, written out."""
    va, vb = np.var(a, ddof=1) / len(a), np.var(b, ddof=1) / len(b)
    t = (np.mean(a) - np.mean(b)) / math.sqrt(va + vb)
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return float(t), float(2 * stats.t.sf(abs(t), df))


@given(scores, scores)
def test_two_sides_that_vary_are_compared_by_welchs_test(a: list[float], b: list[float]) -> None:
    found = compare_means(a, b)
    t, p = welch(a, b)
    assert found.test == "welch"
    assert found.reason is None
    assert found.statistic == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(p, rel=1e-6, abs=1e-12)


@given(scores, score, st.integers(1, 5))
def test_a_side_without_variance_is_a_fixed_value_of_a_one_sample_test(a: list[float], b: float, n: int) -> None:
    found = compare_means(a, [b] * n)
    t = (np.mean(a) - b) / (np.std(a, ddof=1) / math.sqrt(len(a)))
    assert found.test == "one-sample"
    assert found.reason is not None
    assert "second" in found.reason
    assert found.statistic == pytest.approx(t, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), len(a) - 1), rel=1e-6, abs=1e-12)


@given(st.lists(score, min_size=1, max_size=8), st.lists(score, min_size=1, max_size=8))
def test_swapping_the_sides_turns_the_sign_and_keeps_the_p_value(a: list[float], b: list[float]) -> None:
    one, other = compare_means(a, b), compare_means(b, a)
    assert one.test == other.test
    if one.statistic is None or other.statistic is None:
        assert one == other or one.test is None
    else:
        assert one.statistic == pytest.approx(-other.statistic, abs=1e-9)
        assert one.p_value == pytest.approx(other.p_value)


@given(scores, scores)
def test_the_unit_of_the_scores_does_not_matter(a: list[float], b: list[float]) -> None:
    assume(abs(np.mean(a) - np.mean(b)) > 1e-3)
    percent = compare_means(a, b)
    fractions = compare_means([x / 100 for x in a], [x / 100 for x in b])
    assert percent.p_value == pytest.approx(fractions.p_value, rel=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([84.0], [65.8], "neither"),
        ([84.0, 84.0, 84.0], [65.8], "neither"),
        ([0.1 + 0.2, 0.3], [0.5], "neither"),
        ([0.0, 0.0], [0.0], "neither"),
        ([], [65.8, 66.0], "0 scores against 2"),
        ([65.8, 66.0], [], "2 scores against 0"),
    ],
)
def test_without_any_variance_or_scores_there_is_no_test_but_a_reason(
    a: list[float], b: list[float], words: str
) -> None:
    found = compare_means(a, b)
    assert (found.test, found.statistic, found.p_value) == (None, None, None)
    assert found.reason is not None
    assert words in found.reason


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_an_error(bad: float) -> None:
    with pytest.raises(UserError, match="finite"):
        compare_means([1.0, bad], [1.0, 2.0])


# Two systems on the same posts

K = 3


@st.composite
def two_systems(draw: st.DrawFn, max_size: int = 30) -> tuple[np.ndarray, ...]:
    """Return references, both systems' predictions and the clusters of a few posts."""
    post = st.tuples(*[st.integers(0, K - 1)] * 3, st.integers(0, 5))
    return tuple(np.array(draw(st.lists(post, min_size=1, max_size=max_size))).T)


def example(n: int, seed: int = 0, n_groups: int = 40) -> tuple[np.ndarray, ...]:
    """Return references, predictions of a better and a worse system, and clusters."""
    generator = np.random.default_rng(seed)
    references, groups = generator.integers(0, K, n), generator.integers(0, n_groups, n)
    first, second = (np.where(generator.random(n) < p, references, generator.integers(0, K, n)) for p in (0.8, 0.6))
    return references, first, second, groups


def by_sklearn(references: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None = None) -> float:
    return float(
        f1_score(references, predictions, average="macro", labels=range(K), sample_weight=weights, zero_division=0.0)
    )


@given(two_systems(), st.data())
def test_macro_f1_is_that_of_scikit_learn_weighted_or_not(data: tuple[np.ndarray, ...], choice: st.DataObject) -> None:
    references, predictions, _, groups = data
    assert macro_f1(references, predictions, K) == pytest.approx(by_sklearn(references, predictions), abs=1e-12)
    weights = np.array(
        choice.draw(
            st.lists(st.floats(0, 9), min_size=len(groups), max_size=len(groups)).filter(lambda w: sum(w) > 0.1)
        )
    )
    found = macro_f1(references, predictions, K, weights)
    assert found == pytest.approx(by_sklearn(references, predictions, weights), abs=1e-9)
    assert macro_f1(references, predictions, K, np.ones(len(groups))) == macro_f1(references, predictions, K)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_mcnemar_is_the_binomial_test_of_scipy(only_first: int, only_second: int, both: int) -> None:
    assume(only_first + only_second)
    first = np.array([True] * only_first + [False] * only_second + [True] * both)
    second = np.array([False] * only_first + [True] * only_second + [True] * both)
    expected = stats.binomtest(only_first, only_first + only_second).pvalue
    assert mcnemar_exact(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar_exact(second, first) == mcnemar_exact(first, second)


@given(st.lists(st.booleans(), min_size=1))
def test_mcnemar_without_disagreements_is_1(right: list[bool]) -> None:
    assert mcnemar_exact(np.array(right), np.array(right)) == 1.0


@given(two_systems(max_size=9))
@settings(max_examples=40)
def test_exact_randomisation_is_the_permutation_test_of_scipy(data: tuple[np.ndarray, ...]) -> None:
    references, first, second, _ = data
    assume(len(references) > 1)

    def statistic(one: np.ndarray, other: np.ndarray) -> float:
        # Rounded: scipy compares what it finds to within a share of it, which is no tolerance where that is near 0.
        return round(abs(macro_f1(references, one, K) - macro_f1(references, other, K)), 9)

    expected = stats.permutation_test(
        (first, second), statistic, permutation_type="samples", alternative="greater", n_resamples=2**10
    )
    assert approximate_randomisation(references, first, second, K) == pytest.approx(expected.pvalue, abs=1e-9)


@given(two_systems(max_size=20))
def test_exact_randomisation_swaps_whole_clusters(data: tuple[np.ndarray, ...]) -> None:
    references, first, second, groups = data
    clusters = np.unique(groups)
    found = abs(macro_f1(references, first, K) - macro_f1(references, second, K))
    large = []
    for swaps in itertools.product([False, True], repeat=len(clusters)):
        swapped = np.isin(groups, clusters[list(swaps)])
        one, other = np.where(swapped, second, first), np.where(swapped, first, second)
        large.append(abs(macro_f1(references, one, K) - macro_f1(references, other, K)) >= found - 1e-9)
    assert approximate_randomisation(references, first, second, K, groups) == pytest.approx(np.mean(large), abs=1e-9)


@pytest.mark.parametrize("by_cluster", [False, True])
def test_random_swaps_come_near_to_going_through_all(by_cluster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    references, first, second, groups = example(24, seed=3, n_groups=12)
    arguments = references, first, second, K, groups if by_cluster else None
    exact = approximate_randomisation(*arguments)
    assert 0.02 < exact < 0.9
    monkeypatch.setattr(scoring, "_ENUMERATED", 1)
    n = 40_000
    random = approximate_randomisation(*arguments, n_swaps=n)
    assert random != exact
    assert random == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / n))
    assert approximate_randomisation(*arguments, n_swaps=n) == random
    assert approximate_randomisation(*arguments, n_swaps=n, seed=1) != random


@pytest.mark.parametrize("limit", [1, 1 << 17])
def test_identical_systems_have_p_1_and_an_interval_of_0(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_ENUMERATED", limit)
    references, first, _, groups = example(500)
    assert approximate_randomisation(references, first, first, K) == 1.0
    assert approximate_randomisation(references, first, first, K, groups) == 1.0
    interval = bootstrap_difference(Answers(references, first, groups), Answers(references, first, groups), K)
    assert (interval.estimate, interval.low, interval.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("limit", [1, 1 << 17])
def test_systems_that_differ_but_score_the_same_have_p_1(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "_ENUMERATED", limit)
    references = np.zeros(10, dtype=int)
    first, second = np.array([1, 0] * 5), np.array([0, 1] * 5)
    assert approximate_randomisation(references, first, second, 2) == 1.0


def test_the_smallest_p_of_random_swaps_is_one_in_their_number() -> None:
    references = np.arange(300) % 2
    assert approximate_randomisation(references, references, 1 - references, 2, n_swaps=99) > 0
    references, first, second, _ = example(600)
    assert approximate_randomisation(references, first, second, K, n_swaps=99) == pytest.approx(0.01)


# Intervals


def reference_bootstrap(sides: list[Answers], n_resamples: int) -> np.ndarray:
    """Return replicates of the difference, drawing posts cluster by cluster as the definition says."""
    generator = np.random.default_rng(5)
    clusters = np.unique(np.concatenate([side.groups for side in sides]))
    found = []
    for _ in range(n_resamples):
        times = np.bincount(generator.integers(0, len(clusters), len(clusters)), minlength=len(clusters))
        scores = []
        for side in sides:
            rows = np.repeat(np.arange(len(side.groups)), times[np.searchsorted(clusters, side.groups)])
            scores.append(macro_f1(side.references[rows], side.predictions[rows], K) if len(rows) else 0.0)
        found.append(scores[0] - scores[1])
    return np.array(found)


def test_an_interval_holds_the_percentiles_of_a_plain_bootstrap_widened_as_t_is() -> None:
    references, first, second, groups = example(200, n_groups=15)
    here = groups > 4  # the second system is tested on some of the posts
    sides = [Answers(references, first, groups), Answers(references[here], second[here], groups[here])]
    found = bootstrap_difference(*sides, K, n_resamples=8000)
    plain = reference_bootstrap(sides, 4000)
    tail = stats.norm.cdf(math.sqrt(15 / 14) * stats.t.ppf(0.025, 14))
    assert tail < 0.02
    assert [found.low, found.high] == pytest.approx(np.quantile(plain, [tail, 1 - tail]), abs=0.012)
    assert found.estimate == macro_f1(references, first, K) - macro_f1(references[here], second[here], K)
    assert (found.level, found.n_groups) == (0.95, 15)


@given(two_systems(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_neither_the_order_of_posts_nor_the_numbers_of_clusters_matter(
    data: tuple[np.ndarray, ...], random: object
) -> None:
    references, first, second, groups = data
    assume(len(np.unique(groups)) > 1)
    order = np.random.default_rng(random.getrandbits(32)).permutation(len(references))  # type: ignore[attr-defined]
    names = np.array([7, -3, 2**40, 0, 99, 5])
    one = bootstrap_difference(Answers(references, first, groups), Answers(references, second, groups), K)
    references, first, second, groups = references[order], first[order], second[order], names[groups[order]]
    assert bootstrap_difference(Answers(references, first, groups), Answers(references, second, groups), K) == one


def test_swapping_the_systems_mirrors_the_interval() -> None:
    references, first, second, groups = example(300)
    sides = Answers(references, first, groups), Answers(references, second, groups)
    one, other = bootstrap_difference(*sides, K), bootstrap_difference(*reversed(sides), K)
    assert (one.estimate, one.low, one.high) == pytest.approx((-other.estimate, -other.high, -other.low), abs=0.01)


def test_a_seed_gives_the_same_bytes_in_any_process() -> None:
    code = """
import numpy as np
from temporal_rumors.statistics import Answers, bootstrap_difference
rows = np.arange(60)
print(bootstrap_difference(Answers(rows % 2, rows % 3 % 2, rows % 11), Answers(rows % 2, rows % 5 % 2, rows % 11), 2))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] != ""


def test_blocks_do_not_change_an_interval_or_p(monkeypatch: pytest.MonkeyPatch) -> None:
    references, first, second, groups = example(400)
    sides = Answers(references, first, groups), Answers(references, second, groups)
    whole = bootstrap_difference(*sides, K)
    swaps = [approximate_randomisation(references, first, second, K, g, n_swaps=500) for g in (None, groups)]
    monkeypatch.setattr(scoring, "_CELLS", 1000)
    assert bootstrap_difference(*sides, K) == whole
    assert [approximate_randomisation(references, first, second, K, g, n_swaps=500) for g in (None, groups)] == swaps


def test_posts_without_groups_are_each_their_own() -> None:
    references, first, second, _ = example(150)
    rows = np.arange(150)
    alone = bootstrap_difference(Answers(references, first), Answers(references, second), K)
    assert alone == bootstrap_difference(Answers(references, first, rows), Answers(references, second, rows), K)
    assert alone.n_groups == 150


def test_copies_in_one_cluster_add_nothing() -> None:
    references, first, second, _ = example(100)
    rows = np.tile(np.arange(100), 4)
    once = bootstrap_difference(Answers(references, first), Answers(references, second), K)
    copied = Answers(references[rows], first[rows], rows), Answers(references[rows], second[rows], rows)
    clustered = bootstrap_difference(*copied, K)
    assert (clustered.low, clustered.high) == pytest.approx((once.low, once.high), abs=0.02)
    naive = bootstrap_difference(*(side._replace(groups=None) for side in copied), K)
    assert naive.high - naive.low < 0.6 * (clustered.high - clustered.low)


def test_a_higher_level_is_wider_and_the_estimate_stays() -> None:
    references, first, _, groups = example(300)
    narrow, wide = (bootstrap_score(Answers(references, first, groups), K, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high
    assert narrow.estimate == wide.estimate == macro_f1(references, first, K)


def test_the_score_of_several_parts_is_their_mean() -> None:
    references, first, second, groups = example(300)
    parts = np.arange(300) % 5 * 10
    found = bootstrap_score(Answers(references, first, groups, parts), K)
    folds = [macro_f1(references[parts == part], first[parts == part], K) for part in np.unique(parts)]
    assert found.estimate == pytest.approx(np.mean(folds))
    assert found.low < found.estimate < found.high
    difference = bootstrap_difference(Answers(references, first, groups, parts), Answers(references, second, groups), K)
    assert difference.estimate == pytest.approx(np.mean(folds) - macro_f1(references, second, K))


def test_class_weights_count_a_post_so_many_times() -> None:
    references, first, _, groups = example(300)
    twice = np.concatenate([np.arange(300), np.flatnonzero(references == 1)])
    weighted = bootstrap_score(Answers(references, first, groups, class_weights=np.array([1.0, 2.0, 1.0])), K)
    repeated = bootstrap_score(Answers(references[twice], first[twice], groups[twice]), K)
    assert weighted.estimate == pytest.approx(repeated.estimate)
    assert (weighted.low, weighted.high) == pytest.approx((repeated.low, repeated.high), abs=0.02)


# What is refused

CODES = np.array([0, 1, 2, 1])
RIGHT = np.array([True, False, True, True])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: macro_f1(CODES[:0], CODES[:0], K), "no posts"),
        (lambda: macro_f1(CODES, CODES[:3], K), "predictions: found 3, expected 4"),
        (lambda: macro_f1(CODES, CODES, 2), "references: found classes 0 to 2, expected 0 to 1"),
        (lambda: macro_f1(CODES, CODES - 1, K), "predictions: found classes -1 to 1"),
        (lambda: macro_f1(CODES, CODES.astype(float), K), "predictions: found float64"),
        (lambda: macro_f1(CODES, np.array([0, 1, np.nan, 1]), K), "predictions: found float64"),
        (lambda: macro_f1(CODES, CODES, K, np.array([1, np.nan, 1, 1])), "weights: .*NaN"),
        (lambda: macro_f1(CODES, CODES, K, np.array([1, -1, 1, 1])), "weights: .*negative"),
        (lambda: macro_f1(CODES, CODES, K, np.ones(3)), "weights: found shape"),
        (lambda: bootstrap_score(Answers(CODES, CODES, np.zeros(4, dtype=int)), K), "all posts are in one cluster"),
        (lambda: bootstrap_score(Answers(CODES[:0], CODES[:0]), K), "no posts"),
        (lambda: bootstrap_score(Answers(CODES, CODES, CODES[:2]), K), "groups: found 2, expected 4"),
        (lambda: bootstrap_score(Answers(CODES, CODES, CODES * 0.5), K), "groups: found float64"),
        (lambda: bootstrap_score(Answers(CODES, CODES, CODES, CODES[:2]), K), "parts: found 2"),
        (lambda: bootstrap_score(Answers(CODES, CODES, class_weights=np.ones(2)), K), "class_weights: found shape"),
        (lambda: bootstrap_score(Answers(CODES, CODES), K, level=1.0), "level is 1.0"),
        (lambda: bootstrap_score(Answers(CODES, CODES), K, n_resamples=0), "n_resamples is 0"),
        (lambda: bootstrap_score(Answers(CODES, CODES), K, seed=-1), "seed is -1"),
        (lambda: bootstrap_difference(Answers(CODES, CODES), Answers(CODES, CODES[:1]), K), "predictions: found 1"),
        (lambda: approximate_randomisation(CODES, CODES, CODES[:1], K), "second: found 1, expected 4"),
        (lambda: approximate_randomisation(CODES, CODES, CODES, K, CODES[:1]), "groups: found 1"),
        (lambda: approximate_randomisation(CODES, CODES, CODES, K, n_swaps=True), "n_swaps is True"),
        (lambda: approximate_randomisation(CODES[:0], CODES[:0], CODES[:0], K), "no posts"),
        (lambda: mcnemar_exact(RIGHT, RIGHT[:1]), "4 posts, second_right 1"),
        (lambda: mcnemar_exact(CODES, RIGHT), "first_right: found int64"),
        (lambda: mcnemar_exact(RIGHT[:0], RIGHT[:0]), "no posts"),
        (lambda: holm([0.1, 1.5]), "from 0 to 1, found 1.5"),
        (lambda: holm([0.1, float("nan")]), "from 0 to 1, found nan"),
        (lambda: area_under_time([0.5]), "at least two"),
        (lambda: area_under_time([0.5, float("nan")]), "finite"),
    ],
    ids=range(30),
)
def test_what_cannot_be_tested_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


# Many tests, and time

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values, st.randoms(use_true_random=False))
def test_holm_steps_down_whatever_the_order(p: list[float], random: object) -> None:
    adjusted = holm(p)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, (len(p) - rank) * p[i])
        assert adjusted[i] == pytest.approx(min(1, largest))
    order = list(range(len(p)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert holm([p[i] for i in order]) == pytest.approx(adjusted[order])


@given(p_values)
def test_holm_rejects_no_less_than_bonferroni_and_no_more_than_no_correction(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, np.array(p) * len(p))).all()


def test_holm_of_no_tests_is_empty() -> None:
    assert len(holm([])) == 0


@given(st.lists(st.floats(0, 100), min_size=2, max_size=20))
def test_area_under_time_is_the_trapezoid_rule_over_its_length(scores: list[float]) -> None:
    expected = np.interp(np.linspace(0, len(scores) - 1, 100 * (len(scores) - 1) + 1), np.arange(len(scores)), scores)
    assert area_under_time(scores) == pytest.approx((expected[:-1] + expected[1:]).mean() / 2, abs=1e-9)
    assert min(scores) - 1e-9 <= area_under_time(scores) <= max(scores) + 1e-9
    assert area_under_time(scores[::-1]) == pytest.approx(area_under_time(scores))
