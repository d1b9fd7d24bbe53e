"""The relations between training and test posts that let a model score without generalising."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from temporal_rumors.audit.neighbours import EXCLUDE, INCLUDE, THRESHOLD, is_short, mask, near_duplicates, unaddressed
from temporal_rumors.records import objects

if TYPE_CHECKING:
    from temporal_rumors.records import Posts

NEAR_COPY, NEAR_COPY_MASKED, SAME_ID, NEWER_TRAINING = "near_copy", "near_copy_masked", "same_id", "newer_training"
# The leaks by something that posts share: name -> the column of a Sample, and what is said of them.
SHARED = {
    SAME_ID: ("ids", "test posts whose id a training post has"),
    "same_thread": ("threads", "test posts of a conversation that training posts belong to"),
    "same_event": ("events", "test posts of an event that training posts belong to"),
    "same_author": ("authors", "test posts of an author of training posts"),
    "same_link": ("links", "test posts with a link that a training post has"),
}
NAMES = (NEAR_COPY, NEAR_COPY_MASKED, *SHARED, NEWER_TRAINING)
_COPIED = "test posts of which a training post is a near copy"
_ONCE_MASKED = "the same once links and mentions are masked"

# ASCII alone: in scripts without blanks the text goes on right after a link. Without a path it names no page.
_LINK = re.compile(r"https?://([\w.-]+(?::\d+)?)(/[\w\-.~:/?#\[\]@!$&'()*+,;=%]*)", re.ASCII | re.IGNORECASE)
_AFTER_A_LINK = ".,;:!?'()[]*"
_CUT_OFF = ("…", "...")


@dataclass(frozen=True, eq=False)
class Sample:
    """One side of a split, its arrays aligned; None where nothing of the kind is known.

    Attributes:
        texts: (n,) object, str.
        ids: (n,) object, str.
        labels: (n,) the class of each post.
        times: (n,) datetime64, UTC, NaT where unknown.
        events, threads, authors: (n,) object, str, None where unknown.
        links: (n,) object, each a tuple of the links in the text.
    """

    texts: np.ndarray
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    times: np.ndarray | None = None
    events: np.ndarray | None = None
    threads: np.ndarray | None = None
    authors: np.ndarray | None = None
    links: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class Leak:
    """The test posts that one leak touches.

    Attributes:
        name: one of `NAMES`.
        what: what it counts, in a line.
        touched: (k,) int64, sorted, positions in the test sample.
        pairs: (m, 3) int64, sorted: position in the test sample, position in the training sample, and the edit
            distance of the texts (0 where the leak is not one of texts). Near copies: all pairs of different texts, of
            equal ones the first; of other leaks, whose pairs would be too many, some. Every touched test post and
            every training post concerned stands in some pair.
        agree: how many touched test posts have the label that most of their training partners have, of near copies
            the nearest ones; None where labels are not known, or the leak has no partners to compare.
    """

    name: str
    what: str
    touched: np.ndarray
    pairs: np.ndarray
    agree: int | None

    @property
    def n_train(self) -> int:
        """How many training posts are concerned."""
        return len(np.unique(self.pairs[:, 1]))


def sample_of(posts: Posts, rows: np.ndarray) -> Sample:
    """Return some posts of a benchmark as one side of a split.

    Args:
        posts: all posts.
        rows: (k,) int64 indices into them.
    """
    times = posts.times[rows]
    events = posts.events[rows]
    return Sample(
        texts=posts.texts[rows],
        ids=posts.ids[rows].astype(object),
        labels=posts.labels[rows],
        times=None if np.isnat(times).all() else times,
        events=None if all(event is None for event in events) else events,
        threads=None if posts.threads is None else posts.threads[rows],
        authors=None if posts.authors is None else posts.authors[rows],
        links=links_of(posts.texts[rows]),
    )


def links_of(texts: Sequence[str] | np.ndarray) -> np.ndarray | None:
    """Return the links in each text, (n,) object: tuples of host and path, sorted; None where no text has any.

    Links without a path, and those that a platform has cut off with an ellipsis, name no page and are left out, as
    are the masks that data sets put for links.
    """
    found = []
    for text in texts:
        links = {
            match[1].lower() + path
            for match in _LINK.finditer(text)
            if (path := match[2].rstrip(_AFTER_A_LINK)).strip("/")
            and not text.startswith(_CUT_OFF, match.end())
            and not match[2].endswith(_CUT_OFF)
        }
        found.append(tuple(sorted(links)))
    return objects(found) if any(found) else None


def find_leaks(train: Sample, test: Sample, threshold: float = THRESHOLD, short: str = EXCLUDE) -> list[Leak]:
    """Find the test posts that each leak touches.

    Args:
        train, test: the two sides.
        threshold, short: as for `near_duplicates`; of masked texts, links and mentions do not count as length.

    Returns:
        The leaks in the order of `NAMES`, those that touch nothing included; one that cannot be looked for, since a
        side lacks the column, is left out (see `not_checked`).

    Raises:
        UserError: as `near_duplicates`.
    """
    lacking = not_checked(train, test)
    whole, masked = ([_distinct(side, threshold, short, hidden) for side in (test, train)] for hidden in (False, True))
    leaks = [
        _near(NEAR_COPY, _COPIED, train, test, whole[0], whole[1], threshold, short),
        # What is short was told before masks made it longer.
        _near(NEAR_COPY_MASKED, _ONCE_MASKED, train, test, masked[0], masked[1], threshold, INCLUDE),
    ]
    for name, (column, what) in SHARED.items():
        if name not in lacking:
            leaks.append(_shared(name, what, train, test, *(_keys(getattr(side, column)) for side in (train, test))))
    if train.times is not None and test.times is not None:
        leaks.append(_newer(train.times, test.times))
    return leaks


def not_checked(train: Sample, test: Sample) -> dict[str, str]:
    """Return the leaks that cannot be looked for, name -> why."""
    columns = {name: column for name, (column, _) in SHARED.items()} | {NEWER_TRAINING: "times"}
    lacking = {}
    for name, column in columns.items():
        sides = [side for side, sample in (("training", train), ("test", test)) if getattr(sample, column) is None]
        if sides:
            lacking[name] = f"no {column}" if len(sides) > 1 else f"no {column} in the {sides[0]} posts"
    return lacking


def is_short_masked(texts: Sequence[str] | np.ndarray, threshold: float) -> np.ndarray:
    """Tell which texts are too short once links and mentions are masked: a mask is no text, and like any other.

    Args:
        texts: (n,) str.
        threshold: as for `near_duplicates`.

    Returns:
        (n,) bool.
    """
    return is_short(map(unaddressed, texts), threshold)


def _distinct(side: Sample, threshold: float, short: str, masked: bool) -> _Distinct:
    """The different texts of a side, as they are or masked."""
    if not masked:
        return _Distinct(side.texts, np.ones(len(side), dtype=bool))
    kept = ~is_short_masked(side.texts, threshold) if short == EXCLUDE else np.ones(len(side), dtype=bool)
    return _Distinct(objects([mask(text) for text in side.texts]), kept)


class _Distinct:
    """The different texts of a side, so that equal ones are compared once.

    Attributes:
        texts: (n_distinct,) object, str.
        of: (n,) int64, the number of each post's text; -1 for a post that is left out.
        members: (n_kept,) int64, the posts that are kept, those of one text together and in order.
        starts: (n_distinct + 1,) int64, where those of each text begin.
    """

    def __init__(self, texts: np.ndarray, kept: np.ndarray) -> None:
        numbers: dict[str, int] = {}
        self.of = np.array(
            [numbers.setdefault(text, len(numbers)) if keep else -1 for text, keep in zip(texts, kept, strict=True)],
            dtype=np.int64,
        )
        self.texts = objects(list(numbers))
        rows = np.flatnonzero(self.of >= 0)
        self.members = rows[np.argsort(self.of[rows], kind="stable")]
        self.starts = np.searchsorted(self.of[self.members], np.arange(len(numbers) + 1))

    def posts(self, number: int) -> np.ndarray:
        """The posts that have a text."""
        return self.members[self.starts[number] : self.starts[number + 1]]


def _near(
    name: str,
    what: str,
    train: Sample,
    test: Sample,
    queries: _Distinct,
    corpus: _Distinct,
    threshold: float,
    short: str,
) -> Leak:
    joined = near_duplicates(queries.texts, corpus.texts, threshold, short)
    found = [np.empty((0, 3), dtype=np.int64)]
    for i, j, distance in joined.tolist():
        tested, trained = queries.posts(i), corpus.posts(j)
        # A star rather than all pairs of equal texts, which might be millions.
        rows = np.concatenate([np.full(len(trained), tested[0]), tested[1:]])
        columns = np.concatenate([trained, np.full(len(tested) - 1, trained[0])])
        found.append(np.stack([rows, columns, np.full(len(rows), distance)], axis=1))
    pairs = np.concatenate(found)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    touched = np.unique(pairs[:, 0])
    agree = None
    if train.labels is not None and test.labels is not None:
        agree = _agreement(joined, queries, corpus, test.labels, train.labels, touched)
    return Leak(name, what, touched, pairs, agree)


def _agreement(
    joined: np.ndarray,
    queries: _Distinct,
    corpus: _Distinct,
    labels: np.ndarray,
    train_labels: np.ndarray,
    touched: np.ndarray,
) -> int:
    """How many touched test posts have the label of most of their nearest training posts."""
    if not len(touched):
        return 0
    codes = {label: code for code, label in enumerate(dict.fromkeys([*labels, *train_labels]))}
    votes = np.zeros((len(corpus.texts), len(codes)), dtype=np.int64)
    kept = corpus.of >= 0
    np.add.at(votes, (corpus.of[kept], np.array([codes[label] for label in train_labels[kept]])), 1)
    least = np.full(len(queries.texts), np.iinfo(np.int64).max)
    np.minimum.at(least, joined[:, 0], joined[:, 2])
    nearest = joined[joined[:, 2] == least[joined[:, 0]]]
    sums = np.zeros((len(queries.texts), len(codes)), dtype=np.int64)
    np.add.at(sums, nearest[:, 0], votes[nearest[:, 1]])
    of_post = sums[queries.of[touched]]
    own = of_post[np.arange(len(touched)), [codes[label] for label in labels[touched]]]
    return int((2 * own > of_post.sum(axis=1)).sum())


def _keys(column: np.ndarray) -> list[tuple[Hashable, ...]]:
    """What a post can share with others: nothing, one value or, of links, several."""
    return [value if isinstance(value, tuple) else () if value is None else (value,) for value in column]


def _shared(
    name: str,
    what: str,
    train: Sample,
    test: Sample,
    train_keys: list[tuple[Hashable, ...]],
    test_keys: list[tuple[Hashable, ...]],
) -> Leak:
    first_train, first_test = _first(train_keys), _first(test_keys)
    pairs, touched, agree = set(), [], 0
    votes: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    posts: dict[Hashable, list[int]] = defaultdict(list)
    labels = None if train.labels is None or test.labels is None else (train.labels, test.labels)
    for j, keys in enumerate(train_keys):
        if partners := [first_test[key] for key in keys if key in first_test]:
            pairs.add((min(partners), j, 0))
        if labels is not None:
            for key in keys:
                votes[key][labels[0][j]] += 1
                posts[key].append(j)
    for i, keys in enumerate(test_keys):
        if not (partners := [first_train[key] for key in keys if key in first_train]):
            continue
        touched.append(i)
        pairs.add((i, min(partners), 0))
        if labels is not None:
            if len(keys) == 1:
                count = votes[keys[0]]
            else:
                # A training post that shares several is one partner all the same.
                count = Counter(labels[0][j] for j in {j for key in keys if key in posts for j in posts[key]})
            agree += 2 * count[labels[1][i]] > count.total()
    return Leak(name, what, np.array(touched, dtype=np.int64), _array(pairs), None if labels is None else agree)


def _first(keys: list[tuple[Hashable, ...]]) -> dict[Hashable, int]:
    first: dict[Hashable, int] = {}
    for i, of_post in enumerate(keys):
        for key in of_post:
            first.setdefault(key, i)
    return first


def _newer(train: np.ndarray, test: np.ndarray) -> Leak:
    what = "test posts that are older than some training post"
    known_train, known_test = np.flatnonzero(~np.isnat(train)), np.flatnonzero(~np.isnat(test))
    touched, pairs = np.empty(0, dtype=np.int64), set()
    if len(known_train) and len(known_test):
        newest = known_train[train[known_train].argmax()]
        oldest = known_test[test[known_test].argmin()]
        touched = known_test[test[known_test] < train[newest]]
        newer = known_train[train[known_train] > test[oldest]]
        pairs = {(int(i), int(newest), 0) for i in touched} | {(int(oldest), int(j), 0) for j in newer}
    return Leak(NEWER_TRAINING, what, touched, _array(pairs), None)


def _array(pairs: set[tuple[int, int, int]]) -> np.ndarray:
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 3)
