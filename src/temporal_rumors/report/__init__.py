"""What the runs show: the paper's table 4, inflation with its significance, figures, and a page with all of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from temporal_rumors import atomic
from temporal_rumors.errors import UserError
from temporal_rumors.report import tables
from temporal_rumors.report.card import push, write_card
from temporal_rumors.report.html import page
from temporal_rumors.report.summary import Summary, summarise
from temporal_rumors.report.tables import terminal

__all__ = ["SUFFIXES", "Summary", "check_suffix", "push", "summarise", "terminal", "write", "write_card"]


def _json(summary: Summary) -> str:
    return json.dumps(summary.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


_RENDERERS: dict[str, Callable[[Summary], str]] = {
    ".html": page,
    ".md": tables.markdown,
    ".tex": tables.latex,
    ".csv": tables.tidy_csv,
    ".json": _json,
}
SUFFIXES = tuple(_RENDERERS)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no report can be written as.

    Args:
        path: the file; only its suffix is looked at, in capitals or not.

    Raises:
        UserError: another suffix than those of SUFFIXES; the message lists them.
    """
    suffix = Path(path).suffix
    if suffix.lower() not in SUFFIXES:
        raise UserError(f"cannot write a report to {path}: its suffix must be one of {', '.join(SUFFIXES)}")


def write(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write a report, whole or not at all; equal summaries give equal bytes.

    Args:
        summary: what it shows.
        path: the file, made with its folder or replaced; its suffix, one of SUFFIXES, chooses the form.

    Raises:
        UserError: another suffix, or the file cannot be written.
    """
    check_suffix(path)
    atomic.write(Path(path), _RENDERERS[Path(path).suffix.lower()](summary))
