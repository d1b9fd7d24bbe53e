"""What the runs show: the paper's table 4, inflation with its significance, figures, and a page with all of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from temporal_rumors import atomic
from temporal_rumors.errors import UserError
from temporal_rumors.report import tables
from temporal_rumors.report.summary import Record, Summary, summarise
from temporal_rumors.report.tables import terminal

__all__ = ["SUFFIXES", "Summary", "check_suffix", "summarise", "terminal", "write"]

SUFFIXES = (".html", ".md", ".tex", ".csv", ".json")


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise UserError unless a report can be written as such a file; the message lists the valid suffixes."""
    suffix = Path(path).suffix
    if suffix.lower() not in SUFFIXES:
        raise UserError(f"cannot write a report to {path}: its suffix must be one of {', '.join(SUFFIXES)}")


def write(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write the report on run records; equal records give equal bytes, whatever their order.

    Args:
        records: run records.
        path: its suffix chooses the form: .html, .md, .tex, .csv or .json.

    Raises:
        UserError: another suffix, no records, or the file cannot be written.
    """
    check_suffix(path)
    atomic.write(Path(path), _render(summarise(records), Path(path).suffix.lower()))


def _render(summary: Summary, suffix: str) -> str:
    if suffix == ".html":
        from temporal_rumors.report.html import page

        return page(summary)
    if suffix == ".json":
        return json.dumps(summary.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return {".md": tables.markdown, ".tex": tables.latex, ".csv": tables.tidy_csv}[suffix](summary)
