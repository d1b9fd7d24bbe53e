import subprocess
import sys

import pytest

from temporal_rumors import models
from temporal_rumors.errors import UserError
from temporal_rumors.experiment.grid import Run, grid
from temporal_rumors.protocols import group_of

SAMPLE = "sample_temporal"


def test_the_whole_grid_has_every_protocol_once_per_model():
    runs = grid([SAMPLE, "twitter15_temporal"], ["lr"])
    sample = [run.protocol for run in runs if run.benchmark == SAMPLE]
    assert sample[:7] == [*(f"random_fold{k}" for k in range(5)), "chrono", "chrono_stratified"]
    assert [group_of(p) for p in sample[7:]] == ["loo"] * 6
    assert len({str(run) for run in runs}) == len(runs) == 13 + 7


def test_groups_and_single_protocols_can_be_named_together_and_twice():
    runs = grid([SAMPLE, SAMPLE], ["lr", "lr"], ["chrono", "random", "random_fold3"])
    assert [run.protocol for run in runs] == [*(f"random_fold{k}" for k in range(5)), "chrono"]


def test_a_deterministic_model_runs_once_and_another_with_every_seed(monkeypatch):
    assert {run.seed for run in grid([SAMPLE], ["lr"], n_seeds=3)} == {0}
    monkeypatch.setattr(models.classifier_of("lr"), "deterministic", False)
    assert [run.seed for run in grid([SAMPLE], ["lr"], ["chrono"], n_seeds=3)] == [0, 1, 2]


def test_without_protocols_a_benchmark_runs_under_all_it_has():
    assert len(grid(["twitter15_temporal"], ["lr"])) == 7


def test_a_group_that_only_some_benchmarks_have_is_run_where_it_is():
    runs = grid(["twitter15_temporal", SAMPLE], ["lr"], ["loo"])
    assert {run.benchmark for run in runs} == {SAMPLE}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["sample_tempora"], ["lr"]), "did you mean 'sample_temporal'.*valid ones: pheme_temporal"),
        (([SAMPLE], ["lrr"]), "did you mean 'lr'.*valid ones: lr"),
        (
            ([SAMPLE], ["lr"], ["chron"]),
            "sample_temporal: unknown protocol 'chron' .did you mean 'chrono'.*valid ones: random, .*loo_harbour-fire",
        ),
        ((["twitter15_temporal"], ["lr"], ["loo"]), "twitter15_temporal: unknown protocol 'loo'"),
        (([SAMPLE], ["lr"], ["chrono"], 0), "at least 1"),
        ((["rumoureval2019"], ["lr"], None, 1, ["stanse"]), "unknown task 'stanse'.*did you mean 'stance'.*veracity"),
        (([SAMPLE], ["lr"], None, 1, ["stance"]), "sample_temporal: no tasks, so no 'stance'"),
        (([SAMPLE], ["lr"], ["official"]), "sample_temporal: unknown protocol 'official'"),
    ],
)
def test_unknown_names_are_errors_that_list_the_valid_ones(arguments, words):
    with pytest.raises(UserError, match=words):
        grid(*arguments)


def test_a_run_is_told_in_words():
    assert str(Run(SAMPLE, None, "chrono", "lr", 0)) == "sample_temporal chrono lr seed 0"
    assert str(Run("rumoureval2017", "stance", "chrono", "lr", 0)) == "rumoureval2017 stance chrono lr seed 0"


def test_a_benchmark_of_several_tasks_runs_with_all_of_them_or_those_that_are_named():
    runs = grid(["rumoureval2017", SAMPLE], ["lr"], ["official", "chrono"])
    assert [(run.task, run.protocol) for run in runs] == [
        *((task, protocol) for task in ("stance", "veracity") for protocol in ("official", "chrono")),
        (None, "chrono"),
    ]
    runs = grid(["rumoureval2017", SAMPLE], ["lr"], ["chrono"], task_names=["veracity"])
    assert [run.task for run in runs] == ["veracity", None]


def test_laying_out_a_grid_loads_no_training_library():
    script = (
        "import sys\n"
        "from temporal_rumors.experiment.grid import grid\n"
        "grid(['sample_temporal'], ['lr'])\n"
        "assert not {'sklearn', 'torch', 'datasets'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
