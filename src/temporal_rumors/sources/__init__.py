"""Upstream files: where they are found, and how each format is read into posts."""

from __future__ import annotations

import os
from typing import Protocol

from temporal_rumors.records import Posts


class Source(Protocol):
    """Where a benchmark's posts come from. A new format is one more module here with a class that has these.

    Attributes:
        name: what the upstream data are called.
        url: where they are had from; empty for data that come with the package.
        sha256: the digest of the published data, hexadecimal.
    """

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def sha256(self) -> str: ...

    def lacking(self, data_dir: str | os.PathLike[str] | None = None) -> str | None:
        """Return what is not at hand, and how to get it, in a sentence; None where all can be read right now."""

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the digest of what :meth:`read` reads; of data that are not at hand, that of the published ones."""

    def read(
        self, classes: tuple[str, ...], data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
    ) -> Posts:
        """Read all posts; a label is an index into ``classes``."""
