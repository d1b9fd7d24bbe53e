"""Split protocols: pure functions from a post's time, label and event to train, validation and test parts.

Every function takes arrays with one entry a post and returns indices into them. The order of posts is
(time, id as a string); what a function returns depends on neither the order of the input nor the locale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from temporal_rumors.errors import UserError, unknown
from temporal_rumors.records import json_digest

PARTS = ("train", "validation", "test")
N_FOLDS = 5
RANDOM_FOLDS = tuple(f"random_fold{k}" for k in range(N_FOLDS))
OFFICIAL, CHRONO, CHRONO_STRATIFIED, LOO_PREFIX = "official", "chrono", "chrono_stratified", "loo_"
POSTS, THREADS = "posts", "threads"
DEFAULT_PROTOCOL = CHRONO
# What scores are averaged in: all folds, all events, and each other protocol by itself.
RANDOM, LOO = "random", "loo"
GROUPS = (RANDOM, CHRONO, CHRONO_STRATIFIED, LOO, OFFICIAL)

_NAT = np.iinfo(np.int64).min
_WEIGHTS = {"train": 7, "validation": 1, "test": 2}
# Who gets a left-over post where remainders tie.
_PRECEDENCE = ("test", "train", "validation")


class _TooFewError(UserError):
    """There is not enough to split."""

    def __init__(self, n: int, why: str, unit: str = POSTS) -> None:
        super().__init__(f"{n} {unit} {why}")
        self.n, self.why = n, why


@dataclass(frozen=True, eq=False)
class Split:
    """A division of posts into three parts.

    Attributes:
        train, validation, test: (n_part,) int64 indices into the caller's arrays, in (time, id) order.
        excluded: (n_excluded,) int64 indices of posts that the protocol cannot place.
        ties: posts (or threads) whose time equals that of one beyond a chronological cut, so that only the id
            decided on which side they stand.
        unit: what was split, "posts" or whole "threads".
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    excluded: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ties: int = 0
    unit: str = POSTS

    def __post_init__(self) -> None:
        empty = [part for part, rows in self.parts().items() if not len(rows)]
        if empty:
            n = sum(map(len, self.parts().values()))
            lacking = " and the ".join(empty)
            raise _TooFewError(n, f"are too few for this protocol: the {lacking} part would be empty", self.unit)

    def parts(self) -> dict[str, np.ndarray]:
        """Return the parts by name, in the order train, validation, test."""
        return {part: getattr(self, part) for part in PARTS}

    def digest(self, ids: Sequence[str] | np.ndarray) -> str:
        """Return the sha256 (hexadecimal) of the sorted ids of each part; equal digests mean equal splits.

        Args:
            ids: (n,) str, the ids of all posts.
        """
        names = list(ids)  # A pandas Series would be read by its labels.
        return json_digest([sorted(str(names[i]) for i in rows) for rows in self.parts().values()])


@dataclass(frozen=True)
class SplitReport:
    """What a split holds, and what it does not guarantee.

    Attributes:
        sizes: part -> class -> number of posts.
        absent: part -> classes of which it holds no post.
        newer_than_test: training posts newer than the first test post.
        ties: posts (or threads) that only their id puts on their side of a chronological cut.
        excluded: posts that the protocol cannot place (no time, no event).
        span: part -> first and last time, ISO 8601 UTC, or None where no time is known.
        unit: what was split, "posts" or whole "threads".
    """

    sizes: dict[str, dict[Any, int]]
    absent: dict[str, list[Any]]
    newer_than_test: int
    ties: int
    excluded: int
    span: dict[str, tuple[str, str] | None]
    unit: str = POSTS

    def warnings(self, skip: Collection[str] = ()) -> list[str]:
        """Return one sentence for each guarantee that the split does not give.

        Args:
            skip: kinds to leave out, of "newer", "absent", "ties" and "excluded".
        """
        n_train = sum(self.sizes["train"].values())
        lines = {
            "newer": [f"{self.newer_than_test:,} of {n_train:,} training posts are newer than the first test post"]
            if self.newer_than_test
            else [],
            "absent": [
                f"no {' and no '.join(map(str, classes))} post in the {part} part"
                for part, classes in self.absent.items()
                if classes
            ],
            "ties": [f"{self.ties:,} {self.unit} share their time with one beyond a cut: only their id decided"]
            if self.ties
            else [],
            "excluded": [f"{self.excluded:,} posts left out: the protocol cannot place them"] if self.excluded else [],
        }
        return [line for kind, found in lines.items() if kind not in skip for line in found]


def random_folds(
    labels: Sequence[Any] | np.ndarray,
    *,
    ids: Sequence[str] | np.ndarray,
    times: Sequence[Any] | np.ndarray | None = None,
    n_folds: int = N_FOLDS,
    seed: int = 0,
) -> list[Split]:
    """Stratified random folds whose test parts cover every post exactly once; of the rest one eighth is validation.

    Args:
        labels: (n,) the class of each post.
        ids: (n,) str, unique.
        times: (n,) datetime64, or integers in any one unit; only fixes the order in which posts are drawn.
        n_folds: number of folds; five give 70/10/20.
        seed: of the one generator that draws everything.

    Returns:
        One Split a fold.

    Raises:
        UserError: arrays of unequal length, repeated ids, or a part that would be empty.

    Source: Mu et al. 2023, section 2.2, Random Splits.
    """
    order = _order(ids, times)
    _, codes = _labels(labels, ids)
    if not 2 <= n_folds <= len(order):
        raise _TooFewError(len(order), f"cannot make {n_folds} folds")
    draws = _draws(seed)
    # Dealing out the shuffled classes one after the other keeps both each class and each fold within one post of even.
    dealt = np.concatenate([_shuffled(rows, draws) for rows in _members(order, codes).values()])
    fold_of = np.empty(len(order), dtype=np.int64)
    fold_of[dealt] = np.arange(len(dealt)) % n_folds
    splits = []
    for fold in range(n_folds):
        rest = order[fold_of[order] != fold]
        train, validation = _hold_out(rest, codes, draws)
        splits.append(Split(train, validation, order[fold_of[order] == fold]))
    return splits


def chronological(
    times: Sequence[Any] | np.ndarray,
    *,
    ids: Sequence[str] | np.ndarray,
    cuts: tuple[int, int, int] | None = None,
) -> Split:
    """The earliest 70% of posts train, the next 10% validate, the latest 20% test.

    Args:
        times: (n,) datetime64 (NaT: not known, excluded), or integers in any one unit.
        ids: (n,) str, unique; order posts of one time.
        cuts: published sizes of the three parts; None takes 70/10/20 by largest remainder.

    Returns:
        The split, its indices into the arrays given.

    Raises:
        UserError: arrays of unequal length, repeated ids, an empty part, cuts that do not sum to n.

    Source: Mu et al. 2023, section 2.2, Standard Chronological Splits.
    """
    ordered, stamps = _order(ids, times), _stamps(times)
    order, excluded = _timed(ordered, stamps)
    parts = train, validation, test = _cut(order, cuts)
    return Split(train, validation, test, excluded, _ties(parts, stamps))


def chronological_stratified(
    times: Sequence[Any] | np.ndarray,
    labels: Sequence[Any] | np.ndarray,
    *,
    ids: Sequence[str] | np.ndarray,
    cuts: Mapping[Any, tuple[int, int, int]] | None = None,
) -> Split:
    """A chronological split of each class on its own, merged: shares of classes stay, but classes overlap in time.

    Args:
        times: (n,) datetime64 (NaT: not known, excluded), or integers in any one unit.
        labels: (n,) the class of each post.
        ids: (n,) str, unique; order posts of one time.
        cuts: class -> published sizes of its three parts; None takes 70/10/20 by largest remainder.

    Returns:
        The split, its indices into the arrays given.

    Raises:
        UserError: arrays of unequal length, repeated ids, an empty part, cuts that do not fit the classes.

    Source: Mu et al. 2023, section 2.2, Stratified Chronological Splits.
    """
    ordered, stamps = _order(ids, times), _stamps(times)
    order, excluded = _timed(ordered, stamps)
    names, codes = _labels(labels, ids)
    classes = {names[code]: rows for code, rows in _members(order, codes).items()}
    if cuts is not None and set(cuts) != set(classes):
        raise UserError(
            f"cuts are given for the classes {sorted(map(str, cuts))}, the posts have {list(map(str, classes))}"
        )
    by_class = [_cut(rows, cuts[name] if cuts else None) for name, rows in classes.items()]
    rank = np.empty(len(ordered), dtype=np.int64)
    rank[ordered] = np.arange(len(ordered))
    merged = []
    for pieces in zip(*by_class, strict=True):
        rows = np.concatenate(pieces)
        merged.append(rows[np.argsort(rank[rows])])
    train, validation, test = merged
    return Split(train, validation, test, excluded, sum(_ties(parts, stamps) for parts in by_class))


def leave_one_out(
    labels: Sequence[Any] | np.ndarray,
    events: Sequence[str | None] | np.ndarray,
    *,
    ids: Sequence[str] | np.ndarray,
    times: Sequence[Any] | np.ndarray | None = None,
    seed: int = 0,
) -> dict[str, Split]:
    """Each event in turn is the test part; the rest is split 7:1 into train and validation, stratified.

    Args:
        labels: (n,) the class of each post.
        events: (n,) str; None: not known, excluded.
        ids: (n,) str, unique.
        times: (n,) datetime64, or integers in any one unit; only fixes the order in which posts are drawn.
        seed: of the generator, made anew for each event.

    Returns:
        event -> Split, events in alphabetical order.

    Raises:
        UserError: arrays of unequal length, repeated ids, fewer than two events, an empty part.

    Source: Mu et al. 2023, section 2.2, Leave-One-Out Splits (after Lukasik et al. 2015).
    """
    order = _order(ids, times)
    (_, codes), events = _labels(labels, ids), _events(events, ids)
    if not (names := _names(events)):
        raise UserError("no post has an event: leaving one out takes at least two")
    return {name: _leave_out(name, order, codes, events, seed) for name in names}


def protocol_names(events: Sequence[str] = (), *, official: bool = False) -> list[str]:
    """Return the protocols that posts with these events can be split by.

    Args:
        events: names of the events.
        official: whether there is a split that the publishers made.
    """
    first = [OFFICIAL] if official else []
    return [*first, *RANDOM_FOLDS, CHRONO, CHRONO_STRATIFIED, *(LOO_PREFIX + event for event in sorted(events))]


def group_of(protocol: str) -> str:
    """Return the group that a protocol's scores are averaged in: random or loo, or the protocol itself."""
    if protocol in RANDOM_FOLDS:
        return RANDOM
    return LOO if protocol.startswith(LOO_PREFIX) else protocol


def make_split(
    protocol: str,
    *,
    ids: Sequence[str] | np.ndarray,
    times: Sequence[Any] | np.ndarray,
    labels: Sequence[Any] | np.ndarray | None,
    events: Sequence[str | None] | np.ndarray | None = None,
    threads: Sequence[str] | np.ndarray | None = None,
    parts: Sequence[str] | np.ndarray | None = None,
    cuts: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Split:
    """Split by a protocol's name: ``random_fold<k>``, ``chrono``, ``chrono_stratified``, ``loo_<event>``, ``official``.

    Where posts stand in threads, whole threads are split, each by the time, the class and the event of its first post.
    So no conversation straddles two parts.

    Args:
        protocol: the name.
        ids: (n,) str, unique.
        times: (n,) datetime64 (NaT: not known), or integers in any one unit.
        labels: (n,) the class of each post; None only for ``chrono``.
        events: (n,) str, or None where not known; only for ``loo_<event>``.
        threads: (n,) str, the conversation of each post; None: each post stands alone.
        parts: (n,) str, the part of each post; only for ``official``.
        cuts: protocol -> its published cut points.
        seed: for the protocols that draw.

    Returns:
        The split, its indices into the arrays given.

    Raises:
        UserError: an unknown name (the message lists the valid ones), labels or events that the protocol needs and
            that are not given, and whatever its own function raises.
    """
    if not isinstance(protocol, str):
        raise UserError(f"the protocol must be a name such as 'chrono', found {protocol!r}")
    if protocol == OFFICIAL and parts is not None:
        return _as_published(parts, _order(ids, times))
    if threads is not None:
        return _whole_threads(protocol, threads, _order(ids, times), times, labels, events, cuts, seed)
    cuts = cuts or {}
    if protocol == CHRONO:
        return chronological(times, ids=ids, cuts=cuts.get(CHRONO))
    if labels is None:
        raise UserError(f"the protocol {protocol!r} needs the class of each post")
    if protocol in RANDOM_FOLDS:
        return random_folds(labels, ids=ids, times=times, seed=seed)[RANDOM_FOLDS.index(protocol)]
    if protocol == CHRONO_STRATIFIED:
        return chronological_stratified(times, labels, ids=ids, cuts=cuts.get(CHRONO_STRATIFIED))
    if events is None:
        raise unknown_protocol(protocol, ())
    events = _events(events, ids)
    names = _names(events)
    if protocol not in [LOO_PREFIX + name for name in names]:
        raise unknown_protocol(protocol, names)
    event = protocol.removeprefix(LOO_PREFIX)
    return _leave_out(event, _order(ids, times), _labels(labels, ids)[1], events, seed)


def unknown_protocol(protocol: str, events: Sequence[str]) -> UserError:
    """Return the error for a protocol that posts with these events do not have."""
    more = "" if events else " (and loo_<event> where posts have events)"
    return UserError(unknown("protocol", protocol, protocol_names(events)) + more)


def report(
    split: Split,
    *,
    times: Sequence[Any] | np.ndarray,
    labels: Sequence[Any] | np.ndarray,
    classes: Sequence[Any] | None = None,
) -> SplitReport:
    """Count what a split holds and what it does not guarantee.

    Args:
        split: indices into the arrays that follow.
        times: (n,) datetime64, or integers in any one unit.
        labels: (n,) the class of each post, or an index into ``classes``.
        classes: names of the classes; None takes the labels that occur.

    Returns:
        Counts of posts, and what is not guaranteed.

    Raises:
        UserError: arrays of unequal length, labels that are no indices into ``classes``.
    """
    stamps = _stamps(times)
    if classes is None:
        classes, codes = _labels(labels, stamps)
    else:
        codes = np.asarray(labels)
        if codes.dtype.kind not in "iu" or (len(codes) and not 0 <= codes.min() <= codes.max() < len(classes)):
            raise UserError(f"labels must be integers from 0 to {len(classes) - 1}, indices into {list(classes)}")
    _same_length(stamps, labels=codes)
    sizes: dict[str, dict[Any, int]] = {}
    span: dict[str, tuple[str, str] | None] = {}
    for part, rows in split.parts().items():
        counts = np.bincount(codes[rows], minlength=len(classes))
        sizes[part] = {name: int(n) for name, n in zip(classes, counts, strict=True)}
        known = stamps[rows][stamps[rows] != _NAT]
        span[part] = (_iso(known.min(), times), _iso(known.max(), times)) if len(known) else None
    test = stamps[split.test][stamps[split.test] != _NAT]
    newer = int((stamps[split.train] > test.min()).sum()) if len(test) else 0
    return SplitReport(
        sizes=sizes,
        absent={part: [name for name, n in counts.items() if not n] for part, counts in sizes.items()},
        newer_than_test=newer,
        ties=split.ties,
        excluded=len(split.excluded),
        span=span,
        unit=split.unit,
    )


def _iso(stamp: np.int64, times: Sequence[Any] | np.ndarray) -> str:
    unit = np.asarray(times).dtype
    return f"{stamp.astype(unit).astype('datetime64[s]')}Z" if unit.kind == "M" else str(stamp)


def _stamps(times: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Times as int64 in their own unit, missing ones as the least int64."""
    if isinstance(times, np.ma.MaskedArray):
        raise UserError(
            "times are a masked array: write NaT where a time is not known, times.filled(numpy.datetime64('NaT'))"
        )
    array = np.asarray(times)
    if array.ndim != 1:
        raise UserError(f"times have the shape {array.shape}, expected one dimension")
    if array.dtype.kind == "u" and len(array) and array.max() > np.iinfo(np.int64).max:
        raise UserError(f"the time {array.max()} does not fit into 63 bits: give a coarser unit")
    if array.dtype.kind in "Miu":
        return array.astype(np.int64)
    raise UserError(
        f"times must be numpy datetime64 (UTC) or integers in one unit, found {array.dtype}; "
        "temporal_rumors.split reads other forms"
    )


def _same_length(ids: Sequence[str] | np.ndarray, **arrays: Any) -> None:
    for name, values in arrays.items():
        if len(values) != len(ids):
            raise UserError(f"{len(values)} {name} for {len(ids)} ids: one a post is needed")


def _order(ids: Sequence[str] | np.ndarray, times: Sequence[Any] | np.ndarray | None) -> np.ndarray:
    """Indices in (time, id) order, posts without a time last."""
    if not len(ids):
        raise UserError("there are no posts to split")
    ids = list(ids)  # A pandas Series would be read by its labels, not by position.
    for i in ids:
        if not isinstance(i, str):
            raise UserError(f"ids must be strings, found {_kind(i)} {i!r}: a number loses digits on the way")
    # Python's own strings throughout: numpy's lose NULs at their end.
    for value, n in Counter(ids).items():
        if n > 1:
            raise UserError(f"ids must be unique, but {str(value)!r} stands {n} times")
    if times is None:
        return np.array(sorted(range(len(ids)), key=lambda i: ids[i]), dtype=np.int64)
    stamps = _stamps(times)
    _same_length(ids, times=stamps)
    keys = [(stamp == _NAT, stamp, ids[i]) for i, stamp in enumerate(stamps.tolist())]
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)


def _timed(order: np.ndarray, stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = stamps[order] != _NAT
    if not known.any():
        raise UserError("no post has a time: a chronological protocol needs times")
    return order[known], order[~known]


def _kind(value: Any) -> str:
    """What a value is, numpy's scalars being what they hold."""
    return type(value.item() if isinstance(value, np.generic) else value).__name__


def _labels(labels: Sequence[Any] | np.ndarray, ids: Sequence[Any] | np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The classes, sorted, and the index of each post's class; of one kind: integers, strings or booleans."""
    _same_length(ids, labels=labels)
    # Kept from numpy, which turns [1, "1"] into two strings, cuts NULs off them, and rounds large integers.
    kinds = {_kind(label) for label in labels}
    if kinds not in ({"int"}, {"str"}, {"bool"}):
        found = ", ".join(sorted(kinds))
        raise UserError(f"labels must all be integers, all strings or all booleans, none missing; found {found}")
    values = [label.item() if isinstance(label, np.generic) else label for label in labels]
    classes = sorted(set(values))
    index = {name: code for code, name in enumerate(classes)}
    return classes, np.array([index[value] for value in values], dtype=np.int64)


def _events(events: Sequence[str | None] | np.ndarray, ids: Sequence[str] | np.ndarray) -> list[str | None]:
    _same_length(ids, events=events)
    for event in events:
        if event is not None and not isinstance(event, str):
            raise UserError(f"events must be strings, or None where not known; found {_kind(event)} {event!r}")
    return [None if event is None else str(event) for event in events]


def _names(events: Sequence[str | None]) -> list[str]:
    return sorted({event for event in events if event is not None})


def _as_published(parts: Sequence[str] | np.ndarray, order: np.ndarray) -> Split:
    _same_length(order, parts=parts)
    named = list(parts)
    if unknown_parts := sorted({str(part) for part in named} - set(PARTS)):
        raise UserError(f"the part {unknown_parts[0]!r} is not one of {', '.join(PARTS)}")
    train, validation, test = (np.array([i for i in order if named[i] == part], dtype=np.int64) for part in PARTS)
    return Split(train, validation, test)


def _whole_threads(
    protocol: str,
    threads: Sequence[str] | np.ndarray,
    order: np.ndarray,
    times: Sequence[Any] | np.ndarray,
    labels: Sequence[Any] | np.ndarray | None,
    events: Sequence[str | None] | np.ndarray | None,
    cuts: Mapping[str, Any] | None,
    seed: int,
) -> Split:
    for name, values in (("threads", threads), ("labels", labels), ("events", events)):
        if values is not None:
            _same_length(order, **{name: values})
    of_post = list(threads)
    for thread in of_post:
        if not isinstance(thread, str):
            raise UserError(f"threads must be strings, found {_kind(thread)} {thread!r}")
    first: dict[str, int] = {}
    for i in order.tolist():
        first.setdefault(of_post[i], i)
    heads = list(first.values())
    # Taken one by one, not by numpy, whose strings lose NULs; a pandas Series would be read by its labels.
    labels, events = (None if values is None else list(values) for values in (labels, events))
    try:
        split = make_split(
            protocol,
            ids=list(first),
            times=np.asarray(times)[heads],
            labels=None if labels is None else [labels[i] for i in heads],
            events=None if events is None else [events[i] for i in heads],
            cuts=cuts,
            seed=seed,
        )
    except _TooFewError as error:
        raise _TooFewError(error.n, error.why, THREADS) from None
    place = {thread: k for k, thread in enumerate(first)}
    unit = np.array([place[of_post[i]] for i in order])
    train, validation, test, excluded = (
        order[np.isin(unit, rows)] for rows in (*split.parts().values(), split.excluded)
    )
    return Split(train, validation, test, excluded, split.ties, THREADS)


def _members(order: np.ndarray, codes: np.ndarray) -> dict[int, np.ndarray]:
    """Index of a class -> its rows in order; classes sorted, those without rows left out."""
    ordered = codes[order]
    return {code: order[ordered == code] for code in np.unique(ordered).tolist()}


def _largest_remainder(n: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Share n by weights in exact integers; left-over posts go by remainder, then by _PRECEDENCE."""
    total = sum(weights.values())
    shares = {part: n * weight // total for part, weight in weights.items()}
    by_need = sorted(weights, key=lambda part: (-(n * weights[part] % total), _PRECEDENCE.index(part)))
    for part in by_need[: n - sum(shares.values())]:
        shares[part] += 1
    return shares


def _cut(order: np.ndarray, cuts: tuple[int, int, int] | None) -> list[np.ndarray]:
    if cuts is not None and len(cuts) != len(PARTS):
        raise UserError(f"cut points {cuts!r}: expected three sizes, of {', '.join(PARTS)}")
    sizes = list(cuts) if cuts is not None else list(_largest_remainder(len(order), _WEIGHTS).values())
    if sum(sizes) != len(order):
        raise UserError(f"cut points {'|'.join(map(str, sizes))} sum to {sum(sizes)}, but there are {len(order)} posts")
    return np.split(order, np.cumsum(sizes)[:-1])


def _ties(parts: Sequence[np.ndarray], stamps: np.ndarray) -> int:
    straddling: set[int] = set()
    for i in (1, 2):
        before, after = np.concatenate(parts[:i]), np.concatenate(parts[i:])
        if len(before) and len(after) and stamps[before[-1]] == stamps[after[0]]:
            both = np.concatenate([before, after])
            straddling.update(both[stamps[both] == stamps[after[0]]].tolist())
    return len(straddling)


def _leave_out(event: str, order: np.ndarray, codes: np.ndarray, events: Sequence[str | None], seed: int) -> Split:
    known = np.array([events[i] is not None for i in order])
    test = np.array([events[i] == event for i in order])
    rest = order[known & ~test]
    if not len(rest):
        raise UserError(f"all posts belong to the event {event!r}: leaving one out takes at least two")
    train, validation = _hold_out(rest, codes, _draws(seed))
    return Split(train, validation, order[test], excluded=order[~known])


def _hold_out(rest: np.ndarray, codes: np.ndarray, draws: np.random.PCG64) -> tuple[np.ndarray, np.ndarray]:
    """Take one eighth of rest as validation, stratified; both parts keep the order of rest."""
    positions = list(_members(np.arange(len(rest)), codes[rest]).values())
    quota = [len(p) // 8 for p in positions]
    wanted = _largest_remainder(len(rest), {"train": 7, "validation": 1})["validation"]
    by_need = sorted(range(len(positions)), key=lambda c: (-(len(positions[c]) % 8), c))
    for c in by_need[: wanted - sum(quota)]:
        quota[c] += 1
    held = np.zeros(len(rest), dtype=bool)
    for rows, n in zip(positions, quota, strict=True):
        held[_shuffled(rows, draws)[:n]] = True
    return rest[~held], rest[held]


def _draws(seed: int) -> np.random.PCG64:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise UserError(f"seed must be an integer from 0 on, found {seed!r}")
    # Of numpy's random numbers only the raw ones of a named bit generator are the same in every release (NEP 19);
    # these are the bits that default_rng(seed) draws from.
    return np.random.PCG64(seed)


def _shuffled(rows: np.ndarray, draws: np.random.PCG64) -> np.ndarray:
    return rows[np.argsort(draws.random_raw(len(rows)), kind="stable")]
