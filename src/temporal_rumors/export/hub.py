"""The card of an exported benchmark, from which the Hub and `datasets` know its configurations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from temporal_rumors import atomic
from temporal_rumors import benchmark as benchmarks
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.protocols import CHRONO, PARTS


def write_card(folder: Path, written: Sequence[tuple[Benchmark, str]]) -> None:
    """Write README.md: the benchmark's own card, and where the parts of each configuration are.

    Args:
        folder: of the exported benchmark.
        written: each benchmark and task with the name of a configuration that was written.
    """
    _, head, body = (benchmarks.folder(written[0][0].name) / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    lines = ["configs:"]
    names = [config for _, config in written]
    default = next((name for name in names if name.endswith(CHRONO)), names[0])
    for name in names:
        lines += [f"- config_name: {name}", *(["  default: true"] if name == default else []), "  data_files:"]
        lines += [line for part in PARTS for line in (f"  - split: {part}", f"    path: data/{name}/{part}.parquet")]
    use = f"""
## This copy

The parts of each protocol lie here as Parquet files, so that no package is needed beside `datasets`:

```python
from datasets import load_dataset

load_dataset("path/to/this/folder", "{default}")
```

Whoever publishes it answers for it that the posts' authors and their platform allow that.
"""
    atomic.write(folder / "README.md", f"---\n{head}" + "\n".join(lines) + f"\n---\n{body}{use}")
