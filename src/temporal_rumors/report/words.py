"""How the report writes numbers and says what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED, LOO, OFFICIAL
from temporal_rumors.report.summary import ALPHA, LEAST_INFLATION, Inflation, Summary

PAPER = "Mu et al. 2023"
# Of a metric that is not here, its name in the records is shown.
_METRIC_NAMES = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "accuracy": "Acc",
    "confidence_rmse": "RMSE",
}
_METRICS_IN_FULL = {
    "precision": "macro precision",
    "recall": "macro recall",
    "f1": "macro-F1",
    "accuracy": "accuracy",
    "confidence_rmse": "confidence RMSE (the lower, the better)",
}
TESTS = {"welch": "Welch", "one-sample": "one-sample"}
NOT_COMPARABLE = "not comparable"
UNROUNDED = "Differences are computed from unrounded scores."
CAVEAT = (
    "p-values are on the small side: folds share training posts, and the one-sample test takes the single score as "
    "exact, although other test posts would give another (between equal systems it finds a difference three times in "
    "ten)."
)
POOLED = (
    "Pooled: of the predictions of all folds and of all events together, for the posts that both hold, since single "
    "events lack a class."
)
# More notes than this do not fit into a sentence.
_MANY_NOTES = 5
_TEST_PART = {
    CHRONO: "tested on the latest posts",
    CHRONO_STRATIFIED: "tested on the latest posts of each class",
    LOO: "tested on events left out of training",
    OFFICIAL: "the split of the shared task",
}


def heading(metric: str) -> str:
    """Return what a column of a metric is headed by."""
    return _METRIC_NAMES.get(metric, metric)


def named(metrics: Sequence[str]) -> str:
    """List metrics by their full names."""
    *first, last = (_METRICS_IN_FULL.get(metric, metric.replace("_", " ")) for metric in metrics)
    return f"{', '.join(first)} and {last}" if first else last


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
        return "pooled predictions, no test" if row.pooled else "no test"
    said, adjusted = p_value(row.p_value), p_value(row.p_holm)
    told = said if adjusted == said else f"{said} ({adjusted} after Holm)"
    return f"{told}, {TESTS[row.test]} t-test" + ("" if row.significant else ": not significant")


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
        f"On {summary.titles[row.subject]}, {row.model} scores {row.random_mean:.1f} macro-F1 under random folds and "
        f"{row.protocol_mean:.1f} under {row.protocol} ({_TEST_PART[row.protocol]})"
    )
    if row.points is None:
        return f"{start}; the two are {NOT_COMPARABLE}: {'; '.join(row.notes)}."
    points = round(row.points, 1)
    if not points:
        finding = "the two differ by less than 0.1 points"
    else:
        verb = "inflated" if row.inflated else "higher" if points > 0 else "lower"
        finding = f"the random score is {verb} by {abs(points):.1f} points"
    return f"{start}: {finding} ({evidence(row)}).{_caution(summary, [row])}"


def sentences(summary: Summary) -> list[str]:
    """Say in a sentence for each benchmark and model how far its random score is inflated."""
    groups = dict.fromkeys((row.subject, row.model) for row in summary.inflation)
    return [
        _first(summary, [row for row in summary.inflation if (row.subject, row.model) == group]) for group in groups
    ]


def headline(summary: Summary) -> list[str]:
    """Say in a few words for each model what its comparisons found."""
    if not any(row.comparable for row in summary.inflation):
        return [
            "These runs do not show how far random folds inflate scores: that takes runs under random folds and under "
            "another protocol, with every class in their test parts."
        ]
    told = []
    for model in dict.fromkeys(row.model for row in summary.inflation):
        rows = [row for row in summary.inflation if row.model == model]
        told.append((_first if len({row.subject for row in rows}) == 1 else _overall)(summary, rows))
    return told


def _first(summary: Summary, rows: Sequence[Inflation]) -> str:
    """Say what the first comparison found, that with the chronological split, or else the first that can be made."""
    return sentence(summary, next((row for row in rows if row.comparable), rows[0]))


def _overall(summary: Summary, rows: Sequence[Inflation]) -> str:
    """Say what the comparisons of one model found together."""
    model, compared = rows[0].model, [row for row in rows if row.comparable]
    points = [row.points for row in rows if row.points is not None]
    if not points:
        return f"{model}: all comparisons are left out as {NOT_COMPARABLE}."
    protocols = ", ".join(dict.fromkeys(row.protocol for row in compared))
    n_left_out = len(rows) - len(compared)
    left_out = f" Left out as {NOT_COMPARABLE}: {n_left_out}." if n_left_out else ""
    return (
        f"{model} scores a higher macro-F1 under random folds in {sum(round(p, 1) > 0 for p in points)} of "
        f"{len(points)} comparisons with other protocols ({protocols}); in "
        f"{sum(row.inflated for row in compared)} the score is inflated (by at least {LEAST_INFLATION:g} point, "
        f"p < {ALPHA} after Holm's adjustment). The difference runs from {signed(min(points))} to "
        f"{signed(max(points))} points, with a median "
        f"of {signed(median(points))}.{left_out}{_caution(summary, compared)}"
    )


def _caution(summary: Summary, rows: Sequence[Inflation]) -> str:
    """Gather the notes of comparisons; a note that not all of them have names those that do."""
    noted = by_note((f"{summary.titles[row.subject]} {row.protocol}", row.notes) for row in rows)
    told = [note if len(names) == len(rows) else f"{note} for {', '.join(names)}" for note, names in noted.items()]
    if len(told) > _MANY_NOTES:
        return " Caution: see the notes under the tables."
    return f" Caution: {'; '.join(told)}." if told else ""
