"""Does the decomposition find the part of an inflation that a planted leak is known to have?

`drawn`: the answers are drawn, not learnt. Posts whose near copies are in training are answered right more often than
others, and all less often under the chronological split, so that each part of the inflation is known beforehand.

`learnt`: `lr` learns from posts whose words drift; some posts have near copies with their label, which nothing else
tells. What the leak is worth is measured beside it, as no real data allow: the same models also answer twins of the
test posts, written at the same time but anew, so that they have no copies.

    python benchmarks/explain.py [--simulations 100]
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, models
from temporal_rumors.audit.explain import Decomposition, Row, explain_posts
from temporal_rumors.audit.scored import Options, Subject
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.protocols import CHRONO, RANDOM_FOLDS, Split
from temporal_rumors.records import Post, Posts

# Of the drawn answers: how often posts with a near copy in training, other posts, and any under chrono are right.
TOUCHED, UNTOUCHED, LATER = 0.95, 0.75, 0.6
# Of posts in one group of near copies, how often it is luck of the group and not of the post that decides.
COMMON_LUCK = 0.5
DAY_MS = 86_400_000
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


class Found(NamedTuple):
    """A part of the inflation in one simulation, in points."""

    part: str
    truth: float
    points: float
    low: float
    high: float


def words(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return (n,) invented words of eight letters."""
    return np.array(["".join(letters) for letters in LETTERS[rng.integers(0, 26, (n, 8))]])


def make_benchmark(name: str, posts: Posts) -> Benchmark:
    """Return what is known of a generated corpus; the source is never read."""
    text = dict.fromkeys(("description", "citation", "homepage", "license"), "")
    source: Any = benchmarks.get("sample_temporal").source
    classes = ("non-rumour", "rumour")
    counts = dict(zip(classes, np.bincount(posts.labels, minlength=2).tolist(), strict=True))
    return Benchmark(name=name, title=name, language="en", classes=classes, source=source, counts=counts, **text)


def make_record(
    benchmark: Benchmark, posts: Posts, protocol: str, split: Split, predictions: np.ndarray, model: models.Model
) -> dict[str, Any]:
    """Return as much of a run record as an explanation reads."""
    references = posts.labels[split.test]
    return {
        "key": hashlib.sha256(f"{benchmark.name} {protocol}".encode()).hexdigest(),
        "benchmark": benchmark.name,
        "task": None,
        "benchmark_version": benchmark.version,
        "protocol": protocol,
        "model": model.name,
        "model_version": model.version,
        "settings": model.settings,
        "seed": 0,
        "classes": list(benchmark.classes),
        "data_digest": posts.digest,
        "data_is_published": True,
        "split_digest": split.digest(posts.ids),
        "split": {"sizes": {"test": dict(zip(benchmark.classes, np.bincount(references, minlength=2), strict=True))}},
        "metrics": {"f1": macro_prf(predictions=predictions, references=references, labels=[0, 1])["f1"]},
        "predictions": {
            "ids": posts.ids[split.test].tolist(),
            "references": references.tolist(),
            "predictions": predictions.tolist(),
        },
        "versions": {},
    }


def make_posts(texts: list[str], labels: np.ndarray, seed: int) -> Posts:
    """Return one post a day."""
    return Posts.from_records(
        (
            Post(id=f"{i:06}", text=text, label=int(label), created_at=i * DAY_MS, event=None)
            for i, (text, label) in enumerate(zip(texts, labels, strict=True))
        ),
        digest=hashlib.sha256(f"generated {seed}".encode()).hexdigest(),
    )


def grouped(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return (n,) the group of near copies of each post: runs of one to four posts."""
    sizes = rng.choice([1, 2, 4], size=n, p=[0.7, 0.2, 0.1])
    return np.repeat(np.arange(n), sizes)[:n]


def drawn(seed: int, n: int = 1000, n_resamples: int = 1000) -> list[Found]:
    """Explain answers that are drawn with known chances."""
    rng = np.random.default_rng(seed)
    group = grouped(rng, n)
    shared = words(rng, 8 * n).reshape(n, 8)
    own = words(rng, n)
    texts = [" ".join([*shared[g], word]) for g, word in zip(group, own, strict=True)]
    labels = rng.integers(0, 2, n)[group]
    posts = make_posts(texts, labels, seed)
    benchmark, model = make_benchmark("drawn", posts), models.create("lr", ["non-rumour", "rumour"])
    subject = Subject(benchmark, posts, Options(False, 20, 1, 0))

    def answers(chance: np.ndarray, rows: np.ndarray) -> np.ndarray:
        of_group, of_post = rng.random(n)[group[rows]], rng.random(len(rows))
        right = np.where(rng.random(n)[group[rows]] < COMMON_LUCK, of_group, of_post) < chance
        return np.where(right, labels[rows], 1 - labels[rows])

    records, n_touched = [], 0
    for protocol in (*RANDOM_FOLDS, CHRONO):
        split = subject.split(protocol)
        chance = np.full(len(split.test), LATER)
        if protocol in RANDOM_FOLDS:
            touched = np.isin(group[split.test], group[split.train])
            n_touched += int(touched.sum())
            chance = np.where(touched, TOUCHED, UNTOUCHED)
        records.append(make_record(benchmark, posts, protocol, split, answers(chance, split.test), model))
    (row,) = explain_posts(records, benchmark, posts, n_resamples=n_resamples).rows
    leak = 100 * (TOUCHED - UNTOUCHED) * n_touched / n
    remains = 100 * (UNTOUCHED - LATER)
    return [*_parts(row, row.rescored, "rescored", leak, remains), *_inflation(row, leak + remains)]


def learnt(seed: int, n: int = 600, n_resamples: int = 1000) -> list[Found]:
    """Explain what lr learns; the truth is what it answers to twins of the test posts."""
    rng = np.random.default_rng(seed)
    group, first = grouped(rng, n), np.zeros(n, dtype=bool)
    first[np.unique(group, return_index=True)[1]] = True
    vocabulary = {"noise": words(rng, 3000), "signal": words(rng, 2 * 40 * 5).reshape(5, 2, 40)}
    labels, twin_labels = rng.integers(0, 2, n)[group], rng.integers(0, 2, n)

    def write(i: int, label: int) -> list[str]:
        """Words of a post: few that tell its class in its fifth of the time, and many that tell nothing."""
        signal = vocabulary["signal"][min(4, 5 * i // n)]
        told = [rng.choice(signal[code]) for code in np.where(rng.random(3) < 0.75, label, 1 - label)]
        return [*told, *rng.choice(vocabulary["noise"], 7)]

    written: list[list[str]] = []
    for i in range(n):
        # A near copy has the words of the post before it, but for one.
        written.append(write(i, labels[i]) if first[i] else [*written[-1][:-1], str(words(rng, 1)[0])])
    texts, twins = [" ".join(found) for found in written], [" ".join(write(i, twin_labels[i])) for i in range(n)]
    posts = make_posts(texts, labels, seed)
    benchmark, model = make_benchmark("learnt", posts), models.create("lr", ["non-rumour", "rumour"], min_posts=2)
    subject = Subject(benchmark, posts, Options(False, 20, 1, 0))
    encoded = model.encode([*texts, *twins])
    records, of_twins = [], np.empty(n, dtype=np.int64)
    for protocol in (*RANDOM_FOLDS, CHRONO):
        split = subject.split(protocol)
        model.fit(encoded[split.train], labels[split.train], encoded[split.validation], labels[split.validation])
        records.append(make_record(benchmark, posts, protocol, split, model.predict(encoded[split.test]), model))
        if protocol in RANDOM_FOLDS:
            of_twins[split.test] = model.predict(encoded[split.test + n])
    (row,) = explain_posts(records, benchmark, posts, retrain=True, n_resamples=n_resamples).rows
    assert row.pooled
    without = 100 * macro_prf(predictions=of_twins, references=twin_labels, labels=[0, 1])["f1"]
    leak, remains = row.pooled.random - without, without - row.pooled.protocol
    return [
        *_parts(row, row.rescored, "rescored", leak, remains),
        *_parts(row, row.retrained, "retrained", leak, remains),
        *_inflation(row, row.pooled.points),
    ]


def _parts(row: Row, found: Decomposition | None, how: str, leak: float, remains: float) -> Iterator[Found]:
    assert found
    near_copy = next(share for share in found.leaks if share.name == "near_copy")
    for name, truth, share in (("leak", leak, near_copy.added), ("remains", remains, found.remains)):
        assert share.interval
        yield Found(f"{name}, {how}", truth, share.points, *share.interval)


def _inflation(row: Row, truth: float) -> Iterator[Found]:
    assert row.pooled
    for how in ("clustered", "independent"):
        interval = getattr(row.pooled, how)
        yield Found(f"inflation, {how}", truth, row.pooled.points, *interval)


def simulate(
    experiment: Callable[..., list[Found]], n_simulations: int, n_jobs: int = 1, n_resamples: int = 1000
) -> dict[str, np.ndarray]:
    """Return part -> (n_simulations, 4) truth, points, low, high."""
    runs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(experiment)(seed, n_resamples=n_resamples) for seed in range(n_simulations)
    )
    found: dict[str, list[tuple[float, ...]]] = {}
    for parts in track(runs, experiment.__name__, total=n_simulations, transient=True):
        for part in parts:
            found.setdefault(part.part, []).append(part[1:])
    return {part: np.array(values) for part, values in found.items()}


def cover(values: np.ndarray) -> float:
    """Share of the intervals that hold the mean truth of all simulations."""
    truth = values[:, 0].mean()
    return float(((values[:, 2] <= truth) & (truth <= values[:, 3])).mean())


def main() -> None:
    """Print how well the parts are found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    for experiment in (drawn, learnt):
        start = time.perf_counter()
        found = simulate(experiment, arguments.simulations, arguments.jobs)
        seconds = time.perf_counter() - start
        table = Table(title=f"{experiment.__name__}: {arguments.simulations} simulations, {seconds:.0f} s")
        table.add_column("part of the inflation")
        for column in ("truth", "found", "sd of truth", "sd of found", "found / truth", "cover of 95%", "width"):
            table.add_column(column, justify="right")
        for part, values in found.items():
            truth, points = values[:, 0], values[:, 1]
            table.add_row(
                part,
                f"{truth.mean():.2f}",
                f"{points.mean():.2f}",
                f"{truth.std(ddof=1):.2f}",
                f"{points.std(ddof=1):.2f}",
                f"{points.mean() / truth.mean():.0%}",
                f"{cover(values):.0%}",
                f"{(values[:, 3] - values[:, 2]).mean():.1f}",
            )
        Console(width=120).print(table)


if __name__ == "__main__":
    main()
