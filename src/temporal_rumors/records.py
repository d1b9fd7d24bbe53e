"""Posts, their ids and their times: the vocabulary that every other module speaks."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from temporal_rumors.errors import UserError

TWITTER_EPOCH_MS = 1_288_834_974_657
# The last id that Twitter gave out by counting, before ids carried a time.
LAST_SEQUENTIAL_TWEET_ID = 29_700_859_247

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NAIVE_EPOCH = _EPOCH.replace(tzinfo=None)
_MILLISECOND = timedelta(milliseconds=1)
_FIRST = (datetime.min - _NAIVE_EPOCH) // _MILLISECOND
_LAST = (datetime.max - _NAIVE_EPOCH) // _MILLISECOND
# How a missing value looks once a spreadsheet or pandas has written it.
_MISSING = frozenset(("", "null", "NULL", "nan", "NaN", "NaT", "None", "<NA>"))
# Not 6e1234, an id as Reddit gives them: whoever writes a big number as a float writes a point or a plus.
_FLOAT_ID = re.compile(r"[+-]?\d+(\.\d*([eE][+-]?\d+)?|[eE]\+\d+)$")
_SECONDS = re.compile(r"\d{10}(\.\d{1,6})?$", re.ASCII)
# Not nine, twelve or fourteen digits: that is how 2015-01-07 11:30 looks without its marks.
_MILLISECONDS = re.compile(r"\d{13}$", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d{1,9}))?)?)?\s?([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?$",
    re.ASCII,
)
# English names whatever the locale, which is why strptime cannot read them.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TWITTER = re.compile(
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ({'|'.join(_MONTHS)}) (\d\d) (\d\d:\d\d)(:\d\d) ([+-]\d{{4}}) (\d{{4}})$",
    re.ASCII,
)


class Post(NamedTuple):
    """One source message, as a reader yields it.

    Attributes:
        id: the platform's id, a string from end to end.
        text: the message, never blank.
        label: index into the benchmark's label names.
        created_at: milliseconds since 1970-01-01T00:00Z, or None where it is not known.
        event: name of the news event it belongs to, or None.
        line: where the post begins in its source file, from 1; 0 where it has a file of its own.
        thread: id of the conversation that no split may tear apart, or None.
        part: its part in the official split, or None.
        columns: further columns of the data set -> its cells.
        author: who wrote it, by the platform's id or name, or None; audits ask for it, the data set has it not.
    """

    id: str
    text: str
    label: int
    created_at: int | None
    event: str | None
    line: int = 0
    thread: str | None = None
    part: str | None = None
    columns: Mapping[str, Any] = {}
    author: str | None = None


@dataclass(frozen=True, eq=False)
class Posts:
    """All posts of a benchmark, one array a column, in (time, id) order; posts without a time stand last.

    Attributes:
        ids: (n,) str.
        texts: (n,) object, str.
        labels: (n,) int64, index into the benchmark's label names.
        times: (n,) datetime64[ms], UTC, NaT where unknown.
        events: (n,) object, str or None.
        digest: sha256 of what was read, hexadecimal.
        dropped: reason -> places in the source that gave no post, such as "line 7".
        notes: what was mended or is missing -> the places.
        threads: (n,) object, str: the conversation of each post, which no split tears apart; None: each stands alone.
        parts: (n,) object, str: the part of each post in the official split; None where there is none.
        columns: name -> (n,) object, further columns of the data set.
        authors: (n,) object, str, None for one that is not known; None where none is.
    """

    ids: np.ndarray
    texts: np.ndarray
    labels: np.ndarray
    times: np.ndarray
    events: np.ndarray
    digest: str
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    threads: np.ndarray | None = None
    parts: np.ndarray | None = None
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    authors: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def remarks(self, examples: int = 5) -> list[str]:
        """Return one sentence for each kind of row that was dropped or mended, or of what is missing.

        Args:
            examples: how many places of each kind to name.
        """
        dropped = [
            f"{len(places):,} row{'s' if len(places) != 1 else ''} dropped, {reason}{_some(places, examples)}"
            for reason, places in self.dropped.items()
        ]
        return dropped + [f"{note}: {len(places):,}{_some(places, examples)}" for note, places in self.notes.items()]

    @classmethod
    def from_records(
        cls,
        records: Iterable[Post],
        *,
        digest: str,
        dropped: Mapping[str, Sequence[str]] | None = None,
        notes: Mapping[str, Sequence[str]] | None = None,
    ) -> Posts:
        """Sort records by (time, id) and lay them out in columns."""
        posts = sorted(records, key=lambda p: (p.created_at is None, p.created_at or 0, p.id))
        not_a_time = np.iinfo(np.int64).min
        times = [not_a_time if p.created_at is None else p.created_at for p in posts]
        return cls(
            ids=np.array([p.id for p in posts], dtype=str),
            texts=objects([p.text for p in posts]),
            labels=np.array([p.label for p in posts], dtype=np.int64),
            times=np.array(times, dtype=np.int64).view("datetime64[ms]"),
            events=objects([p.event for p in posts]),
            digest=digest,
            dropped={reason: tuple(places) for reason, places in (dropped or {}).items()},
            notes={note: tuple(places) for note, places in (notes or {}).items()},
            threads=_known([p.thread for p in posts]),
            parts=_known([p.part for p in posts]),
            columns={name: objects([p.columns[name] for p in posts]) for name in (posts[0].columns if posts else ())},
            authors=objects([p.author for p in posts]) if any(p.author is not None for p in posts) else None,
        )


def _some(places: Sequence[str], n: int) -> str:
    more = ", …" if len(places) > n else ""
    return f" ({', '.join(places[:n])}{more})" if n else ""


def _known(values: Sequence[object]) -> np.ndarray | None:
    return objects(values) if values and None not in values else None


def objects(values: Sequence[object]) -> np.ndarray:
    """Return values as an array of Python objects, whatever they are."""
    # Assigned, not converted: numpy drops trailing NULs from str arrays and splits nested sequences.
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(value: str | None) -> bool:
    """Return whether a cell holds nothing: blanks, or what a spreadsheet or pandas writes for a missing value."""
    return value is None or value.strip() in _MISSING


def check_id(value: str) -> str:
    """Return an id without the blanks around it, or refuse one that cannot be an id.

    Raises:
        UserError: missing, with blanks or control characters inside, or a number that a spreadsheet
            has rounded (``5.00378E+17``).
    """
    text = value.strip()
    if text.isdigit():
        return text
    if text in _MISSING:
        raise UserError(f"the id is missing, found {value!r}: give the row its id, or delete it")
    if " " in text or not text.isprintable():
        raise UserError(f"the id {value!r} holds blanks or control characters: take them out")
    if _FLOAT_ID.match(text):
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
    if not (id.isascii() and id.isdigit() and len(id) < 20):
        return None
    number = int(id)
    if not LAST_SEQUENTIAL_TWEET_ID < number < 1 << 63:
        return None
    return (number >> 22) + TWITTER_EPOCH_MS


def parse_time(value: str, zone: str | None = None) -> int:
    """Read a time: ISO 8601, Twitter's form, or a Unix time of 10 digits (seconds) or 13 digits (milliseconds).

    Args:
        value: the time as text.
        zone: IANA name of the zone in which times without one are meant; None refuses them.

    Returns:
        Milliseconds since 1970-01-01T00:00Z.

    Raises:
        UserError: the value is none of these, or names no zone while none is declared.
    """
    text = value.strip()
    if iso := _ISO.match(text):
        return datetime_ms(_moment(*iso.groups()), zone)
    if twitter := _TWITTER.match(text):
        month, day, clock, seconds, offset, year = twitter.groups()
        return datetime_ms(_moment(f"{year}-{_MONTHS.index(month) + 1:02}-{day}", clock, seconds, None, offset))
    if _SECONDS.match(text):
        return int(Decimal(text) * 1000)
    if _MILLISECONDS.match(text):
        return int(text)
    raise UserError(
        f"the time {value!r} is not understood: expected ISO 8601 such as 2015-01-07T11:30:00Z, "
        "Twitter's form such as Wed Jan 07 11:30:00 +0000 2015, or a Unix time of 10 digits (seconds) or 13 digits "
        "(milliseconds)"
    )


def _moment(date: str, clock: str | None, seconds: str | None, fraction: str | None, zone: str | None) -> datetime:
    # Brought to the one form that fromisoformat reads alike on every supported Python.
    iso = f"{date}T{clock or '00:00'}{seconds or ':00'}"
    if fraction:
        iso += f".{fraction[:6]:0<6}"
    if zone in ("Z", "z", "UTC"):
        iso += "+00:00"
    elif zone:
        digits = zone[1:].replace(":", "").ljust(4, "0")
        iso += f"{zone[0]}{digits[:2]}:{digits[2:]}"
    try:
        return datetime.fromisoformat(iso)
    except ValueError as error:
        raise UserError(f"the time {iso!r} does not exist ({error}): correct it") from None


def datetime_ms(moment: datetime, zone: str | None = None) -> int:
    """Return a datetime as milliseconds since 1970-01-01T00:00Z; one without a zone is read in ``zone``.

    Raises:
        UserError: it names no zone and none is declared, or the declared one is unknown.
    """
    if moment.tzinfo is not None:
        return _checked((moment - _EPOCH) // _MILLISECOND, moment)
    if zone is None:
        raise UserError(
            f"the time {moment.isoformat()!r} names no time zone: write it with one (…Z or …+08:00), "
            "or declare the zone in which it is meant"
        )
    if zone == "UTC":
        # No time zone database needed, and three times as fast as replace().
        return (moment - _NAIVE_EPOCH) // _MILLISECOND
    return _checked((moment.replace(tzinfo=_zone(zone)) - _EPOCH) // _MILLISECOND, moment)


def _checked(stamp: int, moment: datetime) -> int:
    # In UTC it may fall out of the years that a datetime can hold, and nobody could read it back.
    if not _FIRST <= stamp <= _LAST:
        raise UserError(f"the time {moment.isoformat()!r} is not between the years 1 and 9999 in UTC: correct it")
    return stamp


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError):
        raise UserError(f"the time zone {name!r} is unknown: expected an IANA name such as Asia/Shanghai") from None


def json_digest(value: Any) -> str:
    """Return the sha256 (hexadecimal) of a value's JSON, whatever the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode())


def sha256(data: bytes) -> str:
    """Return the sha256 of bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()
