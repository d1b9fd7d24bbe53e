"""How an explanation is laid out, for the terminal and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from temporal_rumors.audit.decomposition import Decomposition
from temporal_rumors.audit.explain import Explanation, OverTime, Row
from temporal_rumors.audit.scored import LEVEL, Interval
from temporal_rumors.templates import template

if TYPE_CHECKING:
    from rich.console import RenderableType

_TEMPLATE = Path(__file__).with_name("explain.html.jinja")


def tables(explanation: Explanation) -> list[RenderableType]:
    """Lay out an explanation for the terminal, in 80 columns.

    Args:
        explanation: from :func:`explain`.

    Returns:
        What rich prints, in order.
    """
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    def table(columns: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1) -> RenderableType:
        laid_out = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for i, column in enumerate(columns):
            laid_out.add_column(column, justify="left" if i < n_left else "right", no_wrap=i >= n_left)
        for cells in rows:
            laid_out.add_row(*(Text(cell) for cell in cells))
        return laid_out

    blocks: list[RenderableType] = []
    for row in explanation.rows:
        blocks.append(Text(head(row), style="bold"))
        blocks.append(Text(_sizes(row)))
        blocks.append(table(EFFECT_COLUMNS, _effect_rows(row)))
        blocks += [Padding(Text(line), (0, 0, 0, 2)) for line in _test_lines(row)]
        for found in row.decompositions:
            blocks.append(Text(f"\n{_caption(row, found)}"))
            blocks.append(table(PART_COLUMNS, _part_rows(row, found)))
        if row.over_time:
            blocks.append(Text(f"\n{_area(row, row.over_time)}"))
            blocks.append(table(BIN_COLUMNS, _bin_rows(row.over_time), n_left=2))
        blocks += [Padding(Text(f"* {note}"), (0, 0, 0, 2)) for note in row.notes]
        blocks.append(Text(""))
    if len(explanation.rows) > 1:
        blocks += [Text("In short, in points", style="bold"), table(SUMMARY_COLUMNS, map(_summary, explanation.rows))]
    return [*blocks, Text(_reading(explanation)), *(Text(line) for line in explanation.left_out)]


def section(explanation: Explanation) -> str:
    """Return an explanation as an HTML section, a part of a page; names are escaped.

    Args:
        explanation: from :func:`explain`.
    """
    shown = [
        {
            "head": head(row),
            "sizes": _sizes(row),
            "effects": _effect_rows(row),
            "tests": _test_lines(row),
            "decompositions": [(_caption(row, found), _part_rows(row, found)) for found in row.decompositions],
            "over_time": row.over_time and (_area(row, row.over_time), _bin_rows(row.over_time)),
            "notes": row.notes,
            "signatures": [row.random_signature, row.protocol_signature],
        }
        for row in explanation.rows
    ]
    return template(_TEMPLATE).render(
        rows=shown,
        summary=list(map(_summary, explanation.rows)),
        reading=_reading(explanation),
        left_out=explanation.left_out,
        columns={"effects": EFFECT_COLUMNS, "parts": PART_COLUMNS, "bins": BIN_COLUMNS, "summary": SUMMARY_COLUMNS},
    )


EFFECT_COLUMNS = ("macro-F1", "random", "protocol", "inflation", f"{LEVEL:.0%} interval", "if independent")
PART_COLUMNS = ("part of the inflation", "posts", "alone", "points", f"{LEVEL:.0%} interval")
BIN_COLUMNS = ("from", "to", "posts", "macro-F1", f"{LEVEL:.0%} interval", "random")
SUMMARY_COLUMNS = ("benchmark, model, protocol", "inflation", f"{LEVEL:.0%} interval", "leaks", "remains")
_NONE = "-"


def head(row: Row) -> str:
    """Return what a row is about."""
    return f"{row.title}: {row.model}, random folds against {row.protocol}"


def _sizes(row: Row) -> str:
    return (
        f"{row.random_posts:,} test posts under random folds, {row.protocol_posts:,} under {row.protocol}, "
        f"{row.both_posts:,} of them under both; {row.random_train:,.0f} and {row.protocol_train:,.0f} training posts; "
        f"{row.clusters:,} clusters, the largest of {row.largest_cluster:,} posts"
    )


def _effect_rows(row: Row) -> list[list[str]]:
    return [
        [
            name.replace("_", " "),
            f"{effect.random:.1f}",
            f"{effect.protocol:.1f}",
            _signed(effect.points),
            _range(effect.clustered),
            _range(effect.independent),
        ]
        if effect
        else [name, _NONE, _NONE, "not comparable", _NONE, _NONE]
        for name, effect in row.effects.items()
        if effect or name != "equal_training"
    ]


def _test_lines(row: Row) -> list[str]:
    tests, t = row.tests, row.tests.t
    if t.test is None:
        lines = [t.reason or "no t-test"]
    else:
        lines = [f"{t.test} t-test over runs: t = {t.statistic:.2f}, {_p(t.p_value, tests.t_holm)}"]
    if tests.seed is not None:
        lines += [
            f"approximate randomisation of macro-F1, both: {_p(tests.randomisation_p, tests.randomisation_holm)}",
            f"McNemar, both: only random right {tests.only_random_right:,}, only {row.protocol} right "
            f"{tests.only_protocol_right:,}, {_p(tests.mcnemar_p, tests.mcnemar_holm)}",
        ]
    return lines


def _caption(row: Row, found: Decomposition) -> str:
    if found.retrained:
        return (
            "Trained anew without the training posts that leak, against training without as many others (fewer posts "
            f"alone: {_signed(-(found.fewer or 0.0))} points)"
        )
    return "Scored anew without the test posts that leaks touch"


def _part_rows(row: Row, found: Decomposition) -> list[list[str]]:
    mixed = found.class_mix
    rows = [["class mix", "", "", _signed(mixed.points), _range(mixed.interval)]] if mixed else []
    rows += [
        [
            leak.name,
            f"{leak.posts:,}",
            _signed(leak.alone.points),
            _signed(leak.added.points),
            _range(leak.added.interval),
        ]
        for leak in found.leaks
    ]
    low, high = found.own.interval or (None, None)
    own = None if low is None or high is None else (-high, -low)
    rows.append(
        [f"leaks into {row.protocol} itself", f"{found.own_posts:,}", "", _signed(-found.own.points), _range(own)]
    )
    rows.append(["all leaks, less these", "", "", _signed(found.together.points), _range(found.together.interval)])
    rows.append(["remains", "", "", _signed(found.remains.points), _range(found.remains.interval)])
    return [*rows, ["sum", "", "", _signed(found.total), ""]]


def _area(row: Row, over_time: OverTime) -> str:
    beside = "" if over_time.random_area is None else f", of random folds on the same posts {over_time.random_area:.1f}"
    return f"Test posts of {row.protocol} by time: area under macro-F1 (AUT) {over_time.area:.1f}{beside}"


def _bin_rows(over_time: OverTime) -> list[list[str]]:
    return [
        [
            found.start[:10],
            found.end[:10] + "".join(f", no {name}" for name in found.absent),
            f"{found.posts:,}",
            f"{found.score:.1f}",
            f"{found.interval[0]:.1f} to {found.interval[1]:.1f}" if found.interval else _NONE,
            _NONE if found.random is None else f"{found.random:.1f}",
        ]
        for found in over_time.bins
    ]


def _summary(row: Row) -> list[str]:
    shown, taken = row.pooled, row.retrained or row.rescored
    return [
        f"{row.title}, {row.model}, {row.protocol}",
        _signed(shown.points) if shown else "not comparable",
        _range(shown.clustered) if shown else _NONE,
        _signed(taken.together.points) if taken and shown else _NONE,
        _signed(taken.remains.points) if taken and shown else _NONE,
    ]


def _reading(explanation: Explanation) -> str:
    return (
        "Macro-F1 in percent, differences in points. raw: mean over runs; pooled: all folds, and all events, together; "
        "matched: with the protocol's class mix; paired: on the posts that both test. Intervals resample clusters of "
        f"posts that near copies (within {explanation.threshold:g}) or a conversation join, beside those that take "
        "posts for independent; they hold for the models as they were fitted. A leak's points are those that go when "
        "it is taken out after the leaks above it; alone: when it is the only one. Holm's adjustment is over all rows."
    )


def _signed(points: float) -> str:
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    return f"{round(points, 1) + 0.0:+.1f}"


def _range(interval: Interval | None) -> str:
    return f"{_signed(interval[0])} to {_signed(interval[1])}" if interval else _NONE


def _p(value: float | None, adjusted: float | None) -> str:
    written = ["< 0.001" if p < 0.001 else f"= {p:.2g}" for p in (value, adjusted) if p is not None]
    return f"p {written[0]} (Holm: p {written[-1]})"
