"""Each leak finds the test posts that it touches, and no others, whatever the order of the posts."""

import random
from itertools import product
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors import benchmark
from temporal_rumors.audit.leaks import (
    NAMES,
    SHARED,
    Sample,
    find_leaks,
    is_short_masked,
    links_of,
    not_checked,
    sample_of,
)
from temporal_rumors.audit.neighbours import mask

COLUMNS = ("ids", "threads", "events", "authors")
COLUMN_OF = {name: column for name, (column, _) in SHARED.items()}


def array(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def sample(*texts, times=None, **columns):
    return Sample(
        texts=array(texts),
        links=links_of(texts),
        times=None if times is None else np.array(times, dtype="datetime64[ms]"),
        **{name: array(values) for name, values in columns.items()},
    )


def found(train, test, **options):
    return {leak.name: leak for leak in find_leaks(train, test, **options)}


# Near copies


def test_near_copies_are_all_pairs_within_the_threshold_and_agree_by_the_nearest():
    train = sample("a" * 40, "a" * 36 + "bbbb", "c" * 40, labels=["x", "y", "y"])
    test = sample("a" * 38 + "bb", "d" * 40, "a" * 40, labels=["y", "y", "x"])
    leak = found(train, test, threshold=4)["near_copy"]
    assert leak.pairs.tolist() == [[0, 0, 2], [0, 1, 2], [2, 0, 0], [2, 1, 4]]
    assert leak.touched.tolist() == [0, 2]
    # The two nearest to the first disagree: no majority.
    assert (leak.agree, leak.n_train) == (1, 2)


def test_masked_copies_differ_in_links_and_mentions_alone():
    train = sample("@somebody the old bridge is closed  https://example.org/page?number=1")
    test = sample(
        "@somebody_entirely_different_and_long the old bridge is closed https://example.com/elsewhere/and/longer"
    )
    assert mask(train.texts[0]) == mask(test.texts[0])
    leaks = found(train, test)
    assert (len(leaks["near_copy"].touched), len(leaks["near_copy_masked"].touched)) == (0, 1)
    assert leaks["near_copy_masked"].pairs.tolist() == [[0, 0, 0]]


def test_equal_texts_are_compared_once_and_all_of_them_counted():
    text, other = "the old bridge is closed, say police", "the new bridge is closed, say police"
    train = sample(*[text] * 9_000, other, labels=["x"] * 5_000 + ["y"] * 4_000 + ["y"])
    test = sample(*[text] * 9_000, other, "something else that is long enough", labels=["x"] * 4_000 + ["y"] * 5_002)
    for name in ("near_copy", "near_copy_masked"):
        leak = found(train, test)[name]
        assert (len(leak.touched), leak.n_train) == (9_001, 9_001)
        assert leak.agree == 4_000 + 1  # the nearest are the equal ones
        assert len(leak.pairs) < 60_000
        assert leak.pairs[:, 2].max() == 3


def test_texts_in_another_normal_form_are_copies_once_masked():
    text = "Cây cầu cũ ở gần nhà ga đã bị đóng cửa, cảnh sát cho biết như vậy"
    train, test = sample(normalize("NFC", text)), sample(normalize("NFD", text))
    leaks = found(train, test)
    assert (len(leaks["near_copy"].touched), leaks["near_copy_masked"].pairs.tolist()) == (0, [[0, 0, 0]])


def test_a_training_post_that_shares_two_links_is_one_partner():
    one, two = "http://x.example/a", "http://x.example/b"
    train = sample(f"see {one} {two}", f"look {one}", labels=["yes", "no"])
    assert found(train, sample(f"{one} {two} again", labels=["yes"]))["same_link"].agree == 0
    assert found(train, sample(f"{two} again", labels=["yes"]))["same_link"].agree == 1


def test_masks_do_not_make_a_short_text_long():
    train = sample("@somebody @another @third well said all", "@somebody the old bridge is closed")
    test = sample("@few @other @people not in my view", "@people the old bridge was closed")
    assert found(train, test)["near_copy_masked"].pairs.tolist() == [[1, 1, 2]]
    included = found(train, test, short="include")["near_copy_masked"].pairs.tolist()
    assert [0, 0] in [pair[:2] for pair in included]
    assert is_short_masked(train.texts, 20).tolist() == [True, False]
    assert is_short_masked(["@a https://example.org/page", "@a x"], 0.2).tolist() == [True, False]


def test_short_texts_are_no_near_copies_unless_asked_for():
    train, test = sample("no", "so what is new about the old bridge"), sample("yes")
    assert len(found(train, test)["near_copy"].touched) == 0
    assert found(train, test, short="include")["near_copy"].touched.tolist() == [0]


# What posts share


@pytest.mark.parametrize("name", [name for name in SHARED if name != "same_link"])
def test_posts_that_share_something_are_found_by_hash_and_by_loop_alike(name):
    draws, column = random.Random(name), COLUMN_OF[name]
    for _ in range(30):
        sides = []
        for n in (draws.randint(1, 12), draws.randint(1, 8)):
            values = [draws.choice(["a", "b", "c", "d", None]) for _ in range(n)]
            labels = [draws.choice(["x", "y"]) for _ in range(n)]
            sides.append((sample(*["text"] * n, **{column: values}, labels=labels), values, labels))
        (train, train_values, train_labels), (test, test_values, test_labels) = sides
        leak = found(train, test)[name]
        pairs = [
            (i, j)
            for (i, a), (j, b) in product(enumerate(test_values), enumerate(train_values))
            if a == b and a is not None
        ]
        assert leak.touched.tolist() == sorted({i for i, _ in pairs})
        assert set(leak.pairs[:, 0]) == {i for i, _ in pairs}
        assert set(leak.pairs[:, 1]) == {j for _, j in pairs}
        assert {(i, j) for i, j, _ in leak.pairs.tolist()} <= set(pairs)
        assert len(leak.pairs) <= len(train) + len(test)
        votes = {i: [train_labels[j] == test_labels[i] for k, j in pairs if k == i] for i, _ in pairs}
        assert leak.agree == sum(sum(same) > len(same) / 2 for same in votes.values())


def test_posts_with_several_links_share_any_of_them():
    train = sample("see https://example.org/a and http://example.org/b", "see https://example.org/c", "no link")
    test = sample("https://example.org/c http://EXAMPLE.org/b", "https://example.org/d", "https://example.org/a.")
    leak = found(train, test)["same_link"]
    assert leak.touched.tolist() == [0, 2]
    assert set(leak.pairs[:, 1]) == {0, 1}


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("https://Example.org/A", ("example.org/A",)),
        ("HTTP://example.org:8080/a?b=c#d", ("example.org:8080/a?b=c#d",)),
        ("(see https://example.org/a).", ("example.org/a",)),
        ("https://example.org/a下午", ("example.org/a",)),
        ("https://example.org/b https://example.org/a https://example.org/b", ("example.org/a", "example.org/b")),
        ("https://example.org https://example.org/", ()),
        ("https://example.org/ab… https://example.org/ab...", ()),
        ("HTTPURL URL http:// https:// www.example.org/a", ()),
        ("\ud800https://example.org/a\ud800", ("example.org/a",)),
    ],
)
def test_links_are_read_where_they_name_a_page(text, links):
    (read,) = links_of([text]) if links else [links_of([text])]
    assert read == (links or None)


def test_long_texts_of_links_are_read_in_no_time():
    assert links_of(["https://example.org/" * 20_000 + "!" * 100_000]) is not None
    assert links_of(["https://example.org/a" + "." * 100_000]) is None
    assert links_of(["https://" + "a." * 100_000]) is None


# Time


def test_test_posts_older_than_a_training_post_are_touched_and_the_newer_training_posts_counted():
    train = sample(*"abcd", times=["2024-01-01", "2024-01-05", "2024-01-03", "NaT"])
    test = sample(*"abcd", times=["2024-01-04", "2024-01-05", "NaT", "2024-01-02"])
    leak = found(train, test)["newer_training"]
    assert leak.touched.tolist() == [0, 3]
    # Newer than the oldest test post.
    assert sorted(set(leak.pairs[:, 1])) == [1, 2]
    assert leak.agree is None


def test_times_of_two_units_compare():
    train, test = sample("a", times=["2024-01-02"]), sample("b", times=["2024-01-01"])
    other = Sample(texts=train.texts, times=train.times.astype("datetime64[ns]"))
    assert len(found(other, test)["newer_training"].touched) == len(found(train, test)["newer_training"].touched) == 1


# What cannot be looked for


def test_what_a_side_lacks_is_left_out_and_named():
    train = sample("a https://example.org/a", ids=["1"], events=["x"], labels=["y"])
    test = sample("b", ids=["1"])
    assert [leak.name for leak in find_leaks(train, test)] == ["near_copy", "near_copy_masked", "same_id"]
    assert not_checked(train, test) == {
        "same_thread": "no threads",
        "same_event": "no events in the test posts",
        "same_author": "no authors",
        "same_link": "no links in the test posts",
        "newer_training": "no times",
    }
    assert all(leak.agree is None for leak in find_leaks(train, test))


def test_all_leaks_come_in_the_order_of_their_names():
    side = sample("a https://example.org/a", times=["2024-01-01"], **{column: ["x"] for column in COLUMNS})
    assert tuple(leak.name for leak in find_leaks(side, side)) == NAMES
    assert not_checked(side, side) == {}


# Invariants

posts = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.text("ab @\u4e00", max_size=9)
            | st.sampled_from(["https://example.org/a", "https://example.org/b"]),
            "labels": st.sampled_from("xy"),
            "events": st.sampled_from(["e", "f", None]),
            "times": st.sampled_from(["2024-01-01", "2024-01-02", "2024-01-03", "NaT"]),
        }
    ),
    min_size=1,
    max_size=8,
)


def of(rows):
    columns = {name: [row[name] for row in rows] for name in ("labels", "events", "times")}
    return sample(*[row["text"] for row in rows], **columns)


def told(leaks, test):
    return {leak.name: (sorted(map(repr, (test[i] for i in leak.touched))), leak.n_train, leak.agree) for leak in leaks}


@given(posts, posts, st.integers(0, 3), st.sampled_from(["exclude", "include"]), st.randoms())
def test_the_order_of_posts_changes_nothing_and_all_that_is_touched_is_in_a_pair(train, test, threshold, short, draws):
    leaks = find_leaks(of(train), of(test), threshold, short)
    for leak in leaks:
        assert leak.touched.tolist() == sorted(set(leak.touched.tolist()))
        assert ((leak.touched >= 0) & (leak.touched < len(test))).all()
        assert (set(leak.touched) <= set(leak.pairs[:, 0])) or not len(leak.touched)
        assert leak.pairs.tolist() == sorted(leak.pairs.tolist())
        assert leak.agree is None or 0 <= leak.agree <= len(leak.touched)
    before = told(leaks, test)
    draws.shuffle(train)
    draws.shuffle(test)
    assert told(find_leaks(of(train), of(test), threshold, short), test) == before


# The real data


def real(data_dir, name, protocol, **options):
    b = benchmark.get(name)
    posts = b.posts(data_dir)
    split = b.split(posts, protocol)
    return found(sample_of(posts, split.train), sample_of(posts, split.test), **options)


@pytest.mark.parametrize(
    ("name", "protocol", "raw", "default"),
    [
        ("twitter15_temporal", "chrono", 2, 2),
        ("twitter16_temporal", "chrono_stratified", 2, 2),
        ("pheme_temporal", "chrono", 13, 13),
        ("weibo_temporal", "chrono_stratified", 98, 48),
    ],
)
def test_near_copies_of_the_real_splits(data_dir, name, protocol, raw, default):
    assert len(real(data_dir, name, protocol, short="include")["near_copy"].touched) == raw
    assert len(real(data_dir, name, protocol)["near_copy"].touched) == default


def test_newer_training_posts_are_those_that_the_split_reports(data_dir):
    b = benchmark.get("weibo_temporal")
    posts = b.posts(data_dir)
    split = b.split(posts, "chrono_stratified")
    leak = found(sample_of(posts, split.train), sample_of(posts, split.test))["newer_training"]
    assert leak.n_train == b.report(posts, split).newer_than_test == 1349


def test_no_conversation_of_rumoureval_straddles_parts_but_events_do(data_dir):
    touched = {name: len(leak.touched) for name, leak in real(data_dir, "rumoureval2017", "official").items()}
    assert touched["same_id"] == touched["same_thread"] == 0
    assert touched["same_event"] > 0 < touched["same_link"]
