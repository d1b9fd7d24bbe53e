"""Read the conversation trees of RumourEval and PHEME: a source post a folder, with its replies and who answers whom.

Nothing here recurses: a conversation may be thousands of posts deep.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from temporal_rumors.errors import UserError
from temporal_rumors.records import check_id, parse_time, snowflake_time
from temporal_rumors.sources.archives import Tree

STRUCTURE = "structure.json"
SOURCES = ("source-tweet", "source-tweets")
REPLIES = ("replies", "reactions")
KINDS = ("rumours", "non-rumours")
PLACEHOLDERS = ("[deleted]", "[removed]")
EVENT_SUFFIX = "-all-rnr-threads"

NO_CONTAINER = "in no folder that is known to hold events or threads, event unknown"
NO_SOURCE = "no source post, thread left out"
NO_STRUCTURE = "no structure.json, parents taken from the posts"
NO_FILE = "named in structure.json, no file"
PLACED_TWICE = "named twice in structure.json, first place taken"
NOT_PLACED = "file without a place in structure.json"
BESIDE_SOURCE = "beside the source in structure.json, not below it"
OWN_PARENT = "parent taken from the post itself"
DETACHED = "answers nothing that leads to the source"
CIRCLE = "parent left out, the posts answer each other in a circle"
OTHER_PARENT = "structure.json and the post itself name different parents, that of structure.json taken"
NO_OWN_PARENT = "the post itself names no parent, that of structure.json taken"
SOURCE_ANSWERS = "source answers a post that is not part of the thread"
THREAD_REPEATED = "thread repeats another, left out"
POST_REPEATED = "post repeats another, left out"
LEFT_OUT = "post only in a thread that repeats another, left out"
NO_TEXT = "no text (deleted or not kept)"
PLACEHOLDER = "text is a placeholder such as [deleted]"
NO_TIME = "no time"
HALF_CHARACTER = "half a character in the text, replaced by U+FFFD"

# JSON joins the two halves of a character, so what is left of them is half.
_HALF = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'[ \t\n\r]*([{}\[\]:,]|"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"|-?(?:0|[1-9][0-9]*)|null|\Z)')


@dataclass(frozen=True)
class Message:
    """One post of a conversation.

    Attributes:
        id: the platform's id.
        text: as the file has it, with HTML entities; empty where it has none.
        created_at: milliseconds since 1970-01-01T00:00Z, or None where it is not known.
        platform: "twitter" or "reddit".
        parent_id: the post it answers, which may be one that no file holds; None for the source, and where not known.
        depth: 0 for the source, 1 for what answers it, and so on; None where its parents do not lead to the source.
        author: id (Twitter) or name (Reddit) of who wrote it, or None.
    """

    id: str
    text: str
    created_at: int | None
    platform: str
    parent_id: str | None
    depth: int | None
    author: str | None = None


@dataclass(frozen=True)
class Thread:
    """A source post and all that was answered to it.

    Attributes:
        id: that of the source.
        event: name of the news event, or None.
        kind: "rumours" or "non-rumours" where the tree tells them apart by folder, else None.
        source: the first post.
        replies: in (time, id) order; those without a time last.
    """

    id: str
    event: str | None
    kind: str | None
    source: Message
    replies: tuple[Message, ...]


class _Post(NamedTuple):
    """What a post's file says; ``parent_id`` is the parent that the post itself names."""

    id: str
    text: str
    created_at: int | None
    platform: str
    parent_id: str | None
    author: str | None = None


@dataclass
class _Folder:
    """The files of one thread, and what its place in the tree says."""

    path: str
    structure: str | None = None
    sources: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    event: str | None = None
    kind: str | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def wanted(path: str) -> bool:
    """Return whether a file of a tree is one that :func:`read_threads` reads: posts and structures."""
    *folders, name = path.split("/")
    if name == STRUCTURE:
        return bool(folders)
    return name.endswith(".json") and len(folders) > 1 and folders[-1] in SOURCES + REPLIES


def read_threads(tree: Tree, containers: Collection[str]) -> tuple[list[Thread], dict[str, list[str]]]:
    """Read all conversations of a tree.

    A thread is a folder ``<container>/[<event>/][rumours|non-rumours/]<id of the source>`` with the source in
    ``source-tweet(s)/<id>.json``, the rest in ``replies/`` or ``reactions/``, and ``structure.json``, the ids nested
    as the posts answer each other. A post is JSON as Twitter or Reddit gave it out.

    Args:
        tree: the files; those that are not :func:`wanted` are passed over.
        containers: names of the folders that directly hold events or threads.

    Returns:
        The threads in (time of the source, id) order, and all that was skipped, missing or mended: what it is ->
        where, as ``<thread>`` or ``<thread>/<post>``, sorted.

    Raises:
        UserError: a file is not what its place in the tree says, or two files contradict each other; the message
            names them.
    """
    reader = _Reader(tree, containers)
    threads = reader.threads()
    return threads, {what: sorted(places) for what, places in sorted(reader.remarks.items())}


class _Reader:
    """Reads one tree; the remarks pile up as it goes."""

    def __init__(self, tree: Tree, containers: Collection[str]) -> None:
        self.tree = tree
        self.containers = frozenset(containers)
        self.remarks: dict[str, list[str]] = defaultdict(list)

    def threads(self) -> list[Thread]:
        """Return the threads in (time of the source, id) order."""
        folders = self._folders()
        first: dict[str, tuple[_Folder, str, _Post]] = {}
        for folder in folders:
            path = folder.sources[0]
            post = self._post(path, folder.name)
            if post.id != folder.name:
                self._refuse(path, f"is the source {post.id} of the thread {folder.name!r}", "give both the same name")
            known, known_path, known_post = first.setdefault(post.id, (folder, path, post))
            if (known_post, known.event, known.kind) != (post, folder.event, folder.kind):
                self._contradiction(known_path, path)
            if known is not folder:
                self._remark(THREAD_REPEATED, folder.name)

        # Sources come first: a reply that repeats one is left out, wherever it stands.
        seen = {id: (path, post) for id, (_, path, post) in first.items()}
        threads = []
        for folder in folders:
            kept = first[folder.name][0] is folder
            replies = {}
            for path in folder.replies:
                post = self._post(path, folder.name)
                known_path, known_post = seen.setdefault(post.id, (path, post))
                if known_post != post:
                    self._contradiction(known_path, path)
                if known_path != path:
                    self._remark(POST_REPEATED, folder.name, post.id)
                elif kept:
                    replies[post.id] = post
                else:
                    self._remark(LEFT_OUT, folder.name, post.id)
            if kept:
                threads.append(self._thread(folder, first[folder.name][2], replies))
        if not threads:
            raise UserError(
                f"{self.tree.name} holds no conversation: expected folders with source-tweet/<id>.json, replies/ and "
                "structure.json; give the folder or archive that holds them"
            )
        return sorted(threads, key=lambda thread: _by_time(thread.source))

    def _folders(self) -> list[_Folder]:
        """Return the folders that hold a source, by path."""
        folders: dict[str, _Folder] = {}
        for path in filter(wanted, self.tree.files):
            above, _, name = path.rpartition("/")
            if name != STRUCTURE:
                above, _, part = above.rpartition("/")
            folder = folders.get(above)
            if folder is None:
                folder = folders[above] = _Folder(above)
            if name == STRUCTURE:
                folder.structure = path
            else:
                (folder.sources if part in SOURCES else folder.replies).append(path)

        threads = []
        for _, folder in sorted(folders.items()):
            if len(folder.sources) > 1:
                self._refuse(folder.sources[1], f"is a second source beside {folder.sources[0]}", "keep the right one")
            if folder.sources:
                self._place(folder)
                threads.append(folder)
            elif folder.replies:
                self._remark(NO_SOURCE, folder.name)
        return threads

    def _place(self, folder: _Folder) -> None:
        above = folder.path.split("/")[:-1]
        if above and above[-1] in KINDS:
            folder.kind = above.pop()
        if above and above[-1] in self.containers:
            return
        if len(above) > 1 and above[-2] in self.containers:
            folder.event = above[-1].removesuffix(EVENT_SUFFIX)
        else:
            self._remark(NO_CONTAINER, folder.name)

    def _thread(self, folder: _Folder, source: _Post, replies: Mapping[str, _Post]) -> Thread:
        parents = self._parents(folder, source, replies)
        depths = _depths(parents, source.id)
        messages = [
            Message(post.id, post.text, post.created_at, post.platform, parents[post.id], depths[post.id], post.author)
            for post in (source, *replies.values())
        ]
        for message in messages:
            if not message.text.strip():
                self._remark(NO_TEXT, folder.name, message.id)
            if message.created_at is None:
                self._remark(NO_TIME, folder.name, message.id)
            if message.depth is None:
                self._remark(DETACHED, folder.name, message.id)
        return Thread(source.id, folder.event, folder.kind, messages[0], tuple(sorted(messages[1:], key=_by_time)))

    def _parents(self, folder: _Folder, source: _Post, replies: Mapping[str, _Post]) -> dict[str, str | None]:
        """Return post -> parent, also for posts that only structure.json knows."""
        parents: dict[str, str | None] = {}
        if folder.structure is not None:
            for id, parent in self._structure(folder.structure):
                if id in parents:
                    self._remark(PLACED_TWICE, folder.name, id)
                    continue
                parents[id] = parent
                if id != source.id and id not in replies:
                    self._remark(NO_FILE, folder.name, id)
            if source.id not in parents:
                self._remark(NOT_PLACED, folder.name, source.id)
        elif replies:
            self._remark(NO_STRUCTURE, folder.name)
        if source.parent_id is not None:
            self._remark(SOURCE_ANSWERS, folder.name)
        parents[source.id] = None

        loose = []
        for id, post in replies.items():
            parent = parents.get(id)
            if parent is None:
                loose.append(post)
                if folder.structure is not None:
                    self._remark(BESIDE_SOURCE if id in parents else NOT_PLACED, folder.name, id)
            elif post.parent_id is None:
                self._remark(NO_OWN_PARENT, folder.name, id)
            elif post.parent_id != parent:
                self._remark(OTHER_PARENT, folder.name, id)
        known = {*parents, *replies}
        parents |= {post.id: post.parent_id if post.parent_id in known else None for post in loose}
        # Only these can close a circle: a parent by structure.json is named there before its child.
        loose.sort(key=_by_time)
        for id in _circles(parents, [post.id for post in loose]):
            parents[id] = None
            self._remark(CIRCLE, folder.name, id)
        if folder.structure is not None:
            for post in loose:
                if parents[post.id] is not None:
                    self._remark(OWN_PARENT, folder.name, post.id)
        return parents

    def _structure(self, path: str) -> list[tuple[str, str | None]]:
        text = self._text(path)
        try:
            return _edges(text)
        except ValueError as error:
            self._refuse(
                path, f"is no tree of ids ({error})", "expected ids nested in JSON objects; get the file again"
            )

    def _post(self, path: str, thread: str) -> _Post:
        text = self._text(path)
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._refuse(path, f"is no JSON ({error})", "expected one post as JSON; get the file again")
        try:
            content = _object("the post", content)
            post = _reddit(content) if "kind" in content else _twitter(content)
        except UserError as error:
            raise UserError(f"{self.tree.name}, {path}: {error}") from None
        if path.rpartition("/")[2] != f"{post.id}.json":
            self._refuse(path, f"holds the post {post.id}", "name the file after its post, or get it again")
        if post.text.rpartition("\n\n")[2] in PLACEHOLDERS:
            self._remark(PLACEHOLDER, thread, post.id)
        if _HALF.search(post.text):
            self._remark(HALF_CHARACTER, thread, post.id)
            return post._replace(text=_HALF.sub("\ufffd", post.text))
        return post

    def _text(self, path: str) -> str:
        try:
            text = self.tree.files[path].decode("utf-8")
        except UnicodeDecodeError as error:
            self._refuse(path, f"is not UTF-8 from byte {error.start:,} on", "save it as UTF-8, or get it again")
        if text.startswith("\ufeff") or "\0" in text:
            found = "holds NUL bytes" if "\0" in text else "begins with a byte order mark"
            self._refuse(path, found, "save it as UTF-8 without a byte order mark, or get it again")
        return text

    def _remark(self, what: str, *place: str) -> None:
        self.remarks[what].append("/".join(place))

    def _contradiction(self, path: str, other: str) -> NoReturn:
        self._refuse(other, f"contradicts {path}, which has the same id", "keep the right one")

    def _refuse(self, path: str, found: str, mend: str) -> NoReturn:
        raise UserError(f"{self.tree.name}, {path} {found}: {mend}")


def _by_time(post: Message | _Post) -> tuple[bool, int, str]:
    return (post.created_at is None, post.created_at or 0, post.id)


def _twitter(content: Mapping[str, Any]) -> _Post:
    id = _id(content, "id_str", "id")
    if id is None:
        raise UserError("the post has no id: expected id_str, or id; get the file again")
    created_at = _time(content, "created_at")
    return _Post(
        id,
        _string(content, "full_text", "text"),
        snowflake_time(id) if created_at is None else created_at,
        "twitter",
        _id(content, "in_reply_to_status_id_str", "in_reply_to_status_id"),
        _user(content.get("user")),
    )


def _user(user: object) -> str | None:
    """The id of a Twitter user. Nothing but audits asks for it, so that one of another form is not known, no error."""
    found = (user.get("id_str") or user.get("id")) if isinstance(user, dict) else None
    return str(found) if isinstance(found, (str, int)) and not isinstance(found, bool) and found else None


def _reddit(content: Mapping[str, Any]) -> _Post:
    kind, data = content["kind"], _object("data", content.get("data"))
    if kind == "Listing":
        children = data.get("children")
        if not isinstance(children, list) or len(children) != 1:
            raise UserError("the listing does not hold one post: expected one child; get the file again")
        child = _object("the listing's child", children[0])
        kind, data = child.get("kind"), _object("data", child.get("data"))
        if kind != "t3":
            raise UserError(f"the listing holds a {kind!r}, expected a submission, 't3': get the file again")
    id = _id(data, "id")
    if id is None:
        raise UserError("the post has no id: expected one in data; get the file again")
    if kind == "t3":
        text = "\n\n".join(filter(None, (_string(data, "title"), _string(data, "selftext"))))
    elif kind in ("t1", "more"):
        text = _string(data, "body")
    else:
        raise UserError(f"the post is a {kind!r}, expected 't1', 't3', 'more' or a 'Listing': get the file again")
    parent = _id(data, "parent_id")
    if parent is not None and not (parent[:3] in ("t1_", "t3_") and parent[3:]):
        raise UserError(f"parent_id is {parent!r}, expected t1_<id> or t3_<id>: correct it")
    author = data.get("author")
    known = author if isinstance(author, str) and author not in ("", "[deleted]") else None
    return _Post(id, text, _time(data, "created_utc"), "reddit", parent and parent[3:], known)


def _object(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{what} is {_shown(value)}, expected a JSON object: get the file again")
    return value


def _first(content: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first of the names that has a value, with it; the last one where none has."""
    name = next((name for name in names if content.get(name) is not None), names[-1])
    return name, content.get(name)


def _id(content: Mapping[str, Any], *names: str) -> str | None:
    name, value = _first(content, names)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise UserError(f"{name} is {_shown(value)}, expected an id as text: get the file again")
    return check_id(value)


def _string(content: Mapping[str, Any], *names: str) -> str:
    name, value = _first(content, names)
    if value is not None and not isinstance(value, str):
        raise UserError(f"{name} is {_shown(value)}, expected text: get the file again")
    return value or ""


def _time(content: Mapping[str, Any], name: str) -> int | None:
    value = content.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UserError(f"{name} is {_shown(value)}, expected a time: correct it")
    return parse_time(str(value))


def _shown(value: object) -> str:
    return reprlib.repr(value)


def _edges(text: str) -> list[tuple[str, str | None]]:
    """Return the ids of a structure.json with their parents, in document order.

    Not by the json module, which recurses, and keeps only the last of two equal keys. A value may be an object, an
    array of ids or of objects, or null.

    Raises:
        ValueError: it is something else; the message says where.
    """
    edges: list[tuple[str, str | None]] = []
    # The brackets that are open: what closes each, and whose answers are in it.
    open: list[tuple[str, str | None]] = []
    # What may come next. "first" is an item or the end of an object or array that has just been opened.
    expected, position, owner = "value", 0, None
    while True:
        match = _TOKEN.match(text, position)
        token = match[1] if match else None
        if expected == "end" and token == "":
            return edges
        in_object = bool(open) and open[-1][0] == "}"
        if expected == "colon" and token == ":":
            expected = "value"
        elif expected == "next" and token == ",":
            expected = "item"
        elif expected in ("next", "first") and token == open[-1][0]:
            open.pop()
            expected = "next" if open else "end"
        elif expected in ("first", "item") and token and (token[0] == '"' or (token[-1].isdigit() and not in_object)):
            owner = _name(token)
            edges.append((owner, open[-1][1]))
            expected = "colon" if in_object else "next"
        elif token in ("{", "[") and (expected == "value" or (expected in ("first", "item") and not in_object)):
            whose = owner if expected == "value" else open[-1][1]
            open.append(("}" if token == "{" else "]", whose))
            expected = "first"
        elif token == "null" and expected == "value" and open:
            expected = "next"
        else:
            raise ValueError(f"found {text[position : position + 20]!r} at character {position:,}")
        position = match.end() if match else position


def _name(token: str) -> str:
    return check_id(json.loads(token) if token[0] == '"' else token)


def _circles(parents: Mapping[str, str | None], loose: Sequence[str]) -> list[str]:
    """Return, for each circle, the first of its loose posts.

    Args:
        parents: post -> parent.
        loose: the posts whose parents may close a circle.
    """
    rank = {id: i for i, id in enumerate(loose)}
    cuts: list[str] = []
    done: set[str] = set()
    for id in loose:
        path: dict[str, None] = {}
        at: str | None = id
        while at is not None and at not in done and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            walked = list(path)
            cuts.append(min((id for id in walked[walked.index(at) :] if id in rank), key=rank.__getitem__))
        done.update(path)
    return cuts


def _depths(parents: Mapping[str, str | None], source: str) -> dict[str, int | None]:
    """Return each post's distance from the source, None where its parents do not lead there."""
    depths: dict[str, int | None] = {source: 0}
    for id in parents:
        path = []
        at: str | None = id
        while at is not None and at not in depths:
            path.append(at)
            at = parents[at]
        depth = None if at is None else depths[at]
        for above in reversed(path):
            depth = None if depth is None else depth + 1
            depths[above] = depth
    return depths
