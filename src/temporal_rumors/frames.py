"""Any `datasets.Dataset` or `pandas.DataFrame`, split by a protocol's name."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections import Counter
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from temporal_rumors import protocols
from temporal_rumors.errors import UserError
from temporal_rumors.records import datetime_ms, is_missing, parse_time

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict
    from pandas import DataFrame

_ID, _EVENT = "id", "event"
_BATCH = 1000
_NS_PER_MS = 1_000_000
_ADVICE = {
    "datasets.DatasetDict": "take one of its parts, or join them: datasets.concatenate_datasets(list(parts.values()))",
    "datasets.IterableDataset": "load it without streaming=True",
    "datasets.IterableDatasetDict": "load it without streaming=True, and take one of its parts",
    "builtins.list": "datasets.Dataset.from_list(rows) or pandas.DataFrame(rows) makes one",
    "builtins.dict": "datasets.Dataset.from_dict(columns) or pandas.DataFrame(columns) makes one",
    "builtins.str": "datasets.load_dataset(name, protocol) gives a benchmark's parts",
    "polars.DataFrame": "datasets.Dataset.from_polars(frame) or frame.to_pandas() makes one",
    "polars.LazyFrame": "datasets.Dataset.from_polars(frame.collect()) or frame.collect().to_pandas() makes one",
    "pyarrow.Table": "datasets.Dataset(table) or table.to_pandas() makes one",
}


@overload
def split(
    dataset: DataFrame,
    protocol: str,
    *,
    time_column: str = ...,
    label_column: str | None = ...,
    event_column: str | None = ...,
    id_column: str | None = ...,
    time_zone: str | None = ...,
    seed: int = ...,
) -> dict[str, DataFrame]: ...
@overload
def split(
    dataset: Dataset,
    protocol: str,
    *,
    time_column: str = ...,
    label_column: str | None = ...,
    event_column: str | None = ...,
    id_column: str | None = ...,
    time_zone: str | None = ...,
    seed: int = ...,
) -> DatasetDict: ...
def split(
    dataset: Any,
    protocol: str,
    *,
    time_column: str = "created_at",
    label_column: str | None = "label",
    event_column: str | None = None,
    id_column: str | None = None,
    time_zone: str | None = None,
    seed: int = 0,
) -> Any:
    """Split a data set of your own into train, validation and test by a protocol's name.

    The parts depend on the rows alone, never on their order. What the split does not guarantee is told as a warning:
    classes absent from a part, posts that only their id puts on their side of a cut, rows left out, and, under
    ``chrono_stratified``, training posts newer than the first test post.

    Args:
        dataset: one post a row.
        protocol: ``random_fold0`` to ``random_fold4``, ``chrono``, ``chrono_stratified`` or ``loo_<event>``.
        time_column: datetimes (kept to the nanosecond), dates, ISO 8601 text, or Unix times of 10 digits
            (seconds) or 13 digits (milliseconds). A post without a time is left out of chronological protocols.
        label_column: class of each post: integers, strings or booleans, none missing; None for posts that have no
            classes, which ``chrono`` can split.
        event_column: news event of each post, for ``loo_<event>``; a post without one is left out. None takes the
            column ``event`` if there is one.
        id_column: unique ids, strings or integers, which order posts of one time. None takes the column ``id``, or
            where there is none a hash of the whole row.
        time_zone: IANA name of the zone in which times without one are meant; None refuses such times.
        seed: of the protocols that draw at random.

    Returns:
        ``train``, ``validation`` and ``test``, with all columns, rows in (time, id) order: a DatasetDict of a
        Dataset, a dict of a DataFrame.

    Warns:
        UserWarning: what the split does not guarantee.

    Raises:
        UserError: anything else than a Dataset or DataFrame, a missing column, missing or repeated ids, missing or
            fractional labels, times that are not understood, an unknown protocol, too few rows.

    Source: Mu et al. 2023, section 2.2.
    """
    columns = column_names(dataset)
    if not len(dataset):
        raise UserError("the data set holds no rows: there is nothing to split")
    found = f"found the columns {', '.join(map(repr, columns))}"

    def read(column: str, argument: str) -> list[Any]:
        if columns.count(column) != 1:
            what = "more than one column" if column in columns else "no column"
            raise UserError(f"there is {what} {column!r}, {found}: name the right one with {argument}=")
        return column_values(dataset, columns.index(column))

    loo = str(protocol).startswith(protocols.LOO_PREFIX)
    if loo and event_column is None and _EVENT in columns:
        event_column = _EVENT
    if loo and event_column is None:
        raise UserError(f"{protocol} needs the event of each post, {found}: name the right one with event_column=")
    if id_column is None and _ID in columns:
        id_column = _ID
    labels = None if label_column is None else check_labels(read(label_column, "label_column"), label_column)
    times = utc_times(read(time_column, "time_column"), time_column, time_zone)
    events = None
    if event_column is not None:
        events = names_of(named_values(dataset, event_column, read(event_column, "event_column")), event_column)
    ids = _row_keys(dataset, columns) if id_column is None else unique_ids(read(id_column, "id_column"), id_column)
    result = protocols.make_split(protocol, ids=ids, times=times, labels=labels, events=events, seed=seed)
    lacking = f"event in {event_column!r}" if loo else f"time in {time_column!r}"
    for line in _remarks(result, protocol, times, labels, lacking):
        warnings.warn(line, stacklevel=2)
    parts = {part: _take(dataset, rows) for part, rows in result.parts().items()}
    if _is_frame(dataset):
        return parts
    from datasets import DatasetDict

    return DatasetDict(parts)


def _remarks(
    result: protocols.Split, protocol: str, times: np.ndarray, labels: list[Any] | None, lacking: str
) -> list[str]:
    """One sentence for each thing that the split does not guarantee, and that the protocol's name does not say."""
    lines = []
    if n := len(result.excluded):
        lines.append(f"{n:,} of {len(times):,} posts have no {lacking} and are left out of {protocol}")
    report = protocols.report(result, times=times, labels=[0] * len(times) if labels is None else labels)
    # Rows left out are told above, by their column; only one protocol's name promises what newer posts break.
    skip = ["excluded"] if protocol == protocols.CHRONO_STRATIFIED else ["excluded", "newer"]
    return lines + [f"{protocol}: {line}" for line in report.warnings(skip)]


def column_names(dataset: Any) -> list[Any]:
    """Return the names of the columns; refuse what is neither a Dataset nor a DataFrame."""
    if _is_frame(dataset):
        return list(dataset.columns)
    datasets = sys.modules.get("datasets")
    if datasets is not None and isinstance(dataset, datasets.Dataset):
        return list(dataset.column_names)
    kind = f"{type(dataset).__module__.partition('.')[0]}.{type(dataset).__name__}"
    advice = _ADVICE.get(kind, "make one of it first")
    raise UserError(
        f"found {kind.removeprefix('builtins.')}, expected a datasets.Dataset or a pandas.DataFrame: {advice}"
    )


def _is_frame(dataset: Any) -> bool:
    # Who holds a DataFrame has imported pandas: nobody pays for a library that he does not use.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(dataset, pandas.DataFrame)


def _take(dataset: Any, rows: Any) -> Any:
    return dataset.iloc[rows] if _is_frame(dataset) else dataset.select(rows)


def column_values(dataset: Any, at: int) -> list[Any]:
    """Return one column as Python objects, None where missing."""
    if _is_frame(dataset):
        column = dataset.iloc[:, at]
        values = [value.item() if isinstance(value, np.generic) else value for value in column.tolist()]
        return [None if missing else value for value, missing in zip(values, column.isna(), strict=True)]
    name = dataset.column_names[at]
    values = dataset.select_columns([name]).with_format("arrow")[:].column(0).to_pylist()
    if type(dataset.features[name]).__name__ == "ClassLabel":
        # -1 is how data sets write a class that is not told.
        return [None if value == -1 else value for value in values]
    return values


def named_values(dataset: Any, column: str, values: list[Any]) -> list[Any]:
    """Return values of a column with the names of classes in place of their numbers."""
    feature: Any = None if _is_frame(dataset) else dataset.features[column]
    if type(feature).__name__ != "ClassLabel":
        return values
    return [None if value is None else feature.int2str(value) for value in values]


def check_labels(values: list[Any], column: str) -> list[Any]:
    """Return labels; refuse missing and fractional ones."""
    # Not _is_missing: there are classes called None.
    missing = [
        row for row, value in enumerate(values) if value is None or (isinstance(value, str) and not value.strip())
    ]
    if missing:
        raise UserError(
            f"{len(missing):,} rows have no label in {column!r}, the first is row {missing[0]} (from 0): "
            "label them or drop them"
        )
    for row, value in enumerate(values):
        if isinstance(value, float):
            raise UserError(
                f"row {row} (from 0): the label {value!r} in {column!r} is a float: make labels integers or text"
            )
    return values


def utc_times(values: list[Any], column: str, zone: str | None) -> np.ndarray:
    """Return times as (n,) datetime64[ns], UTC, NaT where missing."""
    times = np.full(len(values), "NaT", dtype="datetime64[ns]")
    for row, value in enumerate(values):
        if _is_missing(value):
            continue
        try:
            times[row] = np.datetime64(_nanoseconds(value, zone), "ns")
        except OverflowError:
            raise UserError(f"{column!r}, row {row} (from 0): the time {value} is not between 1678 and 2262") from None
        except UserError as error:
            hint = "" if zone else "; time_zone= names the zone of times that have none"
            raise UserError(f"{column!r}, row {row} (from 0): {error}{hint}") from None
    return times


def _nanoseconds(value: Any, zone: str | None) -> int:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        # datetime_ms rounds down, so what it leaves is the rest of the fraction.
        below_ms = value.microsecond % 1000 * 1000 + getattr(value, "nanosecond", 0)
        return datetime_ms(value, zone) * _NS_PER_MS + below_ms
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise UserError(
            f"the time {value!r} is a {type(value).__name__}: expected a datetime, text, or an integer Unix time"
        )
    return parse_time(str(value), zone) * _NS_PER_MS


def names_of(values: list[Any], column: str) -> list[str | None]:
    """Return names as text, None where missing."""
    return [None if _is_missing(value) else _name(value, row, column) for row, value in enumerate(values)]


def unique_ids(values: list[Any], column: str) -> list[str]:
    """Return ids as text; refuse missing and repeated ones."""
    for row, value in enumerate(values):
        if _is_missing(value):
            raise UserError(
                f"row {row} (from 0) has no id in {column!r}: give it one, or name another column with id_column="
            )
    ids = [_name(value, row, column) for row, value in enumerate(values)]
    for value, n in Counter(ids).items():
        if n > 1:
            raise UserError(
                f"the id {value!r} stands {n} times in {column!r}: ids must be unique; drop the repeated rows, "
                "or name another column with id_column="
            )
    return ids


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and is_missing(value))


def _name(value: Any, row: int, column: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        lost = ", so its last digits may be lost" if isinstance(value, float) else ""
        raise UserError(
            f"{column!r}, row {row} (from 0): {value!r} is a {type(value).__name__}{lost}: expected text or integers"
        )
    return str(value)


def _row_keys(dataset: Any, columns: list[Any]) -> list[str]:
    """A key for each row from all that it holds; of equal rows, which are interchangeable, each gets its own."""
    by_name = sorted(range(len(columns)), key=lambda at: str(columns[at]))
    seen: Counter[str] = Counter()
    keys = []
    for start in range(0, len(dataset), _BATCH):
        batch = _take(dataset, range(start, min(start + _BATCH, len(dataset))))
        for row in zip(*(column_values(batch, at) for at in by_name), strict=True):
            named = [[str(columns[at]), value] for at, value in zip(by_name, row, strict=True)]
            try:
                canonical = json.dumps(named, sort_keys=True, default=_plain)
            except (TypeError, ValueError, RecursionError) as error:
                raise UserError(
                    "without a column of ids a row is known by all that it holds, but there are cells that have no "
                    f"lasting form ({error}): name a column of unique ids with id_column="
                ) from None
            key = hashlib.sha256(canonical.encode()).hexdigest()
            keys.append(f"{key}-{seen[key]}")
            seen[key] += 1
    return keys


def _plain(value: Any) -> Any:
    """What stands for a value in the canonical form of a row, the same from one process to the next."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    if isinstance(value, (date, time)):
        return {"time": value.isoformat()}
    if isinstance(value, (timedelta, Decimal)):
        return {"number": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"found {type(value).__name__}")
