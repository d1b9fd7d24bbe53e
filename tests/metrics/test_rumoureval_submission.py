"""The official RumourEval files: read strictly, told by name where they are wrong, and scored."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors.metrics.rumoureval.scoring import EDITIONS, LABELS, rumoureval
from temporal_rumors.metrics.rumoureval.submission import LANGUAGES, read, score

FOLDER = Path(__file__).parents[2] / "metrics" / "rumoureval"
GOLD = {
    "subtaskaenglish": {"a": "comment", "b": "deny", "c": "comment"},
    "subtaskbenglish": {"a": "true", "b": "unverified"},
    "subtaskbdanish": {"a": "false"},
    "subtaskbrussian": {},
}
SUBMISSION = {
    "subtaskaenglish": {"a": "comment", "b": "deny", "c": "query"},
    "subtaskarussian": {},
    "subtaskbenglish": {"a": ["true", 0.5], "b": ["true", 0.25], "z": ["false", 1]},
    "subtaskbdanish": {"a": ["false", 0.75]},
}


def text(data):
    return json.dumps(data, ensure_ascii=False)


# Reading


def test_the_combined_file_of_2019_is_read():
    assert read(text(SUBMISSION)) == {
        "stance": {"english": SUBMISSION["subtaskaenglish"]},
        "veracity": {"english": SUBMISSION["subtaskbenglish"], "danish": SUBMISSION["subtaskbdanish"]},
    }


@pytest.mark.parametrize(
    ("data", "task"),
    [({"a": "deny", "谣": "query"}, "stance"), ({"a": "true"}, "veracity"), ({"a": ["true", 0.5]}, "veracity")],
)
def test_the_flat_file_of_2017_is_english_and_its_task_shows(data, task):
    for content in (text(data), text(data).encode(), b"\xef\xbb\xbf" + text(data).encode(), "\ufeff" + text(data)):
        assert read(content) == {task: {"english": data}}


@pytest.mark.parametrize("content", ["{}", '{"subtaskaenglish": {}}', '{"subtaskbdanish": {}, "subtaskbdanish": {}}'])
def test_a_file_without_data_holds_no_task(content):
    assert read(content) == {}


@given(
    st.dictionaries(
        st.sampled_from([f"subtask{letter}{language}" for letter in "ab" for language in LANGUAGES]),
        st.dictionaries(st.text(max_size=3), st.integers(0, 2), max_size=4),
        min_size=1,
    )
)
def test_every_sub_task_and_language_is_read(choices):
    data = {
        key: {id: LABELS["stance" if key[7] == "a" else "veracity"][choice] for id, choice in ids.items()}
        for key, ids in choices.items()
    }
    found = read(json.dumps(data))
    assert {
        f"subtask{'a' if task == 'stance' else 'b'}{language}": ids
        for task, languages in found.items()
        for language, ids in languages.items()
    } == {key: ids for key, ids in data.items() if ids}


REFUSED = [
    (b"", "not JSON: Expecting value: line 1"),
    (b"{", "not JSON"),
    (b'{"a": "true"} x', "not JSON: Extra data"),
    (b'{"a": "tr\xffue"}', "not UTF-8 text, from byte 9 on"),
    ('{"a": "true"}'.encode("utf-16"), "not UTF-8 text"),
    (b"[" * 200_000, "nested too deeply"),
    (b'{"a":' * 200_000, "nested too deeply"),
    (b"[]", "found list at the top, expected an object"),
    (b"null", "found NoneType at the top"),
    (b'"true"', "found str at the top"),
    (b'{"a": "true", "b": "false", "a": "true"}', "'a' occurs more than once"),
    (b'{"subtaskaenglish": {"b": "deny", "b": "deny"}}', "'b' occurs more than once"),
    (b'{"subtaskaenglish": {}, "subtaskaenglish": {"b": "deny"}}', "'subtaskaenglish' occurs more than once"),
    (b'{"a": ["true", NaN]}', "found NaN"),
    (b'{"a": ["true", -Infinity]}', "found -Infinity"),
    (b'{"a": ["true", 1e999]}', "id 'a': found confidence inf"),
    (b'{"a": ["true", 1' + b"0" * 400 + b"]}", "id 'a': found confidence 1000"),
    (b'{"a": ["true", 1' + b"0" * 10_000 + b"]}", "digits"),
    (b'{"a": ["true", 1.5]}', "id 'a': found confidence 1.5"),
    (b'{"a": ["true", "0.5"]}', "id 'a': found str"),
    (b'{"a": ["true", true]}', "id 'a': found bool"),
    (b'{"a": ["true"]}', r"id 'a': found \['true'\], expected \[label, confidence\]"),
    (b'{"a": "true", "b": []}', r"id 'b': found \[\]"),
    (b'{"a": "true", "b": null}', "id 'b': found NoneType"),
    (b'{"a": "true", "b": 1}', "id 'b': found int"),
    (b'{"a": "true", "b": "False"}', "id 'b': found label 'False'.*lower case"),
    (b'{"a": "deny", "b": "agree"}', "stance, english, id 'b': found label 'agree', expected one of support"),
    (b'{"a": ["deny", 0.5]}', "id 'a': found .'deny', 0.5., expected a label alone"),
    (b'{"a": "deny", "b": "true"}', r"found 'deny' \(id 'a'\) and 'true' \(id 'b'\).*of one task only"),
    (b'{"a": "rumour"}', r"found 'rumour' \(id 'a'\), expected the labels"),
    (b'{"a": 1}', "found no labels, expected the labels"),
    (b'{"subtaskaenglish": {"a": "true"}}', "stance, english, id 'a': found label 'true'"),
    (b'{"subtaskaenglish": {"a": {"b": "deny"}}}', "id 'a': found dict"),
    (b'{"subtaskcenglish": {}}', r"found the sub-task 'subtaskcenglish' .*, expected"),
    (b'{"subtaskafrench": {}}', "found the sub-task 'subtaskafrench'"),
    (
        b'{"subtaskAenglish": {}}',
        r"found the sub-task 'subtaskAenglish' \(did you mean 'subtaskaenglish'\?\), expected",
    ),
    (b'{"subtaskb_russian": {}}', r"\(did you mean 'subtaskbrussian'\?\)"),
    (b'{"' + b"subtask" * 1000 + b'": {}}', "found the sub-task 'subtask"),
    (b'{"subtaskaenglish": {}, "a": "true"}', "found the sub-task 'a', expected"),
    (b'{"subtaskaenglish": [], "subtaskbenglish": {}}', "subtaskaenglish: found list, expected an object"),
    (b'{"\\ud800": "true", "\\ud800": "true"}', r"'\\ud800' occurs more than once"),
]


@pytest.mark.parametrize(("content", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_is_wrong_is_refused_by_name(content, message):
    with pytest.raises(ValueError, match=f"^answer.json\\b.*{message}") as error:
        read(content, "answer.json")
    assert len(str(error.value).encode()) < 500
    for files in ((text(GOLD), content), (content, text(SUBMISSION))):
        with pytest.raises(ValueError, match=f"^answer.json\\b.*{message}"):
            score(*files, gold_name="answer.json", submission_name="answer.json")


def test_what_the_scripts_do_not_look_at_is_not_refused_when_not_strict():
    content = (
        '{"subtaskaenglish": {"a": "query", "a": "comment", "b": null, "y": 1}, "subtaskbfrench": 7,'
        ' "subtaskbenglish": {"a": ["TRUE", NaN], "b": ["true", 2], "z": []}}'
    )
    gold = text(GOLD | {"subtaskaenglish": {"a": "comment", "c": "comment"}})
    found = score(gold, content, edition="2019", strict=False)
    assert found["stance"]["accuracy"] == 0.5
    assert found["veracity"]["accuracy"] == 0
    assert found["veracity"]["confidence_rmse"] == pytest.approx(((1 + 4) / 2) ** 0.5)
    assert found["veracity"]["languages"]["danish"]["num_matched"] == 0


# Scoring


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("edition", EDITIONS)
def test_scores_are_those_of_the_function_for_each_task_and_language(edition, per_class):
    options = {"edition": edition, "per_class": per_class}
    found = score(text(GOLD).encode(), text(SUBMISSION), **options)
    gold, submission = read(text(GOLD)), read(text(SUBMISSION))
    assert list(found) == ["stance", "veracity"]
    for task, result in found.items():
        assert result.pop("warnings") == []
        languages = result.pop("languages", {})
        assert result == rumoureval(predictions=submission[task], references=gold[task], **options)
        assert list(languages) == (["danish", "english"] if task == "veracity" else [])
        for language, scores in languages.items():
            expected = rumoureval(predictions=submission[task][language], references=gold[task][language], **options)
            assert {**scores, "num_extra": 0} == {**expected, "num_extra": 0}
    json.dumps(found, allow_nan=False)


def test_flat_and_combined_files_fit_each_other():
    flat, combined = {"a": "deny", "b": "query"}, {"subtaskaenglish": {"a": "deny", "b": "query"}}
    for gold, submission in itertools.product((flat, combined), repeat=2):
        assert score(text(gold), text(submission))["stance"]["accuracy"] == 1


@pytest.mark.parametrize("submission", ["{}", '{"subtaskbenglish": {}}', '{"subtaskbrussian": {"a": ["true", 1]}}'])
def test_a_task_without_answers_is_all_missing(submission):
    found = score(text(GOLD), submission, edition="2019")
    for task, size in (("stance", 3), ("veracity", 3)):
        assert (found[task]["accuracy"], found[task]["macro_f1"], found[task]["num_matched"]) == (0, 0, 0)
        assert found[task]["num_references"] == size
        (warning,) = found[task]["warnings"]
        assert warning.startswith(f"{size} of {size} references have no answer, such as id 'a' (")
    with pytest.raises(ValueError, match=r"^submission against gold, stance: 3 of 3 references have no answer"):
        score(text(GOLD), submission, missing="error")


def test_a_language_without_answers_has_the_scores_of_the_others():
    submission = {"subtaskbenglish": {"a": "true", "b": "unverified"}}
    found = score(text(GOLD), text(submission), edition="2017")["veracity"]
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert "confidence_rmse" not in found
    assert found["languages"]["danish"].keys() == found["languages"]["english"].keys()


def test_answers_to_a_task_that_gold_lacks_are_told():
    gold = {"a": "deny", "b": "query", "c": "deny"}
    found = score(text(gold), text(SUBMISSION), gold_name="key.json", submission_name="answer.json")
    assert list(found) == ["stance"]
    expected = "answer.json also answers veracity, for which key.json holds no references: not scored."
    assert found["stance"]["warnings"][-1] == expected
    with pytest.raises(ValueError, match=r"answer\.json answers veracity, key\.json holds references for stance"):
        score(text(gold), '{"a": ["true", 1]}', gold_name="key.json", submission_name="answer.json")


@pytest.mark.parametrize(
    ("gold", "submission", "message"),
    [
        ({}, {"a": "true"}, "^gold: no references"),
        (
            {"a": ["true", 1]},
            {"a": "true"},
            "^submission against gold, veracity: references, id 'a' .english.: found .'true', 1., expected a label "
            "alone. The key comes first, then the submission: are the two swapped.$",
        ),
        ({"a": "true"}, {"a": ["true", 1], "b": "true"}, "predictions, id 'b' .english.: found no confidence"),
    ],
)
def test_files_that_do_not_fit_are_refused(gold, submission, message):
    with pytest.raises(ValueError, match=message):
        score(text(gold), text(submission))


def test_an_unknown_edition_is_refused():
    with pytest.raises(ValueError, match="edition is '2018'"):
        score(text(GOLD), text(SUBMISSION), edition="2018")


def test_a_majority_answer_is_warned_of():
    submission = GOLD | {"subtaskaenglish": dict.fromkeys("abc", "comment")}
    found = score(text(GOLD), text(submission))
    assert found["stance"]["warnings"][0].startswith("Every answer is 'comment'")
    assert found["veracity"]["warnings"] == ["The answers have no confidences: the scores that need them are left out."]


def test_the_published_scores_come_out_of_the_official_files(data_dir):
    folder = data_dir / "rumoureval2019"
    gold, submission = ((folder / name).read_bytes() for name in ("final-eval-key.json", "branchlstm-answer.json"))
    found = score(gold, submission, edition="2019")
    stance, veracity = found["stance"], found["veracity"]
    assert [round(stance[name], 4) for name in ("accuracy", "macro_f1")] == [0.8407, 0.4929]
    names = ("accuracy", "macro_f1", "confidence_rmse")
    assert [round(veracity[name], 4) for name in names] == [0.3827, 0.3364, 0.7806]
    assert "languages" not in veracity
    assert stance["warnings"] == []
    (warning,) = veracity["warnings"]
    assert warning.startswith(
        "The accuracy of the labels alone, 0.4074, is below the 0.4938 of always answering 'false'"
    )


def test_the_published_baselines_come_out_of_the_official_files(data_dir):
    for year, (key, answer), expected in [
        ("2019", ("final-eval-key.json", ["false", 1]), {"confidence_rmse": 0.7115}),
        ("2017", ("subtaska.json", "comment"), {"accuracy": 0.7417}),
        ("2017", ("subtaskb.json", ["false", 1]), {"accuracy": 0.4286, "confidence_rmse": 0.7559}),
    ]:
        gold = (data_dir / f"rumoureval{year}" / key).read_bytes()
        task = "stance" if answer == "comment" else "veracity"
        submission = dict.fromkeys(read(gold)[task]["english"], answer)
        found = score(gold, text(submission), edition=year)[task]
        assert {name: round(found[name], 4) for name in expected} == expected
        assert found["warnings"][0].startswith("Every answer is")


def test_the_folder_works_alone():
    """As in the Space, where its files are no package and the standard library is all there is."""
    code = (
        "import sys, submission\n"
        "print(submission.score(sys.argv[1], sys.argv[2])['veracity']['accuracy'])\n"
        "print(any(name.partition('.')[0] in ('numpy', 'temporal_rumors') for name in sys.modules))"
    )
    command = [sys.executable, "-S", "-c", code, text(GOLD), text(SUBMISSION)]
    output = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    assert output.split() == [str(2 / 3), "False"]


def test_answers_in_other_languages_are_no_extra_ones():
    gold = {"subtaskaenglish": {"a": "deny", "b": "query"}, "subtaskadanish": {"c": "deny"}}
    answers = {"subtaskaenglish": {"a": "deny", "b": "deny", "x": "deny"}, "subtaskadanish": {"c": "query"}}
    scores = score(json.dumps(gold), json.dumps(answers))["stance"]
    assert scores["num_extra"] == 1
    assert {name: part["num_extra"] for name, part in scores["languages"].items()} == {"danish": 0, "english": 1}
    assert {name: part["num_matched"] for name, part in scores["languages"].items()} == {"danish": 1, "english": 2}
