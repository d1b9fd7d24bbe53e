"""The ledger: the same for benchmarks, data sets, frames and lists; JSON, tables and HTML; conditions that fail."""

import json
import os
import random
import subprocess
import sys
import time
from html.parser import HTMLParser

import datasets
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import temporal_rumors
from temporal_rumors import benchmark
from temporal_rumors.audit import audit_benchmark, audit_splits, ledger, overlap
from temporal_rumors.errors import UserError

WORDS = ("police", "say", "nobody", "was", "hurt", "when", "the", "old", "bridge", "near", "station", "fire", "tonight")


def invented(n, seed, *, start="2024-01-01"):
    draws = random.Random(seed)
    times = pd.date_range(start, periods=n, freq="h", tz="UTC")
    return pd.DataFrame(
        {
            "id": [f"{seed}-{i}" for i in range(n)],
            "text": [" ".join(draws.choices(WORDS, k=draws.randint(2, 12))) for _ in range(n)],
            "label": [draws.choice(["rumour", "other"]) for _ in range(n)],
            "created_at": times,
            "event": [draws.choice(["flood", "fire", None]) for _ in range(n)],
        }
    )


TRAIN, TEST = invented(80, 1), invented(40, 2, start="2024-01-02")
TEST = pd.concat([TEST, TRAIN.head(5).assign(id=[f"copy-{i}" for i in range(5)], label="rumour")], ignore_index=True)


def printed(renderables):
    console = Console(width=80, markup=False, highlight=False, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    for renderable in renderables:
        console.print(renderable)
    return console.export_text()


# One ledger, whatever the posts come as


def test_frames_and_data_sets_in_any_order_have_one_ledger():
    expected = audit_splits(TRAIN, TEST)
    assert expected.entry("near_copy").n_test >= 5
    shuffled = [frame.sample(frac=1, random_state=3).iloc[:, ::-1] for frame in (TRAIN, TEST)]
    for sides in (shuffled, [datasets.Dataset.from_pandas(f, preserve_index=False) for f in (TRAIN, TEST)]):
        found = audit_splits(*sides)
        assert found.to_json() == expected.to_json()
        assert ledger.section(found) == ledger.section(expected)
    ids = shuffled[1]["id"].iloc[audit_splits(*shuffled).entry("near_copy").rows]
    assert sorted(ids) == sorted(TEST["id"].iloc[expected.entry("near_copy").rows])


def test_a_class_that_validation_lacks_is_named(data_dir):
    found = audit_benchmark("twitter16_temporal", "chrono", data_dir)
    assert found.absent == {"train": [], "validation": ["true"], "test": []}
    assert found.fails("absent_class>0")
    assert "no true post in the validation part" in ledger.sentences(found)


def test_an_example_of_a_masked_copy_is_masked():
    train, test = (
        "the old bridge is closed, say police " + link
        for link in ("http://a.example/1", "https://b.example/elsewhere/and/much/further/away")
    )
    found = audit_splits([train], [test]).entry("near_copy_masked").examples
    assert [span for kind, span in found[0].spans if kind != "same"] == []
    assert "HTTPURL" in found[0].spans[0][1]


def test_lists_of_texts_have_the_same_near_copies_and_say_what_was_not_checked():
    expected = audit_splits(TRAIN, TEST)
    for form in (list, tuple, np.array, pd.Series, lambda texts: datasets.Dataset.from_dict({"x": list(texts)})["x"]):
        found = audit_splits(form(TRAIN["text"]), form(TEST["text"]))
        for name in ("near_copy", "near_copy_masked"):
            assert found.entry(name).rows.tolist() == expected.entry(name).rows.tolist()
            assert found.entry(name).agree is None
        assert {"same_id", "same_event", "newer_training", "absent_class", "time_alone"} <= set(found.not_checked)
        assert found.split_digest is None


def test_a_benchmark_has_the_ledger_of_its_parts():
    parts = datasets.load_dataset("sample_temporal", "chrono_stratified")
    of_parts = audit_splits(parts["train"], parts["test"]).to_json()
    of_benchmark = audit_benchmark("sample_temporal", "chrono_stratified").to_json()
    # Of a benchmark the validation part is looked at as well.
    assert of_benchmark["absent"].pop("validation") == []
    for key in ("parts", "leaks", "time_alone", "absent", "not_checked"):
        assert of_parts[key] == of_benchmark[key], key
    assert of_benchmark["benchmark"] == "sample_temporal"


def test_the_ledger_does_not_depend_on_hash_seed_time_zone_or_locale():
    code = (
        "import json; from temporal_rumors.audit import audit_benchmark;"
        "print(json.dumps(audit_benchmark('sample_temporal', 'random_fold1').to_json()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **other}, capture_output=True, check=True
        ).stdout
        for other in ({"PYTHONHASHSEED": "1", "TZ": "Asia/Shanghai"}, {"PYTHONHASHSEED": "2", "LC_ALL": "C"})
    }
    assert len(outputs) == 1


def test_the_package_alone_gives_the_audit_and_loads_nothing_heavy():
    code = (
        "import sys, temporal_rumors; temporal_rumors.audit; dir(temporal_rumors.audit);"
        "assert not {'numpy', 'rapidfuzz', 'sklearn', 'pandas'} & set(sys.modules), sorted(sys.modules);"
        "temporal_rumors.audit.audit_splits(['a'], ['b']);"
        "assert not {'torch', 'datasets', 'matplotlib', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert temporal_rumors.audit.audit_splits is audit_splits


# What it says


def test_examples_mark_the_words_that_differ():
    train = [
        "The old bridge near the station is closed, police say",
        "今天下午桥梁已经关闭请大家注意安全谢谢大家的配合支持",
    ]
    test = [
        "The new bridge near the station is closed, police say",
        "今天上午桥梁已经关闭请大家注意安全谢谢大家的配合支持",
    ]
    english, chinese = audit_splits(train, test).entry("near_copy").examples
    if "今" in english.spans[0][1]:
        english, chinese = chinese, english
    assert english.spans == (
        ("same", "The "),
        ("train", "old "),
        ("test", "new "),
        ("same", "bridge near the station is closed, police say"),
    )
    assert chinese.spans[:3] == (("same", "今天"), ("train", "下"), ("test", "上"))
    assert (english.distance, chinese.distance) == (3, 1)


@given(st.text("ab 今天\u0301", min_size=1, max_size=60), st.text("ab 今天\u0301", min_size=1, max_size=60))
def test_spans_hold_both_texts(train, test):
    found = audit_splits([train], [test], threshold=60, short="include").entry("near_copy").examples
    spans = found[0].spans if found else ()
    if spans:
        squeezed = [
            "".join("".join(text for kind, text in spans if kind != other).split()) for other in ("test", "train")
        ]
        assert squeezed == ["".join(train.split()), "".join(test.split())]
        assert {kind for kind, _ in spans} <= {"same", "train", "test"}


def test_examples_run_from_the_nearest_to_the_furthest_and_are_as_many_as_asked_for():
    for n in (0, 1, 2, 5):
        found = audit_splits(TRAIN, TEST, examples=n)
        distances = [example.distance for example in found.entry("near_copy").examples]
        assert distances == sorted(distances)
        assert len(distances) == min(n, found.entry("near_copy").n_test)
        assert all(len(entry.examples) <= n for entry in found.entries)
    assert found.entry("same_event").examples[0].shared in ("flood", "fire")


def test_of_long_texts_an_example_shows_where_they_first_differ():
    train, test = "a" * 100_000, "a" * 50_000 + "b" + "a" * 49_999
    (example,) = audit_splits([train], [test]).entry("near_copy").examples
    shown = "".join(text for _, text in example.spans)
    assert "b" in shown
    assert len(shown) < 2000


def test_time_alone_predicts_labels_that_come_in_spans_and_nothing_after_the_last():
    train = pd.DataFrame(
        {
            "text": [f"post {i}" for i in range(100)],
            "label": [("x", "y")[i // 10 % 2] for i in range(100)],
            "created_at": pd.date_range("2024-01-01", periods=100, freq="D", tz="UTC"),
        }
    )
    within = train.assign(created_at=train["created_at"] + pd.Timedelta("1h"))
    assert audit_splits(train, within).time_alone.f1 == 100
    after = train.assign(created_at=train["created_at"] + pd.Timedelta("1000D"))
    found = audit_splits(train, after).time_alone
    assert found.f1 == pytest.approx(100 / 3)
    assert found.majority_f1 == pytest.approx(100 / 3)
    assert (found.n_train, found.n_test) == (100, 100)


def test_classes_that_a_part_lacks_are_named():
    found = audit_splits(TRAIN, TEST.assign(label="new"))
    assert found.absent == {"train": ["new"], "test": ["other", "rumour"]}
    assert "no other and no rumour post in the test part" in ledger.sentences(found)


def test_texts_too_short_are_counted_by_side():
    found = audit_splits(["a" * 30, "a" * 20, "https://example.org/a-long-path-that-goes-on"], ["b" * 21, "", "a"])
    assert found.short == {"train": 2, "test": 2}
    assert any("2 training and 2 test posts" in line for line in ledger.sentences(found))


def test_labels_of_classes_are_their_names_whatever_their_numbers():
    def of(frame, names):
        features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=names)})
        return datasets.Dataset.from_dict(
            {"text": frame["text"].tolist(), "label": [names.index(label) for label in frame["label"]]}, features
        )

    found = audit_splits(of(TRAIN, ["rumour", "other"]), of(TEST, ["other", "rumour"]))
    assert found.entry("near_copy").agree == audit_splits(TRAIN, TEST).entry("near_copy").agree


def test_digests_follow_the_ids_and_the_texts():
    base = audit_splits(TRAIN, TEST)
    other_ids = audit_splits(TRAIN, TEST.assign(id=[f"x{i}" for i in range(len(TEST))]))
    other_texts = audit_splits(TRAIN, TEST.assign(text=TEST["text"] + "!"))
    assert base.split_digest != other_ids.split_digest
    assert base.data_digest != other_ids.data_digest
    assert base.split_digest == other_texts.split_digest
    assert base.data_digest != other_texts.data_digest
    split = benchmark.get("sample_temporal")
    posts = split.posts()
    found = audit_benchmark("sample_temporal", "chrono")
    assert found.split_digest == split.split(posts, "chrono").digest(posts.ids)
    assert found.data_digest == posts.digest
    assert found.signature.startswith("benchmark:sample_temporal@")


# For terminals, scripts and pages


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = set(), [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


HOSTILE = "<script>alert(1)</script> [bold]x[/bold] \x1b[31m \u202e {{ 1 }} \ud800 & ' \" the bridge is closed"


@pytest.fixture
def hostile():
    frame = pd.DataFrame({name: [HOSTILE] for name in ("id", "text", "label", "event")}, dtype=object)
    return audit_splits(frame, frame.assign(text=pd.Series([f"new {HOSTILE}"], dtype=object)), examples=5)


def test_what_posts_hold_stays_text_on_a_page(hostile):
    page = Page(ledger.section(hostile))
    assert "script" not in page.tags
    assert {"ins", "table", "section"} <= page.tags
    text = "".join(page.text)
    assert "<script>alert(1)</script>" in text
    text.encode("utf-8")
    assert not {"\x1b", "\u202e"} & set(text)


def test_what_posts_hold_stays_text_in_a_terminal(hostile):
    text = printed(ledger.tables(hostile))
    assert "[bold]x[/bold]" in text
    assert not {"\x1b", "\u202e"} & set(text)
    text.encode("utf-8")
    assert "{+new+}" in text


@pytest.mark.parametrize("protocol", ["chrono", "random_fold0"])
def test_tables_fit_into_80_columns(protocol):
    found = audit_benchmark("sample_temporal", protocol)
    lines = printed(ledger.tables(found)).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line and "─" not in line and line.startswith(" near") for line in lines)
    for entry in found.entries:
        assert any(line.split()[:2] == [entry.leak, f"{entry.n_test:,}"] for line in lines)


def test_json_holds_all_and_no_more_than_json_can(hostile):
    assert json.loads(json.dumps(hostile.to_json(), allow_nan=False)) == hostile.to_json()
    names = [leak["leak"] for leak in hostile.to_json()["leaks"]]
    json.dumps(audit_splits(["a"], ["b"], threshold=np.int64(5)).to_json())
    assert names == ["near_copy", "near_copy_masked", "same_id", "same_event"]


# Conditions


def test_conditions_hold_by_number_and_by_share():
    found = audit_splits(["a" * 30], ["a" * 30, "b" * 30, "c" * 30, "d" * 30])
    for condition, holds in {
        "near_copy>0": True,
        "near_copy>1": False,
        "near_copy>=1": True,
        " near_copy >= 25 % ": True,
        "near_copy>25%": False,
        "near_copy>24.9%": True,
        "near_copy_masked>0": True,
    }.items():
        assert found.fails(condition) is holds, condition


def test_time_and_absent_classes_are_conditions_too():
    found = audit_splits(TRAIN, TEST.assign(label="new"))
    assert found.fails("absent_class>2")
    assert not found.fails("absent_class>3")
    assert found.fails("time_alone>=0")
    assert not found.fails("time_alone>100")
    with pytest.raises(UserError, match="absent_class is a number of classes"):
        found.fails("absent_class>2%")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("", "not understood"),
        ("near_copy", "not understood"),
        ("near_copy>", "not understood"),
        ("near_copy<5", "not understood"),
        ("near_copy>-1", "not understood"),
        ("near_copy>٣", "not understood"),
        ("near_copies>0", "did you mean 'near_copy'"),
        ("same_event>0", "same_event was not checked: no events"),
        ("time_alone>0", "time_alone was not checked: it takes times and labels"),
        ("absent_class>0", "absent_class was not checked: no labels"),
    ],
)
def test_conditions_that_could_never_fail_are_refused(condition, message):
    with pytest.raises(UserError, match=message):
        audit_splits(["a"], ["b"]).fails(condition)


# Bad input


@pytest.mark.parametrize(
    ("train", "test", "options", "message"),
    [
        ([], ["a"], {}, "the training posts are empty"),
        (["a"], TEST.head(0), {}, "the test posts are empty"),
        (["a"], ["a", None], {}, r"the test posts, row 1 .*None"),
        (["a"], ["a", 3], {}, r"the test posts, row 1 .*3 \(int\)"),
        (["a"], [{"text": "a"}], {}, "row 0"),
        ("a", "b", {}, "expected a datasets.Dataset"),
        (datasets.DatasetDict(), ["a"], {}, "take one of its parts"),
        (TRAIN, TEST.assign(text=None), {}, "the test posts, row 0"),
        (TRAIN, TEST.drop(columns="text"), {}, "the test posts have no column 'text'"),
        (TRAIN, TEST, {"label_column": "labels"}, "no column 'labels' .did you mean 'label'.*label_column="),
        (TRAIN, TEST.assign(label=1), {}, "labels of the training posts are str, those of the test posts int"),
        (TRAIN, TEST.assign(label=0.5), {}, "the test posts: row 0 .*float.*label_column=None"),
        (TRAIN, TEST.assign(label=None), {}, "the test posts: 45 rows have no label.*label_column=None"),
        (TRAIN, TEST.assign(id="1"), {}, "the test posts: the id '1' stands 45 times.*id_column=None"),
        (TRAIN, TEST.assign(created_at="2024-01-01"), {}, "the test posts: .*no time zone.*time_column=None"),
        (["a"], ["b"], {"threshold": -1}, "threshold"),
        (["a"], ["b"], {"threshold": 1.5}, "threshold"),
        (["a"], ["b"], {"threshold": True}, "threshold"),
        (["a"], ["b"], {"short": "maybe"}, "maybe"),
        (["a"], ["b"], {"examples": -1}, "examples must be an integer"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(train, test, options, message):
    with pytest.raises(UserError, match=message) as caught:
        audit_splits(train, test, **options)
    assert "\n" not in str(caught.value)


def test_unusual_texts_are_audited():
    texts = [
        "",
        "a",
        "a" * 100_000,
        "\ud800" * 30,
        "é" * 30,
        "e\u0301" * 30,
        "\x00" * 30,
        "the same text for all of us",
    ]
    found = audit_splits(texts, texts)
    assert found.entry("near_copy").rows.tolist() == [2, 3, 4, 5, 6, 7]
    assert (
        audit_splits(["the same text for all of us"] * 300, ["the same text for all of us"] * 300)
        .entry("near_copy")
        .n_test
        == 300
    )
    assert audit_splits(["x"] * 100_000, ["x"] * 100_000).entry("near_copy").n_test == 0
    assert audit_splits(texts, texts, threshold=10**9).short == {"train": 8, "test": 8}
    json.dumps(found.to_json())
    printed(ledger.tables(found))


rows = st.lists(
    st.tuples(st.text("ab @", max_size=8), st.sampled_from("xy"), st.integers(0, 5), st.sampled_from(["e", "f", None])),
    min_size=1,
    max_size=6,
)


@given(rows, rows, st.integers(0, 3), st.randoms())
def test_the_order_of_rows_changes_no_byte(train, test, threshold, draws):
    def found():
        sides = [
            pd.DataFrame(
                {
                    "text": [row[0] for row in side],
                    "label": [row[1] for row in side],
                    "created_at": [f"2024-01-0{row[2] + 1}T00:00:00Z" for row in side],
                    "event": pd.Series([row[3] for row in side], dtype=object),
                }
            )
            for side in (train, test)
        ]
        found = audit_splits(*sides, threshold=threshold)
        assert all(0 <= entry.n_test <= len(test) and 0 <= entry.n_train <= len(train) for entry in found.entries)
        return json.dumps(found.to_json())

    before = found()
    draws.shuffle(train)
    draws.shuffle(test)
    assert found() == before


# The real data


def test_table_6_stands_beside_ours_and_benchmarks_that_share_posts_are_found(data_dir):
    overlaps = overlap.overlaps(data_dir=data_dir)
    found = {(row.benchmark, row.protocol): row for row in overlaps.table_6}
    for name, protocol, n, similar, long, paper in [
        ("twitter15_temporal", "chrono", 148, 2, 2, 3),
        ("twitter16_temporal", "chrono_stratified", 82, 2, 2, 6),
        ("pheme_temporal", "chrono", 1161, 13, 13, 39),
        ("weibo_temporal", "chrono_stratified", 933, 98, 48, 41),
    ]:
        row = found.pop((name, protocol))
        assert (row.test_posts, row.similar, row.similar_long) == (n, similar, long)
        assert (row.paper_test_posts, row.paper_similar, row.data_is_published) == (n, paper, True)
    assert {protocol for _, protocol in found} == {"random"}
    for row in found.values():
        assert 0 < row.similar_long <= row.similar < row.test_posts
        assert abs(row.test_posts - row.paper_test_posts) < 1

    assert overlaps.lacking == {}
    shared = {pair: sum(counts.values()) for pair, counts in overlaps.shared.items()}
    assert shared["twitter15_temporal", "twitter16_temporal"] == 0
    assert shared["rumoureval2017 stance", "rumoureval2019 stance"] == 5568
    assert all(x == y for x, y in overlaps.shared["rumoureval2017 stance", "rumoureval2019 stance"])
    assert ("rumoureval2017 stance", "rumoureval2017 veracity") not in shared

    lines = printed(overlap.tables(overlaps)).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    in_json = json.loads(json.dumps(overlaps.to_json()))
    assert len(in_json["table_6"]) == len(overlaps.table_6)
    assert {(row["benchmark"], row["other"]): row["ids"] for row in in_json["shared_ids"]} == shared
    assert all(row["ids"] == sum(each["ids"] for each in row["by_class"]) for row in in_json["shared_ids"])


def test_one_benchmark_is_compared_with_all_others(data_dir):
    found = overlap.overlaps(["twitter16_temporal"], data_dir)
    assert {row.benchmark for row in found.table_6} == {"twitter16_temporal"}
    assert all("twitter16_temporal" in pair for pair in found.shared)
    assert sum(found.shared["pheme_temporal", "twitter16_temporal"].values()) == 129


def test_the_four_way_sets_of_twitter_share_unverified_posts_alone(data_dir):
    def read(name):
        path = data_dir / "rumdetect2017" / name / "label.txt"
        if not path.is_file():
            pytest.skip(f"no {path}")
        lines = (line.split(":") for line in path.read_text(encoding="utf-8").split())
        return {id: label for label, id in lines}

    assert overlap.shared_ids(read("twitter15"), read("twitter16")) == {("unverified", "unverified"): 169}


def test_a_benchmark_without_data_is_named_not_read(tmp_path):
    with pytest.raises(UserError, match=r"pheme_temporal: .*pheme_2603\.csv"):
        overlap.overlaps(["sample_temporal", "pheme_temporal"], tmp_path)
    found = overlap.overlaps(["sample_temporal"], tmp_path)
    assert {"pheme_temporal", "rumoureval2017 stance"} <= set(found.lacking)
    assert (found.shared, found.table_6) == ({}, [])
    assert "left out" in printed(overlap.tables(found))


def test_data_that_are_not_the_published_ones_are_refused_where_they_are_named(tmp_path):
    name = benchmark.get("pheme_temporal").source.file.name
    (tmp_path / name).write_text("something else")
    assert "pheme_temporal" in overlap.overlaps([], tmp_path).lacking
    with pytest.raises(UserError, match=name):
        overlap.overlaps(["pheme_temporal"], tmp_path)


def test_authors_of_conversations_are_known(data_dir):
    touched = {
        (task, protocol): audit_benchmark("rumoureval2017", protocol, data_dir, task=task).entry("same_author").n_test
        for task, protocol in (("stance", "official"), ("stance", "chrono"), ("veracity", "official"))
    }
    assert touched == {("stance", "official"): 44, ("stance", "chrono"): 58, ("veracity", "official"): 13}


def test_signatures_differ_where_anything_that_was_read_does():
    changes = [
        {},
        {"label": TRAIN["label"].replace({"rumour": "other", "other": "rumour"})},
        {"event": "flood"},
        {"created_at": TRAIN["created_at"] + pd.Timedelta("1s")},
        {"author": "a"},
    ]
    assert len({audit_splits(TRAIN.assign(**change), TEST).signature for change in changes}) == len(changes)


def test_the_audit_of_pheme_takes_under_two_seconds(data_dir):
    audit_splits(TRAIN, TEST)  # Imports.
    start = time.perf_counter()
    found = audit_benchmark("pheme_temporal", "chrono", data_dir)
    assert time.perf_counter() - start < 2
    assert (found.entry("near_copy").n_test, found.entry("near_copy").agree) == (13, 13)
    assert found.entry("newer_training").n_test == 0


@pytest.mark.parametrize("name", ["twitter15_temporal", "twitter16_temporal", "weibo_temporal"])
def test_under_random_folds_the_date_alone_tells_the_class(data_dir, name):
    assert audit_benchmark(name, "random_fold0", data_dir).time_alone.f1 > 80
    stratified = audit_benchmark(name, "chrono_stratified", data_dir).time_alone
    assert stratified.f1 < 50
