"""The sample corpus: reproducible to the byte, honest in its side channels, inflated by near copies and drift."""

from __future__ import annotations

import csv
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from temporal_rumors import protocols

MAKE_POSTS = importlib.import_module("temporal_rumors.dataset_scripts.sample_temporal.make_posts")
FOLDER = Path(MAKE_POSTS.__file__).parent


class Corpus:
    """posts.csv in columns."""

    def __init__(self) -> None:
        with open(FOLDER / "posts.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.header = list(rows[0])
        self.ids = np.array([row["id"] for row in rows])
        self.texts = np.array([row["text"] for row in rows], dtype=object)
        self.stamps = [row["created_at"] for row in rows]
        self.times = np.array([stamp.removesuffix("Z") for stamp in self.stamps], dtype="datetime64[s]")
        self.labels = np.array([row["label"] for row in rows])
        self.events = np.array([row["event"] for row in rows])

    def folds(self, times: np.ndarray | None = None) -> list[protocols.Split]:
        return protocols.random_folds(self.labels, ids=self.ids, times=self.times if times is None else times)

    def f1(self, split: protocols.Split) -> float:
        """Macro-F1 in percent of logistic regression on word n-grams, its C chosen on the validation part."""
        words = TfidfVectorizer(ngram_range=(1, 3), min_df=3, max_features=5000).fit(self.texts[split.train])
        x = {part: words.transform(self.texts[rows]) for part, rows in split.parts().items()}
        y = {part: self.labels[rows] for part, rows in split.parts().items()}
        models = [LogisticRegression(C=c, max_iter=1000).fit(x["train"], y["train"]) for c in (0.1, 1, 10, 100)]
        best = max(models, key=lambda model: macro_f1(y["validation"], model.predict(x["validation"])))
        return macro_f1(y["test"], best.predict(x["test"]))


def macro_f1(references: np.ndarray, predictions: np.ndarray) -> float:
    return 100 * float(f1_score(references, predictions, average="macro"))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus()


@pytest.fixture(scope="module")
def random_scores(corpus: Corpus) -> list[float]:
    return [corpus.f1(split) for split in corpus.folds()]


@pytest.fixture(params=["chrono", "chrono_stratified"])
def chronological_split(request: pytest.FixtureRequest, corpus: Corpus) -> protocols.Split:
    return protocols.make_split(request.param, ids=corpus.ids, times=corpus.times, labels=corpus.labels)


def test_the_generator_writes_the_committed_bytes(tmp_path: Path) -> None:
    MAKE_POSTS.main(tmp_path)
    assert (tmp_path / "posts.csv").read_bytes() == (FOLDER / "posts.csv").read_bytes()


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_bytes_depend_on_neither_hash_seed_nor_time_zone_nor_locale(tmp_path: Path, zone: str) -> None:
    env = {**os.environ, "PYTHONHASHSEED": "4321", "TZ": zone, "LC_ALL": "C", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, FOLDER / "make_posts.py", tmp_path], env=env, cwd=tmp_path, check=True)
    assert (tmp_path / "posts.csv").read_bytes() == (FOLDER / "posts.csv").read_bytes()


def test_another_seed_gives_other_posts() -> None:
    assert MAKE_POSTS.make_posts(1) != MAKE_POSTS.make_posts(2)


def test_every_field_has_the_promised_form(corpus: Corpus) -> None:
    assert corpus.header == ["id", "text", "created_at", "label", "event"]
    assert len(set(corpus.ids)) == len(corpus.ids)
    assert all(re.fullmatch(r"s-\d{4}", i) for i in corpus.ids)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp) for stamp in corpus.stamps)
    assert corpus.stamps == sorted(corpus.stamps)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", event) for event in corpus.events)


def test_texts_are_short_single_lines_without_real_links_or_mentions(corpus: Corpus) -> None:
    for text in corpus.texts:
        assert 40 <= len(text) <= 140
        assert "\n" not in text
        assert "http" not in text
        assert set(re.findall(r"@\w*", text)) <= {"@USER"}


def test_both_classes_are_about_even_overall_and_present_in_every_event(corpus: Corpus) -> None:
    counts = Counter(zip(corpus.events, corpus.labels, strict=True))
    assert len(counts) == 2 * len(MAKE_POSTS.EVENTS)
    assert min(counts.values()) >= 20
    assert set(corpus.labels) == {"rumour", "non-rumour"}
    assert 0.4 < np.mean(corpus.labels == "rumour") < 0.6


def test_events_follow_one_another_with_modest_overlaps(corpus: Corpus) -> None:
    slugs = [event.slug for event in MAKE_POSTS.EVENTS]
    spans = [(times.min(), times.max()) for times in (corpus.times[corpus.events == slug] for slug in slugs)]
    for (begin, end), (next_begin, next_end) in pairwise(spans):
        overlap = end - next_begin
        assert np.timedelta64(0) < overlap < (end - begin) / 4
        assert begin < next_begin
        assert end < next_end


@pytest.mark.parametrize("channel", ["length", "time of day", "number in the id"])
def test_a_side_channel_alone_does_not_give_the_label_away(corpus: Corpus, channel: str) -> None:
    values = {
        "length": np.array([len(text) for text in corpus.texts]),
        "time of day": (corpus.times - corpus.times.astype("datetime64[D]")).astype(int),
        "number in the id": np.array([int(i.removeprefix("s-")) for i in corpus.ids]),
    }[channel][:, None]
    scores = []
    for split in corpus.folds():
        tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
        tree.fit(values[split.train], corpus.labels[split.train])
        scores.append(macro_f1(corpus.labels[split.test], tree.predict(values[split.test])))
    assert np.mean(scores) < 62


def copied(corpus: Corpus, rows: np.ndarray, others: np.ndarray, overlap: float = 0.7) -> np.ndarray:
    """Which of `rows` share at least this part of their words (Jaccard) with one of `others`."""
    words = {i: set(re.findall(r"\w+", corpus.texts[i].lower())) for i in {*rows, *others}}
    return np.array([any(len(words[i] & words[j]) >= overlap * len(words[i] | words[j]) for j in others) for i in rows])


def test_random_folds_put_near_copies_of_test_posts_into_training(corpus: Corpus) -> None:
    for split in corpus.folds():
        assert copied(corpus, split.test, split.train).mean() > 0.6


def test_chronological_splits_do_not(corpus: Corpus, chronological_split: protocols.Split) -> None:
    assert copied(corpus, chronological_split.test, chronological_split.train).mean() < 0.02


def test_the_near_copies_in_training_are_what_random_folds_gain_from(
    corpus: Corpus, random_scores: list[float]
) -> None:
    without, control = [], []
    for split in corpus.folds():
        drop = copied(corpus, split.train, split.test, overlap=0.5)
        without.append(corpus.f1(replace(split, train=split.train[~drop])))
        control.append(corpus.f1(replace(split, train=np.random.default_rng(0).permutation(split.train)[drop.sum() :])))
    assert np.mean(without) < np.mean(random_scores) - 20
    # As many training posts taken away at random cost far less.
    assert np.mean(control) > np.mean(without) + 10


def test_random_folds_score_at_least_15_points_more(
    corpus: Corpus, random_scores: list[float], chronological_split: protocols.Split
) -> None:
    score = corpus.f1(chronological_split)
    assert 85 < np.mean(random_scores) < 96
    assert 50 < score < 65
    assert np.mean(random_scores) - score >= 15
    assert ttest_1samp(random_scores, score, alternative="greater").pvalue < 0.01


def test_leave_one_event_out_scores_as_low_as_a_chronological_split(corpus: Corpus, random_scores: list[float]) -> None:
    splits = protocols.leave_one_out(corpus.labels, corpus.events, ids=corpus.ids, times=corpus.times)
    assert 45 < np.mean([corpus.f1(split) for split in splits.values()]) < 65


def test_shuffling_the_times_makes_the_inflation_vanish(corpus: Corpus) -> None:
    inflations = []
    for seed in range(10):
        times = np.random.default_rng(seed).permutation(corpus.times)
        random = np.mean([corpus.f1(split) for split in corpus.folds(times)])
        inflations.append(random - corpus.f1(protocols.chronological(times, ids=corpus.ids)))
    assert abs(np.mean(inflations)) < 4
    assert max(inflations) < 15
