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
from temporal_rumors.report.summary import ALPHA, INFLATION_METRIC, Inflation, Result, Subject, Summary

if TYPE_CHECKING:
    from rich.console import RenderableType

MARK = "†"


@dataclass(frozen=True)
class Row:
    """One model under one protocol.

    Attributes:
        results: one for each metric.
        inflation: of random folds over this protocol; None for random folds, or where there are none.
    """

    model: str
    protocol: str
    results: tuple[Result, ...]
    inflation: Inflation | None

    @property
    def score(self) -> Result:
        """The result that inflation is computed from."""
        return next(result for result in self.results if result.metric == INFLATION_METRIC)

    @property
    def heading(self) -> str:
        """The protocol, marked where there is a note."""
        return self.protocol + (MARK if self.notes else "")

    @property
    def notes(self) -> list[str]:
        """What the reader must know about the scores of the row."""
        return self.score.notes

    @property
    def in_paper(self) -> bool:
        """Whether the paper has this row."""
        return any(result.paper_mean is not None for result in self.results)


@dataclass(frozen=True)
class Block:
    """The table of one benchmark, or of one task of it.

    Attributes:
        metrics: those of its columns.
        variants: name of each variant of a model that has several -> what it has that not all of them have.
        data_remarks: what reading the source file dropped or mended.
    """

    subject: Subject
    title: str
    metrics: tuple[str, ...]
    rows: list[Row]
    variants: dict[str, list[str]]
    data_remarks: list[str]

    @property
    def in_paper(self) -> bool:
        """Whether the paper has any of its rows."""
        return any(row.in_paper for row in self.rows)

    @property
    def caption(self) -> str:
        """What the table shows."""
        paper = f", beside those of {words.PAPER}" if self.in_paper else ""
        return f"{self.title}: {words.named(self.metrics)} in percent{paper}"

    @property
    def header(self) -> list[str]:
        """Headings of the columns of `cells`."""
        source = [""] if self.in_paper else []
        return ["Protocol", *source, *map(words.heading, self.metrics), "Inflation"]

    def cells(self, row: Row) -> list[list[str]]:
        """The cells of a row, each a list of lines: ours, the paper's value, and the difference."""
        shown = self.shown(row)
        metrics = [[words.score(result.mean, result.std)] for result in shown]
        if row.in_paper:
            for lines, result in zip(metrics, shown, strict=True):
                lines += [words.score(result.paper_mean, result.paper_std), words.signed(result.difference)]
        source = [["ours", "paper", "diff"] if row.in_paper else ["ours"]] if self.in_paper else []
        return [[row.heading], *source, *metrics, _inflation_lines(row.inflation)]

    def shown(self, row: Row) -> list[Result]:
        """The results that stand in the row's cells."""
        by_metric = {result.metric: result for result in row.results}
        return [by_metric[metric] for metric in self.metrics]

    @property
    def notes(self) -> list[str]:
        """A line for each note, naming its rows, and one that tells variants of a model apart."""
        noted = words.by_note((f"{row.model} {row.protocol}", row.notes) for row in self.rows)
        lines = [f"{MARK} {', '.join(names)}: {note}" for note, names in noted.items()]
        if self.variants:
            told = "; ".join(f"{model} has {', '.join(differs)}" for model, differs in self.variants.items())
            lines.append(f"Variants of one model, named with @, differ in settings, classes, data or version: {told}")
        return lines + [f"Data: {remark}" for remark in self.data_remarks]

    def by_model(self) -> list[tuple[str, list[Row]]]:
        """The rows of each model after its name."""
        return [(model, list(rows)) for model, rows in groupby(self.rows, key=lambda row: row.model)]


def _inflation_lines(inflation: Inflation | None) -> list[str]:
    if inflation is None:
        return [""]
    if not inflation.comparable:
        return [words.NOT_COMPARABLE]
    points = words.signed(inflation.points)
    if inflation.test is None:
        if inflation.pooled:
            return [points, "pooled:", f"{inflation.random_mean:.1f}-{inflation.protocol_mean:.1f}"]
        return [points, "no test"]
    mark = " *" if inflation.significant else ""
    return [points + mark, words.p_value(inflation.p_value), words.TESTS[inflation.test]]


def legend(summary: Summary) -> str:
    """Say what the numbers of the tables are."""
    return (
        "Mean ± sample standard deviation over folds, events and seeds. Inflation: macro-F1 under random folds minus "
        f"macro-F1 under the row's protocol, in points. {words.UNROUNDED} * p < {ALPHA} after Holm's adjustment "
        "over all comparisons, two-sided t-test: Welch, or "
        f"one-sample where one side's scores do not vary; no test where neither's do. {words.CAVEAT}"
    ) + (f" {words.POOLED}" if any(row.pooled for row in summary.inflation) else "")


def blocks(summary: Summary) -> list[Block]:
    """Lay out the results.

    Args:
        summary: its results and inflation.

    Returns:
        One block a benchmark and task, in the order of the summary.
    """
    inflation = {(row.subject, row.model, row.protocol): row for row in summary.inflation}
    rows: dict[Subject, list[Row]] = {}
    for (subject, model, protocol), results in groupby(summary.results, key=lambda r: (r.subject, r.model, r.protocol)):
        row = Row(model, protocol, tuple(results), inflation.get((subject, model, protocol)))
        rows.setdefault(subject, []).append(row)
    return [
        Block(
            subject,
            summary.titles[subject],
            summary.metrics[subject],
            of_subject,
            {runs.model: runs.differs for runs in summary.runs if runs.subject == subject and runs.differs},
            list(dict.fromkeys(r for runs in summary.runs if runs.subject == subject for r in runs.data_remarks)),
        )
        for subject, of_subject in rows.items()
    ]


def terminal(summary: Summary) -> list[RenderableType]:
    """Render for a terminal of at least 80 columns, which hold every number whole.

    Args:
        summary: what to show.

    Returns:
        What rich prints one after the other: for each benchmark its table and notes, then the legend and the findings.
    """
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
        first, *others, last = block.header
        # Only the first column gives way: to the name of a model that is longer than all names of protocols.
        table.add_column(first, overflow="fold")
        for heading in others:
            table.add_column(heading, no_wrap=True)
        table.add_column(last, max_width=10)
        for model, rows in block.by_model():
            table.add_row(Text(model, style="bold"))
            for row in rows:
                table.add_row(*map(_stack, block.cells(row)), end_section=row is rows[-1])
        renderables += [table, *(Text(_one_line(note), style="yellow") for note in block.notes), Text()]
    told = [Text(line, style="bold") for line in words.headline(summary)]
    return [*renderables, Text(legend(summary), style="dim"), Text(), *told]


def _stack(lines: Sequence[str]) -> RenderableType:
    from rich.text import Text

    return Text("\n").join(Text(line, style="dim" if i else "") for i, line in enumerate(lines))


def markdown(summary: Summary) -> str:
    """Render as GitHub-flavoured Markdown."""
    parts = [_markdown_text(line) for line in words.headline(summary)]
    for block in blocks(summary):
        table = [_markdown_row(["Model", *block.header]), "|" + " --- |" * (1 + len(block.header))]
        for model, rows in block.by_model():
            # The name stands in the first row of a model only.
            for name, row in zip([model, *[""] * len(rows)], rows, strict=False):
                cells = ["<br>".join(map(_markdown_text, cell)) for cell in block.cells(row)]
                table.append(_markdown_row([_markdown_text(name), *cells]))
        parts += [f"### {_markdown_text(block.caption)}", "\n".join(table)]
        parts += [_markdown_text(note) for note in block.notes]
        signatures = [f"- {_markdown_text(r.model)}, {r.protocol}: `{r.score.signature}`" for r in block.rows]
        parts.append("\n".join(["Signatures of macro-F1:", "", *signatures]))
    return "\n\n".join([*parts, _markdown_text(legend(summary))]) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _one_line(text: str) -> str:
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>&|~$#])", r"\\\1", _one_line(text))


def latex(summary: Summary) -> str:
    """Render as LaTeX tables that fit the text width of `article`, one a benchmark, to be read in with \\input."""
    parts = ["% In the preamble: \\usepackage{booktabs}, and \\usepackage{textcomp} for LaTeX older than 2020."]
    for block in blocks(summary):
        width = len(block.header)
        lines = [
            r"\begin{table*}",
            r"  \centering",
            r"  \footnotesize",
            r"  \setlength{\tabcolsep}{4pt}",
            r"  \setlength{\belowcaptionskip}{4pt}",
            rf"  \caption{{{_latex_text(block.caption)}.}}",
            rf"  \label{{tab:{re.sub('[^a-z0-9]+', '-', ' '.join(filter(None, block.subject)).lower()).strip('-')}}}",
            rf"  \begin{{tabular}}{{@{{}}{'l' * width}@{{}}}}",
            r"    \toprule",
            f"    {' & '.join(map(_latex_text, block.header))} \\\\",
        ]
        for model, rows in block.by_model():
            lines += [r"    \midrule", rf"    \multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{_latex_text(model)}}} \\"]
            for row in rows:
                lines += [r"    \addlinespace[2pt]", f"    {' & '.join(map(_latex_cell, block.cells(row)))} \\\\"]
        lines += [r"    \bottomrule", r"  \end{tabular}", r"  \par\smallskip\raggedright"]
        lines += [rf"  {_latex_text(text)}\par" for text in [*block.notes, legend(summary)]]
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


_CSV_RESULT = ("benchmark", "task", "model", "protocol", "metric", "mean", "std", "n_runs", "paper_mean", "paper_std")
_CSV_INFLATION = ("points", "test", "p_value", "p_holm", "significant")


def tidy_csv(summary: Summary) -> str:
    """Render as CSV in full precision, a row for each benchmark, model, protocol and metric; no value: empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        [*_CSV_RESULT, "difference", *(f"inflation_{name}" for name in _CSV_INFLATION), "notes", "signature"]
    )
    for block in blocks(summary):
        for row in block.rows:
            for result in row.results:
                inflation = row.inflation if result.metric == INFLATION_METRIC else None
                writer.writerow(
                    [getattr(result, name) for name in _CSV_RESULT]
                    + [result.difference]
                    + [getattr(inflation, name, None) for name in _CSV_INFLATION]
                    + ["; ".join(inflation.notes if inflation else result.notes), result.signature]
                )
    return stream.getvalue()
