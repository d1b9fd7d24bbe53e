"""Posts, their ids and their times: the vocabulary that every other module speaks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np

from temporal_rumors.errors import UserError

TWITTER_EPOCH_MS = 1_288_834_974_657
# The last id that Twitter gave out by counting, before ids carried a time.
LAST_SEQUENTIAL_TWEET_ID = 29_700_859_247

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
_FLOAT_ID = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?$")
_SECONDS = re.compile(r"\d{9,10}(\.\d{1,6})?$", re.ASCII)
_MILLISECONDS = re.compile(r"\d{12,13}$", re.ASCII)
_ISO = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)([T ](?P<clock>\d\d:\d\d(:\d\d)?)([.,](?P<fraction>\d{1,9}))?)?"
    r"\s?(?P<zone>[Zz]|UTC|[+-]\d\d(:?\d\d)?)?$",
    re.ASCII,
)


@dataclass(frozen=True)
class Post:
    """One source message, as a reader yields it.

    Attributes:
        id: the platform's id, a string from end to end.
        text: the message, never blank.
        label: index into the benchmark's label names.
        created_at: milliseconds since 1970-01-01T00:00Z, or None where it is not known.
        event: name of the news event it belongs to, or None.
        line: where the post begins in its source file, from 1.
    """

    id: str
    text: str
    label: int
    created_at: int | None
    event: str | None
    line: int


@dataclass(frozen=True, eq=False)
class Posts:
    """All posts of a benchmark, one array a column, in (time, id) order; posts without a time stand last.

    Attributes:
        ids: (n,) str.
        texts: (n,) object, str.
        labels: (n,) int64, index into the benchmark's label names.
        times: (n,) datetime64[ms], UTC, NaT where unknown.
        events: (n,) object, str or None.
        digest: sha256 of the source bytes, hexadecimal.
        dropped: reason -> lines of the source file that gave no post.
        notes: what was mended while reading -> how many rows.
    """

    ids: np.ndarray
    texts: np.ndarray
    labels: np.ndarray
    times: np.ndarray
    events: np.ndarray
    digest: str
    dropped: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def remarks(self) -> list[str]:
        """Return one sentence for each kind of row that was dropped or mended."""
        remarks = []
        for reason, lines in self.dropped.items():
            where = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
            remarks.append(f"{len(lines):,} rows dropped, {reason} (line {where})")
        return remarks + [f"{n:,} rows: {note}" for note, n in self.notes.items()]

    @classmethod
    def from_records(
        cls,
        records: Iterable[Post],
        *,
        digest: str,
        dropped: Mapping[str, Sequence[int]] | None = None,
        notes: Mapping[str, int] | None = None,
    ) -> Posts:
        """Sort records by (time, id) and lay them out in columns."""
        posts = sorted(records, key=lambda p: (p.created_at is None, p.created_at or 0, p.id))
        times = [np.datetime64("NaT") if p.created_at is None else np.datetime64(p.created_at, "ms") for p in posts]
        return cls(
            ids=np.array([p.id for p in posts], dtype=str),
            texts=_objects([p.text for p in posts]),
            labels=np.array([p.label for p in posts], dtype=np.int64),
            times=np.array(times, dtype="datetime64[ms]"),
            events=_objects([p.event for p in posts]),
            digest=digest,
            dropped={reason: tuple(lines) for reason, lines in (dropped or {}).items()},
            notes=dict(notes or {}),
        )


def _objects(values: Sequence[object]) -> np.ndarray:
    # Assigned, not converted: numpy drops trailing NULs from str arrays and splits nested sequences.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def check_id(value: str) -> str:
    """Return an id without the blanks around it, or refuse one that cannot be an id.

    Raises:
        UserError: empty, with blanks or control characters inside, or a number that a spreadsheet
            has rounded (``5.00378E+17``).
    """
    text = value.strip()
    if not text:
        raise UserError("the id is empty")
    if any(c.isspace() or not c.isprintable() for c in text):
        raise UserError(f"the id {value!r} holds blanks or control characters")
    if not text.isdigit() and _FLOAT_ID.match(text):
        raise UserError(
            f"the id {value!r} was written as a floating-point number, so its last digits are lost: "
            "take the file as it was published, and read ids as text"
        )
    return text


def snowflake_time(id: str) -> int | None:
    """Return the time that a Twitter id carries.

    Args:
        id: a tweet id.

    Returns:
        Milliseconds since 1970-01-01T00:00Z, or None for ids from before November 2010, which were
        counted, and for ids that are not tweet ids.
    """
    if not (id.isascii() and id.isdigit()):
        return None
    number = int(id)
    if not LAST_SEQUENTIAL_TWEET_ID < number < 1 << 63:
        return None
    return (number >> 22) + TWITTER_EPOCH_MS


def parse_time(value: str, zone: str | None = None) -> int:
    """Read a time: ISO 8601, or a Unix time of 9 to 10 digits (seconds) or 12 to 13 digits (milliseconds).

    Args:
        value: the time as text.
        zone: IANA name of the zone in which times without one are meant; None refuses them.

    Returns:
        Milliseconds since 1970-01-01T00:00Z.

    Raises:
        UserError: the value is none of these, or names no zone while none is declared.
    """
    text = value.strip()
    if _SECONDS.match(text):
        return int(Decimal(text) * 1000)
    if _MILLISECONDS.match(text):
        return int(text)
    try:
        moment = _from_iso(text)
    except ValueError:
        raise UserError(
            f"the time {value!r} is not understood: expected ISO 8601 such as 2015-01-07T11:30:00Z, "
            "or a Unix time of 9-10 digits (seconds) or 12-13 digits (milliseconds)"
        ) from None
    return datetime_ms(moment, zone)


def _from_iso(text: str) -> datetime:
    # Brought to the one form that fromisoformat reads alike on every supported Python.
    match = _ISO.match(text)
    if match is None:
        raise ValueError(text)
    zone = match["zone"] or ""
    if zone in ("Z", "z", "UTC"):
        zone = "+00:00"
    elif zone:
        digits = zone[1:].replace(":", "").ljust(4, "0")
        zone = f"{zone[0]}{digits[:2]}:{digits[2:]}"
    fraction = "." + match["fraction"][:6].ljust(6, "0") if match["fraction"] else ""
    clock = match["clock"] or "00:00"
    return datetime.fromisoformat(
        f"{match['date']}T{clock if clock.count(':') == 2 else clock + ':00'}{fraction}{zone}"
    )


def datetime_ms(moment: datetime, zone: str | None = None) -> int:
    """Return a datetime as milliseconds since 1970-01-01T00:00Z; one without a zone is read in ``zone``.

    Raises:
        UserError: it names no zone and none is declared.
    """
    if moment.tzinfo is None:
        if zone is None:
            raise UserError(
                f"the time {moment.isoformat()!r} names no time zone: write it with one (…Z or …+08:00), "
                "or declare the zone in which it is meant"
            )
        moment = moment.replace(tzinfo=timezone.utc if zone == "UTC" else ZoneInfo(zone))
    return (moment - _EPOCH) // _MILLISECOND


def sha256(data: bytes) -> str:
    """Return the sha256 of bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
