"""The `macro_prf` module: equal to scikit-learn, strict about its inputs, streaming, and a Space of its own."""

import enum
import importlib
import itertools
import json
import math
import re
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
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from temporal_rumors.metrics.macro_prf import scoring
from temporal_rumors.metrics.macro_prf.macro_prf import MacroPrf
from temporal_rumors.metrics.macro_prf.scoring import Confusion, macro_prf

FOLDER = Path(__file__).parents[2] / "metrics" / "macro_prf"


def by_sklearn(predictions, references, labels=None, zero_division=0.0):
    if labels is None:
        labels = sorted({*predictions, *references})
    arguments = {"labels": labels, "zero_division": zero_division}
    *macro, _ = precision_recall_fscore_support(references, predictions, average="macro", **arguments)
    *per_class, support = precision_recall_fscore_support(references, predictions, average=None, **arguments)
    names = ("precision", "recall", "f1")
    return {
        **dict(zip(names, macro, strict=True)),
        "accuracy": accuracy_score(references, predictions),
        "labels": labels,
        "per_class": {**dict(zip(names, per_class, strict=True)), "support": support.tolist()},
    }


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name == "per_class":
            assert_same(found[name], value)
        elif name in ("labels", "support"):
            assert found[name] == value
            assert {type(entry) for entry in found[name]} <= {int, str, bool}
        else:
            np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-12)


LABELS = {
    "int": st.integers(-3, 3),
    "wide int": st.sampled_from([-(2**63), -70_000, 0, 1, 255, 256, 2**31, 2**63 - 1]),
    # Without NUL, which numpy, and so scikit-learn, cuts off the end of a string.
    "str": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3)
    | st.sampled_from(["rumour", "non-rumour", "谣言"]),
    "bool": st.booleans(),
}


@st.composite
def labelled(draw, kinds=tuple(LABELS)):
    label = LABELS[draw(st.sampled_from(kinds))]
    pairs = draw(st.lists(st.tuples(label, label), min_size=1, max_size=40))
    absent = draw(st.lists(label, max_size=3))
    seen = {label for pair in pairs for label in pair}
    labels = draw(st.none() | st.permutations(sorted(seen.union(absent))))
    return [list(column) for column in zip(*pairs, strict=True)], labels


@given(labelled(), st.sampled_from([0.0, 1.0, math.nan]), st.sampled_from([list, tuple, np.array, pd.Series]))
def test_scores_equal_scikit_learn(data, zero_division, container):
    (predictions, references), labels = data
    if container is np.array and any(str(label).endswith("\0") for label in predictions + references):
        container = list  # fixed-width numpy strings end at the last character that is not null
    found = macro_prf(
        predictions=container(predictions),
        references=container(references),
        labels=labels,
        zero_division=zero_division,
        per_class=True,
    )
    assert_same(found, by_sklearn(predictions, references, labels, zero_division))
    assert json.loads(json.dumps(found["labels"])) == found["labels"]


@pytest.mark.parametrize("labels", [range(3), range(-80_200, -200), [0, 7, 2**40], np.arange(300) ** 3])
@pytest.mark.parametrize("dtype", [np.int64, str])
def test_large_arrays_equal_scikit_learn(labels, dtype):
    generator = np.random.default_rng(0)
    references = generator.choice(labels, 100_001)
    predictions = np.where(generator.random(100_001) < 0.7, references, generator.choice(labels, 100_001))
    references, predictions = references.astype(dtype), predictions.astype(dtype)
    found = macro_prf(predictions=predictions, references=references, per_class=True)
    assert_same(found, by_sklearn(predictions.tolist(), references.tolist()))
    as_lists = macro_prf(predictions=predictions.tolist(), references=references.tolist(), per_class=True)
    assert as_lists == found


def test_strings_whose_hashes_collide_stay_apart(monkeypatch):
    monkeypatch.setattr(scoring, "_HASH", np.zeros_like(scoring._HASH))
    found = macro_prf(predictions=np.array(["a", "b", "b"]), references=np.array(["a", "b", "a"]), per_class=True)
    assert_same(found, by_sklearn(["a", "b", "b"], ["a", "b", "a"]))


@given(labelled(), st.lists(st.integers(0, 40), max_size=4))
def test_batches_and_merges_give_the_scores_of_the_whole(data, cuts):
    (predictions, references), labels = data
    bounds = sorted({0, len(references), *(cut for cut in cuts if cut < len(references))})
    streamed, merged = Confusion(), Confusion()
    for start, stop in itertools.pairwise(bounds):
        batch = Confusion()
        for confusion in (streamed, batch):
            confusion.update(predictions=predictions[start:stop], references=references[start:stop])
        merged.merge(batch)
    whole = macro_prf(predictions=predictions, references=references, labels=labels, per_class=True)
    assert streamed.result(labels, per_class=True) == merged.result(labels, per_class=True) == whole
    assert len(streamed) == len(references)


def test_f1_is_the_mean_of_the_f1_of_each_class():
    found = macro_prf(predictions=[0, 0, 0, 1], references=[0, 1, 1, 1])
    assert found["f1"] == pytest.approx(1 / 2)
    assert found["precision"] == found["recall"] == pytest.approx(2 / 3)


class Tensor:
    """What is used of torch.Tensor."""

    def __init__(self, values):
        self.array = np.array(values)
        self.dtype = f"torch.{self.array.dtype}"

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


class Veracity(str, enum.Enum):
    TRUE = "true"
    FALSE = "false"


INTS, TEXTS, BOOLS = [2, 0, 0], ["true", "false", "false"], [True, False, False]


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.array(INTS, dtype=np.int8), INTS),
        (np.array(INTS, dtype=np.uint64), INTS),
        (np.array(INTS, dtype=">i4"), INTS),
        (np.array(INTS, dtype=object), INTS),
        ([np.int64(2), 0, np.uint8(0)], INTS),
        (pd.Series(INTS, dtype="Int64"), INTS),
        (pd.Series(INTS, dtype="category"), INTS),
        (pa.array(INTS), INTS),
        (Tensor(INTS), INTS),
        ([2**64, -(2**70), -(2**70)], None),
        (np.array([2**64 - 1, 0, 0], dtype=np.uint64), None),
        (np.array([-128, 127, 127], dtype=np.int8), None),
        (np.array(TEXTS), TEXTS),
        (np.array(TEXTS, dtype=">U9"), TEXTS),
        (np.repeat(np.array(TEXTS), 2)[::2], TEXTS),
        (np.array(["x" * 300, "", ""]), None),
        (np.array(TEXTS, dtype=object), TEXTS),
        ([np.str_("true"), "false", Veracity.FALSE], TEXTS),
        (pd.Series(TEXTS), TEXTS),
        (pd.Series(TEXTS, dtype="category"), TEXTS),
        (pa.array(TEXTS), TEXTS),
        (pa.chunked_array([TEXTS[:1], TEXTS[1:]]), TEXTS),
        (pa.array(TEXTS).dictionary_encode(), TEXTS),
        (np.array(BOOLS), BOOLS),
        ([np.bool_(True), False, False], BOOLS),
        (pa.array(BOOLS), BOOLS),
        (Tensor(BOOLS), BOOLS),
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'dtype', '')}",
)
def test_containers_are_read_exactly(values, plain):
    if plain is None:
        plain = np.asarray(values, dtype=object).tolist()
    found = macro_prf(predictions=values, references=plain)
    assert found["accuracy"] == 1
    assert_same({"labels": found["labels"]}, {"labels": sorted(set(plain))})


def test_torch_tensors_are_read():
    torch = pytest.importorskip("torch")
    assert macro_prf(predictions=torch.tensor([0, 1]), references=[0, 1])["labels"] == [0, 1]
    with pytest.raises(ValueError, match=r"found torch\.bfloat16"):
        macro_prf(predictions=torch.tensor([0, 1], dtype=torch.bfloat16), references=[0, 1])


@pytest.mark.parametrize("layout", [None, "numpy", "arrow", "pandas"])
def test_a_dataset_column_is_read_at_once(layout, monkeypatch):
    monkeypatch.setattr(datasets.arrow_dataset.Column, "__iter__", lambda _: pytest.fail("read row by row"))
    column = datasets.Dataset.from_dict({"label": ["a", "b"]}).with_format(layout)["label"]
    assert macro_prf(predictions=column, references=["a", "b"])["labels"] == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "missing"),
        ("abc", "found str"),
        ({1, 2}, "found set"),
        ((label for label in [1, 2]), "found generator"),
        ([0.5, 1], r"float \(0.5 at position 0\).*argmax"),
        ([1, 1.0], r"float \(1.0 at position 1\)"),
        ([1, None], r"NoneType \(None at position 1\)"),
        (["a", None], "NoneType"),
        ([b"a", b"b"], "found bytes"),
        ([1, "a"], r"int \(1 at position 0\) and str \('a' at position 1\)"),
        ([1, True], r"bool \(True at position 1\) and int"),
        ([True, 2], r"bool \(True at position 0\) and int"),
        ([[1], [2]], "found list.*flat"),
        ([np.array([1]), np.array([2])], "found ndarray.*flat"),
        (np.array([1.0, 2.0]), "found float64"),
        (np.array([b"a", b"b"]), "found bytes"),
        (np.array([1, 2], dtype="M8[s]"), "found datetime64"),
        (np.array([1, "a"], dtype=object), "int .* and str"),
        (np.zeros((2, 2), dtype=int), r"shape \(2, 2\).*argmax"),
        (np.int64(1), r"shape \(\)"),
        (np.ma.array([1, 2], mask=[False, True]), r"missing values \(1 of 2\)"),
        (Tensor([0.1, 0.9]), "found torch.float64.*argmax"),
        (pd.Series([1, None]), "found float64"),
        (pd.Series([1, None], dtype="Int64"), "found"),
        (pd.Series(["a", None]), "found"),
        (pa.array([1, None]), r"missing values \(1 of 2\)"),
        (pa.array(["a", None]), r"missing values \(1 of 2\)"),
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", repr(value)),
)
@pytest.mark.parametrize("name", ["predictions", "references"])
def test_anything_but_labels_of_one_kind_is_refused(values, message, name):
    other = "references" if name == "predictions" else "predictions"
    with pytest.raises(ValueError, match=f"{name}.*{message}"):
        macro_prf(**{name: values, other: [1, 2]})


@pytest.mark.parametrize(
    ("predictions", "references", "arguments", "message"),
    [
        ([], [], {}, "nothing to score"),
        (np.array([]), [], {}, "nothing to score"),
        ([1], [1, 2], {}, "1 predictions for 2 references"),
        ([1, 2], [], {}, "2 predictions for 0 references"),
        ([1, 2], ["1", "2"], {}, r"predictions are int, references are str \(1 and '1'"),
        ([1, 0], [True, False], {}, "predictions are int, references are bool"),
        (np.array([1, 0]), np.array([True, False]), {}, "predictions are int, references are bool"),
        ([1, 2], [2, 2], {"labels": [2, 3]}, r"hold \[1\], not among labels=\[2, 3\]"),
        ([2, 2], [1, 2], {"labels": [2, 3]}, r"hold \[1\], not among labels=\[2, 3\]"),
        (list(range(30)), list(range(30)), {"labels": [1]}, "19 more"),
        ([1, 2], [2, 2], {"labels": []}, "labels is empty"),
        ([1, 2], [2, 2], {"labels": [1, 2, 1]}, r"labels lists \[1\] more than once"),
        ([1, 2], [2, 2], {"labels": ["1", "2"]}, "labels are str, predictions and references are int"),
        ([1, 2], [2, 2], {"labels": {1, 2}}, "labels: found set"),
        ([1, 2], [2, -100], {}, r"references hold -100 \(1 of 2\).*ignore_index=-100"),
        ([1, 2], [2, -100], {"ignore_index": 2}, "references hold -100"),
        ([1, -100], [2, 1], {}, r"predictions or references hold -100 \(1 of 2\)"),
        ([1, -100], [-100, 1], {"ignore_index": -100}, "predictions or references hold -100"),
        ([1, 2], [-100, -100], {"ignore_index": -100}, "every reference is ignore_index=-100"),
        ([1, 2], [2, 2], {"ignore_index": -100, "labels": [1, 2, -100]}, "which ignore_index drops"),
        ([1, 2], [2, 2], {"ignore_index": "2"}, "ignore_index is str, references are int"),
        ([1, 2], [2, 2], {"ignore_index": -100.0}, "ignore_index: found float"),
        ([1, 2], [2, 2], {"zero_division": "warn"}, "zero_division is 'warn'"),
        ([1, 2], [2, 2], {"zero_division": 0.5}, "zero_division is 0.5"),
        ([1, 2], [2, 2], {"zero_division": None}, "zero_division is None"),
    ],
)
def test_inputs_and_options_that_do_not_fit_are_refused(predictions, references, arguments, message):
    with pytest.raises(ValueError, match=message):
        macro_prf(predictions=predictions, references=references, **arguments)


@given(labelled(kinds=("int", "str")), st.data())
def test_ignored_positions_do_not_count(data, choice):
    (predictions, references), _ = data
    ignored = choice.draw(st.sampled_from(references))
    kept = [(p, r) for p, r in zip(predictions, references, strict=True) if r != ignored]
    if not kept:
        return
    found = macro_prf(predictions=predictions, references=references, ignore_index=ignored, per_class=True)
    assert_same(found, by_sklearn(*map(list, zip(*kept, strict=True))))


def test_padding_may_be_listed_as_a_class():
    assert macro_prf(predictions=[-100, 1], references=[-100, 1], labels=[1, -100])["labels"] == [1, -100]


# The evaluate module


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Keep what evaluate writes in a temporary folder, and the network out."""
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "modules")
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "metrics")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was opened"))
    monkeypatch.setattr(sys, "path", sys.path[:])
    loaded = {name for name in sys.modules if name.split(".")[0] == "evaluate_modules"}
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()


@pytest.fixture(params=["installed", "folder", "copied folder"])
def module(request, caches, tmp_path):
    if request.param == "installed":
        return MacroPrf()
    folder = FOLDER
    if request.param == "copied folder":
        folder = tmp_path / "space" / "macro_prf"
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return evaluate.load(str(folder))


PREDICTIONS, REFERENCES = [0, 1, 1, 2], [0, 1, 2, 2]


def test_compute_takes_everything_or_streams(module):
    expected = macro_prf(predictions=PREDICTIONS, references=REFERENCES)
    assert module.name == "macro_prf"
    assert module.compute(predictions=PREDICTIONS, references=REFERENCES) == expected
    assert module.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    module.add_batch(predictions=np.array(PREDICTIONS[:2]), references=REFERENCES[:2])
    module.add_batch(predictions=[], references=[])
    module.add(prediction=PREDICTIONS[2], reference=REFERENCES[2])
    assert len(module) == 3
    assert "stored examples: 3" in repr(module)
    assert module.compute(predictions=PREDICTIONS[3:], references=REFERENCES[3:]) == expected
    assert len(module) == 0


def test_streaming_writes_no_cache_file(module, tmp_path):
    module.add_batch(predictions=PREDICTIONS, references=REFERENCES)
    module.compute()
    assert not list((tmp_path / "metrics").rglob("*.arrow*"))


def test_compute_passes_every_option_on(module):
    options = {"labels": [2, 1, 0, 5], "zero_division": 1.0, "ignore_index": 3, "per_class": True}
    found = module.compute(predictions=[*PREDICTIONS, 7], references=[*REFERENCES, 3], **options)
    assert found == macro_prf(predictions=[*PREDICTIONS, 7], references=[*REFERENCES, 3], **options)
    assert found["labels"] == [2, 1, 0, 5]


def test_an_error_leaves_the_module_usable(module):
    expected = macro_prf(predictions=PREDICTIONS, references=REFERENCES)
    with pytest.raises(ValueError, match="nothing to score"):
        module.compute()
    with pytest.raises(ValueError, match="references are missing"):
        module.compute(predictions=PREDICTIONS)
    with pytest.raises(ValueError, match="found float"):
        module.compute(predictions=[0.1] * 4, references=REFERENCES)
    with pytest.raises(ValueError, match="not among labels"):
        module.compute(predictions=PREDICTIONS, references=REFERENCES, labels=[0])
    assert module.compute(predictions=PREDICTIONS, references=REFERENCES) == expected

    module.add_batch(predictions=PREDICTIONS, references=REFERENCES)
    for batch in (["a"], ["a", "b"], [None]):
        with pytest.raises(ValueError, match=r"holds str labels|2 predictions|found NoneType"):
            module.add_batch(predictions=batch, references=["a"])
    assert module.compute() == expected


def test_keep_in_memory_changes_nothing(caches):
    module = evaluate.load(str(FOLDER), keep_in_memory=True)
    assert module.compute(predictions=PREDICTIONS, references=REFERENCES)["accuracy"] == 0.75


def test_combined_modules_stream(module):
    combined = evaluate.combine({"all": module, "again": MacroPrf()}, force_prefix=True)
    combined.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    combined.add_batch(predictions=PREDICTIONS[1:], references=REFERENCES[1:])
    found = combined.compute()
    expected = macro_prf(predictions=PREDICTIONS, references=REFERENCES)
    assert found == {f"{name}_{key}": value for name in ("all", "again") for key, value in expected.items()}


def test_predictions_and_a_dataset_column_can_be_computed_as_evaluators_do(module):
    data = datasets.Dataset.from_dict({"label": REFERENCES})
    found = module.compute(references=data["label"], predictions=PREDICTIONS)
    assert found == macro_prf(predictions=PREDICTIONS, references=REFERENCES)


WORKER = """
import json, sys
from temporal_rumors.metrics.macro_prf.macro_prf import MacroPrf

process_id, cache_dir, rounds = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
for number, batches in enumerate(rounds):
    module = MacroPrf(
        num_process=2, process_id=process_id, cache_dir=cache_dir, experiment_id=f"round{number}", timeout=60
    )
    for predictions, references in batches[process_id]:
        module.add_batch(predictions=predictions, references=references)
    size = len(module)
    try:
        result = module.compute(per_class=True)
    except ValueError as error:
        result = str(error)
    print(json.dumps([size, result]))
"""


def test_two_processes_give_the_scores_of_one(tmp_path):
    rounds = [  # for each process its batches
        [[([0, 1, 1], [0, 0, 1]), ([2**70], [2])], [([1, 1, 1, 0], [2, 1, 1, 0])]],
        [[(["true", "false"], ["true", "true"])], [(["true", "非"], ["é", "true"]), (["1"], ["1"])]],
        [[([True, True], [True, False])], [([False], [False])]],
        [[([1], [1])], [(["1"], ["1"])]],
    ]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(process_id), str(tmp_path), json.dumps(rounds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for process_id in range(2)
    ]
    first, second = ([json.loads(line) for line in worker.communicate()[0].splitlines()] for worker in workers)
    *same_kind, mixed = rounds
    for batches, (size, found), (other_size, other) in zip(same_kind, first, second, strict=False):
        predictions, references = (
            [label for process in batches for batch in process for label in batch[i]] for i in range(2)
        )
        assert found == macro_prf(predictions=predictions, references=references, per_class=True)
        assert other is None
        assert size + other_size == len(references)
    assert len(first) == len(second) == len(rounds), mixed
    assert "use one kind of label" in first[-1][1]
    assert not list(tmp_path.rglob("*.arrow"))


def test_a_process_without_data_says_so(tmp_path):
    module = MacroPrf(num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=1)
    with pytest.raises(ValueError, match="process 1 of 2 has nothing to score"):
        module.compute()


def test_the_folder_needs_nothing_but_its_own_files():
    imports = [name for file in ("macro_prf.py", "scoring.py") for name in evaluate.loading.get_imports(FOLDER / file)]
    assert [name for kind, name, *_ in imports if kind == "internal"] == ["scoring"]
    libraries = {name for kind, name, *_ in imports if kind == "library"}
    assert libraries - sys.stdlib_module_names == {"datasets", "evaluate", "numpy"}


def test_a_mistyped_argument_of_compute_costs_no_batches(caches):
    metric = MacroPrf()
    metric.add_batch(predictions=["a", "b"], references=["a", "a"])
    for wrong in ({"labels": ["c"]}, {"zero_division": 2}, {"predictions": ["a"], "references": [1]}):
        with pytest.raises(ValueError):
            metric.compute(**wrong)
    assert metric.compute()["accuracy"] == 0.5
    assert len(metric) == 0
