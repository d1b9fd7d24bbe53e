"""The figures of the report, as SVG: equal input gives equal bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED, LOO, OFFICIAL, PARTS, RANDOM
from temporal_rumors.report import words
from temporal_rumors.report.summary import Summary, Timeline
from temporal_rumors.report.tables import Block

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by colour-blind readers, and here also by lightness or shape.
_CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_PROTOCOL_STYLES = {
    RANDOM: ("#000000", "o"),
    CHRONO: ("#D55E00", "s"),
    CHRONO_STRATIFIED: ("#0072B2", "^"),
    LOO: ("#009E73", "D"),
    OFFICIAL: ("#CC79A7", "v"),
}
# How strongly each part is coloured: the later, the stronger.
_PART_ALPHA = {"train": 0.25, "validation": 0.55, "test": 1.0}
# Inches, of the axes alone: what stands around them is added on saving, which takes one layout pass less than
# a layout engine would.
_WIDTH, _GAP = 4.8, 0.35
_EDGES = {"left": 0, "right": 1, "bottom": 0, "top": 1}


def timeline(summary: Summary, data: Timeline) -> str:
    """Draw posts of each class over time, and below them which times each protocol trains, validates and tests on.

    Args:
        summary: for the benchmark's title.
        data: one of its timelines.

    Returns:
        An SVG document.
    """
    with _style():
        return _svg(_draw_timeline(summary, data))


def inflation(block: Block) -> str:
    """Draw each model's macro-F1 under every protocol, and the gap to its score under random folds.

    Args:
        block: the table of one benchmark.

    Returns:
        An SVG document.
    """
    with _style():
        return _svg(_draw_inflation(block))


@contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the user's settings, for as long as a figure is drawn and written."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "svg.hashsalt": "temporal-rumors",
                # Names are text, whatever dollar signs they hold.
                "text.parse_math": False,
                "font.size": 9,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.titlelocation": "left",
                "axes.titlesize": 10,
                "axes.titleweight": "bold",
            }
        )
        yield


def _svg(figure: Figure) -> str:
    stream = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", metadata=metadata, facecolor="white", bbox_inches="tight")
    return stream.getvalue()


def _draw_timeline(summary: Summary, data: Timeline) -> Figure:
    from matplotlib.dates import AutoDateLocator, DateFormatter
    from matplotlib.figure import Figure

    lanes = [(protocol, name) for protocol in (CHRONO, CHRONO_STRATIFIED) for name in data.cuts.get(protocol, {})]
    heights = [1.5, *([0.26 * len(lanes)] if lanes else [])]
    figure = Figure(figsize=(_WIDTH, sum(heights) + _GAP * (len(heights) - 1)))
    layout = {"height_ratios": heights, "hspace": _GAP * len(heights) / sum(heights), **_EDGES}
    panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=layout)[:, 0]
    colours = dict(zip(data.counts, cycle(_CLASS_COLOURS)))
    low, high = _number(data.start), _number(data.end)
    # A corpus of one moment still needs an axis.
    high = max(high, low + 1 / 24)
    stamp_format = "%Y-%m-%d" if high - low > 10 else "%Y-%m-%d %H:%M"

    histogram = panels[0]
    n_bins = len(next(iter(data.counts.values())))
    edges = [low + (high - low) * i / n_bins for i in range(n_bins + 1)]
    bottom = np.zeros(n_bins)
    for name, counts in data.counts.items():
        histogram.stairs(bottom + counts, edges, baseline=bottom, fill=True, color=colours[name], label=name)
        bottom = bottom + counts
    # Above the legend, which is as wide as there are classes.
    histogram.set_title(f"{summary.titles[data.subject]}: posts over time", pad=22)
    histogram.set_ylabel("posts")
    histogram.set_xlim(low, high)
    _legend_above(histogram, histogram.get_legend_handles_labels()[0])
    if lanes:
        _draw_cuts(panels[1], data, lanes, edges, colours, stamp_format)
    locator = AutoDateLocator(minticks=3, maxticks=7, tz=timezone.utc)
    panels[-1].xaxis.set_major_locator(locator)
    panels[-1].xaxis.set_major_formatter(DateFormatter(stamp_format, tz=timezone.utc))
    panels[-1].set_xlabel("time (UTC)")
    return figure


def _draw_cuts(
    axes: Axes,
    data: Timeline,
    lanes: Sequence[tuple[str, str]],
    edges: Sequence[float],
    colours: Mapping[str, str],
    stamp_format: str,
) -> None:
    """Draw a bar for each protocol and class, from its first to its last post, cut into the parts."""
    from matplotlib.patches import Patch

    for y, (protocol, name) in enumerate(lanes):
        filled = [i for i, n in enumerate(data.counts[name]) if n]
        first, last = (edges[filled[0]], edges[filled[-1] + 1]) if filled else (edges[0], edges[0])
        cuts = dict(zip(PARTS[1:], data.cuts[protocol][name], strict=True))
        begins = {part: min(max(_number(cut), first), last) for part, cut in cuts.items() if cut}
        if name not in data.absent[protocol][PARTS[0]]:
            begins = {PARTS[0]: first, **begins}
        for i, (part, left) in enumerate(begins.items()):
            # To the part's last post, but no further than the next part, or than the class has posts.
            right = min(_number(data.ends[protocol][part]), last, *list(begins.values())[i + 1 :])
            axes.barh(y, right - left, 0.62, left, color=colours[name], alpha=_PART_ALPHA[part], linewidth=0)
        labels = []
        for part, cut in cuts.items():
            if cut:
                axes.plot([_number(cut)] * 2, [y - 0.42, y + 0.42], color="black", linewidth=1)
            labels.append(f"{part} from {_time(cut).strftime(stamp_format)}" if cut else f"no {part} posts")
        axes.text(1.01, y, "\n".join(labels), transform=axes.get_yaxis_transform(), va="center", size=6.5)
    axes.set_yticks(range(len(lanes)), [f"{protocol}: {name}" for protocol, name in lanes], size=7.5)
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    _legend_above(axes, [Patch(facecolor="black", alpha=alpha, label=part) for part, alpha in _PART_ALPHA.items()])


def _legend_above(axes: Axes, handles: Sequence[Artist]) -> None:
    axes.legend(
        handles=handles, frameon=False, ncols=len(handles), loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1
    )


def _draw_inflation(block: Block) -> Figure:
    from matplotlib.figure import Figure

    by_model = dict(block.by_model())
    # A lane for the name of each model and one for each of its protocols.
    figure = Figure(figsize=(_WIDTH, 0.23 * (len(by_model) + len(block.rows))))
    axes = figure.subplots(gridspec_kw=_EDGES)
    ticks: list[str] = []
    column = axes.get_yaxis_transform()
    for model, rows in by_model.items():
        ticks.append(model)
        for row in rows:
            lane, score = len(ticks), row.score
            ticks.append(row.protocol)
            colour, marker = _PROTOCOL_STYLES[row.protocol]
            axes.errorbar(score.mean, lane, xerr=score.std, color=colour, marker=marker, markersize=5, capsize=2.5)
            axes.text(1.02, lane, words.score(score.mean, score.std), va="center", size=8, transform=column)
            if gap := row.inflation:
                if gap.comparable:
                    axes.plot([score.mean, gap.random_mean], [lane, lane], color="#767676", linestyle=":", zorder=1)
                    found = words.signed(gap.points) + ("*" if gap.significant else "")
                else:
                    found = words.NOT_COMPARABLE
                axes.text(1.19, lane, found, va="center", size=8, transform=column)
    for x, heading in ((1.02, "macro-F1"), (1.19, "inflation")):
        axes.text(x, -0.9, heading, va="center", size=8, weight="bold", transform=column)
    axes.set_title(f"{block.title}: macro-F1 under each protocol")
    for tick in axes.set_yticks(range(len(ticks)), ticks, size=8):
        tick.label1.set_fontweight("bold" if tick.label1.get_text() in by_model else "normal")
    axes.set_ylim(len(ticks) - 0.4, -0.6)
    axes.set_xlim(0, 100)
    axes.set_xlabel("macro-F1 (%), mean ± standard deviation over runs")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    return figure


def _time(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def _number(stamp: str) -> float:
    from matplotlib.dates import date2num

    return float(date2num(_time(stamp)))
