"""Tests of the difference between the scores of two groups of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from temporal_rumors.errors import UserError

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
