"""Posts over time, as the report draws them: kept in each record, so that the report needs no data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED, Split
from temporal_rumors.records import Posts

BINS = 40


def timeline(posts: Posts, split: Split, classes: Sequence[str], protocol: str) -> dict[str, Any]:
    """Count posts of each class over time, and say where a chronological protocol cuts each class.

    Returns:
        start and end (ISO 8601 UTC), counts (class -> BINS integers), cuts (class -> times of the first
        validation and the first test post; empty for protocols that do not cut in time).
    """
    known = posts.times[~np.isnat(posts.times)].astype(np.int64)
    if not len(known):
        return {"start": None, "end": None, "counts": {}, "cuts": {}}
    edges = np.linspace(known.min(), known.max(), BINS + 1)
    counts, cuts = {}, {}
    for code, name in enumerate(classes):
        mine = posts.times[(posts.labels == code) & ~np.isnat(posts.times)].astype(np.int64)
        counts[name] = np.histogram(mine, edges)[0].tolist()
        if protocol in (CHRONO, CHRONO_STRATIFIED):
            cuts[name] = [_begin(posts, rows, code, protocol) for rows in (split.validation, split.test)]
    return {"start": _iso(known.min()), "end": _iso(known.max()), "counts": counts, "cuts": cuts}


def _begin(posts: Posts, rows: np.ndarray, code: int, protocol: str) -> str | None:
    """When a part begins for a class, None if it holds none of it. Under chrono it begins for all classes at once."""
    mine = rows[posts.labels[rows] == code]
    if not len(mine):
        return None
    first = rows[0] if protocol == CHRONO else mine[0]
    return _iso(posts.times[first].astype(np.int64))


def _iso(stamp: Any) -> str:
    return str(np.datetime64(int(stamp) // 1000, "s")) + "Z"
