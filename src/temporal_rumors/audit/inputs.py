"""Read any data set for an audit: a file of posts, or a data set on the Hub."""

from __future__ import annotations

import csv
import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from temporal_rumors.errors import UserError
from temporal_rumors.sources.files import Snapshot
from temporal_rumors.sources.table import decode

# No text is as long.
_LARGEST = 1_000_000_000
SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")


def threshold(text: str) -> int | float:
    """Return a threshold of near copies: a whole number is a distance, another one a share of the longer text."""
    try:
        found = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        raise UserError(
            f"the threshold {text!r} is no number: expected a distance such as 20, or a share such as 0.2"
        ) from None
    if not found <= _LARGEST:
        raise UserError(f"the threshold {text:.20} is too large: expected a distance such as 20, at most {_LARGEST:,}")
    return found


def read_parts(name: str, protocol: str | None, **columns: Any) -> tuple[Any, Any, list[str]]:
    """Return the training and the test part of a file or of a data set on the Hub.

    Args:
        name: path of a file with one post a row (.csv, .tsv, .jsonl, .json or .parquet, with a header), or the name of
            a data set that `datasets.load_dataset` knows.
        protocol: how it is split; None takes the parts "train" and "test" that it comes with.
        **columns: as for `temporal_rumors.split`.

    Returns:
        Both parts, pandas DataFrames of a file, Datasets of the Hub's; and what the split does not guarantee, or has
        left out.

    Raises:
        UserError: no such file, another kind of file, one that cannot be read, or no parts and no protocol.
    """
    path = Path(name)
    if path.suffix.lower() in SUFFIXES or path.is_file():
        if protocol is None:
            raise UserError(f"{name} is one table: name the protocol by which it is to be split, such as chrono")
        frame = _read(path)
        if "label_column" not in columns and "label" not in frame.columns:
            columns["label_column"] = None
        return _split(frame, protocol, columns)
    found = _load(name)
    if protocol is None:
        if not {"train", "test"} <= set(found):
            raise UserError(f"{name} has the parts {', '.join(found)}, not train and test: name a protocol")
        return found["train"], found["test"], []
    from datasets import concatenate_datasets

    try:
        whole = concatenate_datasets(list(found.values()))
    except ValueError as error:
        raise UserError(f"the parts of {name} cannot be joined: {' '.join(str(error).split()):.500}") from None
    return _split(whole, protocol, columns)


def _split(data: Any, protocol: str, columns: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    from temporal_rumors.frames import split

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        parts: Any = split(data, protocol, **columns)
    return parts["train"], parts["test"], [str(warning.message) for warning in told]


def _read(path: Path) -> Any:
    import pandas as pd

    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(f"{path} is no file of a known kind: expected one of {', '.join(SUFFIXES)}")
    try:
        if suffix in (".csv", ".tsv"):
            header, *rows = _cells(path, "\t" if suffix == ".tsv" else ",")
            return pd.DataFrame(rows, columns=header, dtype=object)
        if suffix == ".parquet":
            from pyarrow import parquet

            # Or an integer beside a missing one would become a fraction.
            return parquet.read_table(path).to_pandas(integer_object_nulls=True)
        # Not by pandas, which takes what looks like a time for one.
        text = path.read_text(encoding="utf-8-sig")
        rows = (
            [json.loads(line) for line in text.split("\n") if line.strip()] if suffix == ".jsonl" else json.loads(text)
        )
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("expected one object a post")
        # As objects: pandas refuses half a surrogate pair among its strings.
        return pd.DataFrame(rows, dtype=object)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except UserError:
        raise
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is no whole {suffix} file: {error}") from None


def _cells(path: Path, separator: str) -> list[list[str]]:
    """The header and the rows of a table, as text: ids must not lose digits, nor labels their names."""
    text = decode(Snapshot(str(path), path.read_bytes(), ""))
    before = csv.field_size_limit(sys.maxsize)
    found: list[list[str]] = []
    line = 1
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        for row in rows:
            if row and found and len(row) != len(found[0]):
                raise UserError(
                    f"{path}, line {line}: {len(row)} cells, expected {len(found[0])} as in the header: complete the "
                    "row, or quote a text that holds a separator"
                )
            if row:
                found.append(row)
            line = rows.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{path}, line {line}: not valid CSV ({error}): a text that opens with a double quote must be quoted, with "
            "the quotes inside it doubled"
        ) from None
    finally:
        csv.field_size_limit(before)
    return found


def _load(name: str) -> Any:
    from datasets import DatasetDict, load_dataset
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES

    if name in _PACKAGED_DATASETS_MODULES or not name.strip():
        raise UserError(f"{name!r} names a kind of files, not a data set: name a file, or a data set as owner/name")
    try:
        found = load_dataset(name)
    except Exception as error:  # whatever a data set of somebody's brings up
        told = " ".join(str(error).split())
        raise UserError(f"{name} is no file, and no data set that can be loaded: {told:.500}") from None
    if not isinstance(found, DatasetDict):
        raise UserError(f"{name} gives {type(found).__name__}, expected a data set with parts")
    return found
