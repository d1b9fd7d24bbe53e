"""The run store: one JSON record a run, written whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from temporal_rumors import atomic
from temporal_rumors.errors import UserError
from temporal_rumors.protocols import GROUPS, group_of
from temporal_rumors.records import json_digest

FORMAT = 2
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "benchmark": str,
    "task": (str, NoneType),
    "protocol": str,
    "model": str,
    "seed": int,
    "settings": dict,
    "model_version": str,
    "benchmark_version": str,
    "classes": list,
    "data_digest": str,
    "data_is_published": bool,
    "data_remarks": list,
    "split_digest": str,
    "split": dict,
    "timeline": dict,
    "metrics": dict,
    "fitted": dict,
    "predictions": dict,
    "timings": dict,
    "versions": dict,
}
# Whatever decides the predictions; two runs that agree here are one run.
_IDENTITY = (
    "format",
    "benchmark",
    "task",
    "benchmark_version",
    "protocol",
    "model",
    "model_version",
    "settings",
    "seed",
    "classes",
    "data_digest",
    "split_digest",
)


_CHECKSUM = "checksum"
_LONGEST_NAME = 80
_MOVE = "name the folder of the runs alone, or take the file out of it"


def run_key(identity: Mapping[str, Any]) -> str:
    """Return the sha256 (hexadecimal) of everything that decides a run's predictions.

    Args:
        identity: a record, or as much of one as is known before the run.
    """
    return json_digest({name: identity[name] for name in _IDENTITY})


def file_name(model: str) -> str:
    """Return a model's name as files bear it: no folder, and no longer than file systems take."""
    name = re.sub(r"[^\w.@+-]+", "--", model).strip("-.")
    return name if 0 < len(name) <= _LONGEST_NAME else f"{name[-_LONGEST_NAME:]}-{json_digest(model)[:8]}"


def place(run: Mapping[str, Any]) -> Path:
    """Return the folder, under any root, of what belongs to a benchmark, task and protocol."""
    return Path(str(run["benchmark"])) / "_".join(filter(None, (run["task"], run["protocol"])))


class RunStore:
    """The records under one folder.

    Args:
        root: the folder; made on the first write.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def path(self, identity: Mapping[str, Any]) -> Path:
        """Return where the record of a run stands or will stand."""
        name = f"{file_name(identity['model'])}-seed{identity['seed']}-{run_key(identity)[:12]}.json"
        return self.root / place(identity) / name

    def unfinished(self, identity: Mapping[str, Any]) -> Path:
        """Return the folder where a run that is not done keeps what it needs to go on."""
        path = self.path(identity)
        return path.with_name(f".{path.stem}.unfinished")

    def holds(self, identity: Mapping[str, Any]) -> bool:
        """Return whether the run is done; a record that cannot be read is an error, not a missing run."""
        path = self.path(identity)
        return path.is_file() and read_record(path)["key"] == run_key(identity)

    def write(self, record: Mapping[str, Any]) -> Path:
        """Add the key and a checksum and write a record; return its path."""
        path = self.path(record)
        complete = {**record, "key": run_key(record)}
        complete[_CHECKSUM] = json_digest(complete)
        atomic.write(path, json.dumps(complete, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        return path

    def read(self) -> list[dict[str, Any]]:
        """Return all records, in the order of their paths: `<root>/<benchmark>/[<task>_]<protocol>/*.json`.

        Raises:
            UserError: no such folder, a file at such a place that is not a run record, or two records of one run
                that disagree.
        """
        try:
            if not self.root.is_dir():
                raise UserError(f"there is no folder {self.root}: `temporal-rumors run --runs {self.root}` makes it")
            # Reports that somebody writes into the folder stand higher up; editors keep copies in hidden folders.
            paths = [p for p in sorted(self.root.glob("*/*/*.json")) if not p.parent.name.startswith(".")]
        except OSError as error:
            raise UserError(f"{self.root} cannot be read: {error.strerror or error}") from None
        found: dict[str, tuple[Path, dict[str, Any]]] = {}
        for path in paths:
            record = read_record(path)
            first, other = found.setdefault(record["key"], (path, record))
            if any(other[name] != record[name] for name in ("metrics", "predictions")):
                raise UserError(f"{first} and {path} are records of one run, but disagree: delete the wrong one")
        return [record for _, record in found.values()]


def read_record(path: Path) -> dict[str, Any]:
    """Read one record and check it.

    Raises:
        UserError: the file is no run record, or was changed after it was written.
    """
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a run record ({error}): {_MOVE}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else None
        raise UserError(f"{path} is not a run record of format {FORMAT} (found {found!r}): {_MOVE}")
    for name, kind in _FIELDS.items():
        if name not in record or not isinstance(record[name], kind):
            expected = kind.__name__ if isinstance(kind, type) else "str or null"
            raise UserError(f"{path} is not a run record: {name!r} is missing or not {expected}: {_MOVE}")
    if group_of(record["protocol"]) not in GROUPS:
        raise UserError(f"{path}: this version of temporal-rumors knows no protocol {record['protocol']!r}: {_MOVE}")
    checksum = record.pop(_CHECKSUM, None)
    if checksum != json_digest(record) or record.get("key") != run_key(record):
        raise UserError(f"{path} was changed after it was written (its checksum does not fit): delete it and run again")
    for name in ("precision", "recall", "f1"):
        if not isinstance(record["metrics"].get(name), float):
            raise UserError(f"{path} is not a run record: the metric {name!r} is missing or no number: {_MOVE}")
    return record
