"""Run records as the store holds them, without running anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from temporal_rumors.experiment.store import FORMAT, run_key

CLASSES = ("non-rumour", "rumour")
RANDOM_FOLDS = tuple(f"random_fold{k}" for k in range(5))
CHRONOLOGICAL = ("chrono", "chrono_stratified")

Record = dict[str, Any]
MakeRecord = Callable[..., Record]


def _sha(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _record(
    benchmark: str = "pheme_temporal",
    protocol: str = "chrono",
    model: str = "lr",
    seed: int = 0,
    *,
    f1: float = 0.6,
    settings: dict[str, Any] | None = None,
    model_version: str = "1",
    data: str = "published",
    absent: tuple[str, ...] = (),
    test_sizes: dict[str, int] | None = None,
    classes: tuple[str, ...] = CLASSES,
    excluded: int = 0,
    data_remarks: tuple[str, ...] = (),
) -> Record:
    test = {name: 0 if name in absent else 200 + 30 * i for i, name in enumerate(classes)} | (test_sizes or {})
    train = {name: 1400 + 500 * i for i, name in enumerate(classes)}
    n_test, n_train = sum(test.values()), sum(train.values())
    newer = 0 if protocol == "chrono" else 1234
    warnings = [
        *([f"{newer:,} of {n_train:,} training posts are newer than the first test post"] if newer else []),
        *([f"no {' and no '.join(absent)} post in the test part"] if absent else []),
        *([f"{excluded:,} posts left out: the protocol cannot place them"] if excluded else []),
    ]
    starts = ("2014-08-09T22:33:06Z", "2015-01-05T10:00:00Z", "2015-01-08T12:30:00Z")
    ends = ("2015-01-05T09:59:00Z", "2015-01-08T12:29:59Z", "2015-03-27T20:17:38Z")
    identity = {
        "format": FORMAT,
        "benchmark": benchmark,
        "task": None,
        "benchmark_version": "1.0.0",
        "protocol": protocol,
        "model": model,
        "model_version": model_version,
        "settings": {"C": [0.1, 1, 10], "ngrams": [1, 3]} if settings is None else settings,
        "seed": seed,
        "classes": list(classes),
        "data_digest": _sha("data", benchmark, data),
        "split_digest": _sha("split", benchmark, protocol, data),
    }
    return {
        **identity,
        "key": run_key(identity),
        "data_is_published": data == "published",
        "data_remarks": list(data_remarks),
        "split": {
            "sizes": {
                "train": train,
                "validation": {name: 200 + 71 * i for i, name in enumerate(classes)},
                "test": test,
            },
            "absent": {"train": [], "validation": [], "test": list(absent)},
            "newer_than_test": newer,
            "ties": 0,
            "excluded": excluded,
            "span": {p: [s, e] for p, s, e in zip(("train", "validation", "test"), starts, ends, strict=True)},
            "warnings": warnings,
        },
        "timeline": {
            "start": starts[0],
            "end": ends[2],
            "counts": {name: [(7 * i * (k + 2)) % 90 for i in range(40)] for k, name in enumerate(classes)},
            "cuts": {name: [starts[1], None if name in absent else starts[2]] for name in classes}
            if protocol in CHRONOLOGICAL
            else {},
        },
        "metrics": {"precision": min(1.0, f1 + 0.02), "recall": max(0.0, f1 - 0.01), "f1": f1, "accuracy": f1},
        "fitted": {"C": 10.0, "n_features": 5000},
        "predictions": {
            "ids": [str(i) for i in range(n_test)],
            "references": [k for k, n in enumerate(test.values()) for _ in range(n)],
            "predictions": [i % 2 for i in range(n_test)],
        },
        "timings": {"encode_seconds": 0.1, "fit_seconds": 0.2 + seed, "predict_seconds": 0.01},
        "versions": {"python": "3.11.7", "temporal-rumors": "0.1.0", "numpy": "2.0.0", "scikit-learn": "1.5.0"},
    }


@pytest.fixture(scope="session")
def make_record() -> MakeRecord:
    """A function that makes one record; `data` other than "published" stands for a modified file."""
    return _record


@pytest.fixture(scope="session")
def grid() -> list[Record]:
    """Records of two benchmarks and two models under all protocols; the deterministic one has one seed."""
    records = []
    for benchmark, events in (("pheme_temporal", ("ferguson", "sydneysiege")), ("twitter16_temporal", ())):
        classes = CLASSES if events else ("false", "true")
        for model, base, seeds in (("lr", 0.8, 1), ("bert-base-uncased", 0.85, 3)):
            protocols = (*RANDOM_FOLDS, *CHRONOLOGICAL, *(f"loo_{event}" for event in events))
            for i, protocol in enumerate(protocols):
                absent = ("true",) if (benchmark, protocol) == ("twitter16_temporal", "chrono") else ()
                drop = 0.0 if protocol.startswith("random") else 0.17
                records += [
                    _record(
                        benchmark,
                        protocol,
                        model,
                        seed,
                        f1=base - drop + 0.013 * ((i + seed) % 3),
                        absent=absent,
                        classes=classes,
                    )
                    for seed in range(seeds)
                ]
    return records


@pytest.fixture(scope="session")
def of_task() -> MakeRecord:
    """A function that makes a record of a task of RumourEval 2017, with official scores."""

    def make(task: str, protocol: str, seed: int = 0, **others: Any) -> Record:
        veracity = task == "veracity"
        classes = ("true", "false", "unverified") if veracity else ("support", "deny", "query", "comment")
        record = _record("rumoureval2017", protocol, seed=seed, classes=classes, **others)
        record |= {"task": task, "split_digest": _sha("split", task, protocol)}
        official = {"accuracy": 0.7, "balanced_accuracy": 0.5, "confidence_rmse": 0.8, "final_score": 0.2}
        record["metrics"] |= official if veracity else {"accuracy": 0.7}
        return record | {"key": run_key(record)}

    return make
