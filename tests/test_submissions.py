"""`temporal-rumors score`: submissions against official keys, on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from temporal_rumors import rumoureval, submissions
from temporal_rumors.cli import main
from temporal_rumors.errors import UserError
from temporal_rumors.metrics.rumoureval import submission
from temporal_rumors.records import sha256

GOLD = {
    "subtaskaenglish": {"a": "comment", "b": "deny", "c": "comment", "d": "query"},
    "subtaskbenglish": {"a": "true", "b": "unverified"},
    "subtaskbdanish": {"a": "false"},
    "subtaskbrussian": {},
}
ANSWERS = {
    "subtaskaenglish": {"a": "comment", "b": "deny", "c": "query"},
    "subtaskbenglish": {"a": ["true", 0.5], "b": ["true", 0.25], "z": ["false", 1]},
    "subtaskbdanish": {"a": ["false", 0.75]},
}


@pytest.fixture
def score(capsys, tmp_path, monkeypatch):
    """Return a function that scores two files by the command line and returns exit code, output and errors.

    A file is given as its JSON, its bytes, or a path.
    """
    monkeypatch.chdir(tmp_path)

    def run(gold, answers, *options):
        paths = []
        for name, content in (("gold.json", gold), ("answer.json", answers)):
            if isinstance(content, Path):
                paths.append(str(content))
                continue
            Path(name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
            paths.append(name)
        code = 0
        try:
            main(["score", *paths, *options])
        except SystemExit as leave:
            code = leave.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def words(text):
    return " ".join(text.split())


@pytest.fixture
def official(data_dir):
    folder = data_dir / "rumoureval2019"
    return folder / "final-eval-key.json", folder / "branchlstm-answer.json"


def test_the_official_files_give_the_published_scores(score, official):
    code, out, err = score(*official, "--edition", "2019")
    assert (code, err) == (0, "")
    stance, veracity = words(out).split("veracity, edition 2019")
    assert stance.startswith("stance, edition 2019")
    assert "accuracy 0.8407" in stance
    assert "macro_f1 0.4929" in stance
    for shown in ("accuracy 0.3827", "macro_f1 0.3364", "confidence_rmse 0.7806", "num_references 81"):
        assert shown in veracity
    assert "Warning" not in stance
    assert veracity.count("Warning: ") == 1
    assert "Warning: The accuracy of the labels alone, 0.4074, is below the 0.4938 of always" in veracity
    found = json.loads(score(*official, "--edition", "2019", "--json")[1])
    assert [round(found["stance"][name], 4) for name in ("accuracy", "macro_f1")] == [0.8407, 0.4929]
    names = ("accuracy", "macro_f1", "confidence_rmse")
    assert [round(found["veracity"][name], 4) for name in names] == [0.3827, 0.3364, 0.7806]


def test_a_majority_answer_to_the_official_key_is_warned_of(score, official):
    key = json.loads(official[0].read_bytes())
    answers = {
        "subtaskaenglish": dict.fromkeys(key["subtaskaenglish"], "comment"),
        "subtaskbenglish": {id: ["false", 1] for id in key["subtaskbenglish"]},
    }
    code, out, _ = score(official[0], answers, "--edition", "2019")
    assert code == 0
    assert words(out).count("Warning: Every answer is") == 2
    assert "Warning: Every answer is 'comment'" in words(out)


def test_the_flat_files_of_2017_are_scored_with_their_task(score, data_dir):
    for name, task, answer, n, accuracy in (
        ("subtaska.json", "stance", "comment", 1049, 0.7417),
        ("subtaskb.json", "veracity", ["false", 1], 28, 0.4286),
    ):
        key = data_dir / "rumoureval2017" / name
        answers = dict.fromkeys(json.loads(key.read_bytes()), answer)
        code, out, _ = score(key, answers, "--edition", "2017")
        assert code == 0
        assert f"{task}, edition 2017" in out
        assert f"accuracy {accuracy}" in words(out)
        assert f"num_matched {n:,}" in words(out)


@pytest.mark.parametrize("edition", ["paper", "2017", "2019"])
@pytest.mark.parametrize("per_class", [False, True])
def test_json_holds_what_the_function_gives(score, edition, per_class):
    options = ["--edition", edition, *(["--per-class"] if per_class else [])]
    code, out, err = score(GOLD, ANSWERS, *options, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found == submissions.score_files(
        Path("gold.json"), Path("answer.json"), edition=edition, per_class=per_class
    )
    assert list(found) == ["edition", "signature", "stance", "veracity"]
    gold, answers = (submission.read(json.dumps(content)) for content in (GOLD, ANSWERS))
    for task in ("stance", "veracity"):
        scores = {name: value for name, value in found[task].items() if name not in ("warnings", "languages")}
        expected = rumoureval(
            predictions=answers[task], references=gold[task], task=task, edition=edition, per_class=per_class
        )
        assert scores == json.loads(json.dumps(expected))
    assert list(found["veracity"]["languages"]) == ["danish", "english"]
    assert "languages" not in found["stance"]


def test_every_number_is_shown_with_all_languages(score):
    code, out, _ = score(GOLD, ANSWERS, "--edition", "2017")
    assert code == 0
    found = json.loads(score(GOLD, ANSWERS, "--edition", "2017", "--json")[1])
    stance, veracity = out.split("veracity, edition 2017")
    header = next(line for line in veracity.splitlines() if "danish" in line)
    assert header.split() == ["score", "all", "danish", "english"]
    columns = [found["veracity"], *(found["veracity"]["languages"][name] for name in ("danish", "english"))]
    for name in ("accuracy", "confidence_rmse", "num_references", "num_matched", "num_extra"):
        (line,) = [line for line in veracity.splitlines() if line.split()[:1] == [name]]
        assert line.split()[1:4] == [f"{c[name]:.4f}" if isinstance(c[name], float) else str(c[name]) for c in columns]
        assert name in veracity
    assert "danish" not in stance


@pytest.mark.parametrize("edition", ["paper", "2017", "2019"])
def test_every_score_of_every_edition_is_shown(score, edition):
    found = json.loads(score(GOLD, ANSWERS, "--edition", edition, "--json")[1])
    stance, veracity = score(GOLD, ANSWERS, "--edition", edition)[1].split("\nveracity, ")
    for task, shown in (("stance", stance), ("veracity", veracity)):
        numbers = {name for name, value in found[task].items() if isinstance(value, int | float)}
        assert {line.split()[0] for line in shown.splitlines() if line.split()} >= numbers > {"accuracy"}


def test_the_paper_is_the_default_and_is_named_as_such(score):
    out = score(GOLD, ANSWERS)[1]
    assert "stance, the paper's card" in out
    assert json.loads(score(GOLD, ANSWERS, "--json")[1])["edition"] == "paper"


def test_recall_and_confusions_are_shown_by_class(score):
    assert "recall" not in score(GOLD, ANSWERS, "--edition", "2019")[1]
    out = score(GOLD, ANSWERS, "--edition", "2019", "--per-class")[1]
    stance = out.split("veracity, edition 2019")[0]
    rows = {line.split()[0]: line.split()[1:] for line in stance.splitlines() if line.split()}
    # References by row: support, deny, query, comment, no answer, recall.
    assert rows["comment"] == ["0", "0", "1", "1", "0", "0.5000"]
    assert rows["query"] == ["0", "0", "0", "0", "1", "0.0000"]
    assert rows["deny"] == ["0", "1", "0", "0", "0", "1.0000"]


def test_a_signature_names_files_edition_and_options(score):
    def signature(*options):
        return json.loads(score(GOLD, ANSWERS, "--json", *options)[1])["signature"]

    digests = [sha256(json.dumps(content).encode())[:8] for content in (GOLD, ANSWERS)]
    start = (
        f"rumoureval:all|edition:paper|strict:true|missing:incorrect|gold:{digests[0]}|submission:{digests[1]}|version:"
    )
    assert signature().startswith(start)
    assert len({signature(), signature("--edition", "2019"), signature("--lenient")}) == 3
    assert signature() in "".join(score(GOLD, ANSWERS)[1].split())


def test_missing_answers_count_as_incorrect_or_are_an_error(score):
    assert "num_matched 3" in words(score(GOLD, ANSWERS)[1])
    code, out, err = score(GOLD, ANSWERS, "--missing", "error")
    assert (code, out) == (2, "")
    assert "1 of 4 references have no answer" in err


def test_lenient_takes_what_the_official_scripts_take(score):
    answers = ANSWERS | {"subtaskaenglish": ANSWERS["subtaskaenglish"] | {"d": "QUERY"}, "subtaskafrench": {"a": "x"}}
    code, _, err = score(GOLD, answers, "--edition", "2019")
    assert code == 2
    assert "subtaskafrench" in err
    code, out, err = score(GOLD, answers, "--edition", "2019", "--lenient", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["stance"]["accuracy"] == 0.5
    assert "strict:false" in json.loads(out)["signature"]


def test_answers_to_another_task_are_told(score):
    code, out, _ = score({"a": "deny", "b": "query", "c": "deny"}, ANSWERS)
    assert code == 0
    assert "Warning: answer.json also answers veracity, for which gold.json holds no references" in words(out)


MISTAKES = [
    (GOLD, ANSWERS, ["--edition", "2018"], "unknown edition '2018'"),
    (GOLD, ANSWERS, ["--missing", "skip"], "unknown --missing 'skip'"),
    (GOLD, ANSWERS, ["--task", "rumourval"], "unknown task 'rumourval' (did you mean 'rumoureval'?)"),
    (Path("nowhere.json"), ANSWERS, [], "there is no file nowhere.json: name the key first"),
    (GOLD, Path("nowhere.json"), [], "there is no file nowhere.json"),
    (Path("."), ANSWERS, [], ". is no file"),
    (GOLD, b"", [], "answer.json: not JSON"),
    (b'{"a": "true"', ANSWERS, [], "gold.json: not JSON"),
    (GOLD, b'{"a": "tr\xffue"}', [], "answer.json: not UTF-8 text"),
    (GOLD, b"[" * 200_000, [], "answer.json: nested too deeply"),
    (GOLD, [1], [], "answer.json: found list at the top"),
    (GOLD, b'{"a": ["true", NaN]}', [], "answer.json: found NaN"),
    (GOLD, {"a": "agree"}, [], "answer.json: found 'agree'"),
    ({}, ANSWERS, [], "gold.json: no references"),
    ({"a": "deny"}, {"a": "true"}, [], "answer.json answers veracity, gold.json holds references for stance"),
    (ANSWERS, GOLD, [], "answer.json against gold.json, veracity: references"),
]


@pytest.mark.parametrize(("gold", "answers", "options", "told"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_told_in_one_line(score, gold, answers, options, told):
    code, out, err = score(gold, answers, *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert told in err
    assert len(err.splitlines()) == 1
    assert len(err) < 600


def test_a_file_that_is_far_too_large_is_not_read(score, tmp_path, monkeypatch):
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(submissions.MAX_BYTES + 1)
    monkeypatch.setattr(submissions, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    code, _, err = score(tmp_path / "large.json", tmp_path / "large.json")
    assert code == 2
    assert "large.json has 50,000,001 bytes, more than the 50,000,000 of any such file" in err


def test_the_function_refuses_an_unknown_task(tmp_path):
    with pytest.raises(UserError, match="unknown task 'pheme'; valid ones: rumoureval"):
        submissions.score_files(tmp_path, tmp_path, task="pheme")


def test_as_a_program_it_exits_with_two_and_shows_no_traceback(tmp_path):
    (tmp_path / "gold.json").write_text("{")
    command = [sys.executable, "-c", "from temporal_rumors.cli import main; main()", "score", "gold.json", "gold.json"]
    child = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout) == (2, "")
    assert child.stderr.startswith("error: gold.json: not JSON")
    assert len(child.stderr.splitlines()) == 1


def test_scoring_loads_nothing_heavy(tmp_path):
    for name, content in (("gold.json", GOLD), ("answer.json", ANSWERS)):
        (tmp_path / name).write_text(json.dumps(content))
    script = (
        "import sys\n"
        "from temporal_rumors.cli import main\n"
        "try:\n    main(['score', 'gold.json', 'answer.json', '--json'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('torch', 'transformers', 'datasets', 'evaluate', 'matplotlib', 'sklearn', 'scipy', 'pandas')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)\n"
    )
    child = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert child.stderr.strip() == "[]"
    assert json.loads(child.stdout)["veracity"]["num_references"] == 3
