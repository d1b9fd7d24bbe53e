"""The `rumoureval` module: the numbers of the official scripts and of the card's recipe, strict, streaming."""

import copy
import enum
import importlib
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, f1_score, recall_score

from temporal_rumors.metrics.rumoureval.rumoureval import Rumoureval
from temporal_rumors.metrics.rumoureval.scoring import EDITIONS, LABELS, Answers, rumoureval, score_warnings

FOLDER = Path(__file__).parents[2] / "metrics" / "rumoureval"
COUNTS = ["num_references", "num_matched", "num_extra"]


# The official scripts, from their description


def macro_f1(gold, answers):
    return f1_score(gold, answers, average="macro", zero_division=0) if gold else 0.0


def script_2017(task, gold, submission):
    correct, errors = 0, []
    for id in gold:
        if id in submission:
            answer = submission[id]
            if task == "stance":
                correct += answer == gold[id]
                continue
            label, confidence = answer
            if label == gold[id]:
                correct += 1
                errors.append((1 - confidence) ** 2)
            elif gold[id] == "unverified":
                errors.append(confidence**2)
            else:
                errors.append(1.0)
    scores = {"accuracy": correct / len(gold)}
    if task == "veracity":
        scores["confidence_rmse"] = math.sqrt(sum(errors) / len(errors)) if errors else 1.0  # the script fails
    return scores


def script_2019(task, gold, submission):
    """Score {language: {id: ...}}."""
    correct, total, errors = 0, 0, []
    f1, f1_thresholded = [], []
    for language in gold:
        if not gold[language]:
            continue
        true, answered, thresholded = [], [], []
        for id, reference in gold[language].items():
            total += 1
            if id not in submission.get(language, {}):
                continue
            true.append(reference)
            if task == "stance":
                label = submission[language][id]
                correct += label == reference
            else:
                label, confidence = submission[language][id]
                if label == reference and label in ("true", "false"):
                    correct += 1
                    errors.append((1 - confidence) ** 2)
                elif reference == "unverified":
                    errors.append(confidence**2)
                else:
                    errors.append(1.0)
                thresholded.append(label if confidence >= 0.5 else "unverified")
            answered.append(label)
        f1.append(macro_f1(true, answered))
        if task == "veracity":
            f1_thresholded.append(macro_f1(true, thresholded))
    scores = {"accuracy": correct / total, "macro_f1": sum(f1) / len(f1)}
    if task == "veracity":
        scores["confidence_rmse"] = math.sqrt(sum(errors) / len(errors)) if errors else 0
        scores["macro_f1_thresholded"] = sum(f1_thresholded) / len(f1_thresholded)
    return scores


def card(gold, submission, reference_confidences):
    """Score {id: ...} by the recipe of the paper's evaluation card."""
    ids = sorted(gold)
    answers = [submission.get(id, (None, None)) for id in ids]
    matches = [label == gold[id] for id, (label, _) in zip(ids, answers, strict=True)]
    accuracy = sum(matches) / len(ids)
    classes = sorted(set(gold.values()))
    recalls = [np.mean([m for id, m in zip(ids, matches, strict=True) if gold[id] == label]) for label in classes]
    correct = [
        (confidence - reference_confidences.get(id, 1.0)) ** 2
        for id, (_, confidence), match in zip(ids, answers, matches, strict=True)
        if match
    ]
    rho = math.sqrt(np.mean(correct)) if correct else 1.0
    return {
        "accuracy": accuracy,
        "balanced_accuracy": np.mean(recalls),
        "confidence_rmse_correct": rho,
        "confidence_rmse_incorrect_as_1": math.sqrt((sum(correct) + len(ids) - len(correct)) / len(ids)),
        "final_score": (1 - rho) * accuracy,
        "final_score_macro": (1 - rho) * np.mean(recalls),
    }


def assert_scores(found, expected):
    assert found.keys() - COUNTS == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12, err_msg=name)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


IDS = st.sampled_from([*"abcdefghi", "1", "10", "é", "谣言", ""])
LANGUAGES = st.sampled_from(["english", "danish", "russian"])


def labels(task, unknown):
    return st.sampled_from([*LABELS[task], *(["", "True", "rumour"] if unknown else [])])


@st.composite
def keyed(draw, task, lenient=False):
    """Draw references and answers, by language."""
    confidence = st.floats(-2, 3) | st.booleans() | st.integers(-1, 2) if lenient else st.floats(0, 1)
    confidence |= st.sampled_from([0, 0.5, 1, 0.49999999999999994])
    answer = labels(task, lenient)
    if task == "veracity":
        answer = st.tuples(answer, confidence).map(list)
    references = draw(st.dictionaries(LANGUAGES, st.dictionaries(IDS, labels(task, False), max_size=9)))
    predictions = draw(st.dictionaries(LANGUAGES, st.dictionaries(IDS, answer, max_size=9)))
    if not any(references.values()):
        references["english"] = {"a": LABELS[task][0]}
    return references, predictions


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("task", LABELS)
@given(data=st.data())
def test_edition_2019_equals_its_script(task, strict, data):
    references, predictions = data.draw(keyed(task, lenient=not strict))
    found = rumoureval(predictions=predictions, references=references, task=task, edition="2019", strict=strict)
    assert_scores(found, script_2019(task, references, predictions))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("task", LABELS)
@given(data=st.data())
def test_edition_2017_equals_its_script(task, strict, data):
    references, predictions = data.draw(keyed(task, lenient=not strict))
    gold = next(ids for ids in references.values() if ids)
    submission = next(iter(predictions.values()), {})
    found = rumoureval(predictions=submission, references=gold, task=task, edition="2017", strict=strict)
    assert_scores(found, script_2017(task, gold, submission))


@given(keyed("veracity"), st.data())
def test_edition_paper_equals_the_recipe_of_the_card(drawn, data):
    references, predictions = drawn
    gold = next(ids for ids in references.values() if ids)
    submission = next(iter(predictions.values()), {})
    expected = {id: data.draw(st.floats(0, 1)) for id in gold}
    found = rumoureval(predictions=submission, references=gold)
    assert_scores(found, card(gold, submission, {}))
    found = rumoureval(predictions=submission, references=gold, reference_confidences=expected)
    assert_scores(found, card(gold, submission, expected))


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("task", LABELS)
@given(data=st.data())
def test_counts_are_of_references_of_answers_to_them_and_of_other_answers(task, edition, data):
    references, predictions = data.draw(keyed(task))
    found = rumoureval(predictions=predictions, references=references, task=task, edition=edition)
    gold, given = (
        {(language, id) for language, ids in table.items() for id in ids} for table in (references, predictions)
    )
    assert [found[name] for name in COUNTS] == [len(gold), len(gold & given), len(given - gold)]


@pytest.mark.parametrize("edition", ["paper", "2017"])
@given(drawn=keyed("veracity"))
def test_editions_without_languages_pool_them(edition, drawn):
    references, predictions = drawn
    pooled = [{f"{k} {id}": v for k, ids in table.items() for id, v in ids.items()} for table in drawn]
    found = rumoureval(predictions=predictions, references=references, edition=edition)
    assert found == rumoureval(predictions=pooled[1], references=pooled[0], edition=edition)


@given(st.lists(st.tuples(labels("veracity", False), labels("veracity", False)), min_size=1))
def test_scores_of_complete_answers_equal_scikit_learn(pairs):
    predictions, references = map(list, zip(*pairs, strict=True))
    paper = rumoureval(predictions=predictions, references=references, per_class=True)
    assert paper["accuracy"] == pytest.approx(accuracy_score(references, predictions), abs=1e-12)
    classes = sorted(set(references))
    recall = recall_score(references, predictions, labels=classes, average="macro")
    assert paper["balanced_accuracy"] == pytest.approx(recall, abs=1e-12)
    if set(predictions) <= set(references) != {references[0]}:  # elsewhere it warns
        assert recall == pytest.approx(balanced_accuracy_score(references, predictions), abs=1e-12)
    found = rumoureval(predictions=predictions, references=references, edition="2019")
    assert found["macro_f1"] == pytest.approx(f1_score(references, predictions, average="macro"), abs=1e-12)
    expected = confusion_matrix(references, predictions, labels=paper["labels"])
    assert paper["confusion_matrix"] == expected.tolist()
    recalls = recall_score(references, predictions, labels=paper["labels"], average=None, zero_division=0)
    np.testing.assert_allclose(paper["per_class"]["recall"], recalls, atol=1e-12)


# Published numbers


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_published_scores_of_branchlstm_come_out(data_dir):
    gold = load(data_dir / "rumoureval2019" / "final-eval-key.json")
    submission = load(data_dir / "rumoureval2019" / "branchlstm-answer.json")
    stance, veracity = (
        rumoureval(predictions=submission[name], references=gold[name], edition="2019")
        for name in ("subtaskaenglish", "subtaskbenglish")
    )
    assert [round(stance[name], 4) for name in ("accuracy", "macro_f1")] == [0.8407, 0.4929]
    names = ("accuracy", "macro_f1", "macro_f1_thresholded", "confidence_rmse")
    assert [round(veracity[name], 4) for name in names] == [0.3827, 0.3364, 0.3364, 0.7806]
    assert (stance["num_references"], veracity["num_references"]) == (1827, 81)


def test_the_published_scores_of_the_majority_baselines_come_out(data_dir):
    def constant(gold, answer, edition):
        return rumoureval(predictions=dict.fromkeys(gold, answer), references=gold, edition=edition)

    gold = load(data_dir / "rumoureval2019" / "final-eval-key.json")
    assert round(constant(gold["subtaskaenglish"], "comment", "2019")["macro_f1"], 4) == 0.2234
    assert round(constant(gold["subtaskbenglish"], ["false", 1], "2019")["confidence_rmse"], 4) == 0.7115
    stance, veracity = (load(data_dir / "rumoureval2017" / f"subtask{letter}.json") for letter in "ab")
    assert round(constant(stance, "comment", "2017")["accuracy"], 4) == 0.7417
    found = constant(veracity, ["false", 1], "2017")
    assert (round(found["accuracy"], 4), round(found["confidence_rmse"], 4)) == (0.4286, 0.7559)


# Which scores there are


@pytest.mark.parametrize("page", ["README.md", "scoring.py"])
def test_the_table_of_keys_is_true(page):
    text = (FOLDER / page).read_text(encoding="utf-8")
    lines = re.search(r"^ *\| key \|.*?\n\n", text, re.MULTILINE | re.DOTALL)[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines if line]
    assert header == ["key", *EDITIONS]
    table = {key: row for names, *row in rows for key in re.findall(r"\w+", names)}
    references = {"stance": ["deny", "query"], "veracity": ["true", "false"]}
    for column, edition in enumerate(EDITIONS):
        for task, confident in [("stance", False), ("veracity", False), ("veracity", True)]:
            answers = {"predictions": references[task], "references": references[task]}
            if confident:
                answers["confidences"] = [1.0, 1.0]
            found = rumoureval(**answers, edition=edition, per_class=page == "README.md")
            expected = set()
            for key, row in table.items():
                cell = row[column]
                needs_confidences = cell.endswith("*") or "with confidences" in cell
                if cell in ("always", "`per_class=True`") or (task in cell and (confident or not needs_confidences)):
                    expected.add(key)
            assert found.keys() == expected, (edition, task, confident)


@pytest.mark.parametrize(
    ("edition", "expected"),
    [
        ("2017", {"accuracy": 0.0, "confidence_rmse": 1.0}),
        ("2019", {"accuracy": 0.0, "macro_f1": 0.0, "macro_f1_thresholded": 0.0, "confidence_rmse": 0.0}),
        (
            "paper",
            {
                "accuracy": 0.0,
                "balanced_accuracy": 0.0,
                "confidence_rmse_correct": 1.0,
                "confidence_rmse_incorrect_as_1": 1.0,
                "final_score": 0.0,
                "final_score_macro": 0.0,
            },
        ),
    ],
)
@pytest.mark.parametrize("predictions", [{}, {"z": ["true", 0.5]}])
@pytest.mark.parametrize("strict", [True, False])
def test_an_empty_submission_has_scores(edition, expected, predictions, strict):
    found = rumoureval(
        predictions=predictions, references={"a": "true", "b": "unverified"}, edition=edition, strict=strict
    )
    assert found == {**expected, "num_references": 2, "num_matched": 0, "num_extra": len(predictions)}


def test_a_language_without_answers_is_wrong_and_its_macro_f1_is_zero():
    references = {"english": {"a": "deny", "b": "query"}, "danish": {"a": "deny", "b": "deny"}, "russian": {}}
    predictions = {"english": {"a": "deny", "b": "query"}}
    found = rumoureval(predictions=predictions, references=references, edition="2019")
    assert (found["accuracy"], found["macro_f1"], found["num_matched"]) == (0.5, 0.5, 2)


def test_per_class_counts_missing_answers_and_unknown_labels():
    references = {"a": "true", "b": "true", "c": "unverified", "d": "true"}
    predictions = {"a": ["true", 1], "c": ["unverified", 1], "d": ["maybe", 1], "z": ["nonsense", 1]}
    found = rumoureval(predictions=predictions, references=references, edition="2019", strict=False, per_class=True)
    assert found["labels"] == ["true", "false", "unverified", "other"]
    assert found["per_class"] == {
        "recall": [pytest.approx(1 / 3), 0.0, 1.0, 0.0],
        "support": [3, 0, 1, 0],
        "missing": [1, 0, 0, 0],
    }
    assert found["confusion_matrix"] == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    json.dumps(found, allow_nan=False)


def test_final_score_ignores_the_confidence_of_wrong_answers():
    references = ["true", "false", "false", "true"]
    for confidence in (0.0, 0.5, 1.0):
        found = rumoureval(
            predictions=["true"] * 4, confidences=[1.0, confidence, confidence, 1.0], references=references
        )
        assert found["final_score"] == found["accuracy"] == 0.5
        assert found["confidence_rmse_incorrect_as_1"] == pytest.approx(math.sqrt(0.5))


# How inputs may be passed


@pytest.mark.parametrize("edition", EDITIONS)
@given(drawn=keyed("veracity"), random=st.randoms())
def test_the_order_of_ids_and_languages_changes_nothing(edition, drawn, random):
    references, predictions = drawn

    def shuffled(table):
        items = [(key, shuffled(value) if isinstance(value, dict) else value) for key, value in table.items()]
        random.shuffle(items)
        return dict(items)

    before = copy.deepcopy(drawn)
    found = rumoureval(predictions=predictions, references=references, edition=edition, per_class=True)
    again = rumoureval(
        predictions=shuffled(predictions), references=shuffled(references), edition=edition, per_class=True
    )
    assert json.dumps(found) == json.dumps(again)
    assert drawn == before


@pytest.mark.parametrize("edition", EDITIONS)
@given(rows=st.lists(st.tuples(labels("veracity", False), labels("veracity", False), st.floats(0, 1)), min_size=1))
def test_lists_dicts_and_batches_score_alike(edition, rows):
    predictions, references, confidences = map(list, zip(*rows, strict=True))
    found = rumoureval(predictions=predictions, references=references, confidences=confidences, edition=edition)
    ids = [f"{i:03}" for i in range(len(rows))]
    by_id = [dict(zip(ids, column, strict=True)) for column in (predictions, references, confidences)]
    paired = {id: (label, confidence) for id, (label, _, confidence) in zip(ids, rows, strict=True)}
    assert found == rumoureval(predictions=by_id[0], references=by_id[1], confidences=by_id[2], edition=edition)
    assert found == rumoureval(predictions=paired, references=by_id[1], edition=edition)
    assert found == rumoureval(predictions={"english": paired}, references={"english": by_id[1]}, edition=edition)
    streamed, streamed_ids = Answers(), Answers()
    for i, id in enumerate(ids):
        streamed.add(
            predictions=predictions[i : i + 1], references=references[i : i + 1], confidences=confidences[i : i + 1]
        )
        streamed_ids.add(predictions={id: paired[id]}, references={id: references[i]})
    assert found == streamed.result(edition=edition) == streamed_ids.result(edition=edition)
    assert len(streamed) == len(streamed_ids) == len(rows)


class Veracity(str, enum.Enum):
    TRUE = "true"
    FALSE = "false"


@pytest.mark.parametrize(
    "values",
    [
        ("true", "false"),
        [np.str_("true"), Veracity.FALSE],
        np.array(["true", "false"]),
        np.array(["true", "false"], dtype=object),
        pd.Series(["true", "false"], index=[7, 3]),
        pd.Series(["true", "false"], dtype="category"),
        pa.array(["true", "false"]),
        pa.chunked_array([["true"], ["false"]]),
        pa.array(["true", "false"]).dictionary_encode(),
        datasets.Dataset.from_dict({"label": ["true", "false"]})["label"],
        datasets.Dataset.from_dict({"label": ["true", "false"]}).with_format("numpy")["label"],
        datasets.Dataset.from_dict({"label": ["true", "false"]}).with_format("arrow")["label"],
        datasets.Dataset.from_dict({"label": ["true", "false"]}).with_format("pandas")["label"],
    ],
    ids=lambda values: type(values).__name__,
)
def test_columns_of_labels_are_read(values):
    for predictions, references in ((values, ["true", "false"]), (["true", "false"], values)):
        found = rumoureval(predictions=predictions, references=references, per_class=True)
        assert found["accuracy"] == 1
        assert [type(label) for label in found["labels"]] == [str] * 3


@pytest.mark.parametrize(
    "values",
    [
        [1, 0],
        [np.float32(1), np.int8(0)],
        np.array([1, 0], dtype=np.float16),
        pd.Series([1.0, 0.0], index=[7, 3]),
        pa.array([1, 0]),
        datasets.Dataset.from_dict({"c": [1.0, 0.0]})["c"],
    ],
    ids=lambda values: type(values).__name__,
)
def test_columns_of_confidences_are_read(values):
    found = rumoureval(predictions=["true", "false"], references=["true", "false"], confidences=values)
    assert found["confidence_rmse_correct"] == pytest.approx(math.sqrt(0.5))
    json.dumps(found)


def test_torch_confidences_are_read():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.bfloat16):
        found = rumoureval(predictions=["true"], references=["true"], confidences=torch.tensor([0.5], dtype=dtype))
        assert found["confidence_rmse_correct"] == 0.5


def test_any_mapping_is_read():
    references = MappingProxyType({"a": "true"})
    found = rumoureval(predictions=OrderedDict(a=[Veracity.TRUE, np.float64(0.5)]), references=references)
    assert found["confidence_rmse_correct"] == 0.5


# What is refused


def refused(message, **arguments):
    with pytest.raises(ValueError, match=message):
        rumoureval(**{"predictions": ["true", "true"], "references": ["true", "false"], **arguments})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "are missing"),
        ("true", "found str, expected a list"),
        ({"true", "false"}, "found set"),
        ((label for label in ["true", "false"]), "found generator"),
        (pd.DataFrame({"label": ["true"]}), "found DataFrame"),
        ([0, 1], r"position 0: found int \(0\), expected a label as a str.*int2str"),
        (np.array([0, 1]), r"position 0: found int \(0\).*int2str"),
        ([0.5, 0.5], r"position 0: found float \(0.5\)"),
        (["true", None], r"position 1: found NoneType"),
        (["true", True], r"position 1: found bool \(True\), expected a label as a str\.$"),
        ([b"true", b"false"], "position 0: found bytes"),
        (pd.Series(["true", None]), "position 1: found"),
        (pa.array(["true", None]), "position 1: found NoneType"),
        ([["true", 0.5], ["false", 0.5]], "position 0: found list.*as confidences="),
        (np.array([["true"], ["false"]]), "position 0: found list"),
        (["true", "x" * 50], r"position 1: found label 'x{30,}\.\.\., expected one of true, false, unverified"),
        (["true", "FALSE"], "position 1: found label 'FALSE'.*Labels are lower case"),
        (["true", "false "], "position 1: found label 'false '.*Labels are lower case"),
        (["true", ""], "position 1: found label ''"),
    ],
    ids=range(19),
)
@pytest.mark.parametrize("name", ["predictions", "references"])
def test_a_column_of_anything_but_labels_is_refused(values, message, name):
    refused(f"{name}.*{message}", **{name: values})


CONFIDENCES = [
    (None, "NoneType"),
    ("0.5", "str \\('0.5'\\)"),
    (True, "bool \\(True\\)"),
    (np.True_, "bool"),
    (0.5j, "complex"),
    ([0.5], "list"),
    (math.nan, "confidence nan, expected a number from 0 to 1"),
    (math.inf, "confidence inf"),
    (-1e-300, "confidence -1e-300, expected a number from 0 to 1.$"),
    (1.0000001, "confidence 1.0000001"),
    (85, "confidence 85, expected a number from 0 to 1. Divide percentages by 100.$"),
    (100.5, "confidence 100.5, expected a number from 0 to 1.$"),
    (np.float32(2), "confidence .*2"),
    (10**400, "confidence 1000"),
]


@pytest.mark.parametrize(("value", "message"), CONFIDENCES, ids=range(len(CONFIDENCES)))
def test_a_confidence_that_is_none_is_refused(value, message):
    refused(f"^confidences, position 1: found {message}", confidences=[0.5, value])
    refused(
        f"^reference_confidences, position 1: found {message}",
        confidences=[0.5, 1],
        reference_confidences=[0.5, value],
    )
    by_id = {"references": {"x": "true", "y": "false"}}
    refused(f"^predictions, id 'y': found {message}", predictions={"x": ["true", 0], "y": ["true", value]}, **by_id)
    refused(f"^predictions, id 'z': found {message}", predictions={"z": ["true", value]}, **by_id)
    refused(
        f"^confidences, id 'y' \\(danish\\): found {message}",
        predictions={"danish": {"y": "true"}},
        confidences={"danish": {"y": value}},
        references={"danish": {"y": "true"}},
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], r"found \[\], expected \[label, confidence\]"),
        (["true"], r"found \['true'\], expected"),
        (["true", 0.5, 0.5], r"found \['true', 0.5, 0.5\], expected"),
        ([0.5, "true"], "found float"),
        (["maybe", 0.5], "found label 'maybe'"),
        (["comment", 0.5], "found label 'comment'"),
        (1, "found int.*int2str"),
        (None, "found NoneType"),
        ({"true"}, "found set"),
        ({"label": "true"}, "found a mapping among answers"),
    ],
    ids=range(10),
)
def test_an_answer_that_is_none_is_refused_by_its_id(answer, message):
    references = {"x": "true", "y": "false"}
    refused(f"^predictions, id 'y': {message}", predictions={"x": ["true", 1], "y": answer}, references=references)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predictions": [], "references": []}, "no references"),
        ({"predictions": {}, "references": {}}, "no references"),
        ({"predictions": {"a": "true"}, "references": {}}, "no references"),
        ({"predictions": {"english": {}}, "references": {"english": {}}}, "no references"),
        ({"predictions": ["true"]}, "1 predictions for 2 references"),
        ({"confidences": [1.0]}, "1 confidences for 2 references"),
        ({"confidences": [1.0, 1], "reference_confidences": []}, "0 reference_confidences for 2 references"),
        ({"predictions": {"a": "true"}}, "predictions in the form of ids and references in the form of lists"),
        ({"predictions": {}}, "references in the form of lists and predictions in the form of mapping"),
        ({"predictions": {"a": "true"}, "references": {"english": {"a": "true"}}}, "ids and .*languages"),
        ({"predictions": {"a": "true"}, "references": {"a": "true"}, "confidences": [1.0]}, "lists"),
        ({"predictions": {1: "true"}}, r"predictions: found the key 1 \(int\), expected ids as str"),
        ({"predictions": {"english": {1: "true"}}}, "found the key 1"),
        ({"predictions": {"a": {"b": "true"}, "c": "true"}}, "id 'a': found a mapping"),
        ({"references": {"a": ["true", 1.0]}, "predictions": {}}, "references, id 'a': found list"),
        ({"task": "rumour"}, "task is 'rumour': expected 'stance' or 'veracity'"),
        ({"task": "stance"}, "references, position 0: found label 'true', expected one of support"),
        ({"edition": 2017}, "edition is 2017: expected 'paper' or '2017' or '2019'"),
        ({"missing": "ignore"}, "missing is 'ignore'"),
        (
            {"references": ["true", "query"]},
            r"found 'true' \(position 0\) and 'query' \(position 1\).*of one task only",
        ),
        ({"references": ["0", "1"]}, r"references: found '0' \(position 0\), expected the labels of stance"),
        ({"predictions": ["true", "deny"]}, "predictions, position 1: found label 'deny', expected one of true"),
        (
            {"predictions": {"x": ["deny", 1]}, "references": {"x": "deny"}},
            r"id 'x': found \['deny', 1\], expected a label alone",
        ),
        (
            {"predictions": ["deny"], "references": ["deny"], "confidences": [1]},
            "the stance task has none",
        ),
        (
            {"predictions": {"x": ["true", 1], "y": "true"}, "references": {"x": "true"}},
            "id 'y': found no confidence, but other answers have one",
        ),
        (
            {"predictions": {"x": ["true", 1]}, "references": {"x": "true"}, "confidences": {"x": 1}},
            "id 'x': found .label, confidence. although confidences are passed too",
        ),
        (
            {"predictions": {"x": "true", "y": "true"}, "references": {"x": "true"}, "confidences": {"x": 1}},
            "confidences, id 'y': missing, expected one for each of the predictions",
        ),
        (
            {"predictions": {"x": "true"}, "references": {"x": "true"}, "confidences": {"x": 1, "y": 1}},
            "confidences, id 'y': not among the predictions",
        ),
        (
            {"predictions": {"x": ["true", 1]}, "references": {"x": "true"}, "reference_confidences": {}},
            "reference_confidences, id 'x': missing, expected one for each of the references",
        ),
        ({"reference_confidences": [1, 1]}, "edition 'paper', answers without confidences"),
        ({"confidences": [1, 1], "reference_confidences": [1, 1], "edition": "2017"}, "edition '2017'"),
        (
            {"predictions": {"x": "true"}, "references": dict.fromkeys("xyz", "true"), "missing": "error"},
            "2 of 3 references have no answer, such as id 'y'. Answer all, or pass missing='incorrect'",
        ),
    ],
    ids=range(32),
)
def test_arguments_that_do_not_fit_are_refused(arguments, message):
    refused(message, **arguments)


def test_the_first_of_several_errors_does_not_depend_on_the_order():
    for ids in ("ab", "ba"):
        refused("id 'a'", predictions=dict.fromkeys(ids, "maybe"), references={"a": "true"})


# What only strict=False takes


def test_answers_without_a_reference_are_not_looked_at_when_not_strict():
    predictions = {"a": ["true", 1], "y": None, "z": ["nonsense"]}
    found = rumoureval(predictions=predictions, references={"a": "true"}, strict=False)
    assert (found["accuracy"], found["num_extra"]) == (1, 2)
    refused("id 'y': found NoneType", predictions=predictions, references={"a": "true"})


@pytest.mark.parametrize("answer", [["true"], ["true", "0.5"], ["true", None], [1, 0.5], 1, None, []])
def test_malformed_answers_are_refused_when_not_strict_too(answer):
    refused("predictions, id 'b'", predictions={"b": answer}, references={"b": "true"}, strict=False)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("confidence", [math.nan, math.inf, -math.inf, 1e200, 10**400, 1.7e154])
def test_a_score_that_is_not_finite_is_an_error_when_not_strict(edition, confidence):
    predictions = {"a": ["true", 0.5], "b": ["true", confidence], "c": ["true", confidence]}
    references = dict.fromkeys("abc", "true")
    refused(
        r"confidence_rmse\w* is (nan|inf): id 'b' has confidence",
        predictions=predictions,
        references=references,
        edition=edition,
        strict=False,
    )


def test_a_nan_that_no_score_depends_on_is_harmless_when_not_strict():
    predictions, references = {"a": ["true", math.nan], "b": ["true", 1]}, {"a": "false", "b": "true"}
    found = rumoureval(predictions=predictions, references=references, edition="2019", strict=False)
    assert_scores(found, script_2019("veracity", {"": references}, {"": predictions}))


def test_the_task_is_inferred_past_unknown_labels_when_not_strict():
    found = rumoureval(predictions=["deny", "x"], references=["deny", "x"], edition="2019", strict=False)
    assert found["accuracy"] == 1


# Warnings


def test_a_majority_answer_is_warned_of():
    references = ["comment"] * 8 + ["deny", "query"]
    (warning,) = score_warnings(predictions=["comment"] * 10, references=references)
    assert warning == (
        "Every answer is 'comment': the accuracy is at most the share of one label "
        "(0.8000 of the references are 'comment')."
    )
    (warning,) = score_warnings(predictions=["comment"] * 7 + ["deny", "comment", "comment"], references=references)
    assert "Macro-F1 0.2745 is not clearly above the 0.2963 of always answering 'comment'" in warning


def test_an_accuracy_below_that_of_the_majority_answer_is_warned_of_although_macro_f1_is_above_its():
    # As it is for the labels of the organisers' system on the veracity of 2019.
    references = ["false"] * 5 + ["true"] * 2 + ["unverified"] * 3
    predictions = ["false", "true", "true", "unverified", "unverified", "true", "true", "unverified"] + ["false"] * 2
    (warning,) = score_warnings(predictions=predictions, references=references, confidences=[1] * 10)
    assert warning == (
        "The accuracy of the labels alone, 0.4000, is below the 0.5000 of always answering 'false', "
        f"although macro-F1 {macro_f1(references, predictions):.4f} is above its "
        f"{macro_f1(references, ['false'] * 10):.4f}."
    )
    better = ["false"] * 2 + predictions[2:]
    assert score_warnings(predictions=better, references=references, confidences=[1] * 10) == []


@given(keyed("stance"))
def test_references_without_an_answer_are_warned_of_with_an_id_of_either_side(drawn):
    references, predictions = drawn
    scores = rumoureval(predictions=predictions, references=references)
    found = [
        warning for warning in score_warnings(predictions=predictions, references=references) if "no answer" in warning
    ]
    missing, extra = scores["num_references"] - scores["num_matched"], scores["num_extra"]
    assert len(found) == (missing > 0)
    for warning in found:
        assert warning.startswith(f"{missing} of {scores['num_references']} references have no answer, such as id ")
        assert (f"; {extra} answers have no reference, such as id " in warning) == (extra > 0)
        assert warning.count("such as id") == 1 + (extra > 0)


def test_ids_that_differ_by_their_ends_show_in_a_warning():
    ids = [f"1{i:03}" for i in range(1200)]
    predictions, references = {f"{id}.0": ["true", 1] for id in ids}, dict.fromkeys(ids, "true")
    assert score_warnings(predictions=predictions, references=references) == [
        "1,200 of 1,200 references have no answer, such as id '1000'; "
        "1,200 answers have no reference, such as id '1000.0'. Compare the ids."
    ]
    (warning,) = score_warnings(predictions={"danish": {"a": "deny"}}, references={"english": {"a": "deny"}})
    assert "such as id 'a' (english); 1 answers have no reference, such as id 'a' (danish)." in warning
    assert len(score_warnings(predictions={}, references={"a" * 10_000: "deny"})[0]) < 200


def test_veracity_without_confidences_is_warned_of():
    expected = ["The answers have no confidences: the scores that need them are left out."]
    answers = {"predictions": ["true", "false"], "references": ["true", "false"]}
    assert score_warnings(**answers) == expected
    assert score_warnings(**answers, confidences=[1, 1]) == []
    assert score_warnings(predictions={}, references={"a": "true"}) == [
        "1 of 1 references have no answer, such as id 'a'."
    ]
    # Where the scores are left out there is a warning, and only there.
    for confidences in (None, [1, 1]):
        for edition in EDITIONS:
            scores = rumoureval(**answers, confidences=confidences, edition=edition)
            left_out = not any(name.startswith("confidence_rmse") for name in scores)
            assert (score_warnings(**answers, confidences=confidences) == expected) == left_out


def test_good_answers_are_not_warned_of():
    references = ["comment"] * 8 + ["deny", "query"]
    assert score_warnings(predictions=references, references=references) == []
    assert score_warnings(predictions=["deny"] * 2, references=["deny"] * 2) == []
    assert (
        score_warnings(predictions={"a": ["true", 1], "b": ["false", 1]}, references={"a": "true", "b": "false"}) == []
    )


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


@pytest.fixture(params=["installed", "copied folder"])
def module(request, caches, tmp_path):
    if request.param == "installed":
        return Rumoureval()
    folder = tmp_path / "space" / "rumoureval"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return evaluate.load(str(folder))


PREDICTIONS, REFERENCES = ["true", "false", "unverified", "true"], ["true", "true", "unverified", "false"]
CONFIDENCE = [0.5, 1, 0.25, 0]


@pytest.mark.parametrize("edition", EDITIONS)
def test_compute_takes_everything_or_streams(module, edition, tmp_path):
    expected = rumoureval(predictions=PREDICTIONS, references=REFERENCES, confidences=CONFIDENCE, edition=edition)
    assert module.name == "rumoureval"
    whole = {"predictions": PREDICTIONS, "references": REFERENCES, "confidences": CONFIDENCE, "edition": edition}
    assert module.compute(**whole) == module.compute(**whole) == expected

    module.add_batch(predictions=np.array(PREDICTIONS[:2]), references=REFERENCES[:2], confidences=CONFIDENCE[:2])
    module.add_batch(predictions=[], references=[])
    module.add(prediction=PREDICTIONS[2], reference=REFERENCES[2], confidence=CONFIDENCE[2])
    assert len(module) == 3
    assert "stored examples: 3" in repr(module)
    rest = {"predictions": PREDICTIONS[3:], "references": REFERENCES[3:], "confidences": CONFIDENCE[3:]}
    assert module.compute(**rest, edition=edition) == expected
    assert len(module) == 0
    assert not list((tmp_path / "metrics").rglob("*.arrow*"))


def test_compute_passes_every_option_on(module):
    options = {"edition": "2019", "strict": False, "per_class": True}
    predictions, references = {"a": ["True", 2], "b": ["true", True]}, {"a": "true", "b": "true", "c": "false"}
    found = module.compute(predictions=predictions, references=references, **options)
    assert found == rumoureval(predictions=predictions, references=references, **options)
    with pytest.raises(ValueError, match="id 'c'"):
        module.compute(predictions=predictions, references=references, **options, missing="error")
    lists = {"predictions": PREDICTIONS, "references": REFERENCES, "confidences": CONFIDENCE}
    found = module.compute(**lists, reference_confidences=CONFIDENCE)
    assert found["confidence_rmse_correct"] == 0


def test_dicts_are_added_batch_by_batch(module):
    gold = {"english": {"a": "true", "b": "false"}, "danish": {"a": "true"}}
    answers = {"english": {"a": ["true", 0.5]}, "danish": {"a": ["false", 1], "b": ["true", 1]}}
    for language in gold:
        module.add_batch(predictions={language: answers[language]}, references={language: gold[language]})
    assert module.compute(edition="2019") == rumoureval(predictions=answers, references=gold, edition="2019")

    module.add_batch(predictions={"a": "true"}, references={"a": "true"})
    for batch in ({"a": "true"}, {"a": "false"}):
        with pytest.raises(ValueError, match="references, id 'a': an earlier batch holds this id too"):
            module.add_batch(predictions={}, references=batch)
    with pytest.raises(ValueError, match="predictions, id 'a': an earlier batch"):
        module.add_batch(predictions={"a": "true"}, references={"b": "true"}, confidences={"a": 1})
    with pytest.raises(ValueError, match="this batch is in the form of lists, earlier ones of ids"):
        module.add_batch(predictions=["true"], references=["true"])
    assert module.compute() == rumoureval(predictions={"a": "true"}, references={"a": "true"})


def test_a_config_fixes_the_task(caches):
    stance, veracity = (Rumoureval(config_name=task) for task in LABELS)
    assert stance.compute(predictions=["deny"], references=["deny"])["accuracy"] == 1
    with pytest.raises(ValueError, match="found label 'true', expected one of support"):
        stance.compute(predictions=["true"], references=["true"])
    assert veracity.compute(predictions=["true"], references=["true"])["accuracy"] == 1
    with pytest.raises(ValueError, match="config 'stances': expected 'stance' or 'veracity'"):
        evaluate.load(str(FOLDER), "stances")


def test_an_error_leaves_the_module_usable(module):
    with pytest.raises(ValueError, match="no references"):
        module.compute()
    with pytest.raises(ValueError, match="references are missing"):
        module.compute(predictions=PREDICTIONS)
    module.add_batch(predictions=PREDICTIONS[:3], references=REFERENCES[:3])
    for batch, message in [
        ({"predictions": [1], "references": ["true"]}, "int2str"),
        ({"predictions": [], "references": ["true"]}, "0 predictions for 1"),
        ({"predictions": ["true"], "references": ["true"], "confidences": [1]}, "confidences are given for some"),
        ({"predictions": ["true"], "references": ["true"], "confidences": ["1"]}, "found str"),
    ]:
        with pytest.raises(ValueError, match=message):
            module.add_batch(**batch)
        with pytest.raises(ValueError, match=message):
            module.compute(**batch)
    for wrong in ({"edition": "2018"}, {"predictions": ["True"], "references": ["true"]}):
        with pytest.raises(ValueError):
            module.compute(**wrong)
    assert len(module) == 3
    module.add(prediction=PREDICTIONS[3], reference=REFERENCES[3])
    assert module.compute() == rumoureval(predictions=PREDICTIONS, references=REFERENCES)


def test_codes_of_a_class_label_column_are_refused(module):
    feature = datasets.ClassLabel(names=list(LABELS["veracity"]))
    data = datasets.Dataset.from_dict({"label": [0, 1]}, features=datasets.Features({"label": feature}))
    with pytest.raises(ValueError, match="int2str"):
        module.compute(predictions=["true", "true"], references=data["label"])
    assert module.compute(predictions=["true", "true"], references=feature.int2str(data["label"]))["accuracy"] == 0.5


def test_combined_modules_stream(module):
    combined = evaluate.combine({"all": module, "again": Rumoureval()}, force_prefix=True)
    combined.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    combined.add_batch(predictions=PREDICTIONS[1:], references=REFERENCES[1:])
    expected = rumoureval(predictions=PREDICTIONS, references=REFERENCES)
    assert combined.compute() == {f"{name}_{key}": v for name in ("all", "again") for key, v in expected.items()}


WORKER = """
import json, sys
import numpy as np
from temporal_rumors.metrics.rumoureval.rumoureval import Rumoureval

process_id, cache_dir, rounds = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
for number, batches in enumerate(rounds):
    module = Rumoureval(
        num_process=2, process_id=process_id, cache_dir=cache_dir, experiment_id=f"round{number}", timeout=60
    )
    for batch in batches[process_id]:
        if "confidences" in batch:
            batch["confidences"] = [np.float32(value) for value in batch["confidences"]]
        module.add_batch(**batch)
    size = len(module)
    try:
        result = module.compute(edition="2019", per_class=True)
    except ValueError as error:
        result = str(error)
    print(json.dumps([size, result]))
"""


def test_two_processes_give_the_scores_of_one(tmp_path):
    def batch(*rows):
        names = ("predictions", "references", "confidences")
        return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=False)}

    lists = [
        [batch(("true", "true", 0.5), ("true", "false", 1)), batch(("unverified", "true", 0.25))],
        [batch(("false", "false", 0.75))],
    ]
    ids = [
        [{"predictions": {"english": {"a": ["true", 0.5]}}, "references": {"english": {"a": "true"}}}],
        [{"predictions": {"danish": {"a": ["true", 0.5]}}, "references": {"danish": {"é": "true", "a": "false"}}}],
    ]
    unequal = [[batch(("deny", "query"))], []]
    mixed = [[batch(("deny", "query"))], [{"predictions": {"a": "deny"}, "references": {"a": "deny"}}]]
    rounds = [lists, ids, unequal, mixed]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(process_id), str(tmp_path), json.dumps(rounds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for process_id in range(2)
    ]
    first, second = ([json.loads(line) for line in worker.communicate()[0].splitlines()] for worker in workers)
    for batches, (size, found), (other_size, other) in zip(rounds[:3], first, second, strict=False):
        answers = Answers()
        for part in itertools.chain(*batches):
            answers.add(**part)
        assert found == answers.result(edition="2019", per_class=True)
        assert other is None
        assert size + other_size == len(answers)
    assert "use one form" in first[3][1]
    assert not list(tmp_path.rglob("*.arrow"))


def test_the_folder_needs_nothing_but_its_own_files():
    def imports(file, kind):
        return {name for found, name, *_ in evaluate.loading.get_imports(FOLDER / file) if found == kind}

    assert imports("rumoureval.py", "internal") == {"scoring"}
    assert imports("scoring.py", "internal") == set()
    libraries = imports("rumoureval.py", "library") | imports("scoring.py", "library")
    assert libraries - sys.stdlib_module_names == {"datasets", "evaluate"}


def test_labels_that_the_task_lacks_count_together_in_the_confusion_matrix():
    answers = [f"label {i}" for i in range(2_000)] + ["deny"]
    references = ["deny"] * 2_000 + ["label 7"]
    scores = rumoureval(predictions=answers, references=references, task="stance", strict=False, per_class=True)
    assert scores["labels"] == ["support", "deny", "query", "comment", "other"]
    assert scores["confusion_matrix"][1] == [0, 0, 0, 0, 2_000]
    assert scores["confusion_matrix"][4] == [0, 1, 0, 0, 0]
    assert scores["per_class"]["support"] == [0, 2_000, 0, 0, 1]
    same = rumoureval(predictions=["x", "y"], references=["x", "z"], task="stance", strict=False, per_class=True)
    assert same["confusion_matrix"][4][4] == 2
    assert same["per_class"]["recall"][4] == 0.5


def test_a_pair_that_is_filled_anew_does_not_change_what_was_added():
    metric, pair = evaluate.load("rumoureval", "veracity"), ["true", 0.0]
    for id, confidence in (("a", 0.1), ("b", 0.9)):
        pair[1] = confidence
        metric.add_batch(predictions={id: pair}, references={id: "true"})
    assert round(metric.compute()["confidence_rmse_correct"], 6) == round(((0.9**2 + 0.1**2) / 2) ** 0.5, 6)


@pytest.mark.parametrize("confidence", [Decimal("0.5"), b"0.5", object()])
def test_several_processes_refuse_what_one_refuses(confidence, tmp_path):
    metric = Rumoureval("veracity", num_process=2, process_id=1, cache_dir=str(tmp_path), timeout=1)
    with pytest.raises(ValueError, match="expected labels and numbers"):
        metric.compute(predictions={"a": ["true", confidence]}, references={"a": "true"})
