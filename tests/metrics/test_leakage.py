"""The leakage measurement: the same near copies as the ledger's, for lists, batches and several processes."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import datasets
import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors.audit import audit_splits, near_duplicates
from temporal_rumors.metrics.leakage.scoring import leakage

WORDS = ("police", "say", "nobody", "was", "hurt", "when", "the", "old", "bridge", "near", "station", "fire", "tonight")


def invented(n, seed):
    draws = random.Random(seed)
    return [" ".join(draws.choices(WORDS, k=draws.randint(1, 12))) for _ in range(n)]


TRAIN, TEST = invented(120, 0), invented(60, 1) + invented(10, 0)


@pytest.fixture
def measurement():
    return evaluate.load("leakage", module_type="measurement")


def test_it_is_a_measurement(measurement):
    assert measurement.module_type == "measurement"
    assert evaluate.load("leakage").module_type == "measurement"


@pytest.mark.parametrize("threshold", [0, 5, 20, 0.3])
@pytest.mark.parametrize("short", ["exclude", "include"])
def test_the_ledger_counts_the_same(threshold, short):
    found = leakage(data=TEST, references=TRAIN, threshold=threshold, short=short)
    ledger = audit_splits(TRAIN, TEST, threshold=threshold, short=short)
    for name in ("near_copy", "near_copy_masked"):
        assert (found[name], found[f"{name}_share"]) == (ledger.entry(name).n_test, ledger.entry(name).share)
    assert (found["short_data"], found["short_references"]) == (ledger.short["test"], ledger.short["train"])
    assert [row[0] for row in found["nearest"]] == ledger.entry("near_copy").rows.tolist()
    assert found["near_copy"] > 0


def test_the_nearest_training_text_is_named():
    found = leakage(data=TEST, references=TRAIN)["nearest"]
    pairs = near_duplicates(TEST, TRAIN).tolist()
    expected = [min((p for p in pairs if p[0] == i), key=lambda p: (p[2], p[1])) for i in sorted({p[0] for p in pairs})]
    assert found == expected


def test_links_and_mentions_are_masked():
    test, train = ["@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa closed the bridge tonight"], ["@b closed the bridge tonight"]
    found = leakage(data=test, references=train, threshold=10)
    assert (found["near_copy"], found["near_copy_masked"]) == (0, 1)


@pytest.mark.parametrize(
    "form", [tuple, np.array, pd.Series, lambda texts: datasets.Dataset.from_dict({"text": texts})["text"]]
)
def test_texts_come_in_any_form(form, measurement):
    expected = leakage(data=TEST, references=TRAIN)
    assert leakage(data=form(TEST), references=form(TRAIN)) == expected
    assert measurement.compute(data=form(TEST), references=form(TRAIN)) == expected


def test_batches_of_unequal_length_add_up(measurement):
    measurement.add_batch(references=TRAIN[:50])
    measurement.add_batch(data=TEST[:7], references=TRAIN[50:])
    measurement.add(data=TEST[7])
    assert len(measurement) == 8
    assert measurement.compute(data=TEST[8:]) == leakage(data=TEST, references=TRAIN)
    with pytest.raises(ValueError, match="data are empty"):
        measurement.compute()


def test_a_mistyped_argument_costs_nothing(measurement):
    measurement.add_batch(data=TEST, references=TRAIN)
    for wrong in ({"threshold": -1}, {"short": "maybe"}, {"data": "one text"}, {"data": TEST, "references": [None]}):
        with pytest.raises(ValueError, match=r"threshold|maybe|expected a list|expected a text"):
            measurement.compute(**wrong)
    assert measurement.compute() == leakage(data=TEST, references=TRAIN)


def test_several_processes_give_one_result(tmp_path):
    def run(process):
        part = evaluate.load(
            "leakage",
            module_type="measurement",
            num_process=2,
            process_id=process,
            experiment_id="both",
            cache_dir=str(tmp_path),
        )
        part.add_batch(data=TEST[process::2], references=TRAIN[process::2])
        return part.compute(threshold=10)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert second is None
    expected = leakage(data=TEST, references=TRAIN, threshold=10)
    same = ("near_copy", "near_copy_masked", "n_data", "n_references")
    assert [first[name] for name in same] == [expected[name] for name in same]


@pytest.mark.parametrize(
    ("data", "references", "message"),
    [
        ([], TRAIN, "data are empty"),
        (TEST, [], "references are empty"),
        (None, TRAIN, "data are a NoneType"),
        ("text", TRAIN, "data are a str"),
        ({"a": "b"}, TRAIN, "data are a dict"),
        (TEST, ["a", None], "references, row 1 .*None"),
        (TEST, ["a", 3], r"references, row 1 .*found 3 \(int\)"),
        (pd.Series(["a", pd.NA], dtype=object), TRAIN, "data, row 1 .*<NA>"),
        (TEST, [float("nan")], "references, row 0 .*nan"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(data, references, message):
    with pytest.raises(ValueError, match=message):
        leakage(data=data, references=references)


def test_hostile_texts_are_measured():
    texts = ["\ud800" * 30, "é" * 30, "e\u0301" * 30, "a" * 100_000, "", " ", "\x00" * 30, "https://example.org/a"]
    found = leakage(data=texts, references=texts, threshold=np.int64(20))
    assert found["near_copy"] == 5
    assert found["short_data"] == 3
    json.dumps(found)


@given(
    st.lists(st.text("ab @", max_size=8), min_size=1, max_size=8),
    st.lists(st.text("ab @", max_size=8), min_size=1, max_size=8),
    st.integers(0, 4),
    st.randoms(),
)
def test_the_order_of_texts_changes_no_count(data, references, threshold, draws):
    expected = leakage(data=data, references=references, threshold=threshold)
    assert 0 <= expected["near_copy"] <= len(data) - expected["short_data"]
    draws.shuffle(data)
    draws.shuffle(references)
    found = leakage(data=data, references=references, threshold=threshold)
    assert {**found, "nearest": None} == {**expected, "nearest": None}
    assert sorted(row[2] for row in found["nearest"]) == sorted(row[2] for row in expected["nearest"])
