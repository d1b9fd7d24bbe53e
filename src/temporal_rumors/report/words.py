"""How the report writes numbers and says what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED
from temporal_rumors.report.summary import ALPHA, LEAST_INFLATION, LOO, Inflation, Summary

PAPER = "Mu et al. 2023"
METRIC_NAMES = {"precision": "P", "recall": "R", "f1": "F1"}
TESTS = {"welch": "Welch", "one-sample": "one-sample"}
NOT_COMPARABLE = "not comparable"
UNROUNDED = "Differences are computed from unrounded scores."
CAVEAT = (
    "p-values are on the small side: folds share training posts, and the one-sample test takes the single score as "
    "exact, although other test posts would give another."
)
_TEST_PART = {
    CHRONO: "tested on the latest posts",
    CHRONO_STRATIFIED: "tested on the latest posts of each class",
    LOO: "tested on events left out of training",
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


def evidence(row: Inflation) -> str:
    """Say how sure a difference is."""
    if row.test is None:
        return "no test"
    return f"{p_value(row.p_value)}, {TESTS[row.test]} t-test" + ("" if row.significant else ": not significant")


def by_note(noted: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Turn pairs of a name and its notes into note -> names."""
    names: dict[str, list[str]] = {}
    for name, notes in noted:
        for note in notes:
            names.setdefault(note, []).append(name)
    return names


def sentence(summary: Summary, row: Inflation) -> str:
    """Say what one comparison with random folds found."""
    start = (
        f"On {summary.titles[row.benchmark]}, {row.model} scores {row.random_mean:.1f} macro-F1 under random folds and "
        f"{row.protocol_mean:.1f} under {row.protocol} ({_TEST_PART[row.protocol]})"
    )
    if row.points is None:
        return f"{start}; the two are {NOT_COMPARABLE}: {'; '.join(row.notes)}."
    points = round(row.points, 1)
    if not points:
        finding = "the random score is as high"
    else:
        verb = "inflated" if row.inflated else "higher" if points > 0 else "lower"
        finding = f"the random score is {verb} by {abs(points):.1f} points"
    return f"{start}: {finding} ({evidence(row)}).{_caution(summary, [row])}"


def sentences(summary: Summary) -> list[str]:
    """Say in a sentence for each benchmark and model how far its random score is inflated.

    The comparison is with the chronological split, or, where that is missing or not comparable, the next protocol.
    """
    chosen: dict[tuple[str, str], Inflation] = {}
    for row in sorted(summary.inflation, key=lambda r: not r.comparable):
        chosen.setdefault((row.benchmark, row.model), row)
    rows = [row for row in summary.inflation if chosen[row.benchmark, row.model] is row]
    return [sentence(summary, row) for row in rows]


def headline(summary: Summary) -> list[str]:
    """Say in a few words for each model what all its comparisons found."""
    if not any(row.comparable for row in summary.inflation):
        return [
            "These runs do not show how far random folds inflate scores: that takes runs under random folds and under "
            "another protocol, with every class in their test parts."
        ]
    if len({row.benchmark for row in summary.inflation}) == 1:
        return sentences(summary)
    models = dict.fromkeys(row.model for row in summary.inflation)
    return [_overall(summary, model, [row for row in summary.inflation if row.model == model]) for model in models]


def _overall(summary: Summary, model: str, rows: Sequence[Inflation]) -> str:
    """Say what the comparisons of one model found together."""
    compared = [row for row in rows if row.points is not None]
    n_left_out = len(rows) - len(compared)
    left_out = f" {_count(n_left_out)} left out as {NOT_COMPARABLE}." if n_left_out else ""
    if not compared:
        return f"{model}:{left_out}"
    points = [row.points for row in compared if row.points is not None]
    higher = sum(round(p, 1) > 0 for p in points)
    protocols = ", ".join(dict.fromkeys(row.protocol for row in compared))
    return (
        f"{model}: random folds give a higher macro-F1 than other protocols ({protocols}) in {higher} of "
        f"{_comparisons(len(compared))}, and one that is inflated by {LEAST_INFLATION:g} point or more with "
        f"p < {ALPHA} in {sum(row.inflated for row in compared)}. The difference runs from {signed(min(points))} to "
        f"{signed(max(points))} points, with a median of {signed(median(points))}.{left_out}"
        f"{_caution(summary, compared)}"
    )


def _comparisons(n: int) -> str:
    return f"{n} comparison{'' if n == 1 else 's'}"


def _count(n: int) -> str:
    return f"{_comparisons(n)} {'is' if n == 1 else 'are'}"


def _caution(summary: Summary, rows: Sequence[Inflation]) -> str:
    """Gather the notes of comparisons; a note that not all of them have names those that do."""
    noted = by_note((f"{summary.titles[row.benchmark]} {row.protocol}", row.notes) for row in rows)
    told = [note if len(names) == len(rows) else f"{note} ({', '.join(names)})" for note, names in noted.items()]
    return f" Caution: {'; '.join(told)}." if told else ""
