"""Benchmarks in forms that other programs read without us: for the Hub, and for language models."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from temporal_rumors import atomic
from temporal_rumors import benchmark as benchmarks
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import UserError, unknown
from temporal_rumors.protocols import PARTS

if TYPE_CHECKING:
    import numpy as np

    from temporal_rumors.records import Posts

FORMATS = ("parquet", "lm-eval")


def export(
    name: str,
    out: str | os.PathLike[str],
    form: str = "parquet",
    protocols: Sequence[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    allow_modified: bool = False,
) -> list[str]:
    """Write a benchmark's parts as Parquet files, with what a program needs to read them.

    Args:
        name: of the benchmark; all its tasks are written.
        out: folder to write to; files of the same names are replaced.
        form: "parquet", for `datasets.load_dataset` and the Hub; or "lm-eval", tasks for lm-evaluation-harness.
        protocols: which; None means all.
        data_dir: as for `Benchmark.posts`.
        allow_modified: as for `Benchmark.posts`.

    Returns:
        Names of the configurations or tasks that were written.

    Raises:
        UserError: an unknown name, or data that are not to be had.
    """
    if form not in FORMATS:
        raise UserError(unknown("format", form, FORMATS))
    folder, written = Path(out), []
    tasks = benchmarks.tasks(name)
    for protocol in protocols or ():
        if not any(protocol in b.protocols for b in tasks):
            raise UserError(
                f"{name}: {unknown('protocol', protocol, dict.fromkeys(p for b in tasks for p in b.protocols))}"
            )
    for b in tasks:
        posts = b.posts(data_dir, allow_modified=allow_modified)
        for config, protocol in b.configs.items():
            if protocols is None or protocol in protocols:
                split = b.split(posts, protocol)
                for part in PARTS:
                    _write_part(b, posts, getattr(split, part), folder / "data" / config / f"{part}.parquet")
                written.append((b, config))
    if form == "lm-eval":
        from temporal_rumors.export.lm_eval import write_tasks

        return write_tasks(folder, written)
    from temporal_rumors.export.hub import write_card

    write_card(folder, written)
    return [config for _, config in written]


def _write_part(b: Benchmark, posts: Posts, rows: np.ndarray, path: Path) -> None:
    from pyarrow import parquet

    from temporal_rumors.builder import as_table, features_of

    table = as_table(b, posts, rows).cast(features_of(b).arrow_schema)
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    atomic.write(path, stream.getvalue())
