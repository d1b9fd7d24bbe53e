"""Counts of word or character uni- to tri-grams: those of scikit-learn's vectorisers, made once and sliced by row.

An n-gram is a number in base (distinct tokens + 1): its tokens' alphabetical ranks from 1, padded with 0. So numbers
are exact (no hashing) and sort as the n-grams' strings do, which is the order of scikit-learn's columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import csr_matrix

from temporal_rumors.errors import UserError

ANALYZERS = ("word", "char")
_MAX_BASE = 2**21  # its cube is the first that an int64 does not hold

# TfidfVectorizer's token_pattern, and what its "char" analyzer shrinks to one space.
_words = re.compile(r"(?u)\b\w\w+\b").findall
_white_spaces = re.compile(r"\s\s+").sub


@dataclass(frozen=True, eq=False)
class Terms:
    """A set of n-grams in alphabetical order.

    Attributes:
        analyzer: "word" or "char".
        tokens: their tokens (and perhaps others), sorted.
        keys: (n,) int64, ascending: the number of each n-gram.
    """

    analyzer: str
    tokens: list[str]
    keys: np.ndarray

    @classmethod
    def from_names(cls, names: Sequence[str], analyzer: str) -> Terms:
        """Return the set of these n-grams, which must be in alphabetical order."""
        split = [name.split(" ") if analyzer == "word" else list(name) for name in names]
        tokens = sorted(set(chain.from_iterable(split)))
        rank = {token: i for i, token in enumerate(tokens, 1)}
        parts = np.array([[*(rank[t] for t in s), 0, 0][:3] for s in split], dtype=np.int64).reshape(-1, 3)
        return cls(analyzer, tokens, _join(parts, len(tokens) + 1))

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, columns: np.ndarray) -> Terms:
        return Terms(self.analyzer, self.tokens, self.keys[columns])

    def names(self) -> list[str]:
        """Return the n-grams as scikit-learn writes them."""
        tokens = ["", *self.tokens]
        glue = " " if self.analyzer == "word" else ""
        return [glue.join(tokens[i] for i in parts if i) for parts in self._parts().tolist()]

    def positions_in(self, other: Terms) -> np.ndarray:
        """Return (n,) int64: where each n-gram stands in the other set, -1 where it does not."""
        if not len(other):
            return np.full(len(self), -1, dtype=np.int64)
        keys = self.keys
        if self.tokens is not other.tokens:
            rank = {token: i for i, token in enumerate(other.tokens, 1)}
            parts = np.array([0, *(rank.get(token, -1) for token in self.tokens)], dtype=np.int64)[self._parts()]
            keys = np.where((parts < 0).any(axis=1), -1, _join(parts, len(other.tokens) + 1))
        places = np.searchsorted(other.keys, keys).clip(max=len(other) - 1)
        return np.where(other.keys[places] == keys, places, -1)

    def _parts(self) -> np.ndarray:
        base = len(self.tokens) + 1
        return np.stack([self.keys // base**2, self.keys // base % base, self.keys % base], axis=1)


@dataclass(frozen=True, eq=False)
class Ngrams:
    """The n-grams of some texts.

    Attributes:
        terms: (n_terms) the n-grams of these and perhaps of other texts.
        counts: (n_texts, n_terms) float64, in canonical form: how often each stands in each text.
    """

    terms: Terms
    counts: csr_matrix

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, rows: np.ndarray) -> Ngrams:
        return Ngrams(self.terms, self.counts[rows])

    def vocabulary(self, size: int, min_posts: int) -> Terms:
        """Return the most frequent n-grams of those in at least min_posts of these texts.

        Which of equally frequent ones make the cut is left to numpy's argsort, as in scikit-learn's _limit_features:
        like scikit-learn's, the choice is the same on every run but may differ between kinds of processor.
        """
        n_posts = np.bincount(self.counts.indices, minlength=len(self.terms))
        candidates = np.flatnonzero(n_posts >= min_posts)
        if len(candidates) > size:
            frequency = np.bincount(self.counts.indices, self.counts.data, minlength=len(self.terms))
            candidates = np.sort(candidates[(-frequency[candidates]).argsort()[:size]])
        return self.terms[candidates]

    def count(self, vocabulary: Terms) -> csr_matrix:
        """Return (n_texts, n_vocabulary) float64 counts of these n-grams alone, in canonical form."""
        positions = vocabulary.positions_in(self.terms)
        present = np.flatnonzero(positions >= 0)
        found = self.counts[:, positions[present]]
        columns = present.astype(found.indices.dtype)[found.indices]
        return csr_matrix((found.data, columns, found.indptr), shape=(len(self), len(vocabulary)))


@dataclass(frozen=True, eq=False)
class Columns:
    """The n-grams of the texts that belong to each post: the post itself, and what it replies to.

    Attributes:
        columns: of each kind of text, all of equal length.
    """

    columns: tuple[Ngrams, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, rows: np.ndarray) -> Columns:
        return Columns(tuple(column[rows] for column in self.columns))


def count_ngrams(texts: Sequence[str], analyzer: str) -> Ngrams:
    """Count every n-gram of every text.

    Args:
        texts: (n,) str.
        analyzer: "word" or "char"; tokens are those of scikit-learn's TfidfVectorizer with its default settings.

    Returns:
        The counts, a row a text.

    Raises:
        UserError: something other than a string among the texts, or more distinct words than can be numbered.
    """
    if isinstance(texts, str):
        raise UserError("expected a sequence of texts, found one string: wrap it in a list")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise UserError(f"text {i} is of type {type(text).__name__}, expected str: {text!r}")
    split: list[Sequence[str]] = [
        _words(text.lower()) if analyzer == "word" else _white_spaces(" ", text.lower()) for text in texts
    ]
    flat = list(chain.from_iterable(split))
    tokens = sorted(set(flat))
    base = len(tokens) + 1
    if base >= _MAX_BASE:
        raise UserError(f"{len(tokens):,} distinct words; at most {_MAX_BASE - 2:,} fit: encode fewer texts at a time")
    rank = {token: i for i, token in enumerate(tokens, 1)}
    ids = np.fromiter(chain(map(rank.__getitem__, flat), (0, 0)), dtype=np.int64, count=len(flat) + 2)
    lengths = np.array([len(s) for s in split], dtype=np.int64)
    rows = np.repeat(np.arange(len(split)), lengths)
    left = np.cumsum(lengths)[rows] - np.arange(len(flat))  # tokens of the text from here on
    one = ids[:-2] * base**2
    two = one + ids[1:-1] * base
    three = two + ids[2:]
    keys, columns = np.unique(np.concatenate([one, two[left > 1], three[left > 2]]), return_inverse=True)
    rows = np.concatenate([rows, rows[left > 1], rows[left > 2]])
    # Not csr_array: it keeps 64-bit indices, with which the products in training take a quarter longer.
    counts = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(split), len(keys)))
    return Ngrams(Terms(analyzer, tokens, keys), counts)


def _join(parts: np.ndarray, base: int) -> np.ndarray:
    keys: np.ndarray = parts @ np.array([base**2, base, 1], dtype=np.int64)
    return keys
