"""The paper's table 4 for the runs at hand: one layout, and its renderings for terminal, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from temporal_rumors.report import words
from temporal_rumors.report.summary import INFLATION_METRIC, METRICS, Inflation, Result, Summary

if TYPE_CHECKING:
    from rich.console import RenderableType

MARK = "†"


@dataclass(frozen=True)
class Row:
    """One model under one protocol.

    Attributes:
        results: one for each of METRICS.
        inflation: of random folds over this protocol; None for random folds, or where there are none.
    """

    model: str
    protocol: str
    results: tuple[Result, ...]
    inflation: Inflation | None

    @property
    def strategy(self) -> str:
        """The protocol in the paper's words, marked where there is a note."""
        return words.STRATEGIES[self.protocol] + (MARK if self.note else "")

    @property
    def note(self) -> str | None:
        """What the reader must know about the row."""
        return self.inflation.note if self.inflation else self.results[0].note

    @property
    def in_paper(self) -> bool:
        """Whether the paper has this row."""
        return any(result.paper_mean is not None for result in self.results)


@dataclass(frozen=True)
class Block:
    """The table of one benchmark."""

    benchmark: str
    title: str
    rows: list[Row]

    @property
    def in_paper(self) -> bool:
        """Whether the paper has any of its rows."""
        return any(row.in_paper for row in self.rows)

    @property
    def caption(self) -> str:
        """What the table shows."""
        paper = f", beside those of {words.PAPER}" if self.in_paper else ""
        return f"{self.title}: macro precision, recall and F1 in percent{paper}"

    @property
    def header(self) -> list[str]:
        """Headings of the columns of `cells`."""
        source = [""] if self.in_paper else []
        return ["Model", "Strategy", *source, *(words.METRIC_NAMES[m] for m in METRICS), "Inflation"]

    def cells(self, row: Row) -> list[list[str]]:
        """The cells of a row, each a list of lines: ours, the paper's value, and the difference."""
        metrics = [[words.score(result.mean, result.std)] for result in row.results]
        if row.in_paper:
            for lines, result in zip(metrics, row.results, strict=True):
                lines += [words.score(result.paper_mean, result.paper_std), words.signed(result.difference)]
        source = [["ours", "paper", "diff"] if row.in_paper else ["ours"]] if self.in_paper else []
        return [[_one_line(row.model)], [row.strategy], *source, *metrics, _inflation_lines(row.inflation)]

    @property
    def notes(self) -> list[str]:
        """A line for each row with a note."""
        return [f"{MARK} {row.model}, {words.STRATEGIES[row.protocol]}: {row.note}" for row in self.rows if row.note]


def _inflation_lines(inflation: Inflation | None) -> list[str]:
    if inflation is None:
        return [""]
    points = words.signed(inflation.points)
    if not inflation.comparable:
        return [points, "not comparable"]
    if inflation.test is None:
        return [points, "no test"]
    return [points + (" *" if inflation.significant else ""), words.p_value(inflation.p_value), inflation.test]


LEGEND = (
    "Mean ± sample standard deviation over folds, events and seeds. Inflation: macro-F1 under random folds minus "
    "macro-F1 under the row's protocol, in points; * p < 0.05, two-sided t-test (Welch's, or one-sample where one "
    "side does not vary)."
)


def blocks(summary: Summary) -> list[Block]:
    """Lay out the results, one block a benchmark, in the order of the summary."""
    inflation = {(row.benchmark, row.model, row.protocol): row for row in summary.inflation}
    rows: dict[str, list[Row]] = {}
    for (name, model, protocol), results in groupby(summary.results, key=lambda r: (r.benchmark, r.model, r.protocol)):
        row = Row(model, protocol, tuple(results), inflation.get((name, model, protocol)))
        rows.setdefault(name, []).append(row)
    return [Block(name, summary.titles[name], of_benchmark) for name, of_benchmark in rows.items()]


def terminal(summary: Summary) -> list[RenderableType]:
    """Render for a terminal of 80 columns or more."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    renderables: list[RenderableType] = []
    for block in blocks(summary):
        table = Table(
            title=Text(block.caption, style="bold"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        # The model stands on a line of its own, so that long names leave room for the numbers.
        for heading in block.header[1:]:
            table.add_column(Text(heading), no_wrap=heading != "Strategy", overflow="fold")
        for model, rows in groupby(block.rows, key=lambda row: row.model):
            table.add_row(Text(model, style="bold"))
            of_model = list(rows)
            for row in of_model:
                lines = block.cells(row)[1:]
                table.add_row(*(_stack(cell) for cell in lines), end_section=row is of_model[-1])
        renderables += [table, *(Text(_one_line(note), style="yellow") for note in block.notes), Text()]
    return [*renderables, Text(LEGEND, style="dim"), Text(), Text(words.answer(summary), style="bold")]


def _stack(lines: Sequence[str]) -> RenderableType:
    from rich.text import Text

    return Text("\n").join(Text(line, style="dim" if i else "") for i, line in enumerate(lines))


def markdown(summary: Summary) -> str:
    """Render as GitHub-flavoured Markdown."""
    parts = [words.answer(summary)]
    for block in blocks(summary):
        table = ["| " + " | ".join(block.header) + " |", "|" + " --- |" * len(block.header)]
        for _, cells in _rows(block):
            table.append("| " + " | ".join("<br>".join(map(_markdown_text, cell)) for cell in cells) + " |")
        parts += [f"### {_markdown_text(block.caption)}", "\n".join(table)]
        parts += [_markdown_text(note) for note in block.notes]
    return "\n\n".join([*parts, _markdown_text(LEGEND)]) + "\n"


def _rows(block: Block) -> list[tuple[bool, list[list[str]]]]:
    """The cells of each row, after whether a model begins there; its name stands in its first row only."""
    rows = []
    for _, of_model in groupby(block.rows, key=lambda row: row.model):
        for i, row in enumerate(of_model):
            model, *others = block.cells(row)
            rows.append((not i, [model if not i else [""], *others]))
    return rows


def _one_line(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>&|~$#])", r"\\\1", _one_line(text))


def latex(summary: Summary) -> str:
    """Render as LaTeX tables, one a benchmark, to be read in with \\input."""
    parts = ["% In the preamble: \\usepackage{booktabs}, and \\usepackage{textcomp} for LaTeX older than 2020."]
    for block in blocks(summary):
        columns = "l" * len(block.header)
        lines = [
            r"\begin{table*}",
            r"  \centering",
            r"  \small",
            rf"  \caption{{{_latex_text(block.caption)}. {_latex_text(LEGEND)}}}",
            rf"  \label{{tab:{re.sub('[^a-z0-9]+', '-', block.benchmark.lower()).strip('-')}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            r"    \toprule",
            "    " + " & ".join(_latex_text(heading) for heading in block.header) + r" \\",
        ]
        for begins, cells in _rows(block):
            if begins:
                lines.append(r"    \midrule")
            lines.append("    " + " & ".join(_latex_cell(cell) for cell in cells) + r" \\")
        lines += [r"    \bottomrule", r"  \end{tabular}"]
        lines += [rf"  \par {_latex_text(note)}" for note in block.notes]
        parts.append("\n".join([*lines, r"\end{table*}"]))
    return "\n\n".join(parts) + "\n"


def _latex_cell(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return _latex_text(lines[0])
    return r"\begin{tabular}[t]{@{}l@{}}" + r" \\ ".join(map(_latex_text, lines)) + r"\end{tabular}"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # After the end of a row, and after a rule, a bracket would begin an option.
    "[": "{[}",
    "]": "{]}",
    "±": r"\textpm{}",
    MARK: r"\textdagger{}",
}


def _latex_text(text: str) -> str:
    escaped = "".join(_LATEX.get(character, character) for character in _one_line(text))
    # A sign before a number is a minus, not a hyphen.
    return re.sub(r"^-(?=\d)", "$-$", escaped)


_CSV_RESULT = ("benchmark", "model", "protocol", "metric", "mean", "std", "n_runs", "paper_mean", "paper_std")
_CSV_INFLATION = ("points", "test", "p_value", "significant")


def tidy_csv(summary: Summary) -> str:
    """Render as CSV in full precision, a row for each benchmark, model, protocol and metric; no value is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        [*_CSV_RESULT, "difference", *(f"inflation_{name}" for name in _CSV_INFLATION), "note", "signature"]
    )
    for block in blocks(summary):
        for row in block.rows:
            for result in row.results:
                inflation = row.inflation if result.metric == INFLATION_METRIC else None
                writer.writerow(
                    [getattr(result, name) for name in _CSV_RESULT]
                    + [result.difference]
                    + [getattr(inflation, name, None) for name in _CSV_INFLATION]
                    + [inflation.note if inflation else result.note, result.signature]
                )
    return stream.getvalue()
