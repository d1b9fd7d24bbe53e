import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
import tiny_checkpoints

from temporal_rumors import __version__, models
from temporal_rumors.cli import main

HEAVY = ("torch", "transformers", "datasets", "evaluate", "matplotlib", "sklearn", "scipy", "pandas", "numpy")


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that runs the command line in an empty folder and returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = 0
        try:
            main(list(arguments))
        except SystemExit as leave:
            code = leave.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_help_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from temporal_rumors.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert child.stderr.strip() == "[]"
    assert "temporal-rumors run" in child.stdout


@pytest.mark.parametrize(
    "command", ["list", "run", "report", "score", "audit", "overlap", "explain", "errors", "show-signature"]
)
def test_every_command_explains_itself(call, command):
    code, out, _ = call(command, "--help")
    assert code == 0
    assert "--json" in out


def test_version(call):
    assert call("--version")[:2] == (0, f"{__version__}\n")


def test_the_main_job_shows_the_inflation_and_is_done_once(call, tmp_path):
    start = time.monotonic()
    code, out, err = call("run")
    assert time.monotonic() - start < 30
    assert code == 0
    assert "inflated by" in " ".join(out.split())
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "wrote report.html" in err
    records = {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*.json")}
    assert len(records) == 13
    page = (tmp_path / "report.html").read_bytes()
    assert call("run", "--jobs", "2")[1] == out
    assert {path: path.read_bytes() for path in (tmp_path / "runs").rglob("*.json")} == records
    assert (tmp_path / "report.html").read_bytes() == page
    # The report needs the records alone.
    assert call("report", "runs", "--out", "again.html", "--out", "t.tex", "--out", "t.md", "--out", "t.csv")[0] == 0
    assert (tmp_path / "again.html").read_bytes() == page


def test_progress_is_shown_on_a_terminal(tmp_path):
    terminal, its_end = os.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    command = [sys.executable, "-c", "from temporal_rumors.cli import main; main(['run', '--protocol', 'random'])"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=its_end):
        os.close(its_end)
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
    assert b"runs:" in shown


def test_json_is_the_contract(call):
    code, out, _ = call("run", "--json")
    assert code == 0
    printed = json.loads(out)
    fields = {"benchmark", "protocol", "model", "metric", "mean", "std", "n_runs", "paper_mean", "paper_std"}
    assert all(fields <= set(result) for result in printed["results"])
    assert {result["protocol"] for result in printed["results"]} == {"random", "chrono", "chrono_stratified", "loo"}
    assert {result["metric"] for result in printed["results"]} == {"precision", "recall", "f1"}
    inflation = {entry["protocol"]: entry for entry in printed["inflation"]}
    assert {"benchmark", "model", "protocol", "points", "p_value"} <= set(inflation["chrono"])
    assert inflation["chrono"]["points"] > 15
    assert inflation["chrono"]["p_value"] < 0.01
    assert json.loads(call("report", "runs", "--json")[1]) == printed


def test_the_grid_reproduces_the_papers_inflation_on_real_data(call, data_dir):
    code, out, err = call(
        *("run", "--benchmark", "twitter15_temporal", "--benchmark", "twitter16_temporal"),
        *("--data-dir", str(data_dir), "--json"),
    )
    assert (code, err) == (0, "wrote report.html\n14 runs in runs: 14 done now, 0 done before, 0 failed\n")
    f1 = {(r["benchmark"], r["protocol"]): r["mean"] for r in json.loads(out)["results"] if r["metric"] == "f1"}
    # The paper: 85.0, 56.4, 41.4 and 89.3, 48.7; tokenisers shift these by up to 8.
    assert f1["twitter15_temporal", "random"] == pytest.approx(85.0, abs=8)
    assert f1["twitter15_temporal", "chrono"] == pytest.approx(56.4, abs=8)
    assert f1["twitter15_temporal", "chrono_stratified"] == pytest.approx(41.4, abs=9)
    assert f1["twitter16_temporal", "random"] == pytest.approx(89.3, abs=8)
    assert f1["twitter16_temporal", "chrono_stratified"] == pytest.approx(48.7, abs=11.4)
    paper = {
        (r["benchmark"], r["protocol"]): r["paper_mean"] for r in json.loads(out)["results"] if r["metric"] == "f1"
    }
    assert paper["twitter15_temporal", "chrono"] == 56.4


def test_list_shows_sizes_digests_and_what_is_not_guaranteed(call):
    code, out, _ = call("list", "sample_temporal")
    assert code == 0
    assert "chrono_stratified" in out
    (entry,) = json.loads(call("list", "sample_temporal", "--json")[1])
    chrono = next(p for p in entry["protocols"] if p["protocol"] == "chrono")
    assert chrono["digest"][:12] in out
    assert chrono["digest"] in "".join(call("list", "sample_temporal", "--verbose")[1].split())


def test_list_downloads_nothing(call, monkeypatch):
    monkeypatch.delenv("TEMPORAL_RUMORS_DATA", raising=False)
    monkeypatch.setattr("socket.getaddrinfo", lambda *a, **k: pytest.fail("the network was asked"))
    code, out, _ = call("list")
    assert code == 0
    assert "is not at hand" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "nope"), "unknown benchmark 'nope'"),
        (("run", "--benchmark", "nope"), "unknown benchmark 'nope'"),
        (("run", "--model", "nope"), "unknown model 'nope'"),
        (("run", "--protocol", "nope"), "unknown protocol 'nope'"),
        (("run", "--report", "report.doc"), "its suffix must be one of"),
        (("run", "--seeds", "0"), "--seeds"),
        (("run", "--data-dir", "nowhere", "--benchmark", "pheme_temporal"), "pheme_2603.csv is needed"),
        (("report", "nowhere"), "there is no folder nowhere"),
        (("report", "runs", "--out", "x"), "its suffix must be one of"),
        (("list", "--nope"), "--nope"),
        (("nope",), "nope"),
    ],
)
def test_a_users_mistake_is_told_without_a_traceback(call, arguments, words):
    code, out, err = call(*arguments)
    assert code == 2
    assert words in err
    assert "Traceback" not in err + out
    assert not os.listdir()


def test_an_empty_folder_has_no_report(call, tmp_path):
    (tmp_path / "runs").mkdir()
    code, _, err = call("report", "runs")
    assert code == 2
    assert "no run records in runs" in err


def test_a_failed_run_is_told_and_the_rest_reported(call, monkeypatch, tmp_path):
    classifier = models.classifier_of("lr")
    original, calls = classifier._fit, []

    def fit(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("a fault of ours")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(classifier, "_fit", fit)
    code, out, err = call("run", "--protocol", "random")
    assert code == 1
    assert "ZeroDivisionError" in err
    assert "in 1 of 5 runs: sample_temporal random_fold1 lr seed 0" in err
    assert "4 of 5 folds" in " ".join(out.split())


def test_an_interrupted_run_says_what_is_kept_and_how_to_go_on(tmp_path):
    # Slow runs, so that the interrupt comes in the middle.
    script = (
        "import time\n"
        "from temporal_rumors import models\n"
        "from temporal_rumors.cli import main\n"
        "classifier = models.classifier_of('lr')\n"
        "original = classifier._fit\n"
        "classifier._fit = lambda self, *a, **k: (time.sleep(0.5), original(self, *a, **k))[1]\n"
        "main(['run'])\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.rglob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted: finished runs are kept in runs; the same command goes on from there" in err
    assert "Traceback" not in err
    assert "runs: " not in err  # no progress bar where standard error is a pipe


@pytest.mark.parametrize("encoding", ["ascii", "gbk"])
def test_a_terminal_that_lacks_signs_still_gets_its_table_and_report(tmp_path, encoding):
    command = [sys.executable, "-c", "from temporal_rumors.cli import main; main(['run', '--protocol', 'chrono'])"]
    environment = os.environ | {"PYTHONIOENCODING": encoding, "MPLBACKEND": "module://not_there"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "report.html").is_file()


def test_the_report_is_written_though_nobody_reads_the_table(tmp_path):
    command = f"'{sys.executable}' -c \"from temporal_rumors.cli import main; main(['run'])\" | true"
    child = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in child.stderr
    assert (tmp_path / "report.html").is_file()


def test_a_terminated_grid_leaves_no_process_behind(tmp_path):
    script = "from temporal_rumors.cli import main\nmain(['run', '--jobs', '2', '--benchmark', 'sample_temporal'])\n"
    child = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.terminate()
    child.communicate(timeout=60)
    assert child.returncode in (0, 130)  # 0: it was done first
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("a process of the grid is still alive")


def test_a_folder_for_the_embedded_sample_is_refused(call):
    code, _, err = call("run", "--data-dir", ".")
    assert code == 2
    assert "--data-dir goes with --benchmark" in err


@pytest.fixture(scope="session")
def edition(write_edition, tmp_path_factory):
    """An invented edition of RumourEval 2017."""
    return str(write_edition(2017, tmp_path_factory.mktemp("edition")))


def words(text):
    return " ".join(text.split())


def test_list_shows_every_task_and_with_verbose_the_places_of_what_is_missing(call, edition):
    options = ("--data-dir", edition, "--allow-modified")
    code, out, err = call("list", "rumoureval2017", *options)
    assert (code, err) == (0, "")
    assert "rumoureval2017 stance: RumourEval 2017 stance (en), support / deny / query / comment, 72 posts" in words(
        out
    )
    assert "rumoureval2017 veracity: RumourEval 2017 veracity (en), true / false / unverified, 18 posts" in words(out)
    assert out.count("named in structure.json, no file: 2\n") == 2
    assert "100/109" not in out
    verbose = call("list", "rumoureval2017", *options, "--verbose")[1]
    assert words(verbose).count("named in structure.json, no file: 2 (100/109, 1200/1299)") == 2
    assert verbose.count("official ") == out.count("official ") == 2
    assert words(out).count("not the published data: its sha256 is") == 2
    for text in (out, verbose):
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_list_prints_the_places_and_the_splits_of_every_task_as_json(call, edition):
    rows = json.loads(call("list", "rumoureval2017", "--data-dir", edition, "--allow-modified", "--json")[1])
    assert [(row["benchmark"], row["task"], row["posts"]) for row in rows] == [
        ("rumoureval2017", "stance", 72),
        ("rumoureval2017", "veracity", 18),
    ]
    for row in rows:
        assert row["lacking"] is None
        assert not row["data_is_published"]
        assert row["remarks"] == [
            "answers nothing that leads to the source: 1",
            "event told by the month: 3",
            "named in structure.json, no file: 2",
        ]
        assert row["places"]["named in structure.json, no file"] == ["100/109", "1200/1299"]
        protocols = {entry["protocol"]: entry for entry in row["protocols"]}
        assert protocols["official"]["config"] == row["task"]
        assert protocols["chrono"]["config"] == f"{row['task']}_chrono"
        assert sum(protocols["official"]["sizes"]["test"].values()) == (16 if row["task"] == "stance" else 4)
        assert protocols["chrono"]["unit"] == ("threads" if row["task"] == "stance" else "posts")
        # Of the conversation whose event nobody knows, no part can be made.
        assert protocols["loo_ferguson"]["excluded"] == (4 if row["task"] == "stance" else 1)


def test_list_says_of_data_that_are_not_at_hand_where_to_get_them(call, monkeypatch):
    monkeypatch.delenv("TEMPORAL_RUMORS_DATA", raising=False)
    code, out, _ = call("list", "rumoureval2017", "rumoureval2019")
    assert code == 0
    for name in (
        "rumoureval2017 stance",
        "rumoureval2017 veracity",
        "rumoureval2019 stance",
        "rumoureval2019 veracity",
    ):
        assert f"{name}: " in out
    assert words(out).count("no folder is named. Get it from https://alt.qcri.org/semeval2017/task8/") == 2
    assert words(out).count("no folder is named. Get it from https://figshare.com/") == 2
    assert "downloads it" not in out
    rows = json.loads(call("list", "rumoureval2017", "--json")[1])
    assert [(row["task"], "posts" in row) for row in rows] == [("stance", False), ("veracity", False)]
    assert all(row["lacking"].startswith("RumourEval 2017 lacks semeval2017-task8-dataset") for row in rows)


def test_list_shows_the_published_sizes(call, data_dir):
    rows = json.loads(call("list", "rumoureval2017", "--data-dir", str(data_dir), "--json")[1])
    sizes = {row["task"]: [sum(part.values()) for part in row["protocols"][0]["sizes"].values()] for row in rows}
    assert sizes == {"stance": [4238, 281, 1049], "veracity": [272, 25, 28]}
    assert all(row["data_is_published"] for row in rows)


def test_list_goes_on_where_modified_data_lack_an_event(call, write_edition, tmp_path):
    """Of the 37 events of 2019 the invented edition has four; a protocol that cannot be made hides no other."""
    folder = str(write_edition(2019, tmp_path / "edition"))
    code, out, err = call("list", "rumoureval2019", "--data-dir", folder, "--allow-modified")
    assert (code, err) == (0, "")
    assert "loo_ferguson" in out


def test_one_task_under_the_official_split_is_run_and_reported(call, edition, tmp_path):
    run = ("run", "--benchmark", "rumoureval2017", "--protocol", "official", "--data-dir", edition, "--allow-modified")
    code, out, err = call(*run, "--task", "veracity", "--json")
    assert code == 0
    assert "1 run in runs: 1 done now" in err
    (path,) = (tmp_path / "runs").rglob("*.json")
    assert path.parent.relative_to(tmp_path / "runs").as_posix() == "rumoureval2017/veracity_official"
    printed = json.loads(out)
    assert {(row["benchmark"], row["task"], row["protocol"]) for row in printed["results"]} == {
        ("rumoureval2017", "veracity", "official")
    }
    assert {"f1", "accuracy", "balanced_accuracy", "confidence_rmse", "final_score"} <= {
        row["metric"] for row in printed["results"]
    }
    # Both tasks: the other one is run too, and stands in a table of its own.
    code, out, err = call(*run)
    assert code == 0
    assert "2 runs in runs: 1 done now, 1 done before" in err
    stance, veracity = words(out).split("RumourEval 2017 veracity: ")
    assert "RumourEval 2017 stance: accuracy and macro-F1 in percent" in stance
    assert veracity.startswith("accuracy, macro-F1 and confidence RMSE (the lower, the better) in percent")
    assert json.loads(call("report", "runs", "--json")[1])["results"][-1]["task"] == "veracity"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--benchmark", "rumoureval2017", "--task", "stanse"), "rumoureval2017: unknown task 'stanse' (did you mean"),
        (("--task", "stance"), "sample_temporal: no tasks, so no 'stance'"),
        (
            ("--benchmark", "rumoureval2017", "--protocol", "offical"),
            "rumoureval2017 stance and rumoureval2017 veracity: unknown protocol 'offical' (did you mean 'official'?)",
        ),
        (("--protocol", "official"), "sample_temporal: unknown protocol 'official'"),
    ],
)
def test_a_task_or_protocol_that_is_unknown_is_told_without_a_traceback(call, arguments, told):
    code, out, err = call("run", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1
    assert not os.listdir()


def test_data_of_rumoureval_that_are_missing_are_told_once_for_each_task(call, tmp_path):
    code, _, err = call("run", "--benchmark", "rumoureval2017", "--data-dir", str(tmp_path))
    assert code == 2
    assert "Traceback" not in err
    assert err.count("error: RumourEval 2017 lacks semeval2017-task8-dataset, rumoureval2017-test ") == 2


def test_the_official_split_of_veracity_is_scored_on_real_data(call, data_dir):
    code, out, err = call(
        *("run", "--benchmark", "rumoureval2017", "--task", "veracity", "--protocol", "official"),
        *("--data-dir", str(data_dir), "--json"),
    )
    assert (code, err) == (0, "wrote report.html\n1 run in runs: 1 done now, 0 done before, 0 failed\n")
    scores = {row["metric"]: row["mean"] for row in json.loads(out)["results"]}
    assert 100 / 28 * round(scores["accuracy"] / 100 * 28) == pytest.approx(scores["accuracy"])
    assert 0 < scores["f1"] < 100
    assert all("coverage:28/28" in row["signature"] for row in json.loads(out)["results"])


# Checkpoints


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    pytest.importorskip("torch")
    return str(tiny_checkpoints.bert(tmp_path_factory.mktemp("checkpoints") / "tiny"))


def test_a_checkpoint_is_a_model_like_any_other(call, checkpoint, tmp_path):
    options = ("run", "--model", checkpoint, "--model", "lr", "--protocol", "chrono", "--protocol", "random_fold0")
    options += ("--set", "epochs=1", "--set", "best_metric=f1", "--seeds", "2", "--save-models", "models")
    code, out, err = call(*options)
    assert (code, "6 done now" in err) == (0, True), err
    assert "tiny" in out
    records = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("runs/*/*/*tiny*.json"))]
    assert {(r["protocol"], r["seed"]) for r in records} == {(p, s) for p in ("chrono", "random_fold0") for s in (0, 1)}
    assert {(r["model"], r["settings"]["epochs"], r["settings"]["best_metric"]) for r in records} == {
        (checkpoint, 1, "f1")
    }
    assert not list(tmp_path.glob("runs/*/*/.*"))
    cards = sorted(tmp_path.glob("models/sample_temporal/chrono/*/README.md"))
    assert len(cards) == 3  # two seeds of the checkpoint, and lr
    for card in cards:
        text = card.read_text()
        assert "random folds" in text
        assert "Signature: `benchmark:sample_temporal@" in text
        assert records[0]["data_digest"] in text
    code, _, err = call(*options)
    assert (code, "6 done before" in err) == (0, True)
    assert "are not saved" in err
    # Other settings are other runs, and the report tells the variants apart.
    assert "1 done now" in call("run", "--model", checkpoint, "--protocol", "chrono", "--set", "epochs=2")[2]
    assert "@" in call("report", "runs", "--json")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--set", "epochs"), "--set 'epochs' is not NAME=VALUE, such as epochs=3"),
        (("--set", "epoch=3"), "--set: unknown setting 'epoch'"),
        (("--model", "lrr"), "unknown model 'lrr' (did you mean 'lr'?)"),
        (("--set", "vocabulary_size=0"), "vocabulary_size"),
    ],
)
def test_a_wrong_setting_is_told(call, arguments, told):
    code, _, err = call("run", "--protocol", "chrono", *arguments)
    assert code == 2
    assert told in err
    assert "Traceback" not in err


def test_an_error_analysis_and_an_export_are_printed(call, tmp_path):
    assert call("run", "--protocol", "chrono")[0] == 0
    code, out, err = call("errors", "runs")
    assert (code, err) == (0, "")
    assert "with a copy" in out
    (row,) = json.loads(call("errors", "runs", "--json")[1])["rows"]
    assert row["right"] + row["wrong"] == 121
    code, out, err = call("export", "sample_temporal", "--out", "copy", "--protocol", "chrono")
    assert (code, out, err) == (0, "chrono\n", "wrote 1 configurations to copy\n")
    assert (tmp_path / "copy" / "data" / "chrono" / "test.parquet").is_file()


# audit, overlap, explain and show-signature


@pytest.fixture
def posts(tmp_path):
    lines = [
        f"0{i},words about thing {i % 10} and more,{'yes' if i % 2 else 'no'},2024-01-{i + 1:02d}" for i in range(30)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(["id,text,class,when", *lines]))
    return ("posts.csv", "--label-column", "class", "--time-column", "when", "--time-zone", "UTC")


def test_the_ledger_of_a_benchmark_is_printed_as_json_and_as_a_page(call, tmp_path):
    code, out, err = call("audit", "sample_temporal", "random_fold0", "--json", "--out", "ledger.html")
    assert (code, err) == (0, "wrote ledger.html\n")
    found = json.loads(out)
    assert (found["benchmark"], found["protocol"]) == ("sample_temporal", "random_fold0")
    touched = {leak["leak"]: leak["test_posts"] for leak in found["leaks"]}
    assert touched["near_copy"] > 0 == touched["same_id"]
    page = (tmp_path / "ledger.html").read_text()
    assert page.count("<html") == 1
    assert f"{touched['near_copy']:,}" in page
    # Without a protocol it is the chronological one, under which fewer copies leak.
    chrono = json.loads(call("audit", "sample_temporal", "--json")[1])
    assert chrono["protocol"] == "chrono"
    assert {leak["leak"]: leak["test_posts"] for leak in chrono["leaks"]}["near_copy"] < touched["near_copy"]


def test_a_file_is_audited_by_its_columns(call, posts, tmp_path):
    file, *columns = posts
    lines = (tmp_path / file).read_text().splitlines()
    more = ["who,talk", *(f"{'ab'[i % 2]},{i // 2}" for i in range(30))]
    (tmp_path / file).write_text("\n".join(f"{line},{added}" for line, added in zip(lines, more, strict=True)))
    columns += ["--author-column", "who", "--thread-column", "talk"]
    code, out, err = call("audit", file, "random_fold0", *columns, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    touched = {leak["leak"]: leak["test_posts"] for leak in found["leaks"]}
    assert touched["same_author"] == found["parts"]["test"]["posts"] >= touched["same_thread"] > 0
    assert found["protocol"] == "random_fold0"
    assert "[-in the training post alone-] {+in the test post alone+}" in call("audit", file, "chrono", *columns)[1]


def test_a_condition_that_holds_is_exit_code_3(call, posts):
    file, *columns = posts
    code, out, err = call("audit", file, "chrono", *columns, "--fail-on", "near_copy>0", "--fail-on", "same_id>0")
    assert (code, err) == (3, "fails: near_copy>0\n")
    assert "near_copy" in out
    assert call("audit", file, "chrono", *columns, "--fail-on", "same_id>0")[0] == 0


def test_the_signature_of_a_ledger_is_whole_on_one_line(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    (line,) = [line for line in call("audit", "sample_temporal")[1].splitlines() if line.startswith("signature: ")]
    assert "version:" in line
    parts = json.loads(call("show-signature", line.removeprefix("signature: "), "--json")[1])
    assert (parts["protocol"], parts["threshold"]) == ("chrono", "20")


def test_overlaps_are_counted_for_the_benchmarks_at_hand_and_nothing_is_downloaded(call, tmp_path):
    code, out, err = call("overlap", "--data-dir", str(tmp_path))
    assert (code, err) == (0, "")
    assert "left out (`temporal-rumors list` says why): pheme_temporal" in " ".join(out.split())
    found = json.loads(call("overlap", "--data-dir", str(tmp_path), "--json")[1])
    assert (found["table_6"], found["shared_ids"]) == ([], [])
    assert "sample_temporal" not in found["lacking"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("audit", "sample_temporal", "chron"), "unknown protocol 'chron' (did you mean 'chrono'?)"),
        (("audit", "sample_temporal", "--threshold", "-1"), "threshold"),
        (("audit", "sample_temporal", "--short", "maybe"), "short"),
        (("audit", "sample_temporal", "--fail-on", "near_copy"), "the condition 'near_copy' is not understood"),
        (("audit", "sample_temporal", "--fail-on", "nearcopy>0"), "did you mean 'near_copy'?"),
        (("audit", "sample_temporal", "--out", "ledger.pdf"), "its suffix must be .html"),
        (("audit", "posts.csv"), "posts.csv is one table: name the protocol"),
        (("overlap", "pheme"), "did you mean 'pheme_temporal'?"),
        (("explain", "nowhere"), "there is no folder nowhere"),
        (("show-signature", "nonsense"), "expected name:value|name:value"),
    ],
)
def test_a_mistake_in_an_audit_is_told_in_one_line(call, posts, arguments, told):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert told in err
    assert len(err.splitlines()) == 1


def test_the_runs_of_the_sample_are_explained_and_their_signatures_read(call, tmp_path):
    assert call("run")[0] == 0
    code, out, err = call("explain", "--json", "--resamples", "200", "--out", "explained.html")
    assert (code, err) == (0, "wrote explained.html\n")
    found = json.loads(out)
    assert {row["protocol"] for row in found["rows"]} == {"chrono", "chrono_stratified", "loo"}
    assert (tmp_path / "explained.html").read_text().count("<html") == 1
    code, out, err = call("explain", "--resamples", "200")
    assert (code, err) == (0, "")
    assert "chrono_stratified" in out
    assert max(map(len, out.splitlines())) <= 80
    signature = found["rows"][0]["protocol_signature"]
    code, out, _ = call("show-signature", signature)
    assert code == 0
    assert "sample_temporal@" in out
    assert json.loads(call("show-signature", signature, "--json")[1])["protocol"] == found["rows"][0]["protocol"]
