"""Cover of the bootstrap intervals and level of the tests, on generated data whose truth is known.

Posts come in clusters that share a class and how hard they are. Two systems answer them: on the same posts (paired), on
different posts (apart), and one on all posts while the other is tested on the last fifth of the clusters alone, as
random folds beside a chronological split (nested). The truth is the difference on a very large sample.

    python benchmarks/significance.py [--simulations 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from rich.table import Table

from temporal_rumors.statistics import (
    Answers,
    approximate_randomisation,
    bootstrap_difference,
    compare_means,
    macro_f1,
    mcnemar_exact,
)

SHARES = {2: (0.7, 0.3), 4: (0.4, 0.3, 0.2, 0.1)}
LARGE = 1_000_000  # clusters of the sample that stands for the truth
NESTED = 0.2  # the share of clusters that the second system is tested on


Sizes = Callable[[np.random.Generator, int], np.ndarray]


class Corpus(NamedTuple):
    """Posts, the answers of two systems to them, and the cluster of each post; all (n,) int64."""

    groups: np.ndarray
    references: np.ndarray
    first: np.ndarray
    second: np.ndarray


class Setting(NamedTuple):
    """What is generated and compared."""

    name: str
    n_clusters: int
    n_classes: int
    sizes: Sizes


def small(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return sizes of clusters: 4 on average, geometric."""
    return generator.geometric(0.25, n)


def skewed(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return sizes of clusters: most are one post, some up to 100."""
    return np.minimum(100, np.ceil(generator.pareto(1.3, n))).astype(np.int64)


def single(generator: np.random.Generator, n: int) -> np.ndarray:
    """Return sizes of clusters: one post each."""
    return np.ones(n, dtype=np.int64)


SETTINGS = [
    *(Setting(name, n, 2, small) for name in ("paired", "apart") for n in (5, 10, 20, 50, 200)),
    *(Setting("nested", n, 2, small) for n in (50, 100, 250, 1000)),
    *(Setting("paired", n, 4, small) for n in (50, 200)),
    *(Setting("paired", n, 2, skewed) for n in (200, 1000)),
    Setting("nested", 1000, 2, skewed),
    Setting("paired", 500, 2, single),
]


def corpus(generator: np.random.Generator, n_clusters: int, k: int, sizes: Sizes, gap: float) -> Corpus:
    """Return generated posts.

    Args:
        generator: source of randomness.
        n_clusters: number of clusters.
        k: number of classes.
        sizes: draws the sizes of clusters.
        gap: by how much, in log odds, the first system is more often right; 0 makes the two exchangeable.
    """
    groups = np.repeat(np.arange(n_clusters), sizes(generator, n_clusters))
    n = len(groups)
    references = generator.choice(k, n_clusters, p=SHARES[k])[groups]
    odd = generator.random(n) < 0.1
    references[odd] = generator.integers(0, k, odd.sum())
    shared = generator.normal(0, 1, n_clusters)
    answers = []
    for mean in (1.0 + gap, 1.0):
        own = generator.normal(0, 1, n_clusters)
        right = generator.random(n) < 1 / (1 + np.exp(-(mean + shared + own)[groups]))
        answers.append(np.where(right, references, (references + generator.integers(1, k, n)) % k))
    return Corpus(groups, references, *answers)


def sides(generator: np.random.Generator, setting: Setting) -> tuple[Answers, Answers]:
    """Return the answers of both systems to a new sample."""
    a = corpus(generator, *setting[1:], gap=0.5)
    if setting.name == "apart":
        b = corpus(generator, *setting[1:], gap=0.5)
        return Answers(a.references, a.first, a.groups), Answers(b.references, b.second, b.groups + setting.n_clusters)
    here = a.groups >= (setting.n_clusters * (1 - NESTED) if setting.name == "nested" else 0)
    return Answers(a.references, a.first, a.groups), Answers(a.references[here], a.second[here], a.groups[here])


def independent(first: Answers, second: Answers) -> Iterator[Answers]:
    """Yield the answers with every post of a test set a cluster of its own, none being in both."""
    start = 0
    for answers in (first, second):
        yield answers._replace(groups=start + np.arange(len(answers.references)))
        start += len(answers.references)


def difference(k: int, sizes: Sizes) -> float:
    """Return the true difference of macro-F1, of k classes."""
    large = corpus(np.random.default_rng(0), LARGE, k, sizes, gap=0.5)
    return macro_f1(large.references, large.first, k) - macro_f1(large.references, large.second, k)


def cover(setting: Setting, truth: float, n_simulations: int) -> tuple[float, float, float]:
    """Return the mean width of the intervals, their cover, and the cover of those of independent posts."""
    k = setting.n_classes
    widths, held, held_naive = [], [], []
    for seed in range(n_simulations):
        first, second = sides(np.random.default_rng((1, seed)), setting)
        clustered = bootstrap_difference(first, second, k, seed=seed)
        if setting.name == "paired":  # the naive way knows that the posts are the same
            naive = bootstrap_difference(first._replace(groups=None), second._replace(groups=None), k, seed=seed)
        else:
            naive = bootstrap_difference(*independent(first, second), k, seed=seed)
        widths.append(clustered.high - clustered.low)
        held.append(clustered.low <= truth <= clustered.high)
        held_naive.append(naive.low <= truth <= naive.high)
    return float(np.mean(widths)), float(np.mean(held)), float(np.mean(held_naive))


def level(setting: Setting, n_simulations: int) -> dict[str, float]:
    """Return how often each test finds p <= 0.05 between systems that are equal."""
    found: dict[str, list[bool]] = {"randomisation by cluster": [], "randomisation by post": [], "McNemar": []}
    for seed in range(n_simulations):
        posts = corpus(np.random.default_rng((2, seed)), *setting[1:], gap=0.0)
        answers = posts.references, posts.first, posts.second, setting.n_classes
        p_values = (
            approximate_randomisation(*answers, posts.groups, seed=seed),
            approximate_randomisation(*answers, seed=seed),
            mcnemar_exact(posts.first == posts.references, posts.second == posts.references),
        )
        for values, p in zip(found.values(), p_values, strict=True):
            values.append(p <= 0.05)
    return {name: float(np.mean(values)) for name, values in found.items()}


def level_of_t(n_posts: int, n_simulations: int) -> float:
    """Return how often the paper's t-test finds p <= 0.05 between five folds and one test part of an equal system.

    Args:
        n_posts: of each fold and of the test part, each a cluster of its own.
        n_simulations: how many.
    """
    found = []
    for seed in range(n_simulations):
        generator = np.random.default_rng((3, seed))
        scores = []
        for _ in range(6):
            posts = corpus(generator, n_posts, 2, single, gap=0.0)
            scores.append(macro_f1(posts.references, posts.first, 2))
        p = compare_means(scores[:5], scores[5:]).p_value
        found.append(p is not None and p <= 0.05)
    return float(np.mean(found))


def main() -> None:
    """Run all simulations and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    n_simulations = parser.parse_args().simulations
    console = Console()
    start = time.perf_counter()

    run = Parallel(n_jobs=-1, return_as="generator")

    truths = {key: difference(*key) for key in {(setting.n_classes, setting.sizes) for setting in SETTINGS}}
    covers = run(delayed(cover)(s, truths[s.n_classes, s.sizes], n_simulations) for s in SETTINGS)
    table = Table("posts", "clusters", "classes", "sizes", "truth", "width", "cover", "posts taken as independent")
    table.title = f"Cover of nominal 95% intervals of a difference of macro-F1, {n_simulations:,} simulations each"
    progress = track(zip(SETTINGS, covers, strict=True), total=len(SETTINGS), console=Console(stderr=True))
    for (name, n_clusters, k, sizes), (width, held, naive) in progress:
        row = name, f"{n_clusters:,}", str(k), sizes.__name__, f"{truths[k, sizes]:.3f}", f"{width:.3f}"
        table.add_row(*row, f"{held:.1%}", f"{naive:.1%}")
    console.print(table)

    paired = [setting for setting in SETTINGS if setting.name == "paired"]
    levels = list(run(delayed(level)(setting, n_simulations) for setting in paired))
    table = Table("clusters", "classes", "sizes", *levels[0])
    table.title = f"Level of tests of equal systems at 5%, {n_simulations:,} simulations each"
    for (_, n_clusters, k, sizes), shares in zip(paired, levels, strict=True):
        table.add_row(f"{n_clusters:,}", str(k), sizes.__name__, *(f"{share:.1%}" for share in shares.values()))
    console.print(table)
    for n_posts in (150, 1000):
        share = level_of_t(n_posts, n_simulations)
        console.print(f"level of the t-test of five folds against one score at 5%, {n_posts:,} posts each: {share:.1%}")
    console.print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
