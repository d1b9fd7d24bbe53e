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
    """Everything known about one benchmark, or about one task of it.

    Attributes:
        name: registered name, that of its folder under dataset_scripts/.
        title: what people call it.
        language: BCP 47 code.
        description, citation, homepage, license: for the card and `DatasetInfo`.
        classes: class names; a label is an index into them.
        source: the upstream file and how it is read.
        counts: class -> posts in the published file.
        events: names of its news events, if it has any.
        cuts: protocol -> published cut points, where they follow no one rounding rule.
        model_settings: model -> settings that suit the benchmark's language, where they are not the model's own.
        version: of what our reading makes of the file; raise it when rows or splits change.
        task: name of the task, where one data set has several.
        official: part -> class -> posts in the official split, where there is one.
        columns: further columns of the data set -> their types: the name of a type of `datasets.Value`, or
            [{field: type}] for lists of structs.
        texts: the columns that a model reads, the post itself first.
        edition: of the shared task whose official scores are reported beside macro precision, recall and F1.
        metrics: the scores that a table shows, by their names in run records.
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
    task: str | None = None
    official: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    texts: tuple[str, ...] = ("text",)
    edition: str | None = None
    metrics: tuple[str, ...] = ("precision", "recall", "f1")

    @property
    def label(self) -> str:
        """Its name, and that of the task where there are several."""
        return self.name if self.task is None else f"{self.name} {self.task}"

    @property
    def protocols(self) -> list[str]:
        """The protocols it can be split by."""
        return protocols.protocol_names(self.events, official=bool(self.official))

    @property
    def configs(self) -> dict[str, str]:
        """Name of each configuration of the data set -> its protocol; with several tasks `<task>_<protocol>`, the
        official split being called by the task alone."""
        if self.task is None:
            return {protocol: protocol for protocol in self.protocols}
        return {self.task if p == protocols.OFFICIAL else f"{self.task}_{p}": p for p in self.protocols}

    def config(self, protocol: str) -> str:
        """Return the name of the configuration of a protocol.

        Raises:
            UserError: an unknown protocol; the message lists the valid ones.
        """
        for name, known in self.configs.items():
            if known == protocol:
                return name
        raise UserError(f"{self.label}: {unknown('protocol', protocol, self.protocols)}")

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the digest of the data that :meth:`posts` reads; downloads nothing.

        Raises:
            UserError: as :meth:`posts` does, where the data are at hand but not the published ones.
        """
        digest = self.source.digest(data_dir, allow_modified=allow_modified)
        if digest != self.source.sha256 and not allow_modified:
            self.posts(data_dir)
        return digest

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
        if wrong := self._miscounted(posts):
            if self.is_published(posts):
                raise AssertionError(f"{self.label}: read from the published data: {wrong}")
            if not allow_modified:
                raise UserError(
                    f"{self.label}: these are not the published data: {wrong}. Get them again from {self.source.url}, "
                    "or pass allow_modified=True (--allow-modified) to use them all the same: every score's data "
                    "digest will then say so"
                )
        return posts

    def is_published(self, posts: Posts) -> bool:
        """Return whether posts were read from the published data."""
        return posts.digest == self.source.sha256

    def _miscounted(self, posts: Posts) -> str:
        """Say which classes, of which part where there is an official split, are not as many as published."""
        parts = (
            {"": posts.labels} if posts.parts is None else {p: posts.labels[posts.parts == p] for p in self.official}
        )
        wrong = []
        for part, labels in parts.items():
            for code, (name, n) in enumerate((c, (self.official.get(part) or self.counts)[c]) for c in self.classes):
                if (found := int((labels == code).sum())) != n:
                    wrong.append(f"{found:,} {name} posts{f' in the {part} part' if part else ''}, not {n:,}")
        return ", ".join(wrong[:3]) + (", …" if len(wrong) > 3 else "")

    def split(self, posts: Posts, protocol: str, seed: int = 0) -> Split:
        """Split posts of this benchmark by a protocol's name.

        Published cut points hold for the published file; posts of a modified one are cut by the general rule.

        Raises:
            UserError: an unknown protocol (the message lists the valid ones), or an empty part.
        """
        self.config(protocol)
        cuts = dict(self.cuts) if self.is_published(posts) else {}
        if stratified := cuts.get(protocols.CHRONO_STRATIFIED):
            cuts[protocols.CHRONO_STRATIFIED] = {self.classes.index(name): sizes for name, sizes in stratified.items()}
        return protocols.make_split(
            protocol,
            ids=posts.ids,
            times=posts.times,
            labels=posts.labels,
            events=posts.events,
            threads=posts.threads,
            parts=posts.parts,
            cuts=cuts,
            seed=seed,
        )

    def model_texts(self, posts: Posts) -> list[list[str]]:
        """Return the columns that a model reads, each (n,) str, the posts first; blank where there is no text."""
        columns = (posts.texts if name == "text" else posts.columns[name] for name in self.texts)
        return [[text or "" for text in column] for column in columns]

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


def names() -> list[str]:
    """Return the names of all benchmarks, those of the folders under dataset_scripts/."""
    return sorted(p.parent.name for p in _root().glob("*/benchmark.py"))


def folder(name: str) -> Path:
    """Return the folder of a benchmark."""
    return _root() / name


def tasks(name: str) -> tuple[Benchmark, ...]:
    """Return a benchmark by its name, once for each of its tasks, the first one being the default.

    Raises:
        UserError: no such benchmark; the message lists the valid names.
    """
    known = names()
    if name not in known:
        raise UserError(unknown("benchmark", name, known))
    benchmarks: tuple[Benchmark, ...] = importlib.import_module(f"{PACKAGE}.{name}.benchmark").BENCHMARKS
    return benchmarks


def get(name: str, task: str | None = None) -> Benchmark:
    """Return one task of a benchmark.

    Args:
        name: of the benchmark.
        task: name of the task; None takes the first one.

    Raises:
        UserError: no such benchmark or task; the message lists the valid names.
    """
    found = tasks(name)
    if task is None:
        return found[0]
    for benchmark in found:
        if benchmark.task == task:
            return benchmark
    known = [b.task for b in found if b.task]
    raise UserError(f"{name}: {unknown('task', task, known)}" if known else f"{name} has no tasks, so no {task!r}")


def _root() -> Path:
    return Path(importlib.import_module(PACKAGE).__path__[0])
