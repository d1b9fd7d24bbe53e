"""The Hub Spaces: each folder runs alone, in a browser too, and whatever is pasted or opened stays text."""

import contextlib
import csv
import importlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors import plugin
from temporal_rumors.metrics.macro_prf.scoring import macro_prf
from temporal_rumors.metrics.rumoureval.scoring import rumoureval

ROOT = Path(__file__).parent.parent.parent / "metrics"
NAMES = plugin.metric_names()
# What a second person pastes, other than the example.
OTHERS = {
    "leakage": ['["The bridge is closed, say police"]', '["The bridge is open, say police"]'],
    "macro_prf": ['{"predictions": ["a"], "references": ["b"]}'],
    "paired_test": ['{"predictions1": ["a", "b"], "predictions2": ["b", "b"], "references": ["b", "b"]}'],
    "rumoureval": ['{"9": "deny"}'] * 2,
}
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "=1+1", "$$x$$"]


def load(name):
    """Import a Space's app as `python app.py` in its folder does, and leave no trace of it."""
    own = {path.stem for path in (ROOT / name).glob("*.py")}
    others = {module: sys.modules.pop(module) for module in own & sys.modules.keys()}
    sys.path.insert(0, str(ROOT / name))
    try:
        return importlib.import_module("app")
    finally:
        sys.path.remove(str(ROOT / name))
        for module in own:
            sys.modules.pop(module, None)
        sys.modules.update(others)


APPS = {name: load(name) for name in NAMES}
every_space = pytest.mark.parametrize("name", NAMES)


def test_every_space_has_the_same_page():
    assert len({(ROOT / name / "space.py").read_bytes() for name in NAMES}) == 1


# What is read and scored


@pytest.mark.parametrize(
    "text",
    [
        "prediction,reference\na,a\nb,a\n",
        "References,Predictions\r\na,a\r\na, b \r\n\r\n",
        '{"predictions": ["a", "b"], "references": ["a", "a"]}',
    ],
)
def test_macro_prf_tabulates_csv_and_json(text):
    found = APPS["macro_prf"].score(text)
    assert found.rows == [["a", 1.0, 0.5, 2 / 3, 2], ["b", 0.0, 0.0, 0.0, 0], ["macro average", 0.5, 0.25, 1 / 3, 2]]
    assert found.result == macro_prf(predictions=["a", "b"], references=["a", "a"], per_class=True)
    assert found.summary == "Macro F1 0.3333, accuracy 0.5000; 2 examples, 2 classes."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "first line is"),
        ("/etc/passwd", "first line is"),
        ("prediction,reference\na\n", "Row 1"),
        ("prediction,reference\na,a\n,a\n", "Row 2"),
        ("prediction,reference\n", "nothing to score"),
        ("prediction,reference\n" + "a" * 200_000 + ",a", "CSV cannot be read"),
        ('{"predictions": [1]', "line 1"),
        ('{"predictions":' * 100_000, "too many brackets"),
        ('{"predictions": [1]}', "of the form"),
        ('{"predictions": [0.5], "references": [1]}', "found float"),
    ],
    ids=range(10),
)
def test_macro_prf_says_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        APPS["macro_prf"].score(text)


def test_leakage_reads_texts_of_csv_and_json():
    assert APPS["leakage"].read_texts("text\n a \n\n", "x") == [" a "]
    assert APPS["leakage"].read_texts('id,Text\n1,"a\nb"\n', "x") == ["a\nb"]
    assert APPS["leakage"].read_texts('["a", "b"]', "x") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb\n", "names a column text"),
        ("text,text\na,b\n", "names a column text"),
        ("id,text\n1\n", "row 1 after the header holds 1 cells, not 2"),
        ("text\n" + "a" * 200_000, "CSV cannot be read"),
        ("[1", "line 1"),
        ("[" * 100_000, "too many brackets"),
        (json.dumps(["a"] * 20_001), "20,001 texts, the limit here is 20,000"),
    ],
    ids=range(7),
)
def test_leakage_says_what_is_wrong(text, message):
    with pytest.raises(ValueError, match=f"Test texts: .*{message}"):
        APPS["leakage"].read_texts(text, "Test texts")


def test_leakage_shows_the_nearest_first():
    app = APPS["leakage"]
    found = app.score(*app.EXAMPLES)
    distances = [row[2] for row in found.rows]
    assert distances == sorted(distances)
    assert len(distances) == found.result["near_copy"] == 4
    assert found.summary.startswith("4 of 5 test texts (80.0%) have a near copy among 4 training texts")
    with pytest.raises(ValueError, match="data are a dict"):
        app.score('["a"]', '{"a": "b"}')
    with pytest.raises(ValueError, match="expected a text"):
        app.score("[1]", '["b"]')


@pytest.mark.parametrize("edition", ["paper", "2017", "2019"])
def test_rumoureval_tabulates_both_tasks(edition):
    app = APPS["rumoureval"]
    found = app.score(*app.EXAMPLES, edition)
    assert list(found.result) == ["edition", "stance", "veracity"]
    assert found.result["edition"] == edition
    for task, key in (("stance", "subtaskaenglish"), ("veracity", "subtaskbenglish")):
        expected = rumoureval(
            predictions=app.SUBMISSION[key], references=app.GOLD[key], task=task, edition=edition, per_class=True
        )
        assert {key: found.result[task][key] for key in expected} == expected
        values = {(measure, label): value for where, measure, label, value in found.rows if where == task}
        numbers = {(key, ""): value for key, value in expected.items() if isinstance(value, (int, float))}
        for measure, key in (("recall", "recall"), ("num_references", "support")):
            for label, value in zip(expected["labels"], expected["per_class"][key], strict=True):
                numbers[measure, label] = value
        assert values == numbers
    assert f"stance, edition {edition}: 6 references.\nstance: 1 of 6 references have no answer" in found.summary
    assert f"veracity, edition {edition}: 3 references." in found.summary
    assert ("recall compares labels alone" in found.summary) == (edition == "2019")


@pytest.mark.parametrize(
    ("edition", "errors"),
    [
        ("paper", "confidence_rmse_correct and confidence_rmse_incorrect_as_1"),
        ("2017", "confidence_rmse"),
        ("2019", "confidence_rmse"),
    ],
)
def test_rumoureval_says_of_which_scores_lower_is_better(edition, errors):
    app = APPS["rumoureval"]
    assert f"veracity: lower is better for {errors}." in app.score(*app.EXAMPLES, edition).summary.splitlines()
    bare = json.dumps({"1": "true", "2": "false"})
    assert "lower is better" not in app.score(bare, bare, edition).summary


def test_rumoureval_tabulates_languages_apart_and_shows_warnings():
    key = {"subtaskaenglish": {"1": "deny", "2": "query"}, "subtaskadanish": {"3": "deny"}}
    answers = {"subtaskaenglish": {"1": "deny", "2": "deny"}, "subtaskadanish": {"3": "deny"}}
    found = APPS["rumoureval"].score(json.dumps(key), json.dumps(answers))
    accuracy = {where: value for where, measure, _, value in found.rows if measure == "accuracy"}
    assert accuracy == {"stance": pytest.approx(2 / 3), "stance, danish": 1.0, "stance, english": 0.5}
    assert "Every answer is 'deny'" in found.summary


@pytest.mark.parametrize(
    ("gold", "submission", "message"),
    [
        ('{"1": "deny"', '{"1": "deny"}', "gold: not JSON"),
        ('{"1": "deny"}', "/etc/passwd", "submission: not JSON"),
        ('{"1": "deny"}', '{"1": "<b>"}', "'<b>'"),
        ('{"1": "deny"}', '{"1": "true"}', "submission answers veracity"),
        ('{"1": "deny"}', "[" * 100_000, "submission: nested too deeply"),
    ],
    ids=range(5),
)
def test_rumoureval_says_what_is_wrong(gold, submission, message):
    with pytest.raises(ValueError, match=message):
        APPS["rumoureval"].score(gold, submission)


# What the page makes of it


def handlers(name):
    return [function.fn for function in APPS[name].build().fns.values() if callable(function.fn)]


def press_score(name, *texts):
    """Return what stands under Result, the table, and both downloads."""
    (on_score,) = [function for function in handlers(name) if getattr(function, "__name__", "") == "on_score"]
    summary, table, as_json, as_csv, *_ = on_score(*texts, *(["paper"] if name == "rumoureval" else []))
    return summary, table, as_json, as_csv


def open_file(name, content):
    """Return the text that an opened file gives and what stands under Result."""
    on_open = next(function for function in handlers(name) if hasattr(function, "func"))
    text, _, summary, table, *contents = on_open(content)
    assert (table, contents[:2]) == ([], ["", ""])
    return text, summary


@every_space
def test_the_page_shows_and_hands_out_what_was_scored(name):
    app = APPS[name]
    expected = app.score(*app.EXAMPLES)
    summary, table, as_json, as_csv = press_score(name, *app.EXAMPLES)
    assert summary == expected.summary
    assert table == [[f"{c:.4f}" if isinstance(c, float) else str(c) for c in row] for row in expected.rows]
    assert json.loads(as_json) == expected.result
    assert list(csv.reader(io.StringIO(as_csv))) == [[*app.HEADERS], *([str(c) for c in row] for row in expected.rows)]


@every_space
@pytest.mark.filterwarnings("ignore:The reason is given")
def test_texts_that_cannot_be_scored_leave_a_short_message(name, monkeypatch):
    good = APPS[name].EXAMPLES
    too_large = "a" * (APPS[name].space.MAX_BYTES + 1)
    for text, message in {"": "paste a text", " \n": "paste a text", too_large: "larger than 1 MB"}.items():
        found = press_score(name, text, *good[1:])
        assert message in found[0]
        assert found[1:] == ([], "", "")

    hostile = "a" * 10_000
    for text in (hostile, f'{{"{hostile}": {{"{hostile}": "{hostile}"}}}}', "\ud800", '{"\\ud800": ["\\ud800"]}'):
        summary, *nothing = press_score(name, text, *good[1:])
        assert 0 < len(summary.encode()) <= 310
        assert nothing == [[], "", ""]

    def fail(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(APPS[name], "score", fail)
    summary, *nothing = press_score(name, *good)
    assert summary.startswith("Something is wrong with this page")
    assert nothing == [[], "", ""]


@every_space
@pytest.mark.filterwarnings("ignore:The reason is given")
def test_a_file_is_read_as_utf_8_within_the_limit(name):
    largest = b"a" * APPS[name].space.MAX_BYTES
    assert open_file(name, "\ufeff谣言\r\n".encode()) == ("谣言\r\n", "")
    assert open_file(name, largest) == (largest.decode(), "")
    for content, message in ((largest + b"a", "larger than 1 MB"), ("谣".encode("utf-16"), "not UTF-8")):
        text, summary = open_file(name, content)
        assert text not in (content, content.decode("utf-8", "replace"))
        assert message in summary


def test_long_and_broken_labels_are_shown_and_handed_out():
    labels = ["a" * 10_000, "\ud800", "\u202eabc", "-1"]
    text = json.dumps({"predictions": labels, "references": labels})
    _, table, as_json, as_csv = press_score("macro_prf", text)
    shown = {row[0] for row in table}
    assert shown == {"a" * 99 + "…", "\\ud800", "\u202eabc", "-1", "macro average"}
    assert json.loads(as_json)["labels"] == sorted(labels)
    assert {row[0] for row in csv.reader(io.StringIO(as_csv))} >= {"a" * 10_000, "\\ud800", "'-1"}


def test_many_classes_are_handed_out_and_not_all_shown():
    labels = list(range(1000))
    summary, table, as_json, as_csv = press_score(
        "macro_prf", json.dumps({"predictions": labels, "references": labels})
    )
    assert len(table) == 200
    assert "shows 200 of 1,001 rows" in summary
    assert len(json.loads(as_json)["labels"]) == 1000
    assert len(as_csv.splitlines()) == 1002


@given(st.text(max_size=5) | st.text("=+-@\t\r\n'", min_size=1, max_size=3), st.floats() | st.integers())
def test_no_text_in_a_csv_is_a_formula(text, number):
    (header,), (cell, value) = csv.reader(
        io.StringIO(APPS["macro_prf"].space.to_csv(["x"], [[text, number]]), newline="")
    )
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell.removeprefix("'") == text.removeprefix("'").encode("utf-8", "backslashreplace").decode()
    assert (header, value) == ("x", str(number))


# The page in a browser

ALONE = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent}:
            raise ModuleNotFoundError(f"{name}: not in a Space")

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="module", params=NAMES)
def site(request, tmp_path_factory):
    """Serve a copy of a folder as the Hub does, where only what its requirements name can be imported."""
    root = tmp_path_factory.mktemp(request.param)
    shutil.copytree(ROOT / request.param, root / "app", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "alone").mkdir()
    required = (root / "app" / "requirements.txt").read_text(encoding="utf-8").replace("-", "_")
    absent = {name for name in ("temporal_rumors", "evaluate", "datasets", "sklearn") if name not in required}
    (root / "alone" / "sitecustomize.py").write_text(ALONE.replace("{absent}", repr(absent)), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "alone"),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(root / "uploads"),
        "HF_HUB_OFFLINE": "1",
    }
    log = (root / "log").open("w")
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=root / "app", env=environment, stdout=log, stderr=subprocess.STDOUT
    )
    site = Site(request.param, root, f"http://127.0.0.1:{port}/")
    try:
        until(lambda: server.poll() is not None or site.answers(), seconds=60)
        assert server.poll() is None, (root / "log").read_text()
        yield site
    finally:
        server.terminate()
        server.wait(20)
        log.close()


class Site:
    def __init__(self, name, root, url):
        self.name, self.root, self.url = name, root, url
        self.app = APPS[name]

    def get(self, path, **message):
        body = json.dumps(message).encode() if message else None
        request = urllib.request.Request(self.url + path, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def answers(self):
        with contextlib.suppress(urllib.error.URLError):
            return bool(self.get("config"))


def until(condition, seconds=20):
    """Wait for a condition to hold and return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.03)
    return value


def test_a_path_in_place_of_an_upload_is_refused(site):
    (upload, *_) = [
        event["id"] for event in json.loads(site.get("config"))["dependencies"] if event["targets"][0][1] == "upload"
    ]
    for path in ("/etc/passwd", str(site.root / "app" / "app.py")):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        site.get("gradio_api/queue/join", fn_index=upload, data=[file], session_hash="s")
        end = site.get("gradio_api/queue/data?session_hash=s").split('"process_completed"')[1]
        assert '"success":false' in end.replace(" ", "")
        assert path not in end
        with pytest.raises(urllib.error.HTTPError, match="403"):
            site.get(f"gradio_api/file={path}")


def test_no_function_is_offered_to_programs(site):
    assert json.loads(site.get("gradio_api/info")) == {"named_endpoints": {}, "unnamed_endpoints": {}}


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("needs Chromium and its chromedriver")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1600"):
        options.add_argument(argument)
    downloads = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    driver.downloads = downloads
    yield driver
    driver.quit()


class Page:
    """A Space in the browser's present tab."""

    def __init__(self, driver, site):
        self.driver, self.site = driver, site
        driver.get(site.url)
        until(lambda: self.find("#scores [role=columnheader]"))

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def press(self, text):
        until(lambda: self.button(text).is_enabled())
        self.button(text).click()

    def button(self, text):
        return self.driver.find_element("xpath", f"//button[normalize-space()='{text}']")

    def texts(self):
        return [area for area in self.find("textarea") if area.is_displayed() and area.is_enabled()]

    def paste(self, *texts):
        for area, text in zip(self.texts(), texts, strict=True):
            self.driver.execute_script(
                "arguments[0].value = arguments[1];arguments[0].dispatchEvent(new Event('input', {bubbles: true}));",
                area,
                text,
            )

    def result(self):
        return self.find("#summary textarea")[0].get_property("value")

    def table(self):
        return self.driver.execute_script(
            "return [...document.querySelectorAll('#scores .virtual-row')].map("
            "row => [...row.querySelectorAll('[role=gridcell]')].map(cell => cell.textContent.trim()))"
        )

    def score(self, *texts):
        """Paste texts, score them and wait for another result than the one that stands there."""
        before = self.result()
        self.paste(*texts)
        self.press("Score")
        return until(lambda: self.result() != before and self.result())

    def download(self, kind):
        file = self.driver.downloads / f"{self.site.name}.{kind}"
        file.unlink(missing_ok=True)
        self.press(f"Download {kind.upper()}")
        until(lambda: file.exists() and file.stat().st_size)
        return file.read_text(encoding="utf-8")


@pytest.fixture
def page(driver, site):
    return Page(driver, site)


def shown(app, *texts):
    return [[f"{c:.4f}" if isinstance(c, float) else str(c) for c in row] for row in app.score(*texts).rows]


def test_the_example_is_scored_and_downloaded(page):
    app = page.site.app
    page.press("Fill in an example")
    until(lambda: [area.get_property("value") for area in page.texts()] == [*app.EXAMPLES])
    page.press("Score")
    expected = app.score(*app.EXAMPLES)
    assert until(page.result) == expected.summary
    rows = until(page.table)
    assert rows == shown(app, *app.EXAMPLES)[: len(rows)]
    assert len(rows) >= 4
    assert json.loads(page.download("json")) == expected.result
    assert page.download("csv").splitlines() == app.space.to_csv(app.HEADERS, expected.rows).splitlines()


def test_nothing_is_fetched_from_elsewhere_and_nothing_fails(driver, site):
    driver.get_log("performance")
    driver.get_log("browser")
    Page(driver, site)
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    answers = [e["params"]["response"] for e in events if e["method"] == "Network.responseReceived"]
    assert len(requests) > 10
    assert [url for url in requests if not url.startswith((site.url, "data:", "blob:"))] == []
    assert [answer["url"] for answer in answers if answer["status"] >= 400] == []
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_mistake_gives_a_message_and_takes_the_scores_away(page):
    app = page.site.app
    page.score(*app.EXAMPLES)
    until(page.table)
    message = page.score("{", *app.EXAMPLES[1:])
    assert "JSON" in message
    assert "line 1" in message
    until(lambda: not page.table() and not page.button("Download JSON").is_enabled())
    assert page.score(*app.EXAMPLES) == app.score(*app.EXAMPLES).summary


def test_files_are_opened(page, tmp_path):
    app = page.site.app
    fields = page.find("input[type=file][accept*=json]")
    extension = fields[0].get_attribute("accept").split(",")[0]
    files = [tmp_path / f"{number}{extension}" for number in range(len(fields))]
    for file, text, field in zip(files, app.EXAMPLES, fields, strict=True):
        file.write_text(text, encoding="utf-8")
        field.send_keys(str(file))
    until(lambda: [area.get_property("value") for area in page.texts()] == [*app.EXAMPLES])
    page.press("Score")
    assert until(page.result) == app.score(*app.EXAMPLES).summary

    latin, large = tmp_path / f"latin{extension}", tmp_path / f"large{extension}"
    latin.write_bytes("é".encode("latin-1"))
    fields[0].send_keys(str(latin))
    until(lambda: "not UTF-8" in page.result())
    large.write_bytes(b"a" * (app.space.MAX_BYTES + 1))
    fields[0].send_keys(str(large))
    until(lambda: any("exceed" in toast.text for toast in page.find("[data-testid=toast-body]")))
    assert page.texts()[0].get_property("value") == app.EXAMPLES[0]


def test_hostile_text_is_shown_as_it_is(page):
    if page.site.name == "macro_prf":
        page.score(json.dumps({"predictions": HOSTILE, "references": HOSTILE}))
        assert [row[0] for row in until(page.table)][: len(HOSTILE)] == sorted(HOSTILE)
        assert [row[0] for row in csv.reader(io.StringIO(page.download("csv")))][1:-1] == [
            "'=1+1" if label == "=1+1" else label for label in sorted(HOSTILE)
        ]
    elif page.site.name == "leakage":
        texts = [f"{label} is what they said in the town hall" for label in HOSTILE]
        page.score(*[json.dumps(texts)] * 2)
        assert [row[:2] for row in until(page.table)] == [[text, text] for text in texts]
        assert [row[0].removeprefix("'") for row in csv.reader(io.StringIO(page.download("csv")))][1:] == texts
    elif page.site.name == "paired_test":
        for label in HOSTILE:
            answers = {"predictions1": [label], "predictions2": [label], "references": [1]}
            assert label in page.score(json.dumps(answers))
    else:
        for label in HOSTILE:
            assert label in page.score('{"1": "deny"}', json.dumps({"1": label}))
    assert page.find("#scores :is(img, script, a), #summary :is(img, script, a)") == []
    assert (
        page.driver.execute_script("return [...document.images].filter(image => image.src.endsWith('/x')).length") == 0
    )
    with pytest.raises(Exception, match="no such alert"):
        _ = page.driver.switch_to.alert.text


def test_two_people_at_once_see_their_own_scores(driver, site):
    texts = [list(site.app.EXAMPLES), OTHERS[site.name]]
    first = driver.current_window_handle
    pages = {first: Page(driver, site)}
    driver.switch_to.new_window("tab")
    pages[driver.current_window_handle] = Page(driver, site)
    try:
        for (handle, page), pasted in zip(pages.items(), texts, strict=True):
            driver.switch_to.window(handle)
            page.paste(*pasted)
        for handle, page in pages.items():
            driver.switch_to.window(handle)
            page.press("Score")
        for (handle, page), pasted in zip(pages.items(), texts, strict=True):
            driver.switch_to.window(handle)
            assert until(page.result) == site.app.score(*pasted).summary
            assert json.loads(page.download("json")) == site.app.score(*pasted).result
    finally:
        driver.close()
        driver.switch_to.window(first)


def test_the_page_can_be_used_by_keyboard_and_on_a_phone(page):
    from selenium.webdriver.common.keys import Keys

    driver, app = page.driver, page.site.app
    page.paste(*app.EXAMPLES)
    for area in page.texts():
        assert page.button(f"Open a file: {area.accessible_name.lower()}").is_displayed()
    for field in [*page.find("input[type=radio]"), *page.find("#summary textarea")]:
        assert field.accessible_name, field.get_attribute("outerHTML")
    page.texts()[0].click()
    reached = []
    while "Score" not in reached:
        driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(driver.switch_to.active_element.text)
        assert len(reached) < 20, reached
    assert sum("Open a file" in text for text in reached) == len(app.EXAMPLES)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert until(page.result) == app.score(*app.EXAMPLES).summary
    until(page.table)
    for theme in ("light", "dark"):
        driver.execute_script("document.body.classList.toggle('dark', arguments[0])", theme == "dark")
        for width in (390, 1280):
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": False},
            )
            until(lambda width=width: driver.execute_script("return document.documentElement.scrollWidth") <= width)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
