"""From run records to the numbers of the report: means over runs, the paper's values, inflation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, groupby
from statistics import fmean, stdev
from typing import Any

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import macro_prf, signature
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import GROUPS, LOO, PARTS, RANDOM, RANDOM_FOLDS, group_of
from temporal_rumors.statistics import compare_means, holm

Record = Mapping[str, Any]
# A benchmark and its task, None where it has one only.
Subject = tuple[str, str | None]

METRICS = ("precision", "recall", "f1")
INFLATION_METRIC = "f1"
ALPHA = 0.05
# In points: a smaller difference is not called inflation, however small its p-value.
LEAST_INFLATION = 1.0
# A class of fewer test posts than this gets a note: a single one moves its F1 by several points.
FEW_POSTS = 10
# Of more test parts than this that lack a class, only the number is told.
MANY_PARTS = 3


@dataclass(frozen=True)
class Row:
    """What is said of one benchmark, or of one task of it.

    Attributes:
        task: where the benchmark has several.
    """

    benchmark: str
    task: str | None

    @property
    def subject(self) -> Subject:
        """Which task of which benchmark."""
        return self.benchmark, self.task


@dataclass(frozen=True)
class Result(Row):
    """A metric of one model under one protocol.

    Attributes:
        protocol: random, chrono, chrono_stratified, loo or official.
        metric: precision, recall or f1 (macro-averaged), or an official score of the benchmark.
        model: the model's name; with @ and six hexadecimal digits where several variants of it were run.
        mean: over the runs, in percent.
        std: sample standard deviation over the runs, in points; None for one run.
        n_runs: folds, events and seeds that the mean is over.
        paper_mean: what the paper prints, in percent; None where it has no such value, or where ours is of a modified
            source file.
        paper_std: what the paper prints beside it, in points; None where it prints none.
        notes: what the reader must know about the mean.
        signature: what was evaluated, on one line.
    """

    protocol: str
    model: str
    metric: str
    mean: float
    std: float | None
    n_runs: int
    paper_mean: float | None
    paper_std: float | None
    notes: list[str]
    signature: str

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points."""
        return None if self.paper_mean is None else self.mean - self.paper_mean


@dataclass(frozen=True)
class Inflation(Row):
    """How much higher a model scores under random folds than under another protocol.

    Attributes:
        points: random_mean - protocol_mean; None where they are not comparable.
        random_mean: under random folds, in percent; where a note says so, over pooled predictions.
        protocol_mean: under the other protocol, in percent, likewise.
        test: of the difference, "welch" or "one-sample"; None without a test.
        statistic: Student's t, positive where the random score is the higher; None without a test.
        p_value: two-sided; None without a test.
        p_holm: the same with Holm's adjustment over all comparisons of the summary.
        significant: p_holm < 0.05; None without a test.
        comparable: False where the test parts lack a class, so that the two means do not measure the same.
        pooled: the two are of the predictions of all folds and of all events together, as single events lack a class.
        notes: what the reader must know about the two means and the test.
    """

    model: str
    protocol: str
    metric: str
    points: float | None
    random_mean: float
    protocol_mean: float
    test: str | None
    statistic: float | None
    p_value: float | None
    p_holm: float | None
    significant: bool | None
    comparable: bool
    pooled: bool
    notes: list[str]

    @property
    def inflated(self) -> bool:
        """Whether the random score is higher significantly and by at least LEAST_INFLATION points, as rounded."""
        return bool(self.significant) and self.points is not None and round(self.points, 1) >= LEAST_INFLATION


@dataclass(frozen=True)
class SplitSummary(Row):
    """One split that was evaluated on.

    Attributes:
        protocol: the protocol itself, such as random_fold0.
        sizes: part -> class -> number of posts.
        span: part -> first and last time, ISO 8601 UTC, or None.
        data_remarks: what reading the source file dropped or mended.
        warnings: a sentence for each guarantee that it does not give.
    """

    protocol: str
    split_digest: str
    data_digest: str
    data_is_published: bool
    data_remarks: list[str]
    sizes: dict[str, dict[str, int]]
    span: dict[str, tuple[str, str] | None]
    warnings: list[str]


@dataclass(frozen=True)
class Timeline(Row):
    """Posts over time.

    Attributes:
        start: first time, ISO 8601 UTC.
        end: last time, ISO 8601 UTC.
        counts: class -> posts in equal bins from start to end.
        cuts: chronological protocol -> class -> times of the first validation and the first test post.
        ends: chronological protocol -> part -> time of its last post.
        absent: chronological protocol -> part -> classes of which it holds no post.
    """

    data_digest: str
    start: str
    end: str
    counts: dict[str, list[int]]
    cuts: dict[str, dict[str, tuple[str | None, str | None]]]
    ends: dict[str, dict[str, str]]
    absent: dict[str, dict[str, list[str]]]


@dataclass(frozen=True)
class ModelRuns(Row):
    """What the runs of one model on one benchmark share.

    Attributes:
        differs: where several variants of the model were run, what this one has that not all of them have.
        data_remarks: what reading the source file dropped or mended.
        versions: library -> its versions over the runs.
        fitted: protocol group -> what the fits chose -> values over the runs.
        seeds: protocol group -> its seeds.
        n_runs: protocol group -> its number of runs.
        signatures: protocol group -> what was evaluated, on one line.
    """

    model: str
    differs: list[str]
    model_version: str
    benchmark_version: str
    settings: dict[str, Any]
    data_digest: str
    data_is_published: bool
    data_remarks: list[str]
    versions: dict[str, list[str]]
    fitted: dict[str, dict[str, list[Any]]]
    seeds: dict[str, list[int]]
    n_runs: dict[str, int]
    signatures: dict[str, str]


@dataclass(frozen=True)
class Summary:
    """Everything the report shows.

    Attributes:
        titles: benchmark and task -> what people call it.
        metrics: benchmark and task -> the metrics that its table shows.
        results: in the order of benchmark, task, model, protocol and metric.
        inflation: one for each model and protocol that there are random folds to compare with, in the same order.
        splits: each split that was evaluated on, once.
        timelines: one for each benchmark, task, source file and set of classes.
        runs: one for each benchmark, task and model.
    """

    titles: dict[Subject, str]
    metrics: dict[Subject, tuple[str, ...]]
    results: list[Result]
    inflation: list[Inflation]
    splits: list[SplitSummary]
    timelines: list[Timeline]
    runs: list[ModelRuns]

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """Return results, inflation and splits as `temporal-rumors report --json` prints them.

        Returns:
            "results", "inflation" and "splits" -> their rows, attribute -> value.
        """
        return {
            "results": [{**asdict(row), "difference": row.difference} for row in self.results],
            "inflation": [asdict(row) for row in self.inflation],
            "splits": [asdict(row) for row in self.splits],
        }


def summarise(records: Iterable[Record]) -> Summary:
    """Average run records over folds, events and seeds, and compare random folds with the other protocols.

    Args:
        records: run records; their order does not matter, and a record that stands twice counts once.

    Returns:
        What the report shows; equal sets of records give equal summaries.

    Raises:
        UserError: no records, or runs of one model and protocol on different splits.

    Source: Mu et al. 2023, tables 4 and 5.
    """
    ordered = signature.ordered(records)
    if not ordered:
        raise UserError("no run records to report: `temporal-rumors run` makes some")
    known = {subject: _find(*subject) for subject in dict.fromkeys(map(_subject, ordered))}
    results: list[Result] = []
    inflation: list[Inflation] = []
    runs: list[ModelRuns] = []
    for subject, of_subject in groupby(ordered, key=_subject):
        benchmark = known[subject]
        variants = signature.by_variant(list(of_subject))
        firsts = {label: next(iter(groups.values()))[0] for label, groups in variants.items()}
        for label, groups in variants.items():
            _check_splits(list(chain.from_iterable(groups.values())))
            for group, members in groups.items():
                results += _results(members, group, label, benchmark)
                if group != RANDOM and RANDOM in groups:
                    inflation.append(_inflation(groups[RANDOM], members, group, label, benchmark))
            first = firsts[label]
            differs = _differences(first, [other for other in firsts.values() if other["model"] == first["model"]])
            runs.append(_runs(groups, label, differs))
    return Summary(
        titles={s: b.title if b else " ".join(filter(None, s)) for s, b in known.items()},
        metrics={subject: _shown(b, [r for r in results if r.subject == subject]) for subject, b in known.items()},
        results=results,
        inflation=_adjusted(inflation),
        splits=_splits(ordered),
        timelines=_timelines(ordered),
        runs=runs,
    )


def _subject(record: Record) -> Subject:
    return record["benchmark"], record["task"]


def _find(name: str, task: str | None) -> Benchmark | None:
    try:
        return benchmarks.get(name, task)
    except UserError:  # records of a benchmark that is not installed here
        return None


def _shown(benchmark: Benchmark | None, results: Sequence[Result]) -> tuple[str, ...]:
    """The metrics of a benchmark's table that all its rows have: records of another version may lack some."""
    wanted = benchmark.metrics if benchmark else METRICS
    rows: dict[tuple[str, str], set[str]] = {}
    for result in results:
        rows.setdefault((result.model, result.protocol), set()).add(result.metric)
    return tuple(metric for metric in wanted if all(metric in found for found in rows.values()))


def _check_splits(records: Sequence[Record]) -> None:
    """Refuse records of one variant that do not share the split of their protocol: their scores are no one mean."""
    known: dict[str, Record] = {}
    for record in records:
        first = known.setdefault(record["protocol"], record)
        if record["split_digest"] != first["split_digest"]:
            one, other = (
                f"{r['split_digest'][:8]} (seed {r['seed']}, record {r['key'][:12]})" for r in (first, record)
            )
            raise UserError(
                f"runs of {record['model']} on {record['benchmark']} under {record['protocol']} must share one split, "
                f"found {one} and {other}: delete the older one"
            )


def _differences(record: Record, variants: Sequence[Record]) -> list[str]:
    """Say what a variant of a model has that not all variants have."""
    traits = [_traits(variant) for variant in variants]
    differing = [name for name in dict.fromkeys(chain(*traits)) if len({each.get(name) for each in traits}) > 1]
    return [_traits(record).get(name, f"no {name}") for name in differing]


def _traits(record: Record) -> dict[str, str]:
    """What `signature.variant` goes by, each in words."""
    origin = "as published" if record["data_is_published"] else "not the published data"
    return {
        **{
            name: f"{name} = {json.dumps(value, sort_keys=True, ensure_ascii=False)}"
            for name, value in sorted(record["settings"].items())
        },
        # No name of a setting holds a space.
        "model version": f"model version {record['model_version']}",
        "class names": f"classes {', '.join(record['classes'])}",
        "benchmark version": f"benchmark version {record['benchmark_version']}",
        "data digest": f"data {record['data_digest'][:8]} ({origin})",
    }


def _scores(records: Sequence[Record], metric: str) -> list[float]:
    return [100.0 * record["metrics"][metric] for record in records]


def _results(records: Sequence[Record], group: str, label: str, benchmark: Benchmark | None) -> list[Result]:
    model = records[0]["model"]
    # The paper's values are of the published data: a modified file is not set against them.
    published = benchmark.published if benchmark and _is_published(records) else []
    paper = next((row for row in published if (row["model"], row["protocol"]) == (model, group)), None)
    rows = []
    # A benchmark with official scores has all of them here; its table shows some.
    has_official = benchmark is not None and benchmark.edition is not None
    common = set.intersection(*(set(record["metrics"]) for record in records))
    official = sorted(common - set(METRICS)) if has_official else []
    for metric in (*METRICS, *official):
        scores = _scores(records, metric)
        rows.append(
            Result(
                benchmark=records[0]["benchmark"],
                task=records[0]["task"],
                protocol=group,
                model=label,
                metric=metric,
                mean=fmean(scores),
                std=stdev(scores) if len(scores) > 1 else None,
                n_runs=len(scores),
                paper_mean=float(paper[metric]) if paper and metric in paper else None,
                paper_std=float(paper[f"{metric}_std"]) if paper and metric in paper else None,
                notes=_notes(records, group, benchmark),
                signature=signature.compose(signature.of_runs(records, group, metric)),
            )
        )
    return rows


def _inflation(
    random: Sequence[Record], other: Sequence[Record], group: str, label: str, benchmark: Benchmark | None
) -> Inflation:
    random_scores, scores = _scores(random, INFLATION_METRIC), _scores(other, INFLATION_METRIC)
    notes = [
        f"random folds: {note}"
        for note in (
            *_incomplete(random, RANDOM, benchmark),
            *signature.unscored(random),
            *_absent(random),
            *_rare(random),
        )
    ]
    notes += _notes(other, group, benchmark)
    comparable = not (_absent(random) or _absent(other))
    points, test, statistic, p_value = None, None, None, None
    pooled = _pooled(random, other) if not comparable and group == LOO else None
    if pooled:
        random_scores, scores, n_posts = pooled
        comparable, points = True, fmean(random_scores) - fmean(scores)
        notes.append(
            f"compared by pooled predictions for the {n_posts:,} posts that both kinds of test part hold, since single "
            "test parts lack a class"
        )
    elif comparable:
        points = fmean(random_scores) - fmean(scores)
        comparison = compare_means(random_scores, scores)
        if comparison.test is None and comparison.reason:
            notes.append(comparison.reason)
        test, statistic, p_value = comparison.test, comparison.statistic, comparison.p_value
    return Inflation(
        benchmark=other[0]["benchmark"],
        task=other[0]["task"],
        model=label,
        protocol=group,
        metric=INFLATION_METRIC,
        points=points,
        random_mean=fmean(random_scores),
        protocol_mean=fmean(scores),
        test=test,
        statistic=statistic,
        p_value=p_value,
        # Known once all comparisons are.
        p_holm=None,
        significant=None,
        comparable=comparable,
        pooled=pooled is not None,
        notes=notes,
    )


def _adjusted(rows: Sequence[Inflation]) -> list[Inflation]:
    """The rows with Holm's adjustment of their p-values, and what is significant."""
    tested = [i for i, row in enumerate(rows) if row.p_value is not None]
    found = list(rows)
    for i, p in zip(tested, holm([row.p_value for row in rows if row.p_value is not None]).tolist(), strict=True):
        found[i] = replace(rows[i], p_holm=p, significant=p < ALPHA)
    return found


def _pooled(random: Sequence[Record], other: Sequence[Record]) -> tuple[list[float], list[float], int] | None:
    """Macro-F1 in percent over all folds together and over all events together, a value a seed, for the posts that
    every seed of both predicts, and their number; None where these lack a class."""
    sides = [
        [_pool(r for r in side if r["seed"] == seed) for seed in sorted({r["seed"] for r in side})]
        for side in (random, other)
    ]
    both = set.intersection(*(set(pool) for side in sides for pool in side))
    classes = list(range(len(random[0]["classes"])))
    scores: list[list[float]] = []
    for side in sides:
        scores.append([])
        for pool in side:
            references, predictions = zip(*(pool[id] for id in sorted(both)), strict=True) if both else ((), ())
            if set(references) != set(classes):
                return None
            found = macro_prf(predictions=predictions, references=references, labels=classes)
            scores[-1].append(100.0 * found["f1"])
    return scores[0], scores[1], len(both)


def _pool(records: Iterable[Record]) -> dict[str, tuple[int, int]]:
    """Id -> reference and prediction, over the test parts of all records."""
    columns = ("ids", "references", "predictions")
    return {
        id: (reference, predicted)
        for record in records
        for id, reference, predicted in zip(*(record["predictions"][name] for name in columns), strict=True)
    }


def _notes(records: Sequence[Record], group: str, benchmark: Benchmark | None) -> list[str]:
    modified = [] if _is_published(records) else ["not the published data"]
    return [
        *_incomplete(records, group, benchmark),
        *signature.unscored(records),
        *_absent(records),
        *_rare(records),
        *_excluded(records),
        *modified,
    ]


def _is_published(records: Sequence[Record]) -> bool:
    return all(record["data_is_published"] for record in records)


def _incomplete(records: Sequence[Record], group: str, benchmark: Benchmark | None) -> list[str]:
    if group == RANDOM:
        expected, what = len(RANDOM_FOLDS), "folds"
    elif group == LOO and benchmark:
        expected, what = len(benchmark.events), "events"
    else:
        return []
    seeds = {r["seed"] for r in records}
    found = len({(r["protocol"], r["seed"]) for r in records})
    if found >= expected * len(seeds):
        return []
    if len(seeds) == 1:
        return [f"{found} of {expected} {what}"]
    return [f"{found} of {expected * len(seeds)} runs ({expected} {what}, {len(seeds)} seeds)"]


def _absent(records: Sequence[Record]) -> list[str]:
    absent = {r["protocol"]: r["split"]["absent"]["test"] for r in records}
    lines = []
    for protocol, classes in absent.items():
        if classes:
            where = f"the test part of {protocol}" if len(absent) > 1 else "the test part"
            lines.append(f"no {' and no '.join(classes)} post in {where}, and macro scores count an absent class as 0")
    if len(lines) > MANY_PARTS:
        return [f"{len(lines)} of {len(absent)} test parts lack a class, and macro scores count an absent class as 0"]
    return lines


def _rare(records: Sequence[Record]) -> list[str]:
    lines = []
    for name in records[0]["classes"]:
        n = min(record["split"]["sizes"]["test"][name] for record in records)
        if 0 < n < FEW_POSTS:
            part = "the test part" if len(records) == 1 else "a test part"
            lines.append(f"only {n} {name} post{'s' if n > 1 else ''} in {part}")
    return lines


def _excluded(records: Sequence[Record]) -> list[str]:
    n = max(record["split"]["excluded"] for record in records)
    return (
        [f"{n:,} post{'s' if n > 1 else ''} without a time or event left out: other posts than under random folds"]
        if n
        else []
    )


def _runs(groups: Mapping[str, Sequence[Record]], label: str, differs: list[str]) -> ModelRuns:
    everything = [record for members in groups.values() for record in members]
    first = everything[0]
    return ModelRuns(
        benchmark=first["benchmark"],
        task=first["task"],
        model=label,
        differs=differs,
        model_version=first["model_version"],
        benchmark_version=first["benchmark_version"],
        settings=first["settings"],
        data_digest=first["data_digest"],
        data_is_published=first["data_is_published"],
        data_remarks=first["data_remarks"],
        versions=_distinct(record["versions"] for record in everything),
        fitted={group: _distinct(record["fitted"] for record in members) for group, members in groups.items()},
        seeds={group: sorted({record["seed"] for record in members}) for group, members in groups.items()},
        n_runs={group: len(members) for group, members in groups.items()},
        signatures={group: signature.compose(signature.of_runs(members, group)) for group, members in groups.items()},
    )


def _distinct(mappings: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Name -> its values, each once, in the order of their first appearance."""
    found: dict[str, list[Any]] = {}
    for mapping in mappings:
        for name, value in sorted(mapping.items()):
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
    return found


def _splits(records: Sequence[Record]) -> list[SplitSummary]:
    by_identity: dict[tuple[Any, ...], SplitSummary] = {}
    for record in records:
        protocol = record["protocol"]
        place = GROUPS.index(group_of(protocol)), protocol, record["data_digest"], record["split_digest"]
        by_identity.setdefault(
            (record["benchmark"], record["task"] or "", *place, *record["classes"]),
            SplitSummary(
                benchmark=record["benchmark"],
                task=record["task"],
                protocol=protocol,
                split_digest=record["split_digest"],
                data_digest=record["data_digest"],
                data_is_published=record["data_is_published"],
                data_remarks=record["data_remarks"],
                sizes={part: {c: record["split"]["sizes"][part][c] for c in record["classes"]} for part in PARTS},
                span={part: _span(record["split"]["span"][part]) for part in PARTS},
                warnings=record["split"]["warnings"],
            ),
        )
    return [by_identity[identity] for identity in sorted(by_identity)]


def _span(span: Sequence[str] | None) -> tuple[str, str] | None:
    return None if span is None else (span[0], span[1])


def _pair(times: Sequence[str | None]) -> tuple[str | None, str | None]:
    return times[0], times[1]


def _timelines(records: Sequence[Record]) -> list[Timeline]:
    timelines: dict[tuple[str, ...], Timeline] = {}
    for record in records:
        found, data = record["timeline"], (record["benchmark"], record["task"], record["data_digest"])
        if not found["start"]:
            continue
        counts = {name: found["counts"][name] for name in record["classes"]}
        empty = Timeline(*data, found["start"], found["end"], counts, cuts={}, ends={}, absent={})
        key = record["benchmark"], record["task"] or "", record["data_digest"], *record["classes"]
        timeline = timelines.setdefault(key, empty)
        if found["cuts"]:
            protocol, split = record["protocol"], record["split"]
            timeline.cuts[protocol] = {name: _pair(found["cuts"][name]) for name in record["classes"]}
            timeline.ends[protocol] = {part: split["span"][part][1] for part in PARTS}
            timeline.absent[protocol] = split["absent"]
    return [timelines[identity] for identity in sorted(timelines)]
