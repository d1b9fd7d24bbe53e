"""How far random folds inflate the scores of saved runs, how sure that is, and which leaks explain how much of it.

Intervals are percentile intervals of a cluster bootstrap over test posts. Posts that are joined by near copies, by a
conversation or, where there are ten events or more, by an event, are drawn together, and so are the predictions of
random folds and of another protocol for them; near copies do not count where they would join most conversations. They
hold for the models as they were fitted: that other training posts would give other models is not in them.
`decomposition` says how an inflation is taken apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import signature, statistics
from temporal_rumors.audit.decomposition import Decomposer, Decomposition, differ, mix
from temporal_rumors.audit.neighbours import THRESHOLD, is_short
from temporal_rumors.audit.scored import (
    LEVEL,
    MANY_EVENTS,
    Effect,
    Interval,
    Options,
    Record,
    Scored,
    Scorer,
    Side,
    Subject,
    Term,
)
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import CHRONO, CHRONO_STRATIFIED, LOO, RANDOM, RANDOM_FOLDS
from temporal_rumors.records import Posts
from temporal_rumors.statistics import Comparison

# Of the bins over time: how many at most, and how many posts each at least.
MOST_BINS, LEAST_IN_BIN = 10, 25
# A class of fewer test posts than this gets a note.
FEW_POSTS = 10


@dataclass(frozen=True)
class Tests:
    """Two-sided tests of the inflation; Holm's adjustment is over all rows, test by test.

    Attributes:
        t: over the scores of folds, events and seeds, as the paper has it.
        seed: of the runs that the other two compare, the least that both have; None where they share no posts.
        randomisation_p: approximate randomisation of macro-F1 on the posts that both test, cluster by cluster.
        mcnemar_p: McNemar's exact test on them.
        only_random_right, only_protocol_right: on how many of them just the one is right.
        t_holm, randomisation_holm, mcnemar_holm: the adjusted p-values.
    """

    t: Comparison
    seed: int | None = None
    randomisation_p: float | None = None
    mcnemar_p: float | None = None
    only_random_right: int | None = None
    only_protocol_right: int | None = None
    t_holm: float | None = None
    randomisation_holm: float | None = None
    mcnemar_holm: float | None = None


@dataclass(frozen=True)
class Bin:
    """Successive test posts.

    Attributes:
        start, end: times of the first and the last of them, ISO 8601 UTC.
        posts: how many.
        absent: classes of which there is none; the score is the mean over the others.
        score: macro-F1, in percent.
        interval: 95%, resampling clusters; None for a single one.
        random: macro-F1 of the random folds on the same posts; None where they do not test them all.
    """

    start: str
    end: str
    posts: int
    absent: list[str]
    score: float
    interval: Interval | None
    random: float | None


@dataclass(frozen=True)
class OverTime:
    """Scores by test time.

    Attributes:
        bins: of equal counts, oldest first.
        area: area under the scores (AUT) over bins of equal counts, in percent.
        random_area: the same of the random folds on the same posts.
    """

    bins: list[Bin]
    area: float
    random_area: float | None


@dataclass(frozen=True)
class Row:
    """One model on one benchmark under random folds and under one other protocol.

    Attributes:
        title: what people call the benchmark.
        model: name; with @ and six hexadecimal digits where several variants of it were run.
        random_posts, protocol_posts, both_posts: posts that random folds, the protocol, and both test.
        random_train, protocol_train: mean sizes of the training parts.
        clusters, largest_cluster: into how many clusters the posts fall, and the size of the largest.
        raw: means over runs, as the report has them; None where a test part lacks a class.
        pooled: over the predictions of all folds and of all events together; None where these lack a class.
        matched: the same with the protocol's class mix, over the classes that it tests.
        paired: on the posts that both test, over the classes that they hold; None where there is no such post.
        equal_training: with retraining, matched, and all models trained on equally many posts; None where they were.
        rescored, retrained: None where there is nothing to take apart or, of `retrained`, it was not asked for.
        over_time: of chronological protocols with enough test posts.
        notes: what the reader must know.
        random_signature, protocol_signature: what was scored.
    """

    benchmark: str
    task: str | None
    title: str
    model: str
    protocol: str
    random_posts: int
    protocol_posts: int
    both_posts: int
    random_train: float
    protocol_train: float
    clusters: int
    largest_cluster: int
    raw: Effect | None
    pooled: Effect | None
    matched: Effect | None
    paired: Effect | None
    equal_training: Effect | None
    tests: Tests
    rescored: Decomposition | None
    retrained: Decomposition | None
    over_time: OverTime | None
    notes: list[str]
    random_signature: str
    protocol_signature: str

    @property
    def effects(self) -> dict[str, Effect | None]:
        """What was compared, by name."""
        return {name: getattr(self, name) for name in ("raw", "pooled", "matched", "paired", "equal_training")}

    @property
    def decompositions(self) -> list[Decomposition]:
        """Those that there are."""
        return [found for found in (self.rescored, self.retrained) if found]


@dataclass(frozen=True)
class Explanation:
    """The inflation of all runs.

    Attributes:
        rows: in the order of benchmark, task, model and protocol.
        left_out: a sentence for each model whose runs could not be compared.
        threshold: largest edit distance of near copies.
        level: of all intervals.
        n_resamples, seed: of the bootstrap.
    """

    rows: list[Row]
    left_out: list[str]
    threshold: float
    level: float
    n_resamples: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it; points and percents are not rounded."""
        return asdict(self)


def explain(
    records: Iterable[Record],
    data_dir: str | os.PathLike[str] | None = None,
    allow_modified: bool = False,
    retrain: bool = False,
    threshold: float = THRESHOLD,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Explanation:
    """Explain the inflation of saved runs: how large, how sure, due to which leaks.

    Args:
        records: run records, as `RunStore.read` returns them; one that stands twice counts once.
        data_dir: as for `Benchmark.posts`; the posts must be those that the runs were made on.
        allow_modified: as for `Benchmark.posts`.
        retrain: also fit models anew without the leaked training posts.
        threshold: of near copies, as for `near_duplicates`.
        n_resamples: of the bootstrap.
        seed: of the bootstrap, of approximate randomisation and of the thinning of training parts.

    Returns:
        A row for each model and protocol that there are random folds to compare with; the same for the same records,
        in whatever order.

    Raises:
        UserError: no such runs, records that do not fit the posts or the splits, or damaged ones.
    """
    options = Options(retrain, threshold, n_resamples, seed)
    rows: list[Row] = []
    left_out: list[str] = []
    for (name, task), of_subject in groupby(signature.ordered(records), key=lambda r: (r["benchmark"], r["task"])):
        variants = signature.by_variant(list(of_subject))
        left_out += _left_out(" ".join(filter(None, (name, task))), variants)
        if comparable := _comparable(variants):
            benchmark = benchmarks.get(name, task)
            posts = benchmark.posts(data_dir, allow_modified=allow_modified)
            rows += _rows(comparable, benchmark, posts, options)
    return _explanation(rows, left_out, options)


def explain_posts(
    records: Iterable[Record],
    benchmark: Benchmark,
    posts: Posts,
    retrain: bool = False,
    threshold: float = THRESHOLD,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Explanation:
    """Explain runs on posts that are at hand, of a benchmark that need not be registered; as `explain`."""
    options = Options(retrain, threshold, n_resamples, seed)
    variants = signature.by_variant(signature.ordered(records))
    rows = _rows(_comparable(variants), benchmark, posts, options)
    return _explanation(rows, _left_out(benchmark.label, variants), options)


def _explanation(rows: Sequence[Row], left_out: list[str], options: Options) -> Explanation:
    if not rows:
        raise UserError(
            "these runs do not show how far random folds inflate scores: that takes runs of one model under random "
            "folds and under another protocol, such as `temporal-rumors run` makes"
        )
    return Explanation(_adjusted(rows), left_out, options.threshold, LEVEL, options.n_resamples, options.seed)


def _comparable(variants: Mapping[str, dict[str, list[Record]]]) -> dict[str, dict[str, list[Record]]]:
    """The variants of models that there are folds to compare with."""
    return {model: found for model, found in variants.items() if RANDOM in found and len(found) > 1}


def _left_out(name: str, variants: Mapping[str, Mapping[str, list[Record]]]) -> list[str]:
    """Say which runs are not compared: those of a model, or of a variant of it, that lack the other side."""
    lines = []
    for model, by_group in variants.items():
        if RANDOM not in by_group:
            lines.append(f"{name}, {model}: runs under {', '.join(by_group)}, but none under random folds")
        elif len(by_group) == 1:
            lines.append(f"{name}, {model}: runs under random folds alone")
    return [f"{line}; not compared" for line in lines]


def _rows(
    variants: Mapping[str, Mapping[str, list[Record]]], benchmark: Benchmark, posts: Posts, options: Options
) -> list[Row]:
    """Explain the runs of some variants of models on one benchmark."""
    subject, rows = Subject(benchmark, posts, options), []
    for model, by_group in variants.items():
        if options.retrain:
            # Before anything is worked out: a model that is not here, or of another version, cannot be fitted anew.
            subject.untrained(by_group[RANDOM][0])
        sides = {group: Side(subject, found) for group, found in by_group.items()}
        random = sides.pop(RANDOM)
        rows += [_row(subject, model, random, side) for side in sides.values()]
    return rows


def _row(subject: Subject, model: str, random: Side, side: Side) -> Row:
    ones, everything = np.ones(subject.n_classes), np.ones(subject.n_classes, dtype=bool)
    in_random, in_side = (subject.class_counts(s.scored.rows) for s in (random, side))
    notes = [note for s in (random, side) for note in _notes(s)]

    raw = pooled = class_mix = None
    every, tested = Scorer(subject, everything), Scorer(subject, in_side > 0)
    if not (_lacking(random) or _lacking(side)):
        raw = every.effect(*(Term(s.scored, ones, by_run=True) for s in (random, side)))
    plain = Term(random.scored, ones), Term(side.scored, ones)
    if in_random.all() and in_side.all():
        pooled = every.effect(*plain)

    matched = rescored = retrained = equal_training = None
    if (in_random[in_side > 0] > 0).all():
        weighted = Term(random.scored, mix(in_random, in_side))
        matched = tested.effect(weighted, plain[1])
        class_mix = every.share([plain[0]], [weighted]) if pooled else None
        decomposer = Decomposer(subject, random, side, tested, weighted, (pooled or matched).points, class_mix)
        rescored = decomposer.rescored()
        if subject.options.retrain:
            retrained, equal_training = decomposer.retrained(), decomposer.equal_training()
        notes += decomposer.notes
        if not in_side.all():
            absent = " and no ".join(_named(subject, in_side == 0))
            notes.append(f"no {absent} post is tested: all but raw and pooled scores are over the other classes")
    else:
        notes.append("the random folds at hand lack a class that the protocol tests: nothing to match or to take apart")

    both = np.intersect1d(random.scored.complete, side.scored.complete)
    pairs = [s.scored.only(np.isin(s.scored.rows, both)) for s in (random, side)]
    paired = None
    if len(both):
        paired = Scorer(subject, subject.class_counts(both) > 0).effect(*(Term(scored, ones) for scored in pairs))
    n_random, n_side = (len(np.unique(s.scored.rows)) for s in (random, side))
    if len(both) < n_side:
        notes.append(f"{n_side - len(both):,} posts that {side.group} tests are not tested by the random folds at hand")
    over_time = None
    if side.group in (CHRONO, CHRONO_STRATIFIED) and (over_time := _over_time(subject, random, side)) is None:
        notes.append(f"{n_side} test posts are too few for scores over time: {2 * LEAST_IN_BIN} are needed")
    if differ(random.train_sizes + side.train_sizes) and not equal_training:
        notes.append("training parts differ in size: retraining can make them equal")
    if 1 < subject.n_events < MANY_EVENTS:
        notes.append(
            f"the posts are of {subject.n_events} events, too few to resample: that other events would give other "
            "scores is not in the intervals"
        )
    if n_short := int(is_short(subject.posts.texts, subject.options.threshold).sum()):
        notes.append(f"{n_short:,} posts are too short for the threshold, and no near copies of others")
    if subject.without_near_copies:
        notes.append("near copies would join most conversations: clusters are conversations alone")
    cluster_sizes = np.bincount(subject.clusters)
    return Row(
        benchmark=subject.benchmark.name,
        task=side.records[0]["task"],
        title=subject.benchmark.title,
        model=model,
        protocol=side.group,
        random_posts=n_random,
        protocol_posts=n_side,
        both_posts=len(both),
        random_train=fmean(random.train_sizes),
        protocol_train=fmean(side.train_sizes),
        clusters=len(cluster_sizes),
        largest_cluster=int(cluster_sizes.max()),
        raw=raw,
        pooled=pooled,
        matched=matched,
        paired=paired,
        equal_training=equal_training,
        tests=_tests(subject, random, side, pairs),
        rescored=rescored,
        retrained=retrained,
        over_time=over_time,
        notes=notes,
        random_signature=signature.compose(signature.of_runs(random.records, random.group, "f1")),
        protocol_signature=signature.compose(signature.of_runs(side.records, side.group, "f1")),
    )


def _named(subject: Subject, chosen: np.ndarray) -> list[str]:
    return [name for name, is_chosen in zip(subject.benchmark.classes, chosen, strict=True) if is_chosen]


def _lacking(side: Side) -> dict[str, list[str]]:
    """Protocol -> the classes that a run's test part lacks."""
    subject, found = side.subject, {}
    for i, record in enumerate(side.records):
        absent = subject.class_counts(side.scored.rows[side.scored.runs == i]) == 0
        if absent.any():
            found[record["protocol"]] = _named(subject, absent)
    return found


def _notes(side: Side) -> list[str]:
    subject, notes = side.subject, []
    seeds = {record["seed"] for record in side.records}
    expected = {RANDOM: len(RANDOM_FOLDS), LOO: len(subject.benchmark.events)}.get(side.group, 1)
    if len(side.records) < expected * len(seeds):
        what = {RANDOM: "random folds", LOO: "events"}[side.group]
        of_seeds = f", {len(seeds)} seeds" if len(seeds) > 1 else ""
        notes.append(f"{len(side.records)} of {expected * len(seeds)} runs ({expected} {what}{of_seeds})")
    if absent := _lacking(side):
        protocol, classes = next(iter(absent.items()))
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        notes.append(
            f"no {' and no '.join(classes)} predictions to score in {protocol}{more}: means over runs left out"
        )
    notes += [f"{side.group}: {note}" for note in signature.unscored(side.records)]
    counts = subject.class_counts(np.unique(side.scored.rows))
    notes += [
        f"{side.group} tests only {n} {name} post{'s' if n > 1 else ''}: a single one moves the scores by much"
        for name, n in zip(subject.benchmark.classes, counts.tolist(), strict=True)
        if 0 < n < FEW_POSTS
    ]
    if not all(record["data_is_published"] for record in side.records):
        notes.append("not the published data")
    return notes


def _tests(subject: Subject, random: Side, side: Side, pairs: Sequence[Scored]) -> Tests:
    scores = [s.scores for s in (random, side)]
    if _lacking(random) or _lacking(side):
        t = Comparison(None, None, None, "no t-test: a test part lacks a class")
    else:
        t = statistics.compare_means(*scores)
    common = sorted(set(pairs[0].seeds.tolist()) & set(pairs[1].seeds.tolist()))
    # One system on each side; where one is deterministic and so has seed 0 alone, so has the other.
    ones = [scored.only(scored.seeds == common[0]) for scored in pairs] if common else []
    both = np.intersect1d(ones[0].rows, ones[1].rows) if ones else np.empty(0, dtype=np.int64)
    if not len(both):
        return Tests(t)
    first, second = (_predictions(scored, both) for scored in ones)
    references = subject.posts.labels[both]
    right = first == references, second == references
    return Tests(
        t=t,
        seed=common[0],
        randomisation_p=statistics.approximate_randomisation(
            references, first, second, subject.n_classes, subject.clusters[both], seed=subject.options.seed
        ),
        mcnemar_p=statistics.mcnemar_exact(*right),
        only_random_right=int((right[0] & ~right[1]).sum()),
        only_protocol_right=int((right[1] & ~right[0]).sum()),
    )


def _predictions(scored: Scored, rows: np.ndarray) -> np.ndarray:
    """The predictions for some rows, sorted, of scored posts of one seed."""
    keep = np.flatnonzero(np.isin(scored.rows, rows))
    found: np.ndarray = scored.predictions[keep[np.argsort(scored.rows[keep])]]
    return found


def _over_time(subject: Subject, random: Side, side: Side) -> OverTime | None:
    """Scores by test time; None of too few posts."""
    rows = np.unique(side.scored.rows)
    n_bins = min(MOST_BINS, len(rows) // LEAST_IN_BIN)
    if n_bins < 2:
        return None
    bins, ones = [], np.ones(subject.n_classes)
    for members in np.array_split(rows, n_bins):
        held = subject.class_counts(members) > 0
        scorer = Scorer(subject, held)
        own, others = (Term(s.scored.only(np.isin(s.scored.rows, members)), ones) for s in (side, random))
        covered = np.isin(members, others.scored.rows).all()
        start, end = np.datetime_as_string(subject.posts.times[members[[0, -1]]].astype("datetime64[s]")).tolist()
        bins.append(
            Bin(
                start=f"{start}Z",
                end=f"{end}Z",
                posts=len(members),
                absent=_named(subject, ~held),
                score=scorer.score(own),
                interval=scorer.interval([own]),
                random=scorer.score(others) if covered else None,
            )
        )
    of_random = [found.random for found in bins if found.random is not None]
    return OverTime(
        bins=bins,
        area=statistics.area_under_time([found.score for found in bins]),
        random_area=statistics.area_under_time(of_random) if len(of_random) == n_bins else None,
    )


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    """Holm's adjustment of each kind of test over all rows."""
    tests = [row.tests for row in rows]
    kinds = {
        "t_holm": [found.t.p_value for found in tests],
        "randomisation_holm": [found.randomisation_p for found in tests],
        "mcnemar_holm": [found.mcnemar_p for found in tests],
    }
    for name, values in kinds.items():
        made = [i for i, p in enumerate(values) if p is not None]
        adjusted = statistics.holm([p for p in values if p is not None])
        for i, p in zip(made, adjusted.tolist(), strict=True):
            tests[i] = replace(tests[i], **{name: p})
    return [replace(row, tests=found) for row, found in zip(rows, tests, strict=True)]
