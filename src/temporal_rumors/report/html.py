"""The report as one page that needs no other file and no network."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporal_rumors.protocols import PARTS
from temporal_rumors.report import figures, tables, words
from temporal_rumors.report.summary import (
    ALPHA,
    LEAST_INFLATION,
    ModelRuns,
    SplitSummary,
    Summary,
)
from temporal_rumors.templates import template

_TEMPLATE = Path(__file__).with_name("report.html.jinja")


@dataclass(frozen=True)
class Figure:
    """A figure on the page.

    Attributes:
        svg: an svg element, drawn by matplotlib, which escapes all text.
        label: what it shows, in words.
    """

    svg: str
    label: str


@dataclass(frozen=True)
class Section:
    """What the page shows of one benchmark.

    Attributes:
        anchor: the id of its heading.
        data: digest of each source file, and whether it is the published one.
        classes: in the order of the columns of `splits`.
    """

    anchor: str
    block: tables.Block
    inflation_figure: Figure
    data: list[tuple[str, bool]]
    classes: list[str]
    splits: list[SplitSummary]
    timelines: list[Figure]
    runs: list[ModelRuns]


def page(summary: Summary) -> str:
    """Render the page.

    Args:
        summary: what it shows.

    Returns:
        HTML with inline CSS and SVG, the same bytes for the same summary.
    """
    filters: dict[str, Any] = {
        "score": lambda result: words.score(result.mean, result.std),
        "paper": lambda result: words.score(result.paper_mean, result.paper_std),
        "signed": lambda points: words.signed(points).replace("-", "−"),
        "evidence": words.evidence,
        "settings": _settings,
        "values": _values,
    }
    headline = words.headline(summary)
    rendered = template(_TEMPLATE, filters).render(
        headline=headline,
        sentences=[sentence for sentence in words.sentences(summary) if sentence not in headline],
        sections=[_section(summary, block, i) for i, block in enumerate(tables.blocks(summary))],
        parts=PARTS,
        heading=words.heading,
        paper=words.PAPER,
        not_comparable=words.NOT_COMPARABLE,
        unrounded=words.UNROUNDED,
        caveat=words.CAVEAT,
        alpha=ALPHA,
        least_inflation=LEAST_INFLATION,
        mark=tables.MARK,
    )
    return rendered + "\n"


def _section(summary: Summary, block: tables.Block, index: int) -> Section:
    splits = [split for split in summary.splits if split.subject == block.subject]
    timelines = [data for data in summary.timelines if data.subject == block.subject]
    scores = "; ".join(
        f"{row.model}, {row.protocol}: {words.score(row.score.mean, row.score.std)}" for row in block.rows
    )
    return Section(
        anchor=f"benchmark-{index}",
        block=block,
        inflation_figure=Figure(
            _inline(figures.inflation(block), f"i{index}"),
            f"Macro-F1 on {block.title} under each protocol. {scores}.",
        ),
        data=sorted({(split.data_digest, split.data_is_published) for split in splits}),
        classes=list(dict.fromkeys(name for split in splits for name in split.sizes[PARTS[0]])),
        splits=splits,
        timelines=[
            Figure(
                _inline(figures.timeline(summary, data), f"t{index}-{i}"),
                f"Posts of each class of {block.title} from {data.start} to {data.end}, "
                "and the times from which each chronological protocol validates and tests.",
            )
            for i, data in enumerate(timelines)
        ],
        runs=[runs for runs in summary.runs if runs.subject == block.subject],
    )


def _inline(svg: str, prefix: str) -> str:
    """Cut a document down to its svg element, and make its ids unique on the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{prefix}-", svg)


def _settings(values: dict[str, Any]) -> str:
    return "; ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in sorted(values.items()))


def _values(values: dict[str, list[Any]]) -> str:
    lists = {name: ", ".join(json.dumps(value, ensure_ascii=False) for value in values[name]) for name in values}
    return "; ".join(f"{name} = {listed}" for name, listed in sorted(lists.items()))
