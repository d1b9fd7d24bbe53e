"""Read RumourEval's conversations and keys into the posts of one of its tasks."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.metrics.rumoureval import submission
from temporal_rumors.records import Post, Posts, json_digest, sha256
from temporal_rumors.sources import archives, conversations, files
from temporal_rumors.sources.archives import Tree
from temporal_rumors.sources.conversations import Message, Thread

STANCE, VERACITY = "stance", "veracity"
STANCE_CLASSES = ("support", "deny", "query", "comment")
VERACITY_CLASSES = ("true", "false", "unverified")
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


@dataclass(frozen=True)
class Key:
    """Where the labels of one part stand.

    Attributes:
        part: train, validation or test.
        file: base name of the JSON file, in one of the trees or beside them.
        beside: whether it stands beside them.
    """

    part: str
    file: str
    beside: bool = False


@dataclass(frozen=True)
class RumourEval:
    """The conversations of one edition, and the keys of one task.

    Attributes:
        name: what the edition is called.
        url: the page that it can be had from.
        folder: name of the sub-folder of a data folder that may hold it.
        task: "stance", a row for each post, or "veracity", a row for each conversation.
        sha256: the digest of all rows of the published data, hexadecimal.
        trees: the names that each folder, or its archive without the suffix, may have.
        containers: folders that hold events or threads, in the trees or the trees themselves.
        keys: where the labels are; which part a post belongs to is read from them alone.
        event_by_month: `YYYY-MM` of a thread -> its event, for threads that stand in no folder of an event.
    """

    name: str
    url: str
    folder: str
    task: str
    sha256: str
    trees: tuple[tuple[str, ...], ...]
    containers: frozenset[str]
    keys: tuple[Key, ...]
    event_by_month: tuple[tuple[str, str], ...] = ()

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
            classes: class names; a label is an index into them.
            data_dir: the only folder to look in, or in its sub-folder `folder`; None takes TEMPORAL_RUMORS_DATA.
            allow_modified: of no effect here: what was modified is told by the digest of the rows.

        Returns:
            All posts, with what is missing or was mended.

        Raises:
            UserError: a tree or a key that is not at hand, or that cannot be read; the message says what to do.
        """
        assert classes == (STANCE_CLASSES if self.task == STANCE else VERACITY_CLASSES)
        return self._read(data_dir)

    def _read(self, data_dir: str | os.PathLike[str] | None) -> Posts:
        trees, beside = self._find(data_dir)
        paths = (*trees, *beside)
        return _parse(self, tuple(trees), tuple(beside), tuple(_fingerprint(path) for path in paths))

    def _find(self, data_dir: str | os.PathLike[str] | None) -> tuple[list[Path], list[Path]]:
        """Where the trees and the keys beside them are."""
        root = data_dir if data_dir is not None else os.environ.get(files.DATA_VARIABLE)
        # os.path: a user that does not exist has no folder, which is no error.
        folders = [Path(os.path.expanduser(root), below) for below in (self.folder, "")] if root else []
        trees = [
            next(filter(None, (archives.find_tree(f, name) for f in folders for name in names)), None)
            for names in self.trees
        ]
        beside_names = [key.file for key in self.keys if key.beside]
        beside = [next(filter(None, (_file(f, name) for f in folders)), None) for name in beside_names]
        called = [names[0] + "".join(f" (or {other})" for other in names[1:]) for names in self.trees]
        found = [*zip(called, trees, strict=True), *zip(beside_names, beside, strict=True)]
        if missing := [name for name, path in found if path is None]:
            variable = "data_dir" if data_dir is not None else files.DATA_VARIABLE
            where = f"not in {variable}={str(root)!r}" if root else "no folder is named"
            raise DataNotFoundError(
                f"{self.name} lacks {', '.join(missing)}: {where}. Get it from {self.url}, put "
                f"{', '.join([*called, *beside_names])} into one folder (the trees as folders, or as archives such as "
                f".tar.bz2 or .zip), and name that with data_dir= (--data-dir) or {files.DATA_VARIABLE}; a sub-folder "
                f"{self.folder} of it will do"
            )
        return [path for path in trees if path], [path for path in beside if path]


def _file(folder: Path, name: str) -> Path | None:
    """Return a file of a folder, in whatever case: subtaska.json circulates as subtaskA.json too."""
    try:
        found = {entry.name for entry in os.scandir(folder) if entry.is_file()}
    except OSError:
        return None
    alike = [name] if name in found else sorted(other for other in found if other.lower() == name.lower())
    return folder / alike[0] if alike else None


def _fingerprint(path: Path) -> str:
    """What tells within one process whether a file or folder has changed."""
    if path.is_file():
        return sha256(files.read_bytes(path))
    stats = [(entry.path, entry.stat()) for entry in _entries(path)]
    return json_digest(sorted([name, stat.st_size, stat.st_mtime_ns] for name, stat in stats))


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    yield entry


@lru_cache(maxsize=8)
def _parse(
    source: RumourEval, trees: tuple[Path, ...], beside: tuple[Path, ...], fingerprints: tuple[str, ...]
) -> Posts:
    in_trees = {key.file for key in source.keys if not key.beside}

    def wanted(path: str) -> bool:
        return conversations.wanted(path) or path.rsplit("/", 1)[-1] in in_trees

    notes: dict[str, list[str]] = defaultdict(list)
    threads: list[Thread] = []
    origins: dict[str, Path] = {}
    documents = {path.name.lower(): (str(path), files.read_bytes(path)) for path in beside}
    for path in trees:
        tree = archives.read_tree(path, wanted)
        found = {p: data for p, data in tree.files.items() if p.rsplit("/", 1)[-1] in in_trees}
        for inner, data in found.items():
            name = inner.rsplit("/", 1)[-1]
            if documents.setdefault(name, (f"{path}: {inner}", data))[1] != data:
                raise UserError(
                    f"{name} stands in {documents[name][0]} and in {path}: {inner}, but they differ: keep one"
                )
        rest = Tree(tree.name, {p: data for p, data in tree.files.items() if p not in found}, tree.junk)
        more, remarks = conversations.read_threads(rest, source.containers)
        for id in (message.id for thread in more for message in (thread.source, *thread.replies)):
            if origins.setdefault(id, path) != path:
                raise UserError(f"the post {id} stands in {origins[id]} and in {path}: keep one of them")
        threads += more
        for remark, places in remarks.items():
            notes[remark] += places
        if tree.junk:
            notes["files of macOS ignored"] += [path.name] * tree.junk
    labels = _labels(source, documents)
    build = _stance if source.task == STANCE else _veracity
    posts = build(_placed(source, threads), labels, notes)
    if not posts:
        raise UserError(f"{source.name}: no post has a label: are the trees and the keys of one edition?")
    known = {post.id for post in posts}
    lost = sorted(id for id in labels if id not in known)
    if lost:
        notes["labelled, but there is no such post" if source.task == STANCE else "labelled, but starts no thread"] = (
            lost
        )
    digest = json_digest(sorted([*post] for post in posts))
    return Posts.from_records(posts, digest=digest, notes={note: sorted(notes[note]) for note in sorted(notes)})


def _labels(source: RumourEval, documents: Mapping[str, tuple[str, bytes]]) -> dict[str, tuple[str, str]]:
    """Id -> its label and its part."""
    labels: dict[str, tuple[str, str]] = {}
    origins: dict[str, str] = {}
    for key in source.keys:
        if key.file not in documents:
            raise UserError(f"{source.name}: the key {key.file} is in none of the trees: get them again")
        name, data = documents[key.file]
        try:
            of_task = submission.read(data, name).get(source.task)
        except ValueError as error:
            raise UserError(str(error)) from None
        if of_task is None:
            raise UserError(
                f"{name} holds no labels for {source.task}: it is another key or an empty one, get it again"
            )
        for language, answers in of_task.items():
            for id, label in answers.items():
                if id in labels:
                    raise UserError(
                        f"{name}: the {language} id {id!r} is labelled in {origins[id]} too: keep one of them"
                    )
                labels[id], origins[id] = (label, key.part), name
    return labels


def _placed(source: RumourEval, threads: Sequence[Thread]) -> list[tuple[Thread, str | None]]:
    """Each thread with its event."""
    by_month = dict(source.event_by_month)
    placed = []
    for thread in threads:
        event, stamp = thread.event, thread.source.created_at
        if event is None and by_month and stamp is not None:
            event = by_month.get(str(np.datetime64(stamp, "ms"))[:7])
        placed.append((thread, event))
    return placed


def _stance(
    threads: Sequence[tuple[Thread, str | None]],
    labels: Mapping[str, tuple[str, str]],
    notes: dict[str, list[str]],
) -> list[Post]:
    posts = []
    for thread, event in threads:
        messages: dict[str, Message] = {m.id: m for m in (thread.source, *thread.replies)}
        parts = set()
        for message in messages.values():
            if message.id not in labels:
                notes["post without a label, left out"].append(f"{thread.id}/{message.id}")
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
            posts.append(
                Post(
                    message.id,
                    message.text,
                    STANCE_CLASSES.index(label),
                    message.created_at,
                    event,
                    thread=thread.id,
                    part=part,
                    columns=columns,
                )
            )
        if len(parts) > 1:
            notes["conversation in several parts of the official split"].append(thread.id)
    return posts


def _veracity(
    threads: Sequence[tuple[Thread, str | None]],
    labels: Mapping[str, tuple[str, str]],
    notes: dict[str, list[str]],
) -> list[Post]:
    posts = []
    for thread, event in threads:
        source = thread.source
        if source.id not in labels:
            notes["thread without a label, left out"].append(thread.id)
            continue
        label, part = labels[source.id]
        replies = [
            {"id": reply.id, "parent": reply.parent_id, "text": reply.text, "created_at": reply.created_at}
            for reply in thread.replies
        ]
        columns = {"platform": source.platform, "replies": replies}
        code = VERACITY_CLASSES.index(label)
        posts.append(Post(source.id, source.text, code, source.created_at, event, part=part, columns=columns))
    return posts
