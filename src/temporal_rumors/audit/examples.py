"""Pairs of posts that show what a leak is, with the words marked that differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from temporal_rumors.audit.leaks import NEAR_COPY, NEAR_COPY_MASKED, NEWER_TRAINING, SAME_ID, SHARED, Leak, Sample
from temporal_rumors.audit.neighbours import mask

SAME, TRAINING_ONLY, TEST_ONLY = "same", "train", "test"

_SHOWN, _BEFORE = 500, 100
# Letters and marks of scripts that put no blanks between words: Thai to Khmer, Chinese and Japanese, full width forms.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"[{_UNSPACED}]\s*|[^\s{_UNSPACED}]+\s*|\s+")


@dataclass(frozen=True)
class Example:
    """A test post and a training post that a leak joins.

    Attributes:
        test_id, train_id: None where posts have no ids.
        test_label, train_label: names of their classes, None where they have none.
        distance: edit distance of near copies, else None.
        shared: what the two share, such as the event, or their times; None for near copies.
        spans: (kind, text), in order: what both have ("same"), the training post alone ("train"), the test post alone
            ("test"). Of a long text the stretch around the first difference; none where a training post is just newer.
    """

    test_id: str | None
    train_id: str | None
    test_label: str | None
    train_label: str | None
    distance: int | None
    shared: str | None
    spans: tuple[tuple[str, str], ...]


def examples(leak: Leak, raw: Leak, train: Sample, test: Sample, n: int) -> Iterator[Example]:
    """Yield at most n examples of a leak.

    Args:
        leak: whose.
        raw: the near copies of the raw texts; those of masked texts show what masking adds.
        train, test: the two sides.
        n: how many.
    """
    near = leak.name in (NEAR_COPY, NEAR_COPY_MASKED)
    for i, j, distance, shared in _nearest(leak, raw, train, test, n) if near else _first(leak, train, test, n):
        yield Example(
            test_id=None if test.ids is None else str(test.ids[i]),
            train_id=None if train.ids is None else str(train.ids[j]),
            test_label=None if test.labels is None else str(test.labels[i]),
            train_label=None if train.labels is None else str(train.labels[j]),
            distance=distance if near else None,
            shared=shared,
            spans=_spans(leak.name, train.texts[j], test.texts[i]),
        )


def _spans(leak: str, train: str, test: str) -> tuple[tuple[str, str], ...]:
    if leak == NEAR_COPY_MASKED:
        return _difference(mask(train), mask(test))
    if leak in (NEAR_COPY, SAME_ID):
        return _difference(train, test)
    if leak == NEWER_TRAINING:
        return ()
    # Two posts on one thing: what differs is all of it.
    return (TRAINING_ONLY, _cut(train, 0)), (TEST_ONLY, _cut(test, 0))


def _nearest(leak: Leak, raw: Leak, train: Sample, test: Sample, n: int) -> Iterator[tuple[int, int, int, str | None]]:
    """Spread over the distances there are, one for each test post, no pair of texts twice."""
    pairs = leak.pairs[np.lexsort((leak.pairs[:, 1], leak.pairs[:, 0], leak.pairs[:, 2]))]
    # What masking alone shows.
    seen = set() if leak is raw else set(raw.touched.tolist())
    texts, candidates = set(), []
    for i, j, distance in pairs.tolist():
        pair = train.texts[j], test.texts[i]
        if i not in seen and pair not in texts:
            candidates.append((i, j, distance))
            texts.add(pair)
        seen.add(i)
    for at in sorted(set(np.linspace(0, len(candidates) - 1, min(n, len(candidates))).round().astype(int).tolist())):
        yield (*candidates[at], None)


def _first(leak: Leak, train: Sample, test: Sample, n: int) -> Iterator[tuple[int, int, int, str | None]]:
    """The first pair of each thing that is shared."""
    if leak.name == NEWER_TRAINING:
        for i, j, _ in leak.pairs[: min(n, 1)].tolist():
            yield i, j, 0, f"{_iso(test.times, i)} before {_iso(train.times, j)}"
        return
    column = SHARED[leak.name][0]
    seen: set[str] = set()
    for i, j, _ in leak.pairs.tolist():
        if len(seen) == n:
            return
        shared = _shared(getattr(test, column)[i], getattr(train, column)[j])
        if shared not in seen:
            seen.add(shared)
            yield i, j, 0, shared


def _shared(a: Any, b: Any) -> str:
    return min({*a} & {*b}) if isinstance(a, tuple) else str(a)


def _iso(times: np.ndarray | None, at: int) -> str:
    assert times is not None
    return f"{times[at].astype('datetime64[s]')}Z"


def _difference(train: str, test: str) -> tuple[tuple[str, str], ...]:
    """Mark what differs, by words, or by characters where a script puts no blanks between words."""
    different = (i for i, (a, b) in enumerate(zip(train, test, strict=False)) if a != b)
    start = max(0, next(different, min(len(train), len(test))) - _BEFORE)
    a, b = (_WORD.findall(_cut(text, start)) for text in (train, test))
    bare_a, bare_b = ([word.strip() for word in words] for words in (a, b))
    spans = []
    for kind, a0, a1, b0, b1 in difflib.SequenceMatcher(None, bare_a, bare_b, autojunk=False).get_opcodes():
        if kind == "equal":
            spans.append((SAME, "".join(b[b0:b1])))
            continue
        spans += [(TRAINING_ONLY, "".join(a[a0:a1]))] * (a1 > a0) + [(TEST_ONLY, "".join(b[b0:b1]))] * (b1 > b0)
    return tuple(spans)


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("… " if start else "") + text[start:end] + (" …" if len(text) > end else "")
