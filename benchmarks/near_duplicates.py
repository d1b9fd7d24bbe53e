"""The join of near copies beside rapidfuzz's cdist with a cut-off, which must find the same pairs.

    python benchmarks/near_duplicates.py [--sizes 20000x100000 1000x1000000] [--cpus 2]

The posts are invented from a seed, those of the real benchmarks are added where TEMPORAL_RUMORS_DATA names them. Both
sides have the same number of threads, first one each, then `--cpus`; cdist gets blocks of queries, as all of them at
once need too much memory, and of a large join an evenly spaced sample of them (its time is scaled up). Prints the
seconds, the ratio, the pairs, and the peak memory of a process that does only the join.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from temporal_rumors import benchmark
from temporal_rumors.audit.neighbours import THRESHOLD, near_duplicates
from temporal_rumors.sources import files

WORDS = 12_000
LONGEST = 140
# cdist measures so many pairs at least.
SAMPLE = 200_000_000
BLOCK = 20_000_000
VOWELS = ("eaoiuy", np.array([12, 8, 7.5, 7, 3, 2]))
CONSONANTS = (
    "tnshrdlcmwfgpbvkjxqz",
    np.array([9, 7, 6.3, 6, 6, 4.3, 4, 2.8, 2.4, 2.4, 2.2, 2, 1.9, 1.5, 1, 0.8, 0.2, 0.2, 0.2, 0.2]),
)


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Return invented words of 2 to 12 letters, each with likings of its own, short ones mostly first."""
    words: dict[str, None] = {}
    while len(words) < WORDS:
        kinds = [(letters, rng.dirichlet(weights / 4)) for letters, weights in (VOWELS, CONSONANTS)]
        kind, letters = int(rng.integers(2)), []
        for _ in range(int(rng.integers(2, 13))):
            letters.append(rng.choice(list(kinds[kind][0]), p=kinds[kind][1]))
            kind = 1 - kind if rng.random() < 0.88 else kind
        words["".join(letters)] = None
    listed = list(words)
    rank = np.array([len(word) for word in listed]) * rng.uniform(0.5, 2, len(listed))
    return [listed[k] for k in np.argsort(rank, kind="stable")]


def posts(n: int, words: list[str], rng: np.random.Generator) -> list[str]:
    """Return invented posts: words by Zipf's law, links, mentions and hashtags, as long as those of Twitter15 are."""
    weights = 1 / (np.arange(len(words)) + 2.7)
    lengths = np.minimum(rng.normal(95, 24, n), LONGEST)
    chosen = rng.choice(len(words), size=(n, 48), p=weights / weights.sum())
    linked, mentions, hashed = rng.random((3, n)) < np.array([[0.5], [0.25], [0.3]])
    signs = np.array(list(string.ascii_letters + string.digits))[rng.integers(62, size=(n, 10))]
    made = []
    for i in range(n):
        link = " http://t.co/" + "".join(signs[i]) if linked[i] else ""
        text = "@" + words[chosen[i, 0]] + signs[i, 0] if mentions[i] else words[chosen[i, 0]].capitalize()
        for k in chosen[i, 1:].tolist():
            more = f"{text} {'#' if hashed[i] and k % 8 == 0 else ''}{words[k]}"
            if len(more) + len(link) > lengths[i]:
                break
            text = more
        made.append(text + link)
    return made


def edited(text: str, n: int, rng: np.random.Generator) -> str:
    """Return a text after n random insertions, deletions and substitutions."""
    signs = list(text)
    for kind, at, sign in zip(rng.integers(3, size=n), rng.random(n), rng.choice(list("etaoins r"), n), strict=True):
        place = int(at * len(signs))
        signs[place : place + (kind > 0)] = [] if kind == 1 else [str(sign)]
    return "".join(signs)


def corpus(n_queries: int, n_posts: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return queries and posts; every tenth query is a post with 0 to 35 edits."""
    rng = np.random.default_rng(seed)
    words = vocabulary(rng)
    queries, made = posts(n_queries, words, rng), posts(n_posts, words, rng)
    for i in range(0, n_queries, 10):
        queries[i] = edited(made[int(rng.integers(n_posts))], int(rng.integers(36)), rng)
    return queries, made


def measured(queries: list[str], texts: list[str], cpus: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the seconds that cdist takes for all pairs, the queries that it was given, and their pairs."""
    step = max(1, len(queries) * len(texts) // SAMPLE)
    which = np.arange(0, len(queries), step)
    found, seconds, width = [], 0.0, max(1, BLOCK // len(texts))
    for start in range(0, len(which), width):
        some = which[start : start + width]
        asked = [queries[i] for i in some.tolist()]
        begin = time.perf_counter()
        distances = cdist(
            asked, texts, scorer=Levenshtein.distance, score_cutoff=THRESHOLD, workers=cpus, dtype=np.uint8
        )
        row, column = np.nonzero(distances <= THRESHOLD)
        seconds += time.perf_counter() - begin
        found.append(np.stack([some[row], column, distances[row, column]], axis=1).astype(np.int64))
    return seconds * len(queries) / len(which), which, np.concatenate(found)


def compare(name: str, queries: list[str], texts: list[str], cpus: int) -> None:
    """Print one row for each number of threads."""
    for workers in sorted({1, cpus}):
        base, which, expected = measured(queries, texts, workers)
        seconds = []
        for _ in range(3):
            begin = time.perf_counter()
            pairs = near_duplicates(queries, texts, short="include", workers=workers)
            seconds.append(time.perf_counter() - begin)
        assert np.array_equal(pairs[np.isin(pairs[:, 0], which)], expected), "the pairs differ"
        took = float(np.median(seconds))
        print(f"{name:28} {workers:7} {base:9.2f} {took:9.3f} {base / took:7.1f}x {len(pairs):10,}", flush=True)


def peak() -> int:
    """Return the peak memory of this process in KiB, on Linux; getrusage would count the process that began it."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0])


def main() -> None:
    """Measure the real benchmarks and the invented posts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=["20000x100000", "1000x1000000"], help="queries x posts")
    parser.add_argument("--cpus", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--peak", metavar="FILE", help="only join what a file holds, and print the peak memory")
    args = parser.parse_args()
    if args.peak:
        with open(args.peak, "rb") as file:
            queries, texts = pickle.load(file)
        before = peak()
        near_duplicates(queries, texts, short="include", workers=args.cpus)
        after = peak()
        print(f"{'':28} peak memory {after / 1024:,.0f} MiB, {before / 1024:,.0f} MiB of it with the posts alone")
        return
    print(f"{'queries x posts':28} {'threads':>7} {'cdist s':>9} {'ours s':>9} {'ratio':>8} {'pairs':>10}")
    for name in ("pheme_temporal", "weibo_temporal"):
        b = benchmark.get(name)
        if files.find(b.source.file) is None:
            print(f"{name:28} is not at hand")
            continue
        read = b.posts()
        for protocol in ("chrono", "chrono_stratified"):
            split = b.split(read, protocol)
            queries, texts = read.texts[split.test].tolist(), read.texts[split.train].tolist()
            compare(f"{name.removesuffix('_temporal')} {protocol}", queries, texts, args.cpus)
    for size in args.sizes:
        queries, texts = corpus(*map(int, size.split("x")))
        compare(size, queries, texts, args.cpus)
        with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
            pickle.dump((queries, texts), file)
            file.flush()
            subprocess.run([sys.executable, __file__, "--cpus", str(args.cpus), "--peak", file.name], check=True)


if __name__ == "__main__":
    main()
