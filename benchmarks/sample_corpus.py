"""The figures in the sample corpus's card: scores, near copies, shuffled times, leaked posts removed, other seeds.

python benchmarks/sample_corpus.py [number of generator seeds, default 50]
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from temporal_rumors import macro_prf, models, protocols

make_posts = importlib.import_module("temporal_rumors.dataset_scripts.sample_temporal.make_posts").make_posts
METRICS = ("precision", "recall", "f1")
SHUFFLES = 20


class Corpus:
    """The posts of one generator seed, their n-grams counted."""

    def __init__(self, seed: int) -> None:
        ids, texts, times, labels, events = (np.array(column) for column in zip(*make_posts(seed), strict=True))
        self.ids, self.events = ids, events
        self.times = np.array([time[:-1] for time in times.tolist()], dtype="datetime64[ms]")
        self.labels = (labels == "rumour").astype(np.int64)
        self.encoded = models.create("lr", ["non-rumour", "rumour"]).encode(texts.tolist())
        self.words = [frozenset(re.findall(r"\w+", text.lower())) for text in texts.tolist()]

    def splits(self, times: np.ndarray | None = None) -> dict[str, list[protocols.Split]]:
        """Return protocol -> its splits."""
        known: dict[str, Any] = {"ids": self.ids, "times": self.times if times is None else times}
        return {
            "random": protocols.random_folds(self.labels, **known),
            "chrono": [protocols.chronological(**known)],
            "chrono_stratified": [protocols.chronological_stratified(labels=self.labels, **known)],
            "loo": list(protocols.leave_one_out(self.labels, self.events, **known).values()),
        }

    def scores(self, split: protocols.Split, train: np.ndarray | None = None) -> list[float]:
        """Return macro precision, recall and F1 of lr, in percent."""
        rows = split.train if train is None else train
        model = models.create("lr", ["non-rumour", "rumour"])
        model.fit(self.encoded[rows], self.labels[rows], self.encoded[split.validation], self.labels[split.validation])
        found = macro_prf(predictions=model.predict(self.encoded[split.test]), references=self.labels[split.test])
        return [100 * found[name] for name in METRICS]

    def overlaps(self, split: protocols.Split) -> np.ndarray:
        """Return (n_test, n_train) Jaccard overlaps of words."""
        return np.array(
            [
                [len(self.words[i] & self.words[j]) / len(self.words[i] | self.words[j]) for j in split.train]
                for i in split.test
            ]
        )


def spread(values: list[Any]) -> str:
    """Return mean and sample standard deviation in words."""
    array = np.array(values, dtype=float)
    return f"{array.mean():.1f}" + (f" ± {array.std(ddof=1):.1f}" if len(array) > 1 else "")


def f1_of(corpus: Corpus, splits: list[protocols.Split], rows: Callable[..., Any] = lambda split: None) -> list[float]:
    """Return the macro-F1 of each split, trained on the rows that a function chooses."""
    return [corpus.scores(split, rows(split))[2] for split in splits]


def main() -> None:
    """Print all figures."""
    corpus = Corpus(0)
    for name, splits in corpus.splits().items():
        columns = [spread(list(column)) for column in zip(*(corpus.scores(split) for split in splits), strict=True)]
        copies = np.concatenate([corpus.overlaps(split).max(axis=1) >= 0.7 for split in splits]).mean()
        print(f"{name:18} " + " | ".join(columns) + f" | {copies:.0%}")

    rng = np.random.default_rng(0)
    gaps: dict[str, list[float]] = {"chrono": [], "chrono_stratified": []}
    for _ in tqdm(range(SHUFFLES), desc="shuffles", disable=None):
        splits = corpus.splits(rng.permutation(corpus.times))
        random = np.mean(f1_of(corpus, splits["random"]))
        for name, found in gaps.items():
            found.append(float(random) - f1_of(corpus, splits[name])[0])
    print("shuffled times, random minus: " + ", ".join(f"{name} {spread(found)}" for name, found in gaps.items()))

    folds = corpus.splits()["random"]
    kept = [split.train[corpus.overlaps(split).max(axis=0) < 0.5] for split in folds]
    clean = [corpus.scores(split, rows)[2] for split, rows in zip(folds, kept, strict=True)]
    fewer = [
        corpus.scores(split, np.sort(rng.permutation(split.train)[: len(rows)]))[2]
        for split, rows in zip(folds, kept, strict=True)
    ]
    print(f"training posts that share half their words removed: {spread(clean)}; as many at random: {spread(fewer)}")

    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    table: dict[str, list[float]] = {}
    for seed in tqdm(range(n_seeds), desc="seeds", disable=None):
        other = Corpus(seed)
        for name, splits in other.splits().items():
            table.setdefault(name, []).append(float(np.mean(f1_of(other, splits))))
    print(f"{n_seeds} seeds: " + ", ".join(f"{name} {spread(found)}" for name, found in table.items()))
    for name in gaps:
        lead = np.array(table["random"]) - np.array(table[name])
        print(f"  random leads {name} by 15 points or more in {(lead >= 15).sum()} of {n_seeds}")


if __name__ == "__main__":
    main()
