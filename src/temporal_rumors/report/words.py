"""How the report writes numbers and says what it found."""

from __future__ import annotations

from statistics import median

from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED
from temporal_rumors.report.summary import LOO, RANDOM, Inflation, Summary

PAPER = "Mu et al. 2023"
STRATEGIES = {
    RANDOM: "Random",
    CHRONO: "Standard chronological",
    CHRONO_STRATIFIED: "Stratified chronological",
    LOO: "Leave-one-out",
}
METRIC_NAMES = {"precision": "P", "recall": "R", "f1": "F1"}
TESTS = {"welch": "Welch's t-test", "one-sample": "one-sample t-test"}
_TEST_PART = {
    CHRONO: "on tomorrow's posts",
    CHRONO_STRATIFIED: "on the latest posts of each class",
    LOO: "on events left out of training",
}


def score(mean: float | None, std: float | None) -> str:
    """Write a mean and its standard deviation; nothing for None."""
    if mean is None:
        return ""
    return f"{mean:.1f}" if std is None else f"{mean:.1f} ± {std:.1f}"


def signed(points: float | None) -> str:
    """Write a difference with its sign; nothing for None."""
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    return "" if points is None else f"{round(points, 1) + 0.0:+.1f}"


def p_value(p: float | None) -> str:
    """Write a p-value to two digits; nothing for None."""
    if p is None:
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def sentence(summary: Summary, row: Inflation) -> str:
    """Say what one comparison with random folds found."""
    start = (
        f"Under random folds {row.model} scores {row.random_mean:.1f} macro-F1 on {summary.titles[row.benchmark]}; "
        f"{_TEST_PART[row.protocol]} {row.protocol_mean:.1f}"
    )
    if not row.comparable:
        return f"{start}. The two are not comparable: {row.note}."
    if row.test is None:
        evidence = "no significance test: neither side's scores vary"
    else:
        evidence = f"{p_value(row.p_value)}, {TESTS[row.test]}" + ("" if row.significant else ": not significant")
    size = f"{abs(row.points):.1f} points"
    verb = f"inflated by {size}" if row.points >= 0 else f"not inflated, but {size} lower"
    caution = f" Caution: {row.note}." if row.note and row.test else ""
    return f"{start}: the random score is {verb} ({evidence}).{caution}"


def answers(summary: Summary) -> list[str]:
    """Say in a sentence for each benchmark and model how far its random score is inflated.

    The comparison is with the chronological split, or, where that is missing or not comparable, the next protocol.
    """
    chosen: dict[tuple[str, str], Inflation] = {}
    for row in sorted(summary.inflation, key=lambda r: not r.comparable):
        chosen.setdefault((row.benchmark, row.model), row)
    rows = [row for row in summary.inflation if chosen[row.benchmark, row.model] is row]
    return [sentence(summary, row) for row in rows]


def answer(summary: Summary) -> str:
    """Say in a few words what all comparisons found."""
    rows = [row for row in summary.inflation if row.comparable]
    if not rows:
        return (
            "These runs do not show how far random folds inflate scores: that takes runs under random folds and under "
            "another protocol, with every class in their test parts."
        )
    if len({(row.benchmark, row.model) for row in summary.inflation}) == 1:
        return answers(summary)[0]
    points = [row.points for row in rows]
    higher = sum(p > 0 for p in points)
    significant = sum(bool(row.significant) and row.points > 0 for row in rows)
    return (
        f"Random folds give a higher macro-F1 than splits that keep later posts or whole events apart in {higher} of "
        f"{len(rows)} comparisons, {significant} of them significantly (p < 0.05). The inflation runs from "
        f"{min(points):.1f} to {max(points):.1f} points, with a median of {median(points):.1f}."
    )
