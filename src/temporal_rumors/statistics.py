"""Tests and intervals of scores and their differences, and the area under scores over time.

Two groups of runs are compared by `compare_means`; the answers of two systems by the others, which the `paired_test`
module offers too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from temporal_rumors.errors import UserError
from temporal_rumors.metrics.paired_test.scoring import (
    Answers,
    Interval,
    approximate_randomisation,
    bootstrap_difference,
    bootstrap_score,
    macro_f1,
    mcnemar_exact,
)

__all__ = [
    "Answers",
    "Comparison",
    "Interval",
    "approximate_randomisation",
    "area_under_time",
    "bootstrap_difference",
    "bootstrap_score",
    "compare_means",
    "holm",
    "macro_f1",
    "mcnemar_exact",
]

# Scores of equal predictions may differ by rounding; a spread below this share of the scores is none.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A two-sided test of equal means.

    Attributes:
        test: "welch", "one-sample", or None where no test is possible.
        statistic: Student's t, positive where the first mean is the larger.
        p_value: two-sided.
        reason: why not Welch's test; None where it was used.
    """

    test: Literal["welch", "one-sample"] | None
    statistic: float | None
    p_value: float | None
    reason: str | None


def compare_means(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> Comparison:
    """Test whether two groups of scores have the same mean.

    Welch's t-test; where the scores of one side do not vary (one run, or a deterministic model on one split),
    a one-sample t-test of the other side against that value; where neither side varies, none.

    Args:
        a: (n,) scores in any one unit.
        b: (m,) scores in the same unit; m may differ from n.

    Returns:
        The test that was made, or why none could be.

    Raises:
        UserError: a score that is not finite.

    Source: Mu et al. 2023, section 3 (t-test over folds and seeds).
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UserError("scores to compare must be finite numbers, found NaN or infinity")
    if not (len(first) and len(second)):
        return Comparison(None, None, None, f"no test: {len(first)} scores against {len(second)}")
    vary = _varies(first), _varies(second)
    if not any(vary):
        return Comparison(
            None, None, None, f"no test: neither side's scores vary ({len(first)} against {len(second)} runs)"
        )
    from scipy import stats

    if all(vary):
        result = stats.ttest_ind(first, second, equal_var=False)
        return Comparison("welch", float(result.statistic), float(result.pvalue), None)
    varying, fixed, sign, which = (first, second, 1, "second") if vary[0] else (second, first, -1, "first")
    result = stats.ttest_1samp(varying, fixed.min())
    reason = f"the {which} side's scores do not vary, so the other's are tested against that value"
    return Comparison("one-sample", sign * float(result.statistic), float(result.pvalue), reason)


def _varies(scores: np.ndarray) -> bool:
    return bool(np.ptp(scores) > _ROUNDING * np.abs(scores).max())


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Adjust the p-values of a family of tests, so that all those below 0.05 are false in 5% of families at most.

    Args:
        p_values: (m,) from 0 to 1; of tests that may depend on each other.

    Returns:
        (m,) float64 adjusted p-values, in the same order, none smaller than before.

    Raises:
        UserError: a p-value that is not from 0 to 1.

    Source: Holm 1979.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise UserError(f"p-values must be from 0 to 1, found {p[~((p >= 0) & (p <= 1))][0]}")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def area_under_time(scores: Sequence[float] | np.ndarray) -> float:
    """Return the area under the scores of equal steps of time (AUT), divided by its length.

    Args:
        scores: (n,) scores of n >= 2 successive spans of time, in any one unit.

    Returns:
        The area in the same unit: that of scores that do not change is the score.

    Raises:
        UserError: fewer than two scores, or one that is not finite.

    Source: Pendlebury et al. 2019 (TESSERACT), the metric AUT.
    """
    found = np.asarray(scores, dtype=np.float64)
    if found.ndim != 1 or len(found) < 2:
        raise UserError(f"an area under time takes the scores of at least two spans of time, found {found.size}")
    if not np.isfinite(found).all():
        raise UserError("scores over time must be finite numbers, found NaN or infinity")
    return float((found[:-1] + found[1:]).mean() / 2)
