"""Upstream files: where they are found, and how each format is read into posts."""

from __future__ import annotations

import os
from typing import Protocol

from temporal_rumors.records import Posts


class Source(Protocol):
    """Where a benchmark's posts come from. A new format is one more module here with a class that has these.

    Attributes:
        name: what the upstream file is called.
        url: where it is downloaded from; empty for one that comes with the package.
        sha256: of the published bytes, hexadecimal.
    """

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def sha256(self) -> str: ...

    def at_hand(self, data_dir: str | os.PathLike[str] | None = None) -> bool:
        """Return whether it can be read without a download."""

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the sha256 of what :meth:`read` reads; where a download is needed, that of the published bytes."""

    def read(
        self, classes: tuple[str, ...], data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
    ) -> Posts:
        """Read all posts; a label is an index into ``classes``."""
