"""The t-tests: what they compute, when each is used, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from temporal_rumors.errors import UserError
from temporal_rumors.statistics import compare_means

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
