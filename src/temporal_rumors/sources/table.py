"""Read a table in the form the paper's authors publish: one post a row, CSV, UTF-8, with a header."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

import numpy as np

from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.records import Post, Posts, check_id, is_missing, parse_time, snowflake_time
from temporal_rumors.sources import files
from temporal_rumors.sources.files import Snapshot, SourceFile

NO_TEXT = "no text"
REPEATED = "repeats an earlier row"


@dataclass(frozen=True)
class Table:
    """A CSV file and what its columns mean.

    Attributes:
        file: the file.
        labels: value of the label column -> class name; any other value is an error.
        label: name of the label column.
        id, text: names of these columns.
        time: name of the column with the time; None takes the time from the id (Twitter).
        zone: IANA zone in which times without one are meant; None refuses them.
        event: name of the column with the event, if there is one.
        event_by_month: ``YYYY-MM`` of the time -> event, where the file has no such column.
    """

    file: SourceFile
    labels: Mapping[str, str]
    label: str = "label"
    id: str = "id"
    text: str = "text"
    time: str | None = None
    zone: str | None = None
    event: str | None = None
    event_by_month: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """What the upstream file is called."""
        return self.file.name

    @property
    def url(self) -> str:
        """Where it is downloaded from; empty for one that comes with the package."""
        return self.file.url

    @property
    def sha256(self) -> str:
        """Of the published bytes, hexadecimal."""
        return self.file.sha256

    def lacking(self, data_dir: str | os.PathLike[str] | None = None) -> str | None:
        """Say that the file is not at hand; None if it is."""
        try:
            if files.find(self.file, data_dir) is not None:
                return None
        except DataNotFoundError as error:
            return str(error)
        return f"{self.name} is not at hand: its first use downloads it, or name the folder of a copy"

    def digest(self, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
        """Return the sha256 of the bytes that :meth:`read` reads; see :func:`temporal_rumors.sources.files.digest`."""
        return files.digest(self.file, data_dir, allow_modified=allow_modified)

    def read(
        self, classes: tuple[str, ...], data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False
    ) -> Posts:
        """Read the file, see :func:`temporal_rumors.sources.files.read`, and :meth:`parse` it."""
        return self.parse(files.read(self.file, data_dir, allow_modified=allow_modified), classes)

    def parse(self, source: Snapshot, classes: tuple[str, ...]) -> Posts:
        """Turn the file's bytes into posts.

        Args:
            source: the bytes, with a name for messages.
            classes: class names; a post's label is an index into them.

        Returns:
            All posts, in (time, id) order, with what was dropped and mended.

        Raises:
            UserError: names file, line, what was found and what was expected.
        """
        index = {raw: classes.index(name) for raw, name in self.labels.items()}
        dropped: dict[str, list[str]] = defaultdict(list)
        notes: dict[str, list[str]] = defaultdict(list)
        seen: dict[str, Post] = {}
        for line, row in _rows(source, self):
            try:
                post = self._post(row, line, index)
            except UserError as error:
                raise UserError(f"{source.name}, line {line}: {error}") from error.__cause__
            if post is None:
                dropped[NO_TEXT].append(f"line {line}")
                continue
            if post.id != row[self.id]:
                notes["blanks around an id removed"].append(f"line {line}")
            first = seen.setdefault(post.id, post)
            if first is not post:
                if first._replace(line=line) != post:
                    raise UserError(_contradiction(source, first, post))
                dropped[REPEATED].append(f"line {line}")
            elif post.created_at is None:
                notes["no time, left out of chronological protocols"].append(f"line {line}")
        if not seen:
            raise UserError(f"{source.name}: the table holds no post with a text: get the file again")
        return Posts.from_records(seen.values(), digest=source.digest, dropped=dropped, notes=notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are read."""
        return tuple(c for c in (self.id, self.text, self.label, self.time, self.event) if c is not None)

    def _post(self, row: dict[str, str | None], line: int, index: Mapping[str, int]) -> Post | None:
        text, label = row[self.text], row[self.label]
        id = check_id(row[self.id] or "")
        if text is None or is_missing(text):
            return None
        if None in row.values():
            behind = next(column for column, cell in row.items() if cell is None)
            raise UserError(f"the row ends before the column {behind!r}: complete it, or delete it")
        if label is None or label not in index:
            raise UserError(
                f"the label {label!r} is not one of {', '.join(map(repr, index))}: correct it, or delete the row"
            )
        created_at = self._time(row, id)
        return Post(id, text, index[label], created_at, self._event(row, created_at), line)

    def _time(self, row: dict[str, str | None], id: str) -> int | None:
        if self.time is None:
            return snowflake_time(id)
        value = row[self.time]
        return None if value is None or is_missing(value) else parse_time(value, self.zone)

    def _event(self, row: dict[str, str | None], created_at: int | None) -> str | None:
        if self.event is not None:
            return None if is_missing(row[self.event]) else row[self.event]
        if self.event_by_month is None or created_at is None:
            return None
        month = _month(created_at // 86_400_000)
        if month not in self.event_by_month:
            raise UserError(
                f"no event is known for {month}; the events' months are {', '.join(sorted(self.event_by_month))}"
            )
        return self.event_by_month[month]


def _contradiction(source: Snapshot, first: Post, second: Post) -> str:
    different = [
        name for name in ("label", "text", "created_at", "event") if getattr(first, name) != getattr(second, name)
    ]
    return (
        f"{source.name}: the id {first.id} stands in lines {first.line} and {second.line} with different "
        f"{' and '.join(different)}: keep the right row and delete the other"
    )


@cache
def _month(day: int) -> str:
    """Return the month of a day that is counted from 1970-01-01."""
    return str(np.datetime64(day, "D"))[:7]


def _rows(source: Snapshot, table: Table) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the line where each row begins, and its needed cells; None for cells behind the row's end."""
    text, needed = decode(source), table.columns
    records = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(records)
    except (csv.Error, StopIteration) as error:
        raise UserError(
            f"{source.name}, line 1: no header, expected the columns {', '.join(needed)} ({error})"
        ) from None
    if lost := [column for column in needed if column not in header]:
        found = ", ".join(map(repr, header)) or "an empty line"
        advice = "separate the columns with commas" if len(header) == 1 else "take the file as it was published"
        raise UserError(f"{source.name}, line 1: the column {lost[0]!r} is missing, found {found}: {advice}")
    if twice := [column for column in needed if header.count(column) > 1]:
        raise UserError(f"{source.name}, line 1: the column {twice[0]!r} stands there more than once")
    cells = itemgetter(*map(header.index, needed))
    end, width = records.line_num, len(header)
    lines = cache(lambda: re.split(r"\r\n|\r|\n", text))
    while True:
        line = end + 1
        try:
            record = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            raise UserError(
                f"{source.name}, line {line}: not valid CSV ({error}): a text that opens with a double quote "
                "must be quoted, with the quotes inside it doubled; if the file was cut short, get it again"
            ) from None
        end = records.line_num
        if not record:
            continue
        if end > line:
            _check_swallowed(source, lines()[line:end], line, header, table)
        if len(record) > width:
            raise UserError(
                f"{source.name}, line {line}: {len(record)} cells, expected {width}: a text with a comma must be quoted"
            )
        if len(record) < width:
            if end == len(lines()):  # A last line that ends is followed by one more, an empty one.
                raise UserError(
                    f"{source.name}, line {line}: the last line breaks off after {len(record)} of {width} cells: "
                    "the file was cut short, get it again"
                )
            short = dict(zip(header, record, strict=False))
            yield line, {column: short.get(column) for column in needed}
        else:
            yield line, dict(zip(needed, cells(record), strict=True))


def decode(source: Snapshot) -> str:
    """Return the text of a table's bytes.

    Raises:
        UserError: not UTF-8, empty, a web page, or with NUL characters; the message names the line.
    """
    data = source.data
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{source.name}: the file is UTF-16: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{source.name}, line {line}: the byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8"
        ) from None
    if not text.strip():
        raise UserError(f"{source.name}: the file is empty, expected a header and rows: get it again")
    if re.match(r"\s*<(!doctype|html|\?xml)", text, re.IGNORECASE):
        raise UserError(f"{source.name}: this is a web page, not a table: the download went wrong, get the file again")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{source.name}, line {line}: a NUL character: the file is damaged, get it again")
    return text


def _check_swallowed(source: Snapshot, lines: list[str], first: int, header: list[str], table: Table) -> None:
    """Refuse a quoted text that runs over lines which look like rows: its quote was never meant to open.

    Args:
        lines: those that follow the line in which the row begins, up to the one in which it ends.
    """
    width, id_at, label_at = len(header), header.index(table.id), header.index(table.label)
    for i, line in enumerate(lines):
        cells = line.split(",")
        if len(cells) < width:
            continue
        # A text with commas moves the cells behind it: so the label is also looked for from the end. The last line
        # ends with the label of its own row, so there only an id tells.
        labelled = i + 1 < len(lines) and not {cells[label_at], cells[label_at - width]}.isdisjoint(table.labels)
        if labelled or re.fullmatch(r"\s*\d{5,}\s*", cells[id_at]):
            raise UserError(
                f"{source.name}, line {first}: a text opens with a double quote that swallows the row in line "
                f"{first + 1 + i}: quote the text and double the quotes inside it"
            )
