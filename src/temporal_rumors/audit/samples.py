"""Read the two sides of a split from data sets, data frames or lists of texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np

from temporal_rumors.audit.leaks import Sample, links_of
from temporal_rumors.errors import UserError, nearest
from temporal_rumors.records import objects

DEFAULTS = {
    "text_column": "text",
    "id_column": "id",
    "label_column": "label",
    "time_column": "created_at",
    "event_column": "event",
    "thread_column": "thread_id",
    "author_column": "author",
}


def read_sample(data: Any, side: str, columns: Mapping[str, str | None], zone: str | None) -> Sample:
    """Read one side of a split.

    Args:
        data: a Dataset, a DataFrame, or texts alone.
        side: what errors call it.
        columns: the arguments of DEFAULTS -> names of columns; None leaves one out.
        zone: as for `temporal_rumors.split`.

    Raises:
        UserError: as `audit_splits`.
    """
    from temporal_rumors import frames

    if _is_texts(data):
        texts = texts_of(data, f"the {side} posts")
        return Sample(texts=texts, links=links_of(texts))
    names = frames.column_names(data)

    def read(argument: str) -> list[Any] | None:
        column = columns[argument]
        if column is None:
            return None
        if names.count(column) == 1:
            return frames.column_values(data, names.index(column))
        if column == DEFAULTS[argument] and column not in names and argument != "text_column":
            return None
        what = "more than one column" if column in names else "no column"
        near = nearest(column, map(str, names))
        hint = f" (did you mean {near!r}?)" if near and near != column else ""
        raise UserError(
            f"the {side} posts have {what} {column!r}{hint}, found {', '.join(map(repr, names))}: name the right one "
            f"with {argument}="
        )

    def known(argument: str, convert: Callable[[list[Any], str], Any]) -> np.ndarray | None:
        values, column = read(argument), str(columns[argument])
        if values is None:
            return None
        try:
            converted = convert(values, column)
        except UserError as error:
            raise UserError(f"the {side} posts: {error}; {argument}=None leaves the column out") from None
        array = converted if isinstance(converted, np.ndarray) else objects(converted)
        missing = np.isnat(array) if array.dtype.kind == "M" else [value is None for value in array]
        return None if all(missing) else array

    def named(values: list[Any], column: str) -> list[Any]:
        return frames.names_of(frames.named_values(data, column, values), column)

    def labels(values: list[Any], column: str) -> list[Any]:
        found = frames.check_labels(frames.named_values(data, column, values), column)
        if len(kinds := sorted({type(value).__name__ for value in found})) > 1:
            raise UserError(f"{column!r} holds labels of several kinds, {' and '.join(kinds)}: write them alike")
        if kinds not in (["bool"], ["int"], ["str"]):
            raise UserError(f"{column!r} holds {kinds[0]}: expected text, integers or booleans")
        return found

    texts = texts_of(read("text_column") or [], f"the {side} posts")
    return Sample(
        texts=texts,
        ids=known("id_column", frames.unique_ids),
        labels=known("label_column", labels),
        times=known("time_column", lambda values, column: frames.utc_times(values, column, zone)),
        events=known("event_column", named),
        threads=known("thread_column", named),
        authors=known("author_column", named),
        links=links_of(texts),
    )


def _is_texts(data: Any) -> bool:
    """Whether these are texts, not a data set: a list, an array, a Series, or a column of a Dataset."""
    return isinstance(data, (list, tuple)) or type(data).__name__ in ("ndarray", "Series", "Column")


def texts_of(values: Any, name: str) -> np.ndarray:
    """Return texts as (n,) object, str.

    Args:
        values: a list, a tuple, an array, a Series, or a column of a Dataset.
        name: what errors call them, in the plural.

    Raises:
        UserError: none at all, or one that is not a string.
    """
    if isinstance(values, (str, bytes, Mapping, Set)) or not hasattr(values, "__iter__") or hasattr(values, "columns"):
        raise UserError(f"{name} are a {type(values).__name__}: expected a list of texts, such as one column")
    texts = list(values)
    if not texts:
        raise UserError(f"{name} are empty: at least one is needed")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise UserError(
                f"{name}, row {row} (from 0): found {text!r:.40} ({type(text).__name__}), expected a text; drop the row"
            )
    return objects(texts)


def order_of(side: Sample) -> np.ndarray:
    """Return one order of the rows, whatever the one they came in; rows that are alike in all are interchangeable."""
    columns = [
        side.times if column == "times" else [(value is not None, value) for value in getattr(side, column)]
        for column in ("times", "ids", "texts", "labels", "events", "threads", "authors")
        if getattr(side, column) is not None
    ]
    if side.times is not None:
        columns[0] = side.times.astype("datetime64[ns]").astype(np.int64).tolist()
    keys = list(zip(*columns, strict=True))
    return np.array(sorted(range(len(side)), key=keys.__getitem__), dtype=np.int64)


def take(side: Sample, rows: np.ndarray) -> Sample:
    """Return some rows, in the order asked for."""
    taken: dict[str, Any] = {name: None if values is None else values[rows] for name, values in vars(side).items()}
    return Sample(**taken)
