"""Which runs there are: benchmark x task x protocol x model x seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import models
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.protocols import GROUPS, group_of


@dataclass(frozen=True)
class Run:
    """One cell of the grid; `task` is None for a benchmark that has one only."""

    benchmark: str
    task: str | None
    protocol: str
    model: str
    seed: int

    def __str__(self) -> str:
        name = self.benchmark if self.task is None else f"{self.benchmark} {self.task}"
        return f"{name} {self.protocol} {self.model} seed {self.seed}"


def grid(
    benchmark_names: Sequence[str],
    model_names: Sequence[str],
    protocol_names: Sequence[str] | None = None,
    n_seeds: int = 1,
    task_names: Sequence[str] | None = None,
) -> list[Run]:
    """Lay out all runs; those that share a benchmark and a model stand together, so that one encoding serves them.

    Args:
        benchmark_names: registered names.
        model_names: names of models.
        protocol_names: protocols, or groups of them (`random`, `loo`); None means all that a benchmark has. One
            that only some benchmarks have is run on these.
        n_seeds: seeds 0 to n_seeds - 1; a deterministic model runs with seed 0 alone.
        task_names: tasks of the benchmarks that have several; None means all.

    Returns:
        The runs, each once.

    Raises:
        UserError: an unknown name; the message lists the valid ones.
    """
    if n_seeds < 1:
        raise UserError(f"the number of seeds must be at least 1, found {n_seeds}")
    chosen = [b for name in dict.fromkeys(benchmark_names) for b in benchmarks.tasks(name)]
    tasks = [b.task for b in chosen if b.task]
    for name in task_names or ():
        if name not in tasks:
            asked = " and ".join(dict.fromkeys(b.name for b in chosen))
            raise UserError(
                f"{asked}: {unknown('task', name, tasks)}" if tasks else f"{asked}: no tasks, so no {name!r}"
            )
    if task_names:
        chosen = [b for b in chosen if b.task is None or b.task in task_names]
    for name in protocol_names or ():
        if not any(_expand(b, name) for b in chosen):
            protocols = [p for b in chosen for p in b.protocols]
            valid = dict.fromkeys([*map(group_of, protocols), *protocols])
            raise UserError(f"{' and '.join(b.label for b in chosen)}: {unknown('protocol', name, valid)}")
    runs = []
    for b in chosen:
        wanted = {p for name in protocol_names or GROUPS for p in _expand(b, name)}
        for model in dict.fromkeys(model_names):
            seeds = range(1 if models.classifier_of(model).deterministic else n_seeds)
            runs += [Run(b.name, b.task, p, model, seed) for p in b.protocols if p in wanted for seed in seeds]
    return runs


def _expand(b: Benchmark, name: str) -> list[str]:
    return [p for p in b.protocols if name in (p, group_of(p))]
