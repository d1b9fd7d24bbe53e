"""Start-up: `temporal-rumors --help` beside an empty typer app, and `import temporal_rumors` beside `import datasets`.

    python benchmarks/startup.py

Whole processes, the two sides in turn; prints medians and the ratio.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 15
EMPTY_APP = '''
import typer

app = typer.Typer(help="An app that does nothing.", no_args_is_help=True)


@app.command()
def one() -> None:
    """Do nothing."""


@app.command()
def two() -> None:
    """Do nothing either."""


app()
'''
# Installed scripts run their own few lines and then the entry point: both sides get the same.
OUR_APP = "from temporal_rumors.cli import main\nmain()\n"


def process_seconds(*arguments: str) -> float:
    """Return how long a Python process with these arguments takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_milliseconds(module: str) -> float:
    """Return what -X importtime says about a module, with all that it imports."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()
    return next(float(line.split("|")[1]) / 1e3 for line in lines if line.split("|")[-1].strip() == module)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        empty, ours = Path(folder, "empty.py"), Path(folder, "ours.py")
        empty.write_text(EMPTY_APP)
        ours.write_text(OUR_APP)
        pairs = [(process_seconds(str(ours), "--help"), process_seconds(str(empty), "--help")) for _ in range(REPEATS)]
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    print(f"--help: {1e3 * a:.0f} ms, empty typer app {1e3 * b:.0f} ms, ratio {ratio:.2f}")
    imports = [(import_milliseconds("temporal_rumors"), import_milliseconds("datasets")) for _ in range(5)]
    a, b = (statistics.median(side) for side in zip(*imports, strict=True))
    print(f"import temporal_rumors {a:.1f} ms, import datasets {b:.0f} ms, ratio {a / b:.3f} ({os.cpu_count()} cores)")


if __name__ == "__main__":
    main()
