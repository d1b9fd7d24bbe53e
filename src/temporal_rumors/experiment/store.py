"""The run store: one JSON record a run, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from temporal_rumors import atomic
from temporal_rumors.errors import UserError
from temporal_rumors.records import sha256

FORMAT = 1
_REQUIRED = {
    "benchmark": str,
    "protocol": str,
    "model": str,
    "seed": int,
    "settings": dict,
    "model_version": str,
    "benchmark_version": str,
    "classes": list,
    "data_digest": str,
    "data_is_published": bool,
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


_MOVE = "name the folder of the runs alone, or take the file out of it"


def run_key(identity: Mapping[str, Any]) -> str:
    """Return the sha256 (hexadecimal) of everything that decides a run's predictions.

    Args:
        identity: a record, or as much of one as is known before the run.
    """
    chosen = {name: identity[name] for name in _IDENTITY}
    return sha256(json.dumps(chosen, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode())


class RunStore:
    """The records under one folder.

    Args:
        root: the folder; made on the first write.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def path(self, identity: Mapping[str, Any]) -> Path:
        """Return where the record of a run stands or will stand."""
        model = str(identity["model"]).replace("/", "--").replace("\\", "--")
        name = f"{model}-seed{identity['seed']}-{run_key(identity)[:12]}.json"
        return self.root / str(identity["benchmark"]) / str(identity["protocol"]) / name

    def holds(self, identity: Mapping[str, Any]) -> bool:
        """Return whether the run is done; a record that cannot be read is an error, not a missing run."""
        path = self.path(identity)
        return path.is_file() and read_record(path)["key"] == run_key(identity)

    def write(self, record: Mapping[str, Any]) -> Path:
        """Add the key and write a record; return its path."""
        path = self.path(record)
        complete = {**record, "key": run_key(record)}
        atomic.write(path, json.dumps(complete, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        return path

    def read(self) -> list[dict[str, Any]]:
        """Return all records, in the order of their paths.

        Raises:
            UserError: no such folder, or a file in it that is not a run record.
        """
        if not self.root.is_dir():
            raise UserError(f"there is no folder {self.root}: `temporal-rumors run --runs {self.root}` makes it")
        return [read_record(path) for path in sorted(self.root.rglob("*.json"))]


def read_record(path: Path) -> dict[str, Any]:
    """Read one record and check it.

    Raises:
        UserError: the file is no run record, or was changed after it was written.
    """
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not a run record ({error}): {_MOVE}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else None
        raise UserError(f"{path} is not a run record of format {FORMAT} (found {found!r}): {_MOVE}")
    for name, kind in _REQUIRED.items():
        if not isinstance(record.get(name), kind):
            raise UserError(f"{path} is not a run record: {name!r} is missing or not {kind.__name__}; run again")
    if record.get("key") != run_key(record):
        raise UserError(f"{path} was changed after it was written (its key does not fit): delete it and run again")
    return record
