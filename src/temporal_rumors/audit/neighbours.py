"""Near copies: every pair of texts within a character edit distance, found exactly.

Only pairs whose lengths are close enough are looked at. Of each text two signatures are kept, which bound the distance
of a pair from below: how often each character stands in it, and in each half of it. What is left is measured with
rapidfuzz. Nothing is approximate: a signature only ever rules out pairs that are too far apart.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from numbers import Integral, Real
from typing import Any
from unicodedata import normalize

import numpy as np

from temporal_rumors.errors import UserError, unknown
from temporal_rumors.records import objects

THRESHOLD = 20
EXCLUDE, INCLUDE = "exclude", "include"
# An answer may hold this many pairs at most: about 4 GB while it is put together.
MOST_PAIRS = 50_000_000

# A link in Chinese text ends where Chinese goes on, without a blank.
_LINK = r"(?:(?:https?://|www\.)[!-~]+|HTTPURL)"
_LINKS = re.compile(_LINK, re.IGNORECASE)
_ONLY_LINKS = re.compile(rf"\s*(?:{_LINK}(?![!-~])\s*)*", re.IGNORECASE)
# Not the middle of an e-mail address.
_MENTION = re.compile(r"(?<![A-Za-z0-9_.+-])[@＠]\w+")

# The most frequent characters are counted one by one, all others by a hash.
_SINGLE, _BUCKETS = 192, 256
_LEVELS = 255
_WORD = 64
# Words of the signatures of the whole and of halves; so many of halves are compared with all texts of a window.
_WORDS = {1: 4, 2: 8}
_FIRST = 4
_SAMPLE, _STRATA = 512, 8
# Characters and counts whose signatures are made at once.
_CHUNK = 1 << 19
# Pairs of a block: what is kept of them fits a core's cache.
_CELLS, _COLUMNS = 1 << 18, 1 << 15
# Where more of a block is left than this, rapidfuzz measures all of it faster than what is left one by one.
_DENSE = 0.3


def mask(text: str) -> str:
    """Return a text with each link as HTTPURL, each mention as @USER, each run of blanks as one space, and in NFC.

    Args:
        text: a post.
    """
    return normalize("NFC", " ".join(_MENTION.sub("@USER", _LINKS.sub("HTTPURL", text)).split()))


def unaddressed(text: str) -> str:
    """Return what is left of a text without its links and mentions.

    Args:
        text: a post.
    """
    return " ".join(_MENTION.sub(" ", _LINKS.sub(" ", text)).split())


def is_short(texts: Iterable[str], threshold: int | float = THRESHOLD) -> np.ndarray:
    """Tell which texts are too short for a near copy of them to mean anything.

    Args:
        texts: (n,) str.
        threshold: as for `near_duplicates`.

    Returns:
        (n,) bool: texts of at most `threshold` characters (where that is a distance), blank ones, links alone.

    Raises:
        UserError: a text is not a string, or the threshold neither a distance nor a share.
    """
    shortest = threshold if _is_distance(threshold) else 0
    strings = _strings(texts, "texts")
    found = (len(text) <= shortest or _ONLY_LINKS.fullmatch(text) is not None for text in strings)
    return np.fromiter(found, dtype=bool, count=len(strings))


def near_duplicates(
    queries: Iterable[str],
    corpus: Iterable[str] | None = None,
    threshold: int | float = THRESHOLD,
    short: str = EXCLUDE,
    *,
    workers: int | None = None,
) -> np.ndarray:
    """Find all pairs of texts within a character Levenshtein distance; code points are compared as they are.

    Args:
        queries: (n,) str.
        corpus: (m,) str; None pairs the queries with one another.
        threshold: an int is the largest distance; a float in [0, 1) the largest distance divided by the length of the
            longer text.
        short: "exclude" leaves out the texts that `is_short` names, on both sides; "include" compares all.
        workers: number of threads, all cores by default; the result does not depend on it.

    Returns:
        (n_pairs, 3) int64, sorted: position of the query, position in the corpus, distance. Without a corpus each pair
        stands once, the earlier position first.

    Raises:
        UserError: a text is not a string, an option is not valid, or there are more than `MOST_PAIRS` pairs, as among
            thousands of equal texts.
    """
    _is_distance(threshold)
    if short not in (EXCLUDE, INCLUDE):
        raise UserError(unknown("way with short texts", short, (EXCLUDE, INCLUDE)))
    if workers is None:
        workers = os.cpu_count() or 1
    elif isinstance(workers, bool) or not isinstance(workers, Integral) or workers < 1:
        raise UserError(f"workers is {workers!r}; expected a whole number of threads, 1 or more")
    left = _Distinct(_strings(queries, "queries"), threshold, short)
    right = left if corpus is None else _Distinct(_strings(corpus, "corpus"), threshold, short)
    join = _Join(left, right, threshold)
    found = [join.run(int(workers))]
    if left is right:
        found.append(left.repeats(join.room))
    pairs = np.concatenate(found)
    if left is right:
        pairs[:, :2].sort(axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def groups(n: int, pairs: np.ndarray) -> np.ndarray:
    """Number the groups of texts that pairs join, directly or through others.

    Args:
        n: number of texts.
        pairs: (n_pairs, 2 or more) int, two positions first, as `near_duplicates` returns for one set of texts.

    Returns:
        (n,) int64: the group of each text, numbered by its first member; a text in no pair is a group of its own.

    Raises:
        UserError: a pair names a text that does not exist.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends = np.asarray(pairs, dtype=np.int64)[:, :2]
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        raise UserError(f"pairs name text {ends.max() if ends.max() >= n else ends.min()}; there are {n}, from 0 on")
    graph = coo_matrix((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, labels = connected_components(graph, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _is_distance(threshold: int | float) -> bool:
    """Tell whether a threshold is a distance; otherwise it is a share of the length."""
    if not isinstance(threshold, bool):
        if isinstance(threshold, Integral) and threshold >= 0:
            return True
        if isinstance(threshold, Real) and not isinstance(threshold, Integral) and 0 <= threshold < 1:
            return False
    raise UserError(
        f"threshold is {threshold!r}; expected a whole number from 0 on (a distance) or a float from 0.0 to below 1.0 "
        "(a share of the longer text's length)"
    )


def _strings(texts: Iterable[str], name: str) -> list[str]:
    if isinstance(texts, str):
        raise UserError(f"{name} is one text; expected a list of texts")
    if not hasattr(texts, "__iter__") or isinstance(texts, (Mapping, Set)) or hasattr(texts, "columns"):
        # The names of columns, and what has no order, are no texts.
        raise UserError(f"{name} are a {type(texts).__name__}; expected a list of texts, such as one column")
    listed = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
    if not set(map(type, listed)) <= {str}:
        for i, text in enumerate(listed):
            if not isinstance(text, str):
                what = "None" if text is None else f"of type {type(text).__name__}"
                raise UserError(f"{name}[{i}] is {what}; expected a string: leave such posts out, or give them a text")
            listed[i] = str(text)
    return listed


def _limits(threshold: int | float, longest: int) -> np.ndarray:
    """(longest + 1,) int64: the largest distance of a pair by the length of its longer text, in characters."""
    lengths = np.arange(longest + 1)
    if _is_distance(threshold):
        return np.minimum(lengths, min(int(threshold), longest))
    # The share is a quotient rounded as the caller's: 29 / 100 is within 0.29, though 0.29 * 100 is below 29.
    share = float(threshold)
    limit = np.minimum((share * lengths).astype(np.int64) + 1, lengths)
    for _ in range(2):
        limit -= limit / np.maximum(lengths, 1) > share
    return limit


class _TooManyPairsError(UserError):
    def __init__(self) -> None:
        super().__init__(
            f"there are more than {MOST_PAIRS:,} pairs, too many to hold; join distinct texts, as "
            "list(dict.fromkeys(texts)), leave short ones out, or lower the threshold"
        )


class _Distinct:
    """The different texts of one side, by length, and where each stands.

    Attributes:
        texts: (n,) object array of str, shortest first.
        lengths: (n,) int64.
        members, starts: the places of text k are members[starts[k] : starts[k + 1]], ascending.
        sizes: (n,) int64, how often each text stands.
    """

    def __init__(self, texts: list[str], threshold: int | float, short: str) -> None:
        places = np.arange(len(texts))
        if short == EXCLUDE:
            places = places[~is_short(texts, threshold)]
            texts = [texts[i] for i in places.tolist()]
        seen: dict[str, int] = {}
        number = np.fromiter((seen.setdefault(text, len(seen)) for text in texts), np.int64, len(texts))
        lengths = np.fromiter(map(len, seen), np.int64, len(seen))
        order = np.argsort(lengths, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.lengths = lengths[order]
        self.texts = objects(list(seen))[order]
        number = rank[number]
        self.members = places[np.argsort(number, kind="stable")]
        self.sizes = np.bincount(number, minlength=len(order))
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def repeats(self, room: int) -> np.ndarray:
        """(n_pairs, 3) int64: the pairs of equal texts."""
        later = np.repeat(self.starts[1:], self.sizes) - np.arange(len(self.members)) - 1
        if later.sum() > room:
            raise _TooManyPairsError
        at = np.repeat(np.arange(len(later)), later)
        step = np.arange(len(at)) - np.repeat(np.cumsum(later) - later, later)
        return np.stack([self.members[at], self.members[at + 1 + step], np.zeros_like(at)], axis=1)


def _codes(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32), lengths


class _Signatures:
    """Bits of texts: for a character, and a half or the whole of a text, does it stand there so many times or more?

    One edit of a text changes at most two counts by one (of the whole text), so that texts within d edits differ in at
    most 2 d bits. Which bits tell texts of like length apart best is learnt from a sample; the first tell most.
    """

    def __init__(self, texts: np.ndarray, lengths: np.ndarray) -> None:
        step = max(1, len(texts) // _SAMPLE, int(lengths.sum()) // (8 * _CHUNK))
        sample = texts[::step].tolist()
        frequency = np.bincount(_codes(sample)[0])
        used = np.flatnonzero(frequency)
        top = used[np.argsort(-frequency[used], kind="stable")[:_SINGLE]]
        self._bucket = np.resize(np.arange(_SINGLE, _BUCKETS, dtype=np.uint8), sys.maxunicode + 1)
        self._bucket[top] = np.arange(len(top))
        self._n_buckets = _BUCKETS
        halves = np.minimum(self._counts(sample), _LEVELS)
        stratum = np.arange(len(sample)) * _STRATA // len(sample)
        self._bits: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for parts, counts in ((1, halves.sum(axis=1)), (2, halves.reshape(len(sample), -1))):
            counts = np.minimum(counts, _LEVELS)
            used = np.flatnonzero(counts.any(axis=0))
            shape = _STRATA, len(used), int(counts.max(initial=0)) + 1
            cells = np.ravel_multi_index((stratum[:, None], np.arange(len(used)), counts[:, used]), shape)
            found = np.bincount(cells.ravel(), minlength=math.prod(shape)).reshape(shape)
            at_least = found[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1]
            variance = (at_least * (found.sum(axis=2, keepdims=True) - at_least)).sum(axis=0)
            best = np.argsort(-variance.ravel(), kind="stable")[: _WORDS[parts] * _WORD]
            column, level = np.divmod(best, max(1, shape[2] - 1))
            self._bits[parts] = used[column], (level + 1).astype(np.uint8)
        # Only what a bit is about is counted; the last bucket takes the rest.
        kept = np.unique(np.concatenate([columns % _BUCKETS for columns, _ in self._bits.values()]))
        self._n_buckets = min(len(kept) + 1, _BUCKETS)
        place = np.full(_BUCKETS, self._n_buckets - 1, dtype=np.uint8)
        place[kept] = np.arange(len(kept))
        self._bucket = place[self._bucket]
        for parts, (columns, levels) in self._bits.items():
            half, bucket = np.divmod(columns, _BUCKETS)
            self._bits[parts] = half * self._n_buckets + place[bucket], levels

    def _counts(self, texts: Sequence[str]) -> np.ndarray:
        """(n, 2, n_buckets) int64: how often each bucket stands in each half."""
        codes, lengths = _codes(texts)
        ends = np.cumsum(lengths)
        middle = ends - lengths + lengths // 2
        cuts = np.stack([middle, ends], axis=1).ravel()
        row = np.repeat(np.arange(2 * len(texts)), np.diff(cuts, prepend=0))
        cells = row * self._n_buckets + self._bucket[codes]
        return np.bincount(cells, minlength=2 * len(texts) * self._n_buckets).reshape(len(texts), 2, -1)

    def of(self, side: _Distinct, pool: ThreadPoolExecutor) -> tuple[np.ndarray, np.ndarray]:
        """Return the signatures of texts: (_FIRST, n) uint64, the first words of halves; (n, words) uint64, the rest
        of halves, then whole."""
        first = np.empty((_FIRST, len(side.texts)), dtype=np.uint64)
        rest = np.empty((len(side.texts), sum(_WORDS.values()) - _FIRST), dtype=np.uint64)

        def fill(bounds: tuple[int, int]) -> None:
            rows = slice(*bounds)
            halves = self._counts(side.texts[rows].tolist())
            words = []
            for parts, counts in ((2, halves.reshape(len(halves), -1)), (1, halves.sum(axis=1))):
                columns, levels = self._bits[parts]
                bits = np.zeros((len(halves), _WORDS[parts] * _WORD), dtype=bool)
                bits[:, : len(columns)] = np.minimum(counts, _LEVELS).astype(np.uint8).take(columns, axis=1) >= levels
                words.append(np.packbits(bits, axis=1).view(np.uint64))
            both = np.concatenate(words, axis=1)
            first[:, rows], rest[rows] = both[:, :_FIRST].T, both[:, _FIRST:]

        weight = np.cumsum(side.lengths + self._n_buckets) // _CHUNK
        list(pool.map(fill, pairwise([*np.flatnonzero(np.diff(weight, prepend=-1)).tolist(), len(weight)])))
        return first, rest


@dataclass(frozen=True)
class _Block:
    """Queries of one length, and a stretch of the corpus whose lengths are close enough.

    Attributes:
        rows, columns: where they stand.
        most: (n_columns,) uint8, how many bits the signatures of halves may differ in, or 255.
    """

    rows: slice
    columns: slice
    most: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start


class _Join:
    """The join of two sides without repeated texts; a side with itself gives each pair once."""

    def __init__(self, left: _Distinct, right: _Distinct, threshold: int | float) -> None:
        self.left, self.right = left, right
        self.room = MOST_PAIRS
        longest = max((int(side.lengths[-1]) for side in (left, right) if len(side.texts)), default=0)
        self._limits = _limits(threshold, longest)
        reach = self._limits[left.lengths]
        self._low = np.searchsorted(right.lengths, left.lengths - reach, "left")
        self._high = np.searchsorted(right.lengths - self._limits[right.lengths], left.lengths, "right")
        if left is right:
            self._low = np.searchsorted(left.lengths, left.lengths, "left") + 1

    def run(self, workers: int) -> np.ndarray:
        """Return the pairs, expanded to the places of the texts: (n_pairs, 3) int64."""
        from tqdm import tqdm

        found = [np.empty((0, 3), dtype=np.int64)]
        total = int(np.maximum(self._high - self._low, 0).sum())
        if not total:
            return found[0]
        blocks = self._blocks()
        with (
            ThreadPoolExecutor(workers) as pool,
            tqdm(
                total=total, desc="near copies", unit="pair", unit_scale=True, delay=1, leave=False, disable=None
            ) as bar,
        ):
            signatures = _Signatures(self.right.texts, self.right.lengths)
            self._corpus = signatures.of(self.right, pool)
            self._queries = self._corpus if self.left is self.right else signatures.of(self.left, pool)
            while some := list(islice(blocks, 64 * workers)):
                for block, pairs in zip(some, pool.map(self._pairs, some), strict=True):
                    found.append(self._expand(pairs))
                    bar.update(math.prod(block.shape))
        return np.concatenate(found)

    def _blocks(self) -> Iterator[_Block]:
        """Cut the join into blocks.

        Let a text become another by s substitutions and e insertions and deletions, s + e <= limit, and their lengths
        differ by shift <= e. The counts of the whole then differ by at most 2 s + e <= 2 limit - shift. Of the halves,
        each text cut at its own middle: if the edits before the cut lengthen the text by k, the cuts lie
        |shift / 2 - k| apart (half a character more where shift is odd); so many characters change halves, and two
        counts each. That makes 2 s + e + |shift - 2 k| + (shift odd), and e >= |k| + |shift - k| >= |shift - 2 k|.
        """
        lengths, others = self.left.lengths, self.right.lengths
        starts = np.flatnonzero(np.diff(lengths, prepend=-1))
        for first, stop in zip(starts.tolist(), np.append(starts[1:], len(lengths)).tolist(), strict=True):
            low, high = int(self._low[first]), int(self._high[first])
            if low >= high:
                continue
            span = np.arange(others[low], others[high - 1] + 1)
            wide = np.diff(np.searchsorted(others[low:high], np.append(span, span[-1] + 1)))
            most = np.repeat(np.minimum(self._most(lengths[first], span)[1], 255).astype(np.uint8), wide)
            for start in range(low, high, _COLUMNS):
                columns = slice(start, min(high, start + _COLUMNS))
                step = max(1, _CELLS // (columns.stop - start))
                for row in range(first, stop, step):
                    yield _Block(slice(row, min(stop, row + step)), columns, most[start - low : columns.stop - low])

    def _limit(self, length: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.maximum(self._limits[length], self._limits[other])

    def _most(self, length: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how many bits the signatures of near texts may differ in: of the whole, and of halves."""
        limit, shift = self._limit(length, other), np.abs(other - length)
        return 2 * limit - shift, 2 * limit + shift % 2

    def _pairs(self, block: _Block) -> np.ndarray:
        """(n_pairs, 3) int64: the numbers of two texts within the threshold, and their distance."""
        row, column = self._candidates(block)
        left, right = row + block.rows.start, column + block.columns.start
        if self.left is self.right:
            once = right > left
            row, column, left, right = row[once], column[once], left[once], right[once]
        limit = self._limit(self.left.lengths[left], self.right.lengths[right])
        distance = self._distances(block, row, column, int(limit.max(initial=0)))
        near = distance <= limit
        return np.stack([left[near], right[near], distance[near]], axis=1)

    def _candidates(self, block: _Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and columns of a block that the signatures do not rule out, sorted by row."""
        (corpus, corpus_rest), (queries, queries_rest) = self._corpus, self._queries
        # A sum beyond 255 starts again from 0, and lets its pair pass.
        bits = np.zeros(block.shape, dtype=np.uint8)
        for k in range(_FIRST):
            bits += np.bitwise_count(corpus[k, block.columns] ^ queries[k, block.rows, None])
        row, column = np.divmod(np.flatnonzero(bits <= block.most), block.shape[1])
        differ = corpus_rest[block.columns].take(column, axis=0) ^ queries_rest[block.rows].take(row, axis=0)
        counted = np.ascontiguousarray(np.bitwise_count(differ).T)
        halves = bits[row, column] + counted[: _WORDS[2] - _FIRST].sum(axis=0, dtype=np.int64)
        whole = counted[_WORDS[2] - _FIRST :].sum(axis=0, dtype=np.int64)
        most = self._most(self.left.lengths[block.rows][row], self.right.lengths[block.columns][column])
        near = (whole <= most[0]) & (halves <= most[1])
        return row[near], column[near]

    def _distances(self, block: _Block, row: np.ndarray, column: np.ndarray, limit: int) -> np.ndarray:
        """(n,) int64: the distances of pairs of a block, sorted by row; limit + 1 where they are larger."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        options: dict[str, Any] = {"scorer": Levenshtein.distance, "score_cutoff": limit, "dtype": np.int64}
        queries = self.left.texts[block.rows].tolist()
        texts = self.right.texts[block.columns]
        if len(row) > _DENSE * math.prod(block.shape):
            return cdist(queries, texts.tolist(), **options)[row, column]
        distance = np.empty(len(row), dtype=np.int64)
        ends = np.searchsorted(row, np.arange(len(queries) + 1))
        for k in np.flatnonzero(np.diff(ends)).tolist():
            which = slice(ends[k], ends[k + 1])
            distance[which] = cdist(queries[k : k + 1], texts[column[which]].tolist(), **options)[0]
        return distance

    def _expand(self, pairs: np.ndarray) -> np.ndarray:
        """Turn pairs of distinct texts into pairs of their places."""
        row, column, distance = pairs.T
        wide = self.right.sizes[column]
        sizes = self.left.sizes[row] * wide
        self.room -= int(sizes.sum())
        if self.room < 0:
            raise _TooManyPairsError
        of = np.repeat(np.arange(len(pairs)), sizes)
        step = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        one, other = np.divmod(step, wide[of])
        left = self.left.members[self.left.starts[row[of]] + one]
        right = self.right.members[self.right.starts[column[of]] + other]
        return np.stack([left, right, distance[of]], axis=1)
