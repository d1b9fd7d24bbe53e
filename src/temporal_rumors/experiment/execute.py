"""Carry out runs, on one or several processes, and keep a record of each."""

from __future__ import annotations

import dataclasses
import platform
import shutil
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, models, rumoureval
from temporal_rumors._version import __version__
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.experiment.grid import Run
from temporal_rumors.experiment.store import FORMAT, RunStore, file_name, place
from temporal_rumors.experiment.timeline import timeline
from temporal_rumors.processes import is_main
from temporal_rumors.protocols import Split
from temporal_rumors.records import Posts, json_digest

DONE, SKIPPED, FAILED = "done", "skipped", "failed"
# What the runs of this process read last.
_ENCODED: dict[tuple[str, str | None, str, str], Any] = {}


@dataclass(frozen=True)
class Outcome:
    """What became of a run: its state (done, skipped or failed), its record, and, where it failed, why."""

    run: Run
    state: str
    path: Path | None = None
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Settings:
    """What all runs of a call share.

    Attributes:
        store: folder of the run records.
        data_dir: folder with copies of the source files, or None.
        allow_modified: take source files that are not the published ones.
        model_settings: of every model, in place of its own.
        save_models: folder to save the fitted models in, or None.
    """

    store: str
    data_dir: str | None = None
    allow_modified: bool = False
    model_settings: Mapping[str, Any] = field(default_factory=dict)
    save_models: str | None = None


def execute(runs: Sequence[Run], settings: Settings, jobs: int = 1) -> Iterator[Outcome]:
    """Carry out runs and yield their outcomes as they come; runs whose record is there are skipped.

    Args:
        runs: the cells of the grid.
        settings: what they share.
        jobs: number of processes; results do not depend on it.

    Yields:
        One outcome a run, in no fixed order.
    """
    # Once a benchmark, and before there are several processes: so its file is downloaded, or found wanting, once.
    broken = {key: _lacking(*key, settings) for key in dict.fromkeys((run.benchmark, run.task) for run in runs)}
    yield from (Outcome(run, FAILED, error=why) for run in runs if (why := broken[run.benchmark, run.task]))
    left = [run for run in runs if not broken[run.benchmark, run.task]]
    if jobs > 1:
        # Processes take seconds to start: only for what is left to do.
        found = [(run, _found(run, settings)) for run in left]
        yield from (outcome for _, outcome in found if outcome)
        left = [run for run, outcome in found if not outcome]
    if jobs == 1 or len(left) <= 1:
        yield from (execute_run(run, settings) for run in left)
    else:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=min(jobs, len(left)), return_as="generator_unordered")
        yield from parallel(delayed(execute_run)(run, settings) for run in left)


def _lacking(benchmark: str, task: str | None, settings: Settings) -> str | None:
    """Why the posts of a benchmark are not to be had; None where they are."""
    try:
        _posts(benchmark, task, settings)
    except UserError as error:
        return str(error)
    return None


def _found(run: Run, settings: Settings) -> Outcome | None:
    """The outcome of a run whose record is there; None for any other, also one that cannot be begun."""
    try:
        store, (identity, *_) = RunStore(settings.store), _prepare(run, settings)
        return Outcome(run, SKIPPED, store.path(identity)) if store.holds(identity) else None
    except UserError:
        return None


def execute_run(run: Run, settings: Settings) -> Outcome:
    """Carry out one run and write its record; a failure is returned, so that other runs go on."""
    try:
        store = RunStore(settings.store)
        identity, posts, split, model = _prepare(run, settings)
        unfinished = store.unfinished(identity)
        if store.holds(identity):
            if is_main():
                shutil.rmtree(unfinished, ignore_errors=True)
            return Outcome(run, SKIPPED, store.path(identity))
        benchmark = benchmarks.get(run.benchmark, run.task)
        report = benchmark.report(posts, split)
        record = identity | {
            "split": dataclasses.asdict(report) | {"warnings": report.warnings()},
            "timeline": timeline(posts, split, benchmark.classes, run.protocol),
        }
        record |= _evaluate(run, benchmark, model, posts, split, unfinished)
        if settings.save_models is not None:
            model.save(saved(run, settings.save_models))
        path = store.path(identity)
        if is_main():
            path = store.write(record)
            shutil.rmtree(unfinished, ignore_errors=True)
        return Outcome(run, DONE, path)
    except UserError as error:
        return Outcome(run, FAILED, error=str(error))
    except Exception as error:
        return Outcome(run, FAILED, error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())


def saved(run: Run, folder: str) -> Path:
    """Return where the model of a run is saved."""
    return Path(folder) / place(dataclasses.asdict(run)) / f"{file_name(run.model)}-seed{run.seed}"


def _prepare(run: Run, settings: Settings) -> tuple[dict[str, Any], Posts, Split, models.Model]:
    """What is known of a run before it is carried out: its identity, posts, split and untrained model."""
    benchmark = benchmarks.get(run.benchmark, run.task)
    posts = _posts(run.benchmark, run.task, settings)
    split = benchmark.split(posts, run.protocol)
    model = _model(benchmark, run.model, settings.model_settings)
    identity = {
        "format": FORMAT,
        **dataclasses.asdict(run),
        "settings": model.settings,
        "model_version": model.version,
        "benchmark_version": benchmark.version,
        "classes": list(benchmark.classes),
        "data_digest": posts.digest,
        "data_is_published": benchmark.is_published(posts),
        "data_remarks": posts.remarks(examples=0),
        "split_digest": split.digest(posts.ids),
    }
    return identity, posts, split, model


def _evaluate(
    run: Run, benchmark: Benchmark, model: models.Model, posts: Posts, split: Split, unfinished: Path
) -> dict[str, Any]:
    start = time.perf_counter()
    encoded = _encoded(run, model, posts, benchmark.model_texts(posts))
    encoded_at = time.perf_counter()
    labels = posts.labels
    model.fit(
        encoded[split.train],
        labels[split.train],
        encoded[split.validation],
        labels[split.validation],
        seed=run.seed,
        folder=unfinished,
    )
    fitted_at = time.perf_counter()
    probabilities = model.predict_proba(encoded[split.test])
    predicted_at = time.perf_counter()
    predictions = {
        "ids": posts.ids[split.test].tolist(),
        "references": labels[split.test].tolist(),
        "predictions": probabilities.argmax(axis=1).tolist(),
        "confidences": probabilities.max(axis=1).tolist(),
    }
    return {
        "metrics": _scores(benchmark, **predictions),
        "fitted": model.fitted,
        "predictions": predictions,
        "timings": {
            "encode_seconds": round(encoded_at - start, 4),
            "fit_seconds": round(fitted_at - encoded_at, 4),
            "predict_seconds": round(predicted_at - fitted_at, 4),
        },
        "versions": {
            "python": platform.python_version(),
            "temporal-rumors": __version__,
            **{library: version(library) for library in ("numpy", "scipy", *model.libraries)},
        },
    }


def _scores(
    benchmark: Benchmark, ids: list[str], references: list[int], predictions: list[int], confidences: list[float]
) -> dict[str, float]:
    """Macro scores over all classes, and the official ones where there are any: the card's and the edition's."""
    macro = macro_prf(predictions=predictions, references=references, labels=list(range(len(benchmark.classes))))
    scores = {name: macro[name] for name in ("precision", "recall", "f1", "accuracy")}
    for edition in ("paper", benchmark.edition) if benchmark.edition else ():
        official = rumoureval(
            predictions=[benchmark.classes[code] for code in predictions],
            references=[benchmark.classes[code] for code in references],
            confidences=confidences if benchmark.task == "veracity" else None,
            task=benchmark.task,
            edition=edition,
        )
        scores |= {name: value for name, value in official.items() if isinstance(value, float)}
    return scores


def _posts(benchmark: str, task: str | None, settings: Settings) -> Posts:
    digest = benchmarks.get(benchmark, task).digest(settings.data_dir, allow_modified=settings.allow_modified)
    return _read(benchmark, task, settings.data_dir, settings.allow_modified, digest)


@lru_cache(maxsize=8)
def _read(benchmark: str, task: str | None, data_dir: str | None, allow_modified: bool, digest: str) -> Posts:
    # The digest of what is at hand is part of the key: a file that changes is read anew.
    return benchmarks.get(benchmark, task).posts(data_dir, allow_modified=allow_modified)


def _encoded(run: Run, model: models.Model, posts: Posts, texts: list[list[str]]) -> Any:
    """All posts as a model reads them: row by row and free of labels, so one encoding serves every split and seed."""
    key = run.benchmark, run.task, posts.digest, json_digest([model.name, model.settings])
    if key not in _ENCODED:
        # One at a time: an encoding may be large.
        _ENCODED.clear()
        _ENCODED[key] = model.encode(*texts)
    return _ENCODED[key]


def _model(b: Benchmark, name: str, settings: Mapping[str, Any]) -> models.Model:
    own = models.settings_of(name)
    given = {setting: value for setting, value in settings.items() if setting in own}
    return models.create(name, b.classes, **{**b.model_settings.get(name, {}), **given})
