"""The join of near copies: the same pairs as brute force, whatever the texts; what is left out; what is refused."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from temporal_rumors import benchmark
from temporal_rumors.audit import neighbours
from temporal_rumors.audit.neighbours import groups, is_short, mask, near_duplicates
from temporal_rumors.errors import UserError

# Few different characters make many near pairs; astral ones, combining marks and lone surrogates are characters too.
ALPHABETS = ("ab", "abcdefgh etaoin", "aé́e😀\ud83d\U0001f600 ", "的一是在不了有和人这中大为上个国我以要他")
letters = st.sampled_from(ALPHABETS).flatmap(lambda alphabet: st.sampled_from(alphabet))
free = st.text(st.one_of(letters, st.characters(codec=None)), max_size=60)


@st.composite
def lists(draw: st.DrawFn) -> list[str]:
    """Texts, some of them the work of a few edits on others, or equal."""
    texts = draw(st.lists(free, max_size=12))
    for _ in range(draw(st.integers(0, 8)) if texts else 0):
        text = draw(st.sampled_from(texts))
        for _ in range(draw(st.integers(0, 6))):
            at, much = draw(st.integers(0, len(text))), draw(st.integers(0, 8))
            text = text[:at] + draw(st.text(letters, max_size=8)) + text[at + much :]
        texts.append(text)
    return texts


thresholds = st.one_of(st.integers(0, 40), st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 0.1, 0.29, 0.5]))


def distance(a: str, b: str) -> int:
    """Levenshtein distance by dynamic programming."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def brute(queries: list[str], corpus: list[str] | None, threshold: float, measure: Any = distance) -> list[list[int]]:
    """All pairs within the threshold, one by one."""
    found = []
    for i, a in enumerate(queries):
        for j, b in enumerate(queries if corpus is None else corpus):
            if corpus is None and j <= i:
                continue
            d = measure(a, b)
            share = d / max(len(a), len(b), 1)
            if (d if isinstance(threshold, int) else share) <= threshold:
                found.append([i, j, d])
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks and samples of a few texts, so that small joins have many."""
    for name, value in {"_CELLS": 24, "_COLUMNS": 5, "_CHUNK": 600, "_SAMPLE": 4}.items():
        monkeypatch.setattr(neighbours, name, value)


@settings(max_examples=150)
@given(lists(), lists(), thresholds)
@example(["a", ""], [""], 1)
@example([""], ["", ""], 0.0)
@example(["\ud83d\ude00"], ["😀"], 2)
@example(["é" * 30], ["e\u0301" * 30], 30)
def test_the_pairs_of_two_lists_are_those_of_brute_force(a: list[str], b: list[str], threshold: float) -> None:
    found = near_duplicates(a, b, threshold, "include", workers=1)
    assert found.dtype == np.int64
    assert found.shape[1:] == (3,)
    assert found.tolist() == brute(a, b, threshold)


@settings(max_examples=150)
@given(lists(), thresholds)
def test_the_pairs_of_one_list_are_those_of_brute_force_once_each(texts: list[str], threshold: float) -> None:
    assert near_duplicates(texts, None, threshold, "include", workers=1).tolist() == brute(texts, None, threshold)


def edited(text: str, n: int, draws: random.Random, alphabet: str) -> str:
    """Return a text after n edits; they often come in a burst, which moves what follows."""
    signs, at = list(text), 0
    kinds = draws.choice(["ids", "i", "d", "s", "id"])
    for _ in range(n):
        if draws.random() < 0.4:
            at = draws.randrange(len(signs) + 1)
        kind = draws.choice(kinds)
        if kind == "i":
            signs.insert(at, draws.choice(alphabet))
        elif at < len(signs):
            signs[at : at + 1] = [] if kind == "d" else [draws.choice(alphabet)]
    return "".join(signs)


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=["two", "latin", "odd", "chinese"])
@pytest.mark.parametrize("threshold", [1, 3, 20, 40, 0.15])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.usefixtures("small_blocks")
def test_longer_texts_in_many_blocks_pair_as_by_brute_force(alphabet: str, threshold: float, workers: int) -> None:
    draws = random.Random(f"{alphabet!a} {threshold}")
    texts = ["".join(draws.choices(alphabet, k=draws.randrange(150))) for _ in range(40)]
    # Just within and just beyond the threshold.
    most = threshold if isinstance(threshold, int) else 15
    texts += [
        edited(draws.choice(texts), draws.randrange(max(0, most - 3), most + 3), draws, alphabet) for _ in range(80)
    ]
    texts += draws.choices(texts, k=10)
    draws.shuffle(texts)
    queries, corpus = texts[:50], texts[50:]
    expected = brute(queries, corpus, threshold, Levenshtein.distance)
    assert near_duplicates(queries, corpus, threshold, "include", workers=workers).tolist() == expected
    expected = brute(texts, None, threshold, Levenshtein.distance)
    assert near_duplicates(texts, None, threshold, "include", workers=workers).tolist() == expected
    assert expected


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from(ALPHABETS), st.integers(0, 40), st.integers(0, 200))
def test_no_signature_rules_out_what_that_many_edits_made(seed: int, alphabet: str, threshold: int, n: int) -> None:
    draws = random.Random(seed)
    # Halves that share no character make every shift of the middle count.
    text = "".join(draws.choices(alphabet[: len(alphabet) // 2], k=n // 2) + draws.choices(alphabet, k=n - n // 2))
    copies = [edited(text, threshold, draws, alphabet) for _ in range(8)]
    found = near_duplicates([text], copies, threshold, "include", workers=1)
    assert found[:, 1].tolist() == list(range(8))


@settings(max_examples=50)
@given(lists(), lists(), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_order_of_the_texts_changes_nothing_but_their_numbers(
    a: list[str], b: list[str], threshold: int, draws: random.Random
) -> None:
    one, other = draws.sample(range(len(a)), len(a)), draws.sample(range(len(b)), len(b))
    found = near_duplicates([a[i] for i in one], [b[j] for j in other], threshold, "include")
    back = sorted([one[i], other[j], d] for i, j, d in found.tolist())
    assert back == near_duplicates(a, b, threshold, "include").tolist()


def test_sides_change_places_with_their_texts() -> None:
    a, b = ["kitten", "sitting", "mitten"], ["kitten", "smitten"]
    there, back = near_duplicates(a, b, 3, "include"), near_duplicates(b, a, 3, "include")
    assert there.tolist() == sorted(back[:, [1, 0, 2]].tolist())


@given(st.integers(1, 300), st.integers(0, 299), st.sampled_from([-2, -1, 0, 1]))
def test_a_share_is_compared_as_a_quotient(length: int, limit: int, steps: int) -> None:
    share = limit % length / length
    for _ in range(abs(steps)):
        share = max(0.0, float(np.nextafter(share, np.sign(steps))))
    found = neighbours._limits(share, length)[length]
    assert found / length <= share < (found + 1) / length


# What is short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", True),
        (" \t\u3000\n" * 10, True),
        ("x" * 20, True),
        ("x" * 21, False),
        ("https://example.org/a/long/path?with=words", True),
        ("  http://t.co/abcdefghij \n www.example.org/abc HTTPURL  ", True),
        ("http://t.co/abcdefghij x", False),
        ("见 http://t.cn/abcdefghijklmn", False),
        ("http://t.cn/abcdefghijklmnop我们在这里", False),
        ("http://" * 5000, True),
        ("http://" * 5000 + " x", False),
    ],
)
def test_short_are_texts_within_the_threshold_blank_ones_and_links_alone(text: str, short: bool) -> None:
    assert is_short([text]).tolist() == [short]


def test_under_a_share_only_blank_texts_and_links_are_short() -> None:
    assert is_short(["", "ab", "http://t.co/x"], 0.2).tolist() == [True, False, True]


def test_short_texts_are_left_out_on_both_sides_unless_included() -> None:
    long, brief, link = "a text that is long enough", "a text that is long", "http://example.org/a-text-that-is-long"
    assert near_duplicates([long, brief], [brief, long, link]).tolist() == [[0, 1, 0]]
    assert near_duplicates([brief, long, link, long]).tolist() == [[1, 3, 0]]
    assert near_duplicates([long, brief], [brief, long], short="include").tolist() == [
        [0, 0, 7],
        [0, 1, 0],
        [1, 0, 0],
        [1, 1, 7],
    ]


@given(lists(), st.integers(0, 30))
def test_leaving_short_texts_out_is_dropping_their_pairs(texts: list[str], threshold: int) -> None:
    short = is_short(texts, threshold)
    every = near_duplicates(texts, None, threshold, "include")
    kept = every[~short[every[:, :2]].any(axis=1)]
    assert np.array_equal(near_duplicates(texts, None, threshold), kept)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("see http://t.co/aB1 and\thttps://example.org/x?y=1  now ", "see HTTPURL and HTTPURL now"),
        ("RT @some_one: hi @a, write to me@example.org", "RT @USER: hi @USER, write to me@example.org"),
        ("转发@人民日报：看http://t.cn/abc这里\u3000www.weibo.com/1", "转发@USER：看HTTPURL这里 HTTPURL"),
        ("", ""),
    ],
)
def test_masking_hides_links_mentions_and_runs_of_blanks(text: str, masked: str) -> None:
    assert mask(text) == masked


@given(st.text(st.one_of(st.sampled_from("@ h:/.w\t"), st.characters(codec=None))))
def test_masking_a_masked_text_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


# Groups


def test_groups_join_what_pairs_join_directly_or_through_others() -> None:
    pairs = np.array([[4, 5, 0], [1, 3, 2], [3, 6, 7]])
    assert groups(7, pairs).tolist() == [0, 1, 2, 1, 3, 3, 1]
    assert groups(3, np.empty((0, 3), dtype=np.int64)).tolist() == [0, 1, 2]
    assert groups(0, np.empty((0, 3), dtype=np.int64)).tolist() == []


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_groups_are_numbered_by_their_first_member(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    of = list(range(n))
    for _ in range(n):
        for i, j in pairs:
            of[i] = of[j] = min(of[i], of[j])
    expected = {first: k for k, first in enumerate(sorted(set(of)))}
    found = groups(n, np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert found.tolist() == [expected[first] for first in of]


@pytest.mark.parametrize("bad", [-1, 3])
def test_groups_refuse_texts_that_do_not_exist(bad: int) -> None:
    with pytest.raises(UserError, match=f"pairs name text {bad}; there are 3"):
        groups(3, np.array([[0, bad]]))


# Odd and bad input


def test_empty_lists_have_no_pairs() -> None:
    for found in (
        near_duplicates([]),
        near_duplicates([], []),
        near_duplicates(["a" * 30], []),
        near_duplicates([], [""]),
    ):
        assert found.shape == (0, 3)
        assert found.dtype == np.int64


def test_equal_texts_pair_with_each_other() -> None:
    found = near_duplicates(["the same text, word for word"] * 1000)
    assert len(found) == 1000 * 999 // 2
    assert np.array_equal(found[:, :2], np.stack(np.triu_indices(1000, 1), axis=1))
    assert not found[:, 2].any()


def test_more_pairs_than_can_be_held_are_refused_before_they_are_made() -> None:
    texts = ["the same text, word for word"] * 200_000
    start = time.perf_counter()
    with pytest.raises(UserError, match=r"more than 50,000,000 pairs.*distinct texts"):
        near_duplicates(texts)
    with pytest.raises(UserError, match="more than 50,000,000 pairs"):
        near_duplicates(texts, texts)
    with pytest.raises(UserError, match="more than 50,000,000 pairs"):
        near_duplicates(texts[:9000] + ["the same text, word for word!"] * 9000)
    assert time.perf_counter() - start < 10


def test_a_million_short_texts_are_left_out_at_once() -> None:
    start = time.perf_counter()
    assert len(near_duplicates(list("abcde" * 200_000))) == 0
    assert time.perf_counter() - start < 5


def test_a_very_long_text_pairs_with_its_copy() -> None:
    text = "".join(random.Random(0).choices("etaoin shrdlu", k=100_000))
    found = near_duplicates([text, "short but not too short"], ["x" + text[:-7], text[:-30], "y" * 99_990])
    assert found.tolist() == [[0, 0, 8]]


def test_arrays_and_series_of_texts_are_taken() -> None:
    import pandas as pd

    texts = ["a text that is long enough", "another, quite different in its words", "a text that was long enough"]
    for given_ in (np.array(texts), np.array(texts, dtype=object), pd.Series(texts, index=[7, 8, 9]), iter(texts)):
        assert near_duplicates(given_).tolist() == [[0, 2, 2]]


@pytest.mark.parametrize("bad", [-1, True, False, 1.0, 20.0, -0.1, float("nan"), float("inf"), "20", None])
def test_thresholds_that_are_neither_a_distance_nor_a_share_are_refused(bad: Any) -> None:
    for call in (lambda: near_duplicates(["a"], ["b"], bad), lambda: is_short(["a"], bad)):
        with pytest.raises(UserError, match=r"threshold is .*expected a whole number from 0 on"):
            call()


def test_a_huge_threshold_pairs_everything() -> None:
    texts = ["", "a", "a text", "b" * 300]
    found = near_duplicates(texts, None, 10**30, "include")
    assert found.tolist() == brute(texts, None, 10**30)
    assert len(found) == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: near_duplicates(["a", None], ["b"]), r"queries\[1\] is None; expected a string"),
        (lambda: near_duplicates(["a"], ["b", "c", 3]), r"corpus\[2\] is of type int; expected a string"),
        (lambda: near_duplicates(["a"], [b"b"]), r"corpus\[0\] is of type bytes"),
        (lambda: near_duplicates("a text"), "queries is one text; expected a list"),
        (lambda: is_short([float("nan")]), r"texts\[0\] is of type float"),
        (lambda: near_duplicates(["a"], short="excluded"), "unknown way with short texts 'excluded'.*'exclude'"),
        (lambda: near_duplicates(["a"], workers=0), "workers is 0"),
        (lambda: near_duplicates(["a"], workers=True), "workers is True"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()


# Real data


@pytest.mark.parametrize(
    ("name", "protocol", "n", "touched", "touched_long"),
    [
        ("twitter15_temporal", "chrono", 148, 2, 2),
        ("twitter16_temporal", "chrono_stratified", 82, 2, 2),
        ("pheme_temporal", "chrono", 1161, 13, 13),
        ("weibo_temporal", "chrono_stratified", 933, 98, 48),
    ],
)
def test_test_posts_near_a_training_post_are_as_many_as_counted_one_by_one(
    data_dir: Path, name: str, protocol: str, n: int, touched: int, touched_long: int
) -> None:
    b = benchmark.get(name)
    posts = b.posts(data_dir)
    split = b.split(posts, protocol)
    test, train = posts.texts[split.test].tolist(), posts.texts[split.train].tolist()
    assert len(test) == n
    near = np.unique(near_duplicates(test, train, short="include")[:, 0])
    assert len(near) == touched
    assert len(np.unique(near_duplicates(test, train)[:, 0])) == touched_long
    if name == "weibo_temporal":
        assert sum(len(test[i]) <= 20 for i in near) == 46
