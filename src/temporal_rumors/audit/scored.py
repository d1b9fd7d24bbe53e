"""Saved predictions beside the posts that they are of, and their macro-F1 with intervals that know of near copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from temporal_rumors import models, statistics
from temporal_rumors.audit.leaks import NAMES, Leak, find_leaks, sample_of
from temporal_rumors.audit.neighbours import EXCLUDE, groups, near_duplicates
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import Split, group_of
from temporal_rumors.records import Posts, json_digest
from temporal_rumors.statistics import Answers

Record = Mapping[str, Any]
# Lower and upper bound, in points or percent as the value they belong to.
Interval = tuple[float, float]

LEVEL = 0.95
# Resampling whole events takes this many: of fewer, the intervals are far too narrow.
MANY_EVENTS = 10
# Where near copies would join conversations to a cluster of more than this share of the posts, as short replies do,
# conversations are resampled without regard to near copies: what hangs on one cluster cannot be resampled.
LARGEST_SHARE = 0.1


@dataclass(frozen=True)
class Effect:
    """A difference of macro-F1, random folds minus protocol.

    Attributes:
        points: random - protocol, in points.
        random: macro-F1 under random folds, in percent.
        protocol: macro-F1 under the other protocol, in percent.
        clustered: 95% interval of points, resampling clusters of posts; None where there is a single cluster.
        independent: the same as if posts were independent, which is too narrow where they are not.
    """

    points: float
    random: float
    protocol: float
    clustered: Interval | None
    independent: Interval | None


@dataclass(frozen=True)
class Share:
    """A part of the inflation.

    Attributes:
        points: how much of it, in points.
        interval: 95%, resampling clusters; None where nothing varies or there is a single cluster.
    """

    points: float
    interval: Interval | None


@dataclass(frozen=True)
class Options:
    """What `explain` was asked for, under the names of its arguments."""

    retrain: bool
    threshold: float
    n_resamples: int
    seed: int
    short: str = EXCLUDE


class Subject:
    """The posts of a benchmark, their clusters, and the leaks of its splits.

    Attributes:
        row_of: id -> its row of the posts.
        n_events: number of different events.
        clusters: (n,) int64, the cluster of each post.
        without_near_copies: the clusters are conversations alone, since near copies would join most of them.
        priority: (n,) int64, the place of each post in a random order, in which posts are kept where some must go.
    """

    def __init__(self, benchmark: Benchmark, posts: Posts, options: Options) -> None:
        self.benchmark, self.posts, self.options = benchmark, posts, options
        self.n_classes = len(benchmark.classes)
        self.row_of = {id: row for row, id in enumerate(posts.ids.tolist())}
        events = [event for event in posts.events.tolist() if event is not None]
        self.n_events = len(set(events))
        whole = [posts.threads, posts.events if self.n_events >= MANY_EVENTS else None]
        chains = [_chained(keys.tolist()) for keys in whole if keys is not None]
        near = near_duplicates(posts.texts.tolist(), threshold=options.threshold)[:, :2]
        self.clusters = groups(len(posts), np.concatenate([near, *chains]))
        self.without_near_copies = bool(chains) and np.bincount(self.clusters).max() > LARGEST_SHARE * len(posts)
        if self.without_near_copies:
            self.clusters = groups(len(posts), np.concatenate(chains))
        # Raw bits are the same in every release of numpy.
        self.priority = np.argsort(np.random.PCG64(options.seed).random_raw(len(posts)), kind="stable").argsort()
        self._splits: dict[str, Split] = {}
        self._leaks: dict[str, list[Leak]] = {}
        self._encoded: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.benchmark.label

    def split(self, protocol: str) -> Split:
        """The posts split by a protocol."""
        if protocol not in self._splits:
            self._splits[protocol] = self.benchmark.split(self.posts, protocol)
        return self._splits[protocol]

    def leaks(self, protocol: str) -> list[Leak]:
        """The leaks from the training to the test part of a protocol."""
        if protocol not in self._leaks:
            split = self.split(protocol)
            train, test = (sample_of(self.posts, rows) for rows in (split.train, split.test))
            self._leaks[protocol] = find_leaks(train, test, self.options.threshold, self.options.short)
        return self._leaks[protocol]

    def class_counts(self, rows: np.ndarray) -> np.ndarray:
        """(n_classes,) int64: how many of some posts are of each class."""
        return np.bincount(self.posts.labels[rows], minlength=self.n_classes)

    def untrained(self, record: Record) -> models.Model:
        """The model of a run, not yet fitted; a UserError where it is not the same version."""
        model = models.create(record["model"], self.benchmark.classes, **record["settings"])
        if model.version != record["model_version"]:
            raise UserError(
                f"{self.name}: the runs are of version {record['model_version']} of {record['model']}, this is "
                f"{model.version}: run them again, or leave out retraining"
            )
        return model

    def encoded(self, model: models.Model) -> Any:
        """All posts as a model reads them."""
        key = json_digest([model.name, model.settings])
        if key not in self._encoded:
            # One at a time: an encoding may be large.
            self._encoded = {key: model.encode(*self.benchmark.model_texts(self.posts))}
        return self._encoded[key]


def _chained(keys: Sequence[str | None]) -> np.ndarray:
    """Pairs of positions that join those of one key."""
    last: dict[str, int] = {}
    pairs = []
    for i, key in enumerate(keys):
        if key is not None:
            if key in last:
                pairs.append((last[key], i))
            last[key] = i
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Scored:
    """Predictions of several runs one after the other: rows of the posts, classes predicted, number of run and seed."""

    rows: np.ndarray
    predictions: np.ndarray
    runs: np.ndarray
    seeds: np.ndarray

    @property
    def complete(self) -> np.ndarray:
        """Sorted rows of the posts that every seed predicts."""
        rows, times = np.unique(self.rows, return_counts=True)
        found: np.ndarray = rows[times == len(np.unique(self.seeds))]
        return found

    def only(self, keep: np.ndarray) -> Scored:
        """Some of the predictions, chosen by a mask."""
        return Scored(self.rows[keep], self.predictions[keep], self.runs[keep], self.seeds[keep])


@dataclass(frozen=True, eq=False)
class Term:
    """A macro-F1: of what, averaged over which parts, and how much a post of each class counts."""

    scored: Scored
    weights: np.ndarray
    by_run: bool = False

    def equals(self, other: Term) -> bool:
        """Whether it is the same score of the same predictions."""
        pairs = ((getattr(term.scored, name) for term in (self, other)) for name in ("rows", "predictions", "runs"))
        return np.array_equal(self.weights, other.weights) and all(np.array_equal(*pair) for pair in pairs)


class Side:
    """The runs of one model under one protocol, or group of protocols."""

    def __init__(self, subject: Subject, records: Sequence[Record]) -> None:
        self.subject, self.records = subject, records
        self.group = group_of(records[0]["protocol"])
        try:
            self.scored = _joined([self._read(i, record) for i, record in enumerate(records)])
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{subject.name}: a run record is damaged ({error!r}): delete it and run again") from None
        seen: dict[tuple[int, int], str] = {}
        for i, record in enumerate(records):
            for row in self.scored.rows[self.scored.runs == i].tolist():
                other = seen.setdefault((record["seed"], row), record["protocol"])
                if other != record["protocol"]:
                    raise UserError(
                        f"{subject.name}: {record['protocol']} and {other} both test the post "
                        f"{subject.posts.ids[row]!s}: test parts of one seed must not overlap"
                    )
        self._fits: dict[tuple[int, bytes], Scored] = {}

    def _read(self, number: int, record: Record) -> Scored:
        """The predictions of a run, once they are known to fit the posts."""
        subject, posts = self.subject, self.subject.posts
        where = f"{subject.name} {record['protocol']} {record['model']} seed {record['seed']}"
        if record["data_digest"] != posts.digest:
            raise UserError(
                f"{where}: the run was made on data {record['data_digest'][:8]}, at hand are {posts.digest[:8]}: name "
                "the folder with the data of the runs (--data-dir, and --allow-modified if they are not the published "
                "ones), or run again"
            )
        if record["classes"] != list(subject.benchmark.classes):
            raise UserError(
                f"{where}: the run has the classes {', '.join(record['classes'])}, the benchmark "
                f"{', '.join(subject.benchmark.classes)}: run it again with this version"
            )
        split = subject.split(record["protocol"])
        if record["split_digest"] != (digest := split.digest(posts.ids)):
            raise UserError(
                f"{where}: the run was made on the split {record['split_digest'][:8]}, this version makes {digest[:8]}:"
                " run it again"
            )
        columns = [record["predictions"][name] for name in ("ids", "references", "predictions")]
        if len({len(column) for column in columns}) > 1:
            raise UserError(f"{where}: {' and '.join(str(len(c)) for c in columns)} ids, references and predictions")
        ids, references, predictions = columns
        if repeated := _first_repeated(ids):
            raise UserError(f"{where}: the id {repeated!r} has two predictions: keep one")
        rows = np.array([subject.row_of.get(id, -1) for id in ids], dtype=np.int64)
        if len(strange := np.flatnonzero(~np.isin(rows, split.test))):
            raise UserError(
                f"{where}: {len(strange):,} of {len(ids):,} predictions are for ids that are not in the test part, such"
                f" as {ids[strange[0]]!r}"
            )
        codes = np.asarray(predictions)
        if not len(codes):
            raise UserError(f"{where}: no predictions at all: run it again")
        if codes.dtype.kind not in "iu" or not 0 <= codes.min() <= codes.max() < subject.n_classes:
            raise UserError(
                f"{where}: predictions must be integers from 0 to {subject.n_classes - 1}, indices into "
                f"{', '.join(subject.benchmark.classes)}"
            )
        if not np.array_equal(references, posts.labels[rows]):
            raise UserError(f"{where}: the references are not the labels of the posts: run it again")
        order = np.argsort(rows)
        return _scored(rows[order], codes[order].astype(np.int64), number, record["seed"])

    @cached_property
    def leaks(self) -> dict[str, str]:
        """Name of each leak that some run's data allow to look for -> what it counts; in the order of the ledger."""
        found = {leak.name: leak.what for record in self.records for leak in self.subject.leaks(record["protocol"])}
        return {name: found[name] for name in NAMES if name in found}

    @cached_property
    def touched(self) -> dict[str, np.ndarray]:
        """Each leak -> (n_posts,) bool: which posts it touches where they are tested."""
        found = {name: np.zeros(len(self.subject.posts), dtype=bool) for name in NAMES}
        for protocol in dict.fromkeys(record["protocol"] for record in self.records):
            test = self.subject.split(protocol).test
            for leak in self.subject.leaks(protocol):
                rows = test[leak.touched]
                found[leak.name][rows[np.isin(rows, self.scored.rows)]] = True
        return found

    @property
    def scores(self) -> list[float]:
        """Macro-F1 of each run, in percent, over all classes."""
        labels, n_classes = self.subject.posts.labels, self.subject.n_classes
        found = []
        for i in range(len(self.records)):
            mine = self.scored.only(self.scored.runs == i)
            found.append(100.0 * statistics.macro_f1(labels[mine.rows], mine.predictions, n_classes))
        return found

    @property
    def train_sizes(self) -> list[int]:
        """Size of each run's training part."""
        return [len(self.subject.split(record["protocol"]).train) for record in self.records]

    def leaked(self, record: Record, names: Iterable[str]) -> np.ndarray:
        """(n_posts,) bool: the training posts of a run that any of these leaks concerns."""
        mask = np.zeros(len(self.subject.posts), dtype=bool)
        for leak in self.subject.leaks(record["protocol"]):
            if leak.name in names:
                mask[self.subject.split(record["protocol"]).train[leak.pairs[:, 1]]] = True
        return mask

    def refitted(self, keep: Callable[[Record], np.ndarray]) -> Scored:
        """Fit all runs anew, each on the rows that a function chooses, and predict the same posts."""
        found = []
        for i, record in enumerate(self.records):
            rows = keep(record)
            key = i, rows.tobytes()
            if key not in self._fits:
                self._fits[key] = self._fit(i, record, rows)
            found.append(self._fits[key])
        return _joined(found)

    def _fit(self, number: int, record: Record, rows: np.ndarray) -> Scored:
        subject, labels = self.subject, self.subject.posts.labels
        split, model = subject.split(record["protocol"]), subject.untrained(record)
        encoded = subject.encoded(model)
        held = split.validation
        model.fit(encoded[rows], labels[rows], encoded[held], labels[held], seed=record["seed"])
        tested = self.scored.rows[self.scored.runs == number]
        return _scored(tested, model.predict(encoded[tested]), number, record["seed"])


def _scored(rows: np.ndarray, predictions: np.ndarray, run: int, seed: int) -> Scored:
    return Scored(rows, predictions, np.full(len(rows), run), np.full(len(rows), seed))


def _joined(parts: Sequence[Scored]) -> Scored:
    names = ("rows", "predictions", "runs", "seeds")
    return Scored(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _first_repeated(ids: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            return id
        seen.add(id)
    return None


class Scorer:
    """Sums and differences of macro-F1, averaged over some of the classes, with intervals.

    Args:
        present: (n_classes,) bool: the classes that are averaged over.
    """

    def __init__(self, subject: Subject, present: np.ndarray) -> None:
        self.subject, self.present = subject, present
        # The library averages over all classes, of which the absent ones count 0.
        self.scale = 100.0 * len(present) / int(present.sum())

    def score(self, term: Term) -> float:
        """Macro-F1 in percent."""
        scored, labels = term.scored, self.subject.posts.labels
        parts = scored.runs if term.by_run else scored.seeds
        found = []
        for part in np.unique(parts):
            chosen = parts == part
            references = labels[scored.rows[chosen]]
            weights = term.weights[references]
            found.append(
                statistics.macro_f1(references, scored.predictions[chosen], len(self.present), weights=weights)
            )
        return float(self.scale * np.mean(found))

    def interval(self, plus: Sequence[Term], minus: Sequence[Term] = (), clustered: bool = True) -> Interval | None:
        """95% interval of the sum of some scores minus the sum of as many others, in points; None of one cluster."""
        sides = [self._answers(terms, clustered) for terms in (plus, minus) if terms]
        if len(np.unique(np.concatenate([side.groups for side in sides if side.groups is not None]))) < 2:
            return None
        options = self.subject.options
        n_classes = len(self.present) * len(plus)
        how: dict[str, Any] = {"n_resamples": options.n_resamples, "level": LEVEL, "seed": options.seed}
        if minus:
            found = statistics.bootstrap_difference(sides[0], sides[1], n_classes, **how)
        else:
            found = statistics.bootstrap_score(sides[0], n_classes, **how)
        # The mean over all terms' classes is 1 / len(plus) of the sum.
        return self.scale * len(plus) * found.low, self.scale * len(plus) * found.high

    def effect(self, random: Term, protocol: Term) -> Effect:
        scores = self.score(random), self.score(protocol)
        intervals = (self.interval([random], [protocol], clustered) for clustered in (True, False))
        return Effect(scores[0] - scores[1], *scores, *intervals)

    def share(self, plus: Sequence[Term], minus: Sequence[Term]) -> Share:
        points = sum(map(self.score, plus)) - sum(map(self.score, minus))
        same = len(plus) == 1 and plus[0].equals(minus[0])
        return Share(points, None if same else self.interval(plus, minus))

    def _answers(self, terms: Sequence[Term], clustered: bool) -> Answers:
        """Several scores as one: each has classes of its own, and all as many parts."""
        n_classes, labels = len(self.present), self.subject.posts.labels
        by_term = [np.unique(t.scored.runs if t.by_run else t.scored.seeds, return_inverse=True) for t in terms]
        n_parts = lcm(*(len(names) for names, _ in by_term))
        columns: list[tuple[np.ndarray, ...]] = []
        for i, (term, (names, parts)) in enumerate(zip(terms, by_term, strict=True)):
            rows, times = term.scored.rows, n_parts // len(names)
            once = labels[rows] + i * n_classes, term.scored.predictions + i * n_classes
            clusters = self.subject.clusters[rows] if clustered else rows
            copies = np.concatenate([parts + len(names) * k for k in range(times)])
            columns.append((*(np.tile(column, times) for column in (*once, clusters)), copies))
        references, predictions, groups, parts = (np.concatenate(column) for column in zip(*columns, strict=True))
        return Answers(references, predictions, groups, parts, np.concatenate([term.weights for term in terms]))
