"""The LR table of the paper, every real benchmark and protocol: this library against a plain scikit-learn script.

Both run in one process and take turns split by split; of several rounds the fastest counts. They must choose the same
vocabulary and C, and score the same macro-F1, to the last bit. Needs the source files: set TEMPORAL_RUMORS_DATA, or let
them be downloaded. With OPENBLAS_NUM_THREADS=1 the plain script, too, keeps to one thread, as the library always does.

    python benchmarks/lr_grid.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from temporal_rumors import benchmark, models

BENCHMARKS = ("twitter15_temporal", "twitter16_temporal", "pheme_temporal", "weibo_temporal")
GRID = (0.1, 1.0, 10.0, 100.0)
ROUNDS = 3


def plain(texts: np.ndarray, labels: np.ndarray, parts: dict[str, np.ndarray], analyzer: str) -> tuple[Any, ...]:
    """Score one split as a script of a few lines would."""
    vectorizer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 3), min_df=3, max_features=5000)
    train = vectorizer.fit_transform(texts[parts["train"]])
    validation = vectorizer.transform(texts[parts["validation"]])
    test = vectorizer.transform(texts[parts["test"]])
    best = -1.0
    for c in GRID:
        model = LogisticRegression(C=c, max_iter=1000).fit(train, labels[parts["train"]])
        found = f1_score(labels[parts["validation"]], model.predict(validation), average="macro")
        if found > best:
            best, chosen = found, model
    score = f1_score(labels[parts["test"]], chosen.predict(test), average="macro")
    return score, chosen.C, lambda: sorted(vectorizer.vocabulary_)


def ours(encoded: Any, labels: np.ndarray, parts: dict[str, np.ndarray], model: models.Model) -> tuple[Any, ...]:
    """Score one split with the library."""
    train, validation, test = (encoded[rows] for rows in parts.values())
    model.fit(train, labels[parts["train"]], validation, labels[parts["validation"]])
    score = f1_score(labels[parts["test"]], model.predict(test), average="macro")
    return score, model.c, model.vocabularies[0].names


def timed(seconds: dict[Any, float], key: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function and note the time it takes, unless it took less before."""
    start = time.perf_counter()
    result = function(*args)
    seconds[key] = min(seconds.get(key, float("inf")), time.perf_counter() - start)
    return result


def main() -> None:
    """Run both, compare them, and print the table and the ratio."""
    warnings.simplefilter("error")  # a fit that does not converge must not pass for one that does
    total_plain = total_ours = 0.0
    for name in BENCHMARKS:
        spec = benchmark.get(name)
        posts = spec.posts()
        model = models.create("lr", spec.classes, grid=GRID, **spec.model_settings.get("lr", {}))
        seconds: dict[Any, float] = {}
        scores: dict[str, float] = {}
        for round_ in range(ROUNDS):
            encoded = timed(seconds, "encoding", model.encode, posts.texts)
            for protocol in spec.protocols:
                parts = spec.split(posts, protocol).parts()
                turns = [("plain", plain, posts.texts, model.settings["analyzer"]), ("ours", ours, encoded, model)]
                found = {}
                for who, score, source, tool in turns if round_ % 2 else turns[::-1]:
                    found[who] = timed(seconds, (who, protocol), score, source, posts.labels, parts, tool)
                (*expected, vocabulary), (*got, our_vocabulary) = found["plain"], found["ours"]
                assert got == expected, (name, protocol, got, expected)
                assert our_vocabulary() == vocabulary(), (name, protocol)
                scores[protocol] = 100 * got[0]

        for protocol, score in scores.items():
            print(f"{name:20}{protocol:28}macro-F1 {score:.1f}")
        for prefix in ("random_fold", "loo_"):
            of_prefix = [score for protocol, score in scores.items() if protocol.startswith(prefix)]
            if of_prefix:
                print(f"{name:20}{prefix + '*':28}macro-F1 {np.mean(of_prefix):.1f} +- {np.std(of_prefix, ddof=1):.1f}")
        plainly, fits = (sum(seconds[who, protocol] for protocol in spec.protocols) for who in ("plain", "ours"))
        mine = seconds["encoding"] + fits
        print(
            f"{name:20}plain {plainly:.2f} s, ours {mine:.2f} s (of which encoding {seconds['encoding']:.2f} s): "
            f"{plainly / mine:.1f} times faster\n"
        )
        total_plain += plainly
        total_ours += mine
    print(f"in all: plain {total_plain:.2f} s, ours {total_ours:.2f} s: ", end="")
    print(f"{total_plain / total_ours:.1f} times faster, all scores and vocabularies equal")


if __name__ == "__main__":
    main()
