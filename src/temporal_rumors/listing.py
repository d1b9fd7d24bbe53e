"""What `temporal-rumors list` shows: benchmarks, protocols, sizes, digests, and what splits do not guarantee."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from temporal_rumors import benchmark as registry
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import LOO_PREFIX, PARTS

if TYPE_CHECKING:
    from rich.console import RenderableType

SHORT = 12
# Of the places of a remark; JSON has all.
N_PLACES = 20


def listing(
    names: Sequence[str], data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
) -> list[dict[str, Any]]:
    """Describe benchmarks and all their splits; nothing is downloaded.

    Args:
        names: of benchmarks; none means all.
        data_dir, allow_modified: as for `Benchmark.posts`.

    Returns:
        One dict a benchmark and task, as JSON holds it. Where the source is not at hand or cannot be read, "lacking"
        says why, and its protocols have their names alone; one that the data cannot be split by has an "error".
    """
    chosen = [b for name in names or registry.names() for b in registry.tasks(name)]
    return [_describe(b, data_dir, allow_modified) for b in chosen]


def _describe(b: Benchmark, data_dir: str | os.PathLike[str] | None, allow_modified: bool) -> dict[str, Any]:
    description: dict[str, Any] = {
        "benchmark": b.name,
        "task": b.task,
        "title": b.title,
        "language": b.language,
        "classes": list(b.classes),
        "events": list(b.events),
        "file": b.source.name,
        "url": b.source.url,
        "sha256": b.source.sha256,
        "lacking": b.source.lacking(data_dir),
        "protocols": [{"protocol": protocol, "config": config} for config, protocol in b.configs.items()],
    }
    if description["lacking"]:
        return description
    try:
        posts = b.posts(data_dir, allow_modified=allow_modified)
    except UserError as error:
        return description | {"lacking": str(error)}
    description |= {
        "posts": len(posts),
        "data_digest": posts.digest,
        "data_is_published": b.is_published(posts),
        "remarks": posts.remarks(examples=0),
        "places": {what: list(places) for what, places in ({**posts.dropped, **posts.notes}).items()},
    }
    for entry in description["protocols"]:
        try:
            split = b.split(posts, entry["protocol"])
        except UserError as error:
            # Modified data may lack an event, or be too few.
            entry["error"] = str(error)
            continue
        report = b.report(posts, split)
        entry |= {
            "digest": split.digest(posts.ids),
            **asdict(report),
            "not_guaranteed": report.warnings(),
            # Without the newer posts, which have a column of their own in the table.
            "remarks": report.warnings(skip=("newer",)),
        }
    return description


def tables(rows: Sequence[dict[str, Any]], *, verbose: bool) -> list[RenderableType]:
    """Lay out a listing for the terminal, one table a benchmark.

    Args:
        rows: from :func:`listing`.
        verbose: show whole digests and the source file.

    Returns:
        What rich prints, in order.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    blocks: list[RenderableType] = []
    for row in rows:
        name = " ".join(filter(None, (row["benchmark"], row["task"])))
        head = f"{name}: {row['title']} ({row['language']}), {' / '.join(row['classes'])}"
        if row["lacking"]:
            protocols = _named([entry["protocol"] for entry in row["protocols"]], row)
            blocks.append(Text(f"{head}\n  protocols: {protocols}\n  {row['lacking']}\n"))
            continue
        # Not the table's title, of which rich cuts off what does not fit.
        blocks.append(Text(f"{head}, {row['posts']:,} posts", style="bold"))
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column("protocol", no_wrap=True)
        for column in (*PARTS, "newer*"):
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("digest", no_wrap=True)
        remarks: dict[str, list[str]] = {}
        for entry in row["protocols"]:
            if "error" in entry:
                table.add_row(entry["protocol"], *["-"] * (len(PARTS) + 2))
                remarks.setdefault(entry["error"], []).append(entry["protocol"])
                continue
            sizes = [f"{sum(entry['sizes'][part].values()):,}" for part in PARTS]
            newer = f"{entry['newer_than_test']:,}"
            table.add_row(entry["protocol"], *sizes, newer, entry["digest"][:SHORT])
            for remark in entry["remarks"]:
                remarks.setdefault(remark, []).append(entry["protocol"])
        blocks.append(table)
        blocks += [Text(f"  {remark} ({_named(protocols, row)})") for remark, protocols in remarks.items()]
        if not row["data_is_published"]:
            blocks.append(Text(f"  not the published data: its sha256 is {row['data_digest']}"))
        for remark, places in zip(row["remarks"], row["places"].values(), strict=True):
            more = ", …" if len(places) > N_PLACES else ""
            blocks.append(Text(f"  {remark}" + (f" ({', '.join(places[:N_PLACES])}{more})" if verbose else "")))
        if verbose:
            blocks.append(Text(f"  {row['file']}: sha256 {row['data_digest']}"))
            blocks += [Text(f"  {e['protocol']}: {e['digest']}") for e in row["protocols"] if "digest" in e]
        blocks.append(Text(""))
    if any("posts" in row for row in rows):
        blocks.append(Text("* training posts newer than the first test post"))
    return blocks


def _named(protocols: Sequence[str], row: dict[str, Any]) -> str:
    """List protocols, all events being called by one name."""
    events = [entry["protocol"] for entry in row["protocols"] if entry["protocol"].startswith(LOO_PREFIX)]
    if len(events) > 1 and set(events) <= set(protocols):
        protocols = [*(protocol for protocol in protocols if protocol not in events), f"{LOO_PREFIX}<event>"]
    return ", ".join(protocols)
