"""Writing a report: the suffix chooses the form, and equal records give equal bytes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from temporal_rumors.errors import UserError
from temporal_rumors.experiment.store import RunStore
from temporal_rumors.report import SUFFIXES, check_suffix, summarise, write

Record = dict[str, Any]

WRITE_ALL = """
import json, sys
from temporal_rumors.report import SUFFIXES, summarise, write
summary = summarise(json.load(open(sys.argv[1], encoding="utf-8")))
for suffix in SUFFIXES:
    write(summary, sys.argv[2] + "/report" + suffix)
assert "matplotlib.pyplot" not in sys.modules, "drawing must not touch the state that pyplot shares"
"""


def test_each_suffix_writes_its_form(tmp_path: Path, grid: list[Record]) -> None:
    starts = {
        ".html": "<!doctype html>",
        ".md": "bert-base-uncased scores",
        ".tex": "% In",
        ".csv": "benchmark,",
        ".json": "{",
    }
    assert set(starts) == set(SUFFIXES)
    for suffix, start in starts.items():
        path = tmp_path / "new" / f"report{suffix}"
        write(summarise(grid), path)
        assert path.read_text(encoding="utf-8").lstrip().startswith(start)
    assert sorted(p.name for p in path.parent.iterdir()) == sorted(f"report{suffix}" for suffix in SUFFIXES)
    assert json.loads((path.parent / "report.json").read_bytes()) == json.loads(json.dumps(summarise(grid).to_json()))


def test_the_suffix_may_be_in_capitals(tmp_path: Path, grid: list[Record]) -> None:
    write(summarise(grid), tmp_path / "REPORT.CSV")
    assert (tmp_path / "REPORT.CSV").read_text().startswith("benchmark,")


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.html.gz"])
def test_another_suffix_is_an_error_that_lists_the_valid_ones(tmp_path: Path, grid: list[Record], name: str) -> None:
    summary = summarise(grid)
    for attempt in (lambda: write(summary, tmp_path / name), lambda: check_suffix(tmp_path / name)):
        with pytest.raises(UserError, match=r"\.html, \.md, \.tex, \.csv, \.json"):
            attempt()
    assert list(tmp_path.iterdir()) == []


def test_the_records_of_these_tests_are_records_to_the_store(tmp_path: Path, grid: list[Record]) -> None:
    store = RunStore(tmp_path)
    for record in grid:
        store.write(record)
    by_key = {record["key"]: record for record in store.read()}
    assert by_key == {record["key"]: record for record in grid}


def test_bytes_depend_on_nothing_but_the_set_of_records(tmp_path: Path, grid: list[Record]) -> None:
    written = []
    for i, (zone, hash_seed) in enumerate((("UTC", "1"), ("America/New_York", "2"))):
        folder = tmp_path / str(i)
        folder.mkdir()
        records = list(grid)
        random.Random(i).shuffle(records)
        source = folder / "records"
        source.write_text(json.dumps(records), encoding="utf-8")
        environment = {**os.environ, "TZ": zone, "PYTHONHASHSEED": hash_seed}
        subprocess.run([sys.executable, "-c", WRITE_ALL, str(source), str(folder)], check=True, env=environment)
        written.append({suffix: (folder / f"report{suffix}").read_bytes() for suffix in SUFFIXES})
    assert written[0] == written[1]
