"""What benchmarks share with one another, and table 6 of the paper for ours."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from temporal_rumors import benchmark as registry
from temporal_rumors.audit.neighbours import INCLUDE, is_short, near_duplicates
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import group_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from temporal_rumors.records import Posts


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
class Overlaps:
    """What training and test parts share beside the paper's table 6, and what benchmarks share.

    Attributes:
        table_6: rows of the benchmarks that the paper has.
        shared: (name, other name) -> (class, class in the other) -> ids that are in both; every pair that was compared.
        lacking: name -> why its data could not be had.
    """

    table_6: Sequence[Overlap]
    shared: Mapping[tuple[str, str], Mapping[tuple[str, str], int]]
    lacking: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON holds it."""
        return {
            "table_6": [asdict(row) for row in self.table_6],
            "shared_ids": [
                {
                    "benchmark": name,
                    "other": other,
                    "ids": sum(counts.values()),
                    "by_class": [{"class": a, "other_class": b, "ids": n} for (a, b), n in counts.items()],
                }
                for (name, other), counts in self.shared.items()
            ],
            "lacking": dict(self.lacking),
        }


def overlaps(
    names: Sequence[str] = (), data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
) -> Overlaps:
    """Count near copies beside the paper's table 6, and the ids that benchmarks share; nothing is downloaded.

    Args:
        names: of benchmarks; none means all. Each is compared with every other one, named or not; tasks of one
            benchmark are not compared with one another.
        data_dir, allow_modified: as for `Benchmark.posts`.

    Raises:
        UserError: an unknown benchmark, or data of one that is named that cannot be read.

    Source: Mu et al. 2023, table 6.
    """
    chosen = {registry.get(name).name for name in names or registry.names()}
    table_6: list[Overlap] = []
    classes: list[tuple[Benchmark, dict[str, str]]] = []
    lacking = {}
    for b in (b for name in registry.names() for b in registry.tasks(name)):
        if why := b.source.lacking(data_dir):
            if b.name in names:
                raise UserError(f"{b.label}: {why}")
            lacking[b.label] = why
            continue
        try:
            posts = b.posts(data_dir, allow_modified=allow_modified)
        except UserError as error:
            if b.name in names:
                raise
            lacking[b.label] = str(error)
            continue
        labels = (b.classes[code] for code in posts.labels)
        classes.append((b, dict(zip(posts.ids.tolist(), labels, strict=True))))
        if b.name in chosen:
            table_6 += _table_6(b, posts)
    shared = {
        (a.label, b.label): shared_ids(of_a, of_b)
        for (a, of_a), (b, of_b) in combinations(classes, 2)
        if a.name != b.name and chosen & {a.name, b.name}
    }
    return Overlaps(table_6, shared, lacking)


def shared_ids(classes: Mapping[str, str], others: Mapping[str, str]) -> dict[tuple[str, str], int]:
    """Count the ids that two data sets share, by class: pooling the two would leak them.

    Args:
        classes, others: id -> class.

    Returns:
        (class, class in the other) -> ids, sorted.
    """
    return dict(sorted(Counter((classes[id], others[id]) for id in classes.keys() & others.keys()).items()))


def tables(found: Overlaps) -> list[RenderableType]:
    """Lay out overlaps for the terminal, in 80 columns."""
    from rich.text import Text

    blocks: list[RenderableType] = []
    if found.table_6:
        table = _table(("benchmark", "protocol"), ("test posts", "similar", "long*", "paper"))
        for row in found.table_6:
            ours = (f"{value:,.1f}".removesuffix(".0") for value in (row.test_posts, row.similar, row.similar_long))
            table.add_row(row.benchmark, row.protocol, *ours, f"{row.paper_similar:,}/{row.paper_test_posts:,}")
        modified = dict.fromkeys(row.benchmark for row in found.table_6 if not row.data_is_published)
        blocks += [
            Text("Test posts with a training post within distance 20, and table 6 of the paper", style="bold"),
            table,
            Text("* without texts of at most 20 characters; random: means over the folds"),
            *(Text(f"{name}: not the published data") for name in modified),
            Text(""),
        ]
    table = _table(("benchmark", "and"), ("same ids", "same class"))
    for (name, other), counts in found.shared.items():
        if counts:
            same = sum(n for (a, b), n in counts.items() if a == b)
            # Of classes that bear no name in common nobody can tell.
            comparable = {a for a, _ in counts} & {b for _, b in counts}
            table.add_row(name, other, f"{sum(counts.values()):,}", f"{same:,}" if comparable else "-")
    none = sum(not counts for counts in found.shared.values())
    blocks.append(Text("Posts that stand in two benchmarks", style="bold"))
    if none < len(found.shared):
        blocks.append(table)
    if found.shared:
        blocks.append(Text(f"{none} of {len(found.shared)} pairs share no id. Those that do leak if they are pooled."))
    if found.lacking:
        names = ", ".join(found.lacking)
        blocks.append(Text(f"not to be had, so left out (`temporal-rumors list` says why): {names}"))
    return blocks


def _table_6(b: Benchmark, posts: Posts) -> list[Overlap]:
    path = registry.folder(b.name) / "overlap.csv"
    if not path.is_file():
        return []
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
                benchmark=b.name,
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


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in words:
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    return table
