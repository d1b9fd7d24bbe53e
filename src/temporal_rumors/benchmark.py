"""What is known about one benchmark, as data, and the registry that discovers them."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from temporal_rumors import protocols
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.protocols import Split, SplitReport
from temporal_rumors.records import Posts
from temporal_rumors.sources import Source

PACKAGE = "temporal_rumors.dataset_scripts"


@dataclass(frozen=True)
class Benchmark:
    """Everything known about one benchmark.

    Attributes:
        name: registered name, that of its folder under dataset_scripts/.
        title: what people call it.
        language: BCP 47 code.
        description, citation, homepage, license: for the card and `DatasetInfo`.
        classes: class names; a label is an index into them.
        source: the upstream file and how it is read.
        counts: class -> posts in the published file; checked when the bytes are the published ones.
        events: names of its news events, if it has any.
        cuts: protocol -> published cut points, where they follow no one rounding rule.
        model_settings: model -> settings that suit the benchmark's language, where they are not the model's own.
        version: of what our reading makes of the file; raise it when rows or splits change.
    """

    name: str
    title: str
    language: str
    description: str
    citation: str
    homepage: str
    license: str
    classes: tuple[str, ...]
    source: Source
    counts: Mapping[str, int]
    events: tuple[str, ...] = ()
    cuts: Mapping[str, Any] = field(default_factory=dict)
    model_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    version: str = "1.0.0"

    @property
    def protocols(self) -> list[str]:
        """The protocols it can be split by."""
        return protocols.protocol_names(self.events)

    def check_protocol(self, protocol: str) -> None:
        """Raise UserError unless this is one of the benchmark's protocols."""
        if protocol not in self.protocols:
            raise UserError(f"{self.name}: {protocols.unknown_protocol(protocol, self.events)}")

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the sha256 of the source bytes that :meth:`posts` reads; downloads nothing."""
        return self.source.digest(data_dir, allow_modified=allow_modified)

    def posts(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> Posts:
        """Read all posts, downloading the source file if it is not at hand.

        Args:
            data_dir: folder with a copy of the file; None looks in TEMPORAL_RUMORS_DATA and the download cache.
            allow_modified: take a file whose sha256 differs from the published one.

        Returns:
            All posts, in (time, id) order, with what was dropped and mended.

        Raises:
            UserError: the file cannot be had, is not the published one, or cannot be read.
        """
        posts = self.source.read(self.classes, data_dir, allow_modified=allow_modified)
        if self.events and (undeclared := {e for e in posts.events if e is not None} - set(self.events)):
            raise UserError(f"{self.source.name}: the event {min(undeclared)!r} is not one of {', '.join(self.events)}")
        found = self._counts(posts)
        if self.is_published(posts) and found != dict(self.counts):
            raise AssertionError(f"{self.name}: read {found} from the published file, expected {dict(self.counts)}")
        return posts

    def is_published(self, posts: Posts) -> bool:
        """Return whether posts were read from the published bytes."""
        return posts.digest == self.source.sha256

    def split(self, posts: Posts, protocol: str, seed: int = 0) -> Split:
        """Split posts of this benchmark by a protocol's name.

        Published cut points hold for the published file; posts of a modified one are cut by the general rule.

        Raises:
            UserError: an unknown protocol (the message lists the valid ones), or an empty part.
        """
        self.check_protocol(protocol)
        cuts = dict(self.cuts) if self.is_published(posts) else {}
        if stratified := cuts.get(protocols.CHRONO_STRATIFIED):
            cuts[protocols.CHRONO_STRATIFIED] = {self.classes.index(name): sizes for name, sizes in stratified.items()}
        return protocols.make_split(
            protocol, ids=posts.ids, times=posts.times, labels=posts.labels, events=posts.events, cuts=cuts, seed=seed
        )

    def report(self, posts: Posts, split: Split) -> SplitReport:
        """Count what a split holds and what it does not guarantee."""
        return protocols.report(split, times=posts.times, labels=posts.labels, classes=self.classes)

    @cached_property
    def published(self) -> list[dict[str, str]]:
        """Published results: rows of model, protocol, and each metric's mean and standard deviation, in percent."""
        path = folder(self.name) / "published.csv"
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    def _counts(self, posts: Posts) -> dict[str, int]:
        return {name: int((posts.labels == code).sum()) for code, name in enumerate(self.classes)}


def names() -> list[str]:
    """Return the names of all benchmarks, those of the folders under dataset_scripts/."""
    return sorted(p.parent.name for p in _root().glob("*/benchmark.py"))


def folder(name: str) -> Path:
    """Return the folder of a benchmark."""
    return _root() / name


def get(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Raises:
        UserError: no such benchmark; the message lists the valid names.
    """
    known = names()
    if name not in known:
        raise UserError(unknown("benchmark", name, known))
    benchmark: Benchmark = importlib.import_module(f"{PACKAGE}.{name}.benchmark").BENCHMARK
    return benchmark


def _root() -> Path:
    return Path(importlib.import_module(PACKAGE).__path__[0])
