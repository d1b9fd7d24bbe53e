"""The paper's error analysis: how right a model is on test posts that it has seen near copies of, and on others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from temporal_rumors import benchmark as benchmarks
from temporal_rumors import signature
from temporal_rumors.audit.leaks import NEAR_COPY
from temporal_rumors.audit.ledger import visible
from temporal_rumors.audit.neighbours import EXCLUDE, THRESHOLD, groups
from temporal_rumors.audit.scored import Options, Record, Side, Subject
from temporal_rumors.errors import UserError

if TYPE_CHECKING:
    from rich.console import RenderableType

N_EXAMPLES = 2
_SHOWN = 300


@dataclass(frozen=True)
class Copied:
    """A test post with a near copy in the training part, and what a model answered.

    Attributes:
        protocol, seed: of the run.
        nearest: id of the nearest training post.
        distance: to it.
        label, answer: classes.
    """

    id: str
    protocol: str
    seed: int
    nearest: str
    distance: int
    label: str
    answer: str


@dataclass(frozen=True)
class Cluster:
    """Test and training posts of one run that near copies join, as in the paper's table 7.

    Attributes:
        protocol, seed: of the run.
        text: of a test post.
        test, train: how many posts of each part.
        right, wrong: answers to the test posts.
    """

    protocol: str
    seed: int
    text: str
    test: int
    train: int
    right: int
    wrong: int


@dataclass(frozen=True)
class Row:
    """The answers of one model under one protocol, over all runs; counts as in the paper's table 6.

    Attributes:
        title: what people call the benchmark.
        model: name; with @ and six hexadecimal digits where several variants of it were run.
        protocol: random, chrono, chrono_stratified, loo or official.
        runs: folds, events and seeds.
        right, wrong: answers to all test posts.
        copied_right, copied_wrong: those to test posts with a near copy in the training part.
        copied: each of the latter.
        examples: clusters, those with most training posts first: some without, then some with wrong answers.
    """

    benchmark: str
    task: str | None
    title: str
    model: str
    protocol: str
    runs: int
    right: int
    wrong: int
    copied_right: int
    copied_wrong: int
    copied: list[Copied]
    examples: list[Cluster]


@dataclass(frozen=True)
class Mistakes:
    """The error analysis of all runs.

    Attributes:
        rows: in the order of benchmark, task, model and protocol.
        threshold, short: as for `near_duplicates`.
    """

    rows: list[Row]
    threshold: float
    short: str

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON holds it."""
        return asdict(self)


def mistakes(
    records: Iterable[Record],
    data_dir: str | os.PathLike[str] | None = None,
    allow_modified: bool = False,
    threshold: float = THRESHOLD,
    short: str = EXCLUDE,
    examples: int = N_EXAMPLES,
) -> Mistakes:
    """Count right and wrong answers to test posts with a near copy in the training part, and to all.

    Args:
        records: run records, as `RunStore.read` returns them; one that stands twice counts once.
        data_dir: as for `Benchmark.posts`; the posts must be those that the runs were made on.
        allow_modified: as for `Benchmark.posts`.
        threshold: of near copies, as for `near_duplicates`.
        short: of near copies, as for `near_duplicates`.
        examples: clusters of each kind to give, at most.

    Raises:
        UserError: no runs, records that do not fit the posts or the splits, or damaged ones.

    Source: Mu et al. 2023, section 4, tables 6 and 7.
    """
    rows: list[Row] = []
    for (name, task), of_subject in groupby(signature.ordered(records), key=lambda r: (r["benchmark"], r["task"])):
        benchmark = benchmarks.get(name, task)
        posts = benchmark.posts(data_dir, allow_modified=allow_modified)
        subject = Subject(benchmark, posts, Options(False, threshold, 1, 0, short))
        for model, by_group in signature.by_variant(list(of_subject)).items():
            rows += [_row(subject, model, Side(subject, found), examples) for found in by_group.values()]
    if not rows:
        raise UserError("there are no runs: `temporal-rumors run` makes some")
    return Mistakes(rows, threshold, short)


def _row(subject: Subject, model: str, side: Side, n_examples: int) -> Row:
    posts, labels = subject.posts, subject.posts.labels
    copied: list[Copied] = []
    clusters: list[Cluster] = []
    right = wrong = 0
    for i, record in enumerate(side.records):
        mine = side.scored.only(side.scored.runs == i)
        answers = dict(zip(mine.rows.tolist(), mine.predictions.tolist(), strict=True))
        hits = int((labels[mine.rows] == mine.predictions).sum())
        right, wrong = right + hits, wrong + len(mine.rows) - hits
        split = subject.split(record["protocol"])
        (leak,) = (leak for leak in subject.leaks(record["protocol"]) if leak.name == NEAR_COPY)
        pairs = np.stack([split.test[leak.pairs[:, 0]], split.train[leak.pairs[:, 1]], leak.pairs[:, 2]], axis=1)
        pairs = pairs[np.isin(pairs[:, 0], mine.rows)]
        nearest = pairs[np.lexsort((pairs[:, 1], pairs[:, 2], pairs[:, 0]))]
        _, first = np.unique(nearest[:, 0], return_index=True)
        copied += [
            Copied(
                id=str(posts.ids[row]),
                protocol=record["protocol"],
                seed=record["seed"],
                nearest=str(posts.ids[other]),
                distance=distance,
                label=subject.benchmark.classes[labels[row]],
                answer=subject.benchmark.classes[answers[row]],
            )
            for row, other, distance in nearest[first].tolist()
        ]
        clusters += _clusters(subject, record, pairs, answers)
    hit = [post.label == post.answer for post in copied]
    order = sorted(clusters, key=lambda c: (-c.train, -c.test, c.protocol, c.seed, c.text))
    kinds = [[c for c in order if not c.wrong], [c for c in order if c.wrong]]
    return Row(
        benchmark=subject.benchmark.name,
        task=subject.benchmark.task,
        title=subject.benchmark.title,
        model=model,
        protocol=side.group,
        runs=len(side.records),
        right=right,
        wrong=wrong,
        copied_right=sum(hit),
        copied_wrong=len(hit) - sum(hit),
        copied=copied,
        examples=[cluster for kind in kinds for cluster in kind[:n_examples]],
    )


def _clusters(subject: Subject, record: Record, pairs: np.ndarray, answers: dict[int, int]) -> Iterator[Cluster]:
    """The groups of test and training posts of a run that its near copies join."""
    labels = subject.posts.labels
    rows, places = np.unique(pairs[:, :2], return_inverse=True)
    members = groups(len(rows), places.reshape(-1, 2))
    tested = np.isin(rows, pairs[:, 0])
    for number in np.unique(members).tolist():
        test = rows[(members == number) & tested].tolist()
        hits = sum(answers[row] == labels[row] for row in test)
        yield Cluster(
            protocol=record["protocol"],
            seed=record["seed"],
            text=subject.posts.texts[test[0]],
            test=len(test),
            train=int(((members == number) & ~tested).sum()),
            right=int(hits),
            wrong=len(test) - int(hits),
        )


def tables(found: Mistakes) -> list[RenderableType]:
    """Lay out an error analysis for the terminal, in 80 columns."""
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    blocks: list[RenderableType] = []
    for (title, model), rows in groupby(found.rows, key=lambda row: (row.title, row.model)):
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column("protocol", no_wrap=True)
        for column in ("test posts", "right", "with a copy", "right", "without", "right"):
            table.add_column(column, justify="right", no_wrap=True)
        examples = []
        for row in rows:
            counts = ((row.right, row.wrong), (row.copied_right, row.copied_wrong))
            others = tuple(a - b for a, b in zip(*counts, strict=True))
            cells = [cell for pair in (*counts, others) for cell in (f"{sum(pair):,}", _share(*pair))]
            table.add_row(row.protocol, *cells)
            examples += row.examples
        blocks += [Text(f"{title}: {model}, answers over all runs", style="bold"), table]
        for cluster in examples:
            head = (
                f"{cluster.protocol}, seed {cluster.seed}: {cluster.test} test and {cluster.train} training posts "
                f"alike; right {cluster.right}, wrong {cluster.wrong}"
            )
            text = cluster.text if len(cluster.text) <= _SHOWN else f"{cluster.text[:_SHOWN]} …"
            blocks += [Padding(Text(head, style="bold"), (0, 0, 0, 2)), Padding(Text(visible(text)), (0, 0, 1, 2))]
    short = "left out" if found.short == EXCLUDE else "compared as all others"
    return [
        *blocks,
        Text(f"A copy is a training post within {found.threshold:g}; texts too short for that are {short}."),
    ]


def _share(right: int, wrong: int) -> str:
    return f"{100 * right / (right + wrong):.1f}%" if right + wrong else "-"
