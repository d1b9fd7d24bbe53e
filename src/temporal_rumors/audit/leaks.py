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
            distance of the texts (0 where the leak is not one of texts). Near copies: all pairs. Other leaks, whose
            pairs would be too many: every touched test post and every training post concerned stands in some pair.
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
    pairs = near_duplicates(test.texts, train.texts, threshold, short)
    leaks = [
        _near(NEAR_COPY, "test posts of which a training post is a near copy", train, test, pairs),
        _near(
            NEAR_COPY_MASKED,
            "the same once links and mentions are masked",
            train,
            test,
            _masked_pairs(test.texts, train.texts, threshold, short),
        ),
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


def _masked_pairs(queries: np.ndarray, corpus: np.ndarray, threshold: float, short: str) -> np.ndarray:
    sides = queries, corpus
    masked = [objects([mask(text) for text in texts]) for texts in sides]
    if short != EXCLUDE:
        return near_duplicates(masked[0], masked[1], threshold, short)
    kept = [np.flatnonzero(~is_short_masked(texts, threshold)) for texts in sides]
    pairs = near_duplicates(masked[0][kept[0]], masked[1][kept[1]], threshold, INCLUDE)
    return np.stack([kept[0][pairs[:, 0]], kept[1][pairs[:, 1]], pairs[:, 2]], axis=1)


def _near(name: str, what: str, train: Sample, test: Sample, pairs: np.ndarray) -> Leak:
    touched, first = np.unique(pairs[:, 0], return_index=True)
    agree = None
    if train.labels is not None and test.labels is not None:
        agree = 0
        if len(touched):
            least = np.repeat(np.minimum.reduceat(pairs[:, 2], first), np.diff([*first, len(pairs)]))
            nearest = pairs[pairs[:, 2] == least]
            same = np.asarray(train.labels[nearest[:, 1]] == test.labels[nearest[:, 0]], dtype=np.int64)
            _, first = np.unique(nearest[:, 0], return_index=True)
            n = np.diff([*first, len(nearest)])
            agree = int((2 * np.add.reduceat(same, first) > n).sum())
    return Leak(name, what, touched, pairs, agree)


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
    labels = None if train.labels is None or test.labels is None else (train.labels, test.labels)
    for j, keys in enumerate(train_keys):
        if partners := [first_test[key] for key in keys if key in first_test]:
            pairs.add((min(partners), j, 0))
        if labels is not None:
            for key in keys:
                votes[key][labels[0][j]] += 1
    for i, keys in enumerate(test_keys):
        if not (partners := [first_train[key] for key in keys if key in first_train]):
            continue
        touched.append(i)
        pairs.add((i, min(partners), 0))
        if labels is not None:
            counts = [votes[key] for key in keys if key in votes]
            label = labels[1][i]
            agree += 2 * sum(count[label] for count in counts) > sum(count.total() for count in counts)
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
