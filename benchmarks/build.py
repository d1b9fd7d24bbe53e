"""Build and cached reload of each benchmark beside pandas.read_csv of the same file.

    TEMPORAL_RUMORS_DATA=folder python benchmarks/build.py

One process, the sides in turn; prints the median time of each and its ratio to read_csv, after checking that the rows
are the same.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import datasets
import pandas as pd

from temporal_rumors import benchmark as registry  # registers the names with datasets
from temporal_rumors.sources import files

REPEATS = 7


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main() -> None:
    """Measure every benchmark whose file is at hand."""
    datasets.disable_progress_bars()
    print(f"{'benchmark':20} {'read_csv':>10} {'posts()':>16} {'build':>16} {'reload':>16}   (ms, ratio to read_csv)")
    for name in registry.names():
        b = registry.get(name)
        path = files.find(b.source.file)
        if path is None:
            print(f"{name:20} {b.source.name} is not at hand")
            continue
        taken: dict[str, list[float]] = {"read_csv": [], "posts()": [], "build": [], "reload": []}
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as cache:

                def load(cache: str = cache, name: str = name) -> datasets.DatasetDict:
                    return datasets.load_dataset(name, "chrono", cache_dir=cache)

                seconds, frame = timed(lambda path=path: pd.read_csv(path, dtype={"id": str}))
                taken["read_csv"].append(seconds)
                taken["posts()"].append(timed(b.posts)[0])
                seconds, built = timed(load)
                taken["build"].append(seconds)
                seconds, again = timed(load)
                taken["reload"].append(seconds)
                ids = [i for part in built.values() for i in part["id"][:]]
                texts = frame.dropna(subset=[b.source.text])
                assert sorted(ids) == sorted(texts[b.source.id]), "the rows differ"
                assert [i for part in again.values() for i in part["id"][:]] == ids
        median = {side: statistics.median(seconds) for side, seconds in taken.items()}
        cells = [f"{1e3 * median['read_csv']:10.1f}"]
        cells += [
            f"{1e3 * median[s]:8.1f} ({median[s] / median['read_csv']:4.1f}x)" for s in ("posts()", "build", "reload")
        ]
        print(f"{name:20} {' '.join(cells)}")


if __name__ == "__main__":
    main()
