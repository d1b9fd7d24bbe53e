"""The `paired_test` module: right numbers, strict about its inputs, streaming, and a Space of its own."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from temporal_rumors.metrics.macro_prf.scoring import macro_prf
from temporal_rumors.metrics.paired_test.paired_test import PairedTest
from temporal_rumors.metrics.paired_test.scoring import paired_test

FOLDER = Path(__file__).parents[2] / "metrics" / "paired_test"
FIRST = ["true", "false", "true", "unverified", "true", "false"]
SECOND = ["true", "true", "false", "unverified", "false", "false"]
REFERENCES = ["true", "false", "true", "unverified", "true", "true"]
GROUPS = ["a", "a", "b", "b", "c", "c"]
INPUTS = {"predictions1": FIRST, "predictions2": SECOND, "references": REFERENCES}

LABELS = {"int": st.integers(-2, 2), "str": st.sampled_from(["a", "b", "谣言"]), "bool": st.booleans()}


@st.composite
def systems(draw):
    """Return the columns of an input by name, without or with groups."""
    label = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    rows = draw(st.lists(st.tuples(label, label, label, st.integers(0, 9)), min_size=2, max_size=20))
    *columns, groups = map(list, zip(*rows, strict=True))
    with_groups = draw(st.booleans()) and len(set(groups)) > 1
    return dict(
        zip(("predictions1", "predictions2", "references"), columns, strict=True)
    ), groups if with_groups else None


@given(systems())
@settings(max_examples=60)
def test_scores_are_those_of_macro_prf_and_counts_are_plain(data):
    columns, groups = data
    found = paired_test(**columns, groups=groups, n_resamples=50)
    first, second, references = columns.values()
    for number, predictions in (("1", first), ("2", second)):
        expected = macro_prf(predictions=predictions, references=references, labels=found["labels"])
        assert found[f"accuracy{number}"] == expected["accuracy"]
        assert found[f"macro_f1_{number}"] == pytest.approx(expected["f1"], abs=1e-12)
    right = [[p == r for p, r in zip(predictions, references, strict=True)] for predictions in (first, second)]
    assert found["accuracy_difference"] == pytest.approx(found["accuracy1"] - found["accuracy2"])
    assert found["macro_f1_difference"] == pytest.approx(found["macro_f1_1"] - found["macro_f1_2"])
    assert found["n_only_1_right"] == sum(a and not b for a, b in zip(*right, strict=True))
    assert found["n_only_2_right"] == sum(b and not a for a, b in zip(*right, strict=True))
    assert found["n_disagreements"] == sum(a != b for a, b in zip(first, second, strict=True))
    assert found["n_groups"] == (len(references) if groups is None else len(set(groups)))
    assert found["labels"] == sorted({*first, *second, *references})
    n_discordant = found["n_only_1_right"] + found["n_only_2_right"]
    expected = stats.binomtest(found["n_only_1_right"], n_discordant).pvalue if n_discordant else 1.0
    assert found["mcnemar_p"] == pytest.approx(expected)
    assert 0 < found["randomisation_p"] <= 1
    assert found["interval"][0] <= found["interval"][1]
    assert json.loads(json.dumps(found)) == found


@given(systems())
@settings(max_examples=40)
def test_swapping_the_systems_turns_the_signs_and_keeps_the_p_values(data):
    columns, groups = data
    swapped = {**columns, "predictions1": columns["predictions2"], "predictions2": columns["predictions1"]}
    one, other = (paired_test(**inputs, groups=groups, n_resamples=50) for inputs in (columns, swapped))
    assert one["mcnemar_p"] == other["mcnemar_p"]
    # Where not all ways to swap are gone through, the random ones differ.
    assert one["randomisation_p"] == pytest.approx(other["randomisation_p"], abs=0.04)
    assert one["macro_f1_difference"] == pytest.approx(-other["macro_f1_difference"])


@given(systems())
@settings(max_examples=30)
def test_the_names_of_groups_do_not_matter(data):
    columns, groups = data
    if groups is not None:
        named = [f"thread {9 - group}\0" if group % 2 else f"thread {9 - group}" for group in groups]
        assert paired_test(**columns, groups=named) == paired_test(**columns, groups=groups)


def test_groups_that_differ_at_their_end_alone_stay_apart():
    found = paired_test(**INPUTS, groups=["a", "a\0", "a\0\0", "b", "b", "b"])
    assert found["n_groups"] == 4


def test_identical_systems_do_not_differ():
    for references in (REFERENCES, FIRST):
        found = paired_test(predictions1=FIRST, predictions2=FIRST, references=references, groups=GROUPS)
        assert (found["mcnemar_p"], found["randomisation_p"], found["interval"]) == (1.0, 1.0, [0.0, 0.0])
        assert (found["macro_f1_difference"], found["n_disagreements"]) == (0.0, 0)


def test_a_clear_difference_is_found_and_its_interval_excludes_0():
    references = [0, 1] * 100
    second = [label if position % 3 else 1 - label for position, label in enumerate(references)]
    found = paired_test(predictions1=references, predictions2=second, references=references)
    assert found["mcnemar_p"] < 1e-6
    assert found["randomisation_p"] < 0.001
    assert 0 < found["interval"][0] < found["macro_f1_difference"] < found["interval"][1]


def test_labels_are_averaged_over_even_where_they_are_absent():
    fewer = paired_test(**INPUTS)
    more = paired_test(**INPUTS, labels=["unverified", "true", "false", "other"])
    assert more["labels"] == ["unverified", "true", "false", "other"]
    assert more["macro_f1_1"] == pytest.approx(fewer["macro_f1_1"] * 3 / 4)


def test_options_are_used():
    found = paired_test(**INPUTS)
    assert found["level"] == 0.95
    narrow = paired_test(**INPUTS, level=0.5)
    assert narrow["level"] == 0.5
    assert found["interval"][0] < narrow["interval"][0] < narrow["interval"][1] < found["interval"][1]
    generator = np.random.default_rng(0)
    many = dict(zip(INPUTS, generator.integers(0, 5, (3, 200)), strict=True))
    assert paired_test(**many, seed=1)["interval"] != paired_test(**many)["interval"]
    assert paired_test(**many, n_resamples=100)["interval"] != paired_test(**many)["interval"]
    assert paired_test(**many, n_swaps=1)["randomisation_p"] in (0.5, 1.0)


@pytest.mark.parametrize(
    "convert",
    [
        tuple,
        np.array,
        lambda labels: np.array(labels, dtype=object),
        lambda labels: [np.str_(label) for label in labels],
        pd.Series,
        lambda labels: pd.Series(labels, dtype="category"),
        pa.array,
        lambda labels: pa.chunked_array([labels[:2], labels[2:]]),
        lambda labels: datasets.Dataset.from_dict({"label": labels})["label"],
        lambda labels: datasets.Dataset.from_dict({"label": labels}).with_format("numpy")["label"],
    ],
)
def test_containers_are_read(convert):
    expected = paired_test(**INPUTS, groups=GROUPS)
    converted = {name: convert(values) for name, values in (INPUTS | {"groups": GROUPS}).items()}
    assert paired_test(**converted) == expected


def test_integers_of_every_width_are_read():
    codes = {name: np.unique(values, return_inverse=True)[1] for name, values in INPUTS.items()}
    for dtype in (np.int8, np.uint64, ">i4"):
        found = paired_test(**{name: values.astype(dtype) for name, values in codes.items()})
        assert found["labels"] == [0, 1, 2]
        assert {type(label) for label in found["labels"]} == {int}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "missing"),
        ("abc", "found str"),
        ({1, 2}, "found set"),
        ([0.5, 1], r"found float \(0.5 at position 0\)"),
        ([1, None], r"found NoneType \(None at position 1\)"),
        ([1, "a"], r"found int \(1 at position 0\) and str \('a' at position 1\)"),
        ([1, True], "found int .* and bool"),
        ([[1], [2]], "found list"),
        (np.array([1.0, np.nan]), "found float"),
        (np.zeros((2, 2), dtype=int), "found list"),
        (np.int64(1), "found int"),
        (np.array([b"a", b"b"]), "found bytes"),
        (np.ma.array([1, 2], mask=[False, True]), "found NoneType"),
        (pa.array([1, None]), "found NoneType"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", [*INPUTS, "groups", "labels"])
def test_anything_but_labels_of_one_kind_is_refused(values, message, name):
    if values is None and name in ("groups", "labels"):
        return
    with pytest.raises(ValueError, match=f"{name}.*{message}"):
        paired_test(**{**dict.fromkeys([*INPUTS, "groups"], (1, 2)), name: values})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict.fromkeys(INPUTS, ()), "nothing to compare"),
        ({"predictions2": SECOND[:2]}, "2 predictions2 for 6 references"),
        ({"references": []}, "6 predictions1 for 0 references"),
        ({"predictions1": [0] * 6}, r"references are str \('true' comes first\) and predictions1 are int"),
        ({"predictions1": [True] * 6, "predictions2": [1] * 6, "references": [1] * 6}, "are int .* are bool"),
        ({"groups": GROUPS[:2]}, "groups: found 2, expected 6"),
        ({"groups": ["a"] * 6}, "all posts are in one cluster"),
        ({"labels": ["true", "false"]}, "labels does not list 'unverified'"),
        ({"labels": [1, 2, 3]}, "labels does not list 'false'"),
        ({"labels": []}, "labels does not list 'false'"),
        ({"labels": ["true", "false", "unverified", "true"]}, "more than once"),
        ({"level": 95}, "level is 95"),
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"n_swaps": 0}, "n_swaps is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 0.5}, "seed is 0.5"),
    ],
    ids=range(16),
)
def test_inputs_and_options_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        paired_test(**{**INPUTS, **changes})


# The evaluate module


@pytest.fixture(params=["installed", "folder", "copied folder"])
def module(request, tmp_path, monkeypatch):
    """Return the module as each way to load it does, without a network."""
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "modules")
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "metrics")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was opened"))
    monkeypatch.setattr(sys, "path", sys.path[:])
    for name in {name for name in sys.modules if name.split(".")[0] == "evaluate_modules"}:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    if request.param == "installed":
        return evaluate.load("paired_test", module_type="comparison")
    folder = FOLDER
    if request.param == "copied folder":
        folder = tmp_path / "space" / "paired_test"
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return evaluate.load(str(folder), module_type="comparison")


def test_compute_takes_everything_or_streams(module, tmp_path):
    expected = paired_test(**INPUTS, groups=GROUPS)
    assert module.module_type == "comparison"
    assert module.compute(**INPUTS, groups=GROUPS) == expected
    columns = INPUTS | {"groups": GROUPS}
    module.add_batch(**{name: np.array(values[:2]) for name, values in columns.items()})
    module.add_batch(**dict.fromkeys(columns, ()))
    module.add(prediction1=FIRST[2], prediction2=SECOND[2], reference=REFERENCES[2], group=GROUPS[2])
    assert len(module) == 3
    assert module.compute(**{name: values[3:] for name, values in columns.items()}) == expected
    assert len(module) == 0
    assert module.compute(**INPUTS) == paired_test(**INPUTS)
    assert not list((tmp_path / "metrics").rglob("*.arrow*"))


def test_compute_passes_every_option_on(module):
    options = {"labels": sorted(set(FIRST)), "level": 0.8, "n_resamples": 99, "n_swaps": 9, "seed": 3}
    assert module.compute(**INPUTS, **options) == paired_test(**INPUTS, **options)


def test_an_error_costs_no_batches():
    module = PairedTest()
    with pytest.raises(ValueError, match="nothing to compare"):
        module.compute()
    module.add_batch(**INPUTS)
    with pytest.raises(ValueError, match="found 1 predictions1, 2 predictions2, 2 references"):
        module.add_batch(predictions1=["a"], predictions2=["a", "b"], references=["a", "b"])
    with pytest.raises(ValueError, match="references are missing"):
        module.add_batch(predictions1=["a"], predictions2=["a"])
    for wrong, message in (
        ({"level": 2}, "level is 2"),
        (dict.fromkeys(INPUTS, (1,)), "found str .* and int"),
        ({**dict.fromkeys(INPUTS, ("a",)), "groups": ["g"]}, "some batches only"),
    ):
        with pytest.raises(ValueError, match=message):
            module.compute(**wrong)
    assert module.compute() == paired_test(**INPUTS)


WORKER = """
import json, sys
from temporal_rumors.metrics.paired_test.paired_test import PairedTest
process_id, cache, columns = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
module = PairedTest(num_process=2, process_id=process_id, experiment_id="e", cache_dir=cache, timeout=30)
module.add_batch(**{name: values[process_id * 2 : process_id * 2 + 2] for name, values in columns.items()})
rest = {name: values[4:] for name, values in columns.items()} if process_id else {}
print(json.dumps(module.compute(**rest)))
"""


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_two_processes_give_the_result_of_one(groups, tmp_path):
    columns = INPUTS if groups is None else INPUTS | {"groups": groups}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(process_id), str(tmp_path), json.dumps(columns)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for process_id in range(2)
    ]
    first, second = (json.loads(worker.communicate()[0]) for worker in workers)
    assert first == paired_test(**columns)
    assert second is None
    assert not list(tmp_path.rglob("*.arrow"))


def test_the_folder_needs_nothing_but_its_own_files():
    files = ("paired_test.py", "scoring.py")
    imports = [name for file in files for name in evaluate.loading.get_imports(FOLDER / file)]
    assert [name for kind, name, *_ in imports if kind == "internal"] == ["scoring"]
    libraries = {name for kind, name, *_ in imports if kind == "library"} - sys.stdlib_module_names
    assert libraries == {"datasets", "evaluate", "numpy", "scipy"}
    required = {line.split(">")[0] for line in (FOLDER / "requirements.txt").read_text().split()}
    assert libraries - {"datasets", "evaluate"} == required
