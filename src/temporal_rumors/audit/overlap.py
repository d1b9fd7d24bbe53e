"""What benchmarks share with one another, and table 6 of the paper for ours."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from temporal_rumors import benchmark as registry
from temporal_rumors.audit.neighbours import INCLUDE, is_short, near_duplicates
from temporal_rumors.protocols import group_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


@dataclass(frozen=True)
class Overlap:
    """A row of table 6: test posts with a near copy in the training part, ours and the paper's.

    Attributes:
        test_posts: of ours; for random folds the mean over the folds, as are the two that follow.
        similar: those with a training post within distance 20, all texts compared.
        similar_long: the same with the texts left out that are too short for that distance.
        paper_test_posts, paper_similar: as the paper prints them; how it counted, it does not say.
        data_is_published: whether ours are the published data.
    """

    benchmark: str
    protocol: str
    test_posts: float
    similar: float
    similar_long: float
    paper_test_posts: int
    paper_similar: int
    data_is_published: bool


@dataclass(frozen=True)
class Crossing:
    """What benchmarks share with one another.

    Attributes:
        shared: (name, other name) -> (class, class in the other) -> ids that are in both; every pair that was compared.
        lacking: name -> why its data could not be had.
    """

    shared: Mapping[tuple[str, str], Mapping[tuple[str, str], int]]
    lacking: Mapping[str, str]


def overlap(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
) -> list[Overlap]:
    """Return our counts of near copies beside those of the paper's table 6; none for benchmarks that it has not.

    Args:
        name: of the benchmark.
        data_dir, allow_modified: as for `Benchmark.posts`.

    Source: Mu et al. 2023, table 6.
    """
    b = registry.get(name)
    path = registry.folder(b.name) / "overlap.csv"
    if not path.is_file():
        return []
    posts = b.posts(data_dir, allow_modified=allow_modified)
    with path.open(encoding="utf-8", newline="") as stream:
        printed = list(csv.DictReader(stream))
    # One join serves both counts: a pair of long texts is the same with short ones around.
    short, rows = is_short(posts.texts), []
    for row in printed:
        splits = [b.split(posts, protocol) for protocol in b.protocols if group_of(protocol) == row["protocol"]]
        similar = similar_long = 0
        for split in splits:
            pairs = near_duplicates(posts.texts[split.test], posts.texts[split.train], short=INCLUDE)
            tested, trained = split.test[pairs[:, 0]], split.train[pairs[:, 1]]
            similar += len(set(tested))
            similar_long += len(set(tested[~(short[tested] | short[trained])]))
        rows.append(
            Overlap(
                benchmark=name,
                protocol=row["protocol"],
                test_posts=sum(len(s.test) for s in splits) / len(splits),
                similar=similar / len(splits),
                similar_long=similar_long / len(splits),
                paper_test_posts=int(row["test_posts"]),
                paper_similar=int(row["similar_to_train"]),
                data_is_published=b.is_published(posts),
            )
        )
    return rows


def shared_ids(classes: Mapping[str, str], others: Mapping[str, str]) -> dict[tuple[str, str], int]:
    """Count the ids that two data sets share, by class: pooling the two would leak them.

    Args:
        classes, others: id -> class.

    Returns:
        (class, class in the other) -> ids, sorted.
    """
    return dict(sorted(Counter((classes[id], others[id]) for id in classes.keys() & others.keys()).items()))


def cross(
    names: Sequence[str] = (), data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
) -> Crossing:
    """Look for posts that stand in two benchmarks; nothing is downloaded.

    Args:
        names: of benchmarks; none means all.
        data_dir, allow_modified: as for `Benchmark.posts`.

    Returns:
        What each two of them share. Tasks of one benchmark are not compared with one another.

    Raises:
        UserError: an unknown benchmark, or data that cannot be read.
    """
    benchmarks = [b for name in names or registry.names() for b in registry.tasks(name)]
    lacking = {b.label: why for b in benchmarks if (why := b.source.lacking(data_dir))}
    classes = {}
    for b in benchmarks:
        if b.label not in lacking:
            posts = b.posts(data_dir, allow_modified=allow_modified)
            labels = (b.classes[code] for code in posts.labels)
            classes[b.label] = dict(zip(posts.ids.tolist(), labels, strict=True))
    at_hand = [b for b in benchmarks if b.label in classes]
    shared = {
        (a.label, b.label): shared_ids(classes[a.label], classes[b.label])
        for a, b in combinations(at_hand, 2)
        if a.name != b.name
    }
    return Crossing(shared, lacking)


def overlap_tables(rows: Sequence[Overlap]) -> list[RenderableType]:
    """Lay out table 6 for the terminal, in 80 columns."""
    from rich.text import Text

    table = _table(("benchmark", "protocol"), ("test posts", "similar", "long*", "paper"))
    for row in rows:
        ours = (f"{value:,.1f}".removesuffix(".0") for value in (row.test_posts, row.similar, row.similar_long))
        table.add_row(row.benchmark, row.protocol, *ours, f"{row.paper_similar:,}/{row.paper_test_posts:,}")
    notes = ["* without texts of at most 20 characters; random: means over the folds"]
    modified = dict.fromkeys(row.benchmark for row in rows if not row.data_is_published)
    return [table, *(Text(note) for note in [*notes, *(f"{name}: not the published data" for name in modified)])]


def cross_tables(crossing: Crossing) -> list[RenderableType]:
    """Lay out for the terminal, in 80 columns, what benchmarks share."""
    from rich.text import Text

    table = _table(("benchmark", "and"), ("same ids", "same class"))
    for (a, b), counts in crossing.shared.items():
        if counts:
            same = sum(n for (x, y), n in counts.items() if x == y)
            table.add_row(a, b, f"{sum(counts.values()):,}", f"{same:,}")
    none = sum(not counts for counts in crossing.shared.values())
    notes = [f"{none} of {len(crossing.shared)} pairs share no id. Those that do leak, if they are pooled."]
    return [table, *(Text(note) for note in notes + [f"{name}: {why}" for name, why in crossing.lacking.items()])]


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in words:
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    return table
