"""Read RumourEval's conversations and keys into the posts of one of its tasks."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.metrics.rumoureval import submission
from temporal_rumors.metrics.rumoureval.scoring import LABELS
from temporal_rumors.records import Post, Posts, json_digest
from temporal_rumors.sources import archives, conversations, files
from temporal_rumors.sources.conversations import Message, Thread

STANCE, VERACITY = LABELS
TIME = "timestamp[ms, tz=UTC]"
# Further columns of the data sets, as `datasets.Features` takes them.
COLUMNS: dict[str, dict[str, Any]] = {
    STANCE: {
        "platform": "string",
        "thread_id": "string",
        "parent_id": "string",
        "parent_text": "string",
        "source_text": "string",
        "depth": "int32",
    },
    VERACITY: {
        "platform": "string",
        "replies": [{"id": "string", "parent": "string", "text": "string", "created_at": TIME}],
    },
}

NO_LABEL = "no label"
NO_POST = {STANCE: "labelled, but there is no such post", VERACITY: "labelled, but starts no conversation"}
SEVERAL_PARTS = "conversation in several parts of the official split"
BY_MONTH = "event told by the month"
JUNK = "files of macOS ignored"

Notes = dict[str, list[str]]


@dataclass(frozen=True)
class Tree:
    """One folder of conversations.

    Attributes:
        names: that it, or its archive without the suffix, may have.
        event_by_month: `YYYY-MM` of a conversation -> its event, where the tree has no folders of events.
    """

    names: tuple[str, ...]
    event_by_month: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Key:
    """Where the labels of one part stand.

    Attributes:
        part: train, validation or test.
        file: base name of the JSON file.
        beside: whether it stands beside the trees, and not in one of them.
        tasks: whose labels it holds.
    """

    part: str
    file: str
    beside: bool = False
    tasks: tuple[str, ...] = (STANCE, VERACITY)


@dataclass(frozen=True)
class RumourEval:
    """The conversations of one edition, with the labels of one task.

    Attributes:
        name: what the edition is called.
        url: the page that it can be had from.
        folder: name of the sub-folder of a data folder that may hold it.
        task: "stance", a row for each post, or "veracity", a row for each conversation.
        sha256: the digest of all rows of the published data, hexadecimal. Of the rows, not of the files, of which
            several forms circulate.
        trees: where the conversations are.
        containers: folders that hold events or conversations, in the trees or the trees themselves.
        keys: where the labels are; which part a post belongs to is read from them alone.
    """

    name: str
    url: str
    folder: str
    task: str
    sha256: str
    trees: tuple[Tree, ...]
    containers: frozenset[str]
    keys: tuple[Key, ...]

    def lacking(self, data_dir: str | os.PathLike[str] | None = None) -> str | None:
        """Say which trees and keys are not at hand, and where to get them; None if all are."""
        try:
            self._find(data_dir)
        except DataNotFoundError as error:
            return str(error)
        return None

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the digest of all rows, the same for folders and for any kind of archive."""
        return self.sha256 if data_dir is None and self.lacking() else self._read(data_dir).digest

    def read(
        self, classes: tuple[str, ...], data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
    ) -> Posts:
        """Read all labelled posts.

        Args:
            classes: class names, those of the task; a label is an index into them.
            data_dir: the only folder to look in, or in its sub-folder `folder`; None takes TEMPORAL_RUMORS_DATA.
            allow_modified: of no effect here: what was modified is told by the digest of the rows.

        Returns:
            All posts, with what is missing or was mended.

        Raises:
            UserError: a tree or a key that is not at hand, or that cannot be read; the message says what to do.
        """
        return self._read(data_dir)

    def _read(self, data_dir: str | os.PathLike[str] | None) -> Posts:
        trees, beside = self._find(data_dir)
        return _posts(self, trees, beside, tuple(_fingerprint(path) for path in (*trees, *beside)))

    def _find(self, data_dir: str | os.PathLike[str] | None) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Where the trees and the keys beside them are."""
        root = data_dir if data_dir is not None else os.environ.get(files.DATA_VARIABLE)
        # os.path: a user that does not exist has no folder, which is no error.
        folders = [Path(os.path.expanduser(root), below) for below in (self.folder, "")] if root else []
        keys = [key.file for key in self.keys if key.beside and self.task in key.tasks]
        trees = [_first(archives.find_tree(f, name) for f in folders for name in tree.names) for tree in self.trees]
        beside = [_first(_file(f, name) for f in folders) for name in keys]
        needed = [tree.names[0] + "".join(f" (or {other})" for other in tree.names[1:]) for tree in self.trees] + keys
        if missing := [name for name, path in zip(needed, [*trees, *beside], strict=True) if path is None]:
            variable = "data_dir" if data_dir is not None else files.DATA_VARIABLE
            where = f"not in {variable}={str(root)!r}" if root else "no folder is named"
            raise DataNotFoundError(
                f"{self.name} lacks {', '.join(missing)}: {where}. Get it from {self.url}, put {', '.join(needed)} "
                "into one folder (the trees as folders, or as archives such as .tar.bz2 or .zip), and name that with "
                f"data_dir= (--data-dir) or {files.DATA_VARIABLE}; a sub-folder {self.folder} of it will do"
            )
        return tuple(path for path in trees if path), tuple(path for path in beside if path)


def _first(paths: Iterator[Path | None]) -> Path | None:
    return next((path for path in paths if path is not None), None)


def _file(folder: Path, name: str) -> Path | None:
    """Return a file of a folder, in whatever case: subtaska.json circulates as subtaskA.json too."""
    try:
        found = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return None
    alike = [name] if name in found else [other for other in found if other.lower() == name.lower()]
    if len(alike) > 1:
        raise UserError(f"{folder} holds {' and '.join(alike)}: keep the right one, as {name}")
    return folder / alike[0] if alike else None


def _fingerprint(path: Path) -> str:
    """What tells within one process whether a file, or any file in a folder, has changed."""
    try:
        found = _files(path) if path.is_dir() else [path]
        stats = [(str(file), file.lstat()) for file in found]
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; mend its permissions or its disk") from None
    return json_digest(sorted([name, stat.st_size, stat.st_mtime_ns] for name, stat in stats))


def _files(folder: Path) -> list[Path]:
    def refuse(error: OSError) -> None:
        raise error

    return [Path(above, name) for above, _, names in os.walk(folder, onerror=refuse) for name in names]


class _Found(NamedTuple):
    """What the trees hold, for both tasks: conversations with their events, and key files with their bytes."""

    threads: list[tuple[Thread, str | None]]
    keys: dict[str, tuple[str, bytes]]
    notes: Mapping[str, Sequence[str]]


@lru_cache(maxsize=2)
def _trees(
    trees: tuple[Tree, ...],
    containers: frozenset[str],
    keys: frozenset[str],
    paths: tuple[Path, ...],
    fingerprints: tuple[str, ...],
) -> _Found:
    notes: Notes = defaultdict(list)
    threads: list[tuple[Thread, str | None]] = []
    found_keys: dict[str, tuple[str, bytes]] = {}
    origins: dict[str, Path] = {}
    for tree, path in zip(trees, paths, strict=True):
        content = archives.read_tree(path, lambda name: conversations.wanted(name) or _base(name) in keys)
        for name, data in content.files.items():
            if _base(name) in keys:
                first = found_keys.setdefault(_base(name), (f"{path}, {name}", data))
                if first[1] != data:
                    raise UserError(f"{first[0]} and {path}, {name} differ: keep the right one")
        found, remarks = conversations.read_threads(content, containers)
        for id in (message.id for thread in found for message in (thread.source, *thread.replies)):
            if origins.setdefault(id, path) != path:
                raise UserError(f"the post {id} stands in {origins[id]} and in {path}: keep one of them")
        for remark, places in remarks.items():
            notes[remark] += places
        if content.junk:
            notes[JUNK] += [path.name] * content.junk
        threads += [(thread, _event(thread, tree, notes)) for thread in found]
    return _Found(threads, found_keys, notes)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _event(thread: Thread, tree: Tree, notes: Notes) -> str | None:
    if thread.event is not None or thread.source.created_at is None:
        return thread.event
    month = str(np.datetime64(thread.source.created_at, "ms"))[:7]
    event = dict(tree.event_by_month).get(month)
    if event is not None:
        notes[BY_MONTH].append(thread.id)
    return event


@lru_cache(maxsize=8)
def _posts(
    source: RumourEval, trees: tuple[Path, ...], beside: tuple[Path, ...], fingerprints: tuple[str, ...]
) -> Posts:
    in_trees = frozenset(key.file for key in source.keys if not key.beside)
    found = _trees(source.trees, source.containers, in_trees, trees, fingerprints[: len(trees)])
    notes: Notes = defaultdict(list, {what: list(places) for what, places in found.notes.items()})
    labels = _labels(source, found.keys | {path.name.lower(): (str(path), files.read_bytes(path)) for path in beside})
    build = _stance if source.task == STANCE else _veracity
    posts, unlabelled = build(found.threads, labels, notes)
    if not posts:
        raise UserError(f"{source.name}: no post has a label: are the trees and the keys of one edition?")
    known = {post.id for post in posts}
    if lost := [id for id in labels if id not in known]:
        notes[NO_POST[source.task]] = lost
    return Posts.from_records(
        posts,
        # Without the authors, which are no part of the data set.
        digest=json_digest(sorted([*post[:-1]] for post in posts)),
        dropped={NO_LABEL: sorted(unlabelled)} if unlabelled else {},
        notes={what: sorted(notes[what]) for what in sorted(notes)},
    )


def _labels(source: RumourEval, keys: Mapping[str, tuple[str, bytes]]) -> dict[str, tuple[str, str]]:
    """Id -> its label and its part."""
    labels: dict[str, tuple[str, str]] = {}
    origins: dict[str, str] = {}
    for key in (key for key in source.keys if source.task in key.tasks):
        if key.file not in keys:
            raise UserError(f"{source.name}: the key {key.file} is in none of the trees: get them again")
        name, data = keys[key.file]
        try:
            of_task = submission.read(data, name).get(source.task)
        except ValueError as error:
            raise UserError(str(error)) from None
        if of_task is None:
            raise UserError(
                f"{name} holds no labels for {source.task}: it is another key or an empty one, get it again"
            )
        for answers in of_task.values():
            for id, label in answers.items():
                if id in labels:
                    raise UserError(f"{name}: the id {id!r} is labelled in {origins[id]} too: keep one of them")
                labels[id], origins[id] = (label, key.part), name
    return labels


def _stance(
    threads: Sequence[tuple[Thread, str | None]], labels: Mapping[str, tuple[str, str]], notes: Notes
) -> tuple[list[Post], list[str]]:
    """The labelled posts of all conversations, and where there are others."""
    posts, unlabelled = [], []
    for thread, event in threads:
        messages: dict[str, Message] = {m.id: m for m in (thread.source, *thread.replies)}
        parts = set()
        for message in messages.values():
            if message.id not in labels:
                unlabelled.append(f"{thread.id}/{message.id}")
                continue
            label, part = labels[message.id]
            parts.add(part)
            parent = messages.get(message.parent_id or "")
            columns = {
                "platform": message.platform,
                "thread_id": thread.id,
                "parent_id": message.parent_id,
                "parent_text": None if parent is None else parent.text,
                "source_text": thread.source.text,
                "depth": message.depth,
            }
            code = LABELS[STANCE].index(label)
            post = Post(message.id, message.text, code, message.created_at, event, thread=thread.id, part=part)
            posts.append(post._replace(columns=columns, author=message.author))
        if len(parts) > 1:
            notes[SEVERAL_PARTS].append(thread.id)
    return posts, unlabelled


def _veracity(
    threads: Sequence[tuple[Thread, str | None]], labels: Mapping[str, tuple[str, str]], notes: Notes
) -> tuple[list[Post], list[str]]:
    """The first posts of all labelled conversations with their replies, and where there are others."""
    posts, unlabelled = [], []
    for thread, event in threads:
        source = thread.source
        if source.id not in labels:
            unlabelled.append(thread.id)
            continue
        label, part = labels[source.id]
        replies = [
            {"id": reply.id, "parent": reply.parent_id, "text": reply.text, "created_at": reply.created_at}
            for reply in thread.replies
        ]
        columns = {"platform": source.platform, "replies": replies}
        code = LABELS[VERACITY].index(label)
        post = Post(source.id, source.text, code, source.created_at, event, part=part, columns=columns)
        posts.append(post._replace(author=source.author))
    return posts, unlabelled
