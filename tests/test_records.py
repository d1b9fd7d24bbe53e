from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors.errors import UserError
from temporal_rumors.records import (
    LAST_SEQUENTIAL_TWEET_ID,
    Post,
    Posts,
    check_id,
    datetime_ms,
    is_missing,
    parse_time,
    snowflake_time,
)

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SNOWFLAKES_BEGAN = datetime(2010, 11, 4, 1, 42, 54, 657_000, tzinfo=timezone.utc)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=ZONES)


def ms(moment: datetime) -> int:
    """Milliseconds since 1970, by integer arithmetic on the parts of a timedelta."""
    since = moment - EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


class TestSnowflakeTime:
    @given(st.integers(8_000, 2**41 - 1), st.integers(0, 2**22 - 1))
    def test_is_the_upper_bits_of_the_id_counted_from_november_2010(self, age_ms: int, rest: int) -> None:
        expected = ms(SNOWFLAKES_BEGAN) + age_ms
        assert snowflake_time(str((age_ms << 22) + rest)) == expected

    def test_of_an_id_made_one_day_after_the_beginning(self) -> None:
        assert snowflake_time(str(86_400_000 << 22)) == ms(SNOWFLAKES_BEGAN + timedelta(days=1))

    def test_begins_behind_the_last_id_that_was_counted(self) -> None:
        assert LAST_SEQUENTIAL_TWEET_ID == 29_700_859_247
        assert snowflake_time("29700859247") is None
        assert snowflake_time("29700859248") is not None

    @pytest.mark.parametrize(
        "id",
        [
            "",
            "abc",
            "1",
            "-500000000000000000",
            "5e17",
            " 500000000000000000",
            "５０００００００００００００００００",
            "²",
            str(1 << 63),
        ],
    )
    def test_is_none_for_what_is_no_tweet_id(self, id: str) -> None:
        assert snowflake_time(id) is None


class TestParseTime:
    @given(MOMENTS, st.sampled_from(["T", " "]), st.sampled_from(["auto", "seconds", "milliseconds", "microseconds"]))
    def test_reads_what_datetime_writes(self, moment: datetime, separator: str, precision: str) -> None:
        written = moment.isoformat(separator, precision)
        assert parse_time(written) == ms(datetime.fromisoformat(written))

    @given(MOMENTS)
    def test_reads_every_way_to_write_a_zone_alike(self, moment: datetime) -> None:
        moment = moment.replace(tzinfo=timezone.utc)
        clock = moment.isoformat().removesuffix("+00:00")
        zones = ["Z", "z", "+00:00", "+0000", "+00", "-00:00", " UTC", "UTC", " Z", " +0000"]
        assert {parse_time(clock + zone) for zone in zones} == {ms(moment)}

    @given(MOMENTS)
    def test_reads_unix_seconds_milliseconds_and_iso_alike(self, moment: datetime) -> None:
        moment = max(moment, datetime(2001, 9, 9, 1, 46, 40, tzinfo=timezone.utc))
        milliseconds, fraction = ms(moment), f"{moment.microsecond // 1000:03d}"
        assert parse_time(str(milliseconds)) == milliseconds
        assert parse_time(f"{milliseconds // 1000}.{fraction}") == milliseconds
        assert parse_time(str(milliseconds // 1000)) == milliseconds // 1000 * 1000

    @given(MOMENTS, st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York"]))
    def test_reads_a_time_without_zone_in_the_declared_one_only(self, moment: datetime, zone: str) -> None:
        naive = moment.replace(tzinfo=None)
        assert parse_time(naive.isoformat(), zone) == ms(naive.replace(tzinfo=ZoneInfo(zone)))
        with pytest.raises(UserError, match="names no time zone"):
            parse_time(naive.isoformat())

    @given(MOMENTS)
    def test_reads_what_twitter_writes(self, moment: datetime) -> None:
        # The C locale's names, which the tests run in.
        assert parse_time(moment.strftime("%a %b %d %H:%M:%S %z %Y")) == ms(moment.replace(microsecond=0))

    def test_knows_twitters_names_of_months_and_days_whatever_the_locale(self) -> None:
        assert parse_time("Sun Aug 10 01:30:14 +0000 2014") == parse_time("2014-08-10T01:30:14Z")
        assert parse_time("Thu Oct 23 10:30:14 -0230 2014", "Asia/Shanghai") == parse_time("2014-10-23T13:00:14Z")

    def test_ignores_the_declared_zone_where_the_time_names_its_own(self) -> None:
        assert parse_time("2015-01-07T11:30:00+08:00", "America/New_York") == parse_time("2015-01-07T03:30:00Z")
        assert parse_time("1420601400", "America/New_York") == parse_time("2015-01-07T03:30:00Z")

    def test_reads_a_date_and_a_time_without_seconds(self) -> None:
        assert parse_time("2015-01-07", "UTC") == parse_time("2015-01-07T00:00Z") == parse_time("2015-01-07T00:00:00Z")

    def test_takes_any_number_of_decimals_and_cuts_those_behind_the_millisecond(self) -> None:
        assert parse_time("2015-01-07T11:30:00.5Z") == parse_time("2015-01-07T11:30:00.500Z")
        assert parse_time("2015-01-07T11:30:00.123999999Z") == parse_time("2015-01-07T11:30:00,123Z")
        assert parse_time("1420630200.123999") == 1_420_630_200_123

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "yesterday",
            "20150107",
            "201501071130",  # A compact date, not a Unix time in 1976.
            "20150107113000",
            "1.4206302e+09",
            "1420630200000.0",
            "-1420630200",
            "14206302000",
            "１４２０６３０２００",
            "11:30",
            "07/01/2015 11:30",
            "2015-01-07T11:30.5Z",
            "2015-01-07T11:30:00 CET",
            "2015-01-07T11:30:00Z\x00",
            "Wed Jan 07 11:30:00 2015",
            "Wed Jan 7 11:30:00 +0000 2015",
            "Wed, 07 Jan 2015 11:30:00 +0000",
            "Mer Jan 07 11:30:00 +0000 2015",
            "wed jan 07 11:30:00 +0000 2015",
        ],
    )
    def test_refuses_any_other_form_and_says_which_it_reads(self, value: str) -> None:
        with pytest.raises(UserError, match=r"ISO 8601 such as .* 10 digits .* 13 digits") as caught:
            parse_time(value, "UTC")
        assert repr(value) in str(caught.value)

    @pytest.mark.parametrize(
        "value",
        [
            "Sun Feb 29 00:00:00 +0000 2015",
            "2015-02-29T00:00Z",
            "2015-13-01",
            "2015-01-07T24:01Z",
            "2015-06-30T23:59:60Z",
            "2015-01-07T00:00+24:00",
        ],
    )
    def test_refuses_a_time_that_does_not_exist(self, value: str) -> None:
        with pytest.raises(UserError, match="does not exist"):
            parse_time(value, "UTC")

    @pytest.mark.parametrize("zone", ["Asia/Beijing", "", "../UTC"])
    def test_names_an_unknown_zone(self, zone: str) -> None:
        with pytest.raises(UserError, match=f"the time zone {zone!r} is unknown"):
            parse_time("2015-01-07 11:30", zone)

    def test_rounds_times_before_1970_down_as_well(self) -> None:
        assert datetime_ms(EPOCH - timedelta(microseconds=1)) == -1


class TestCheckId:
    @given(st.integers(0, 2**63))
    def test_gives_digits_back_unchanged_and_without_the_blanks_around(self, number: int) -> None:
        assert check_id(f"\t {number}\u3000\r\n") == check_id(str(number)) == str(number)

    @pytest.mark.parametrize("id", ["007", "abc", "t1_e6mbf4e", "6e1234", "a-b.c", "帖子", "-5"])
    def test_takes_any_other_word_as_it_is(self, id: str) -> None:
        assert check_id(id) == id

    @pytest.mark.parametrize(
        "id", ["5.00378E+17", "500378223977721860.0", "5.00378e17", "5E+17", "-5.0", "500378223977721860.", "1e+05"]
    )
    def test_refuses_a_number_that_went_through_floating_point(self, id: str) -> None:
        with pytest.raises(
            UserError, match="floating-point number, so its last digits are lost: take the file"
        ) as caught:
            check_id(id)
        assert repr(id) in str(caught.value)

    @pytest.mark.parametrize("id", ["", "  ", "nan", "null", "None", "<NA>"])
    def test_refuses_a_missing_id(self, id: str) -> None:
        with pytest.raises(UserError, match="the id is missing"):
            check_id(id)

    @pytest.mark.parametrize(
        "id", ["12 34", "12\t34", "12\u00a034", "12\u200b34", "\ufeff1234", "12\x0034", "12\u202e34"]
    )
    def test_refuses_blanks_and_invisible_characters_inside(self, id: str) -> None:
        with pytest.raises(UserError, match="blanks or control characters"):
            check_id(id)


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        *[(value, True) for value in (None, "", " \u3000\t", " nan ", "null", "<NA>")],
        *[(value, False) for value in ("nan.", "no", "0", "null and void")],
    ],
)
def test_only_blanks_and_the_marks_of_other_programs_are_missing(value: str | None, missing: bool) -> None:
    assert is_missing(value) is missing


POSTS = (
    Post("9", "nine", 0, 5, "a", 2),
    Post("10", "ten", 1, 5, None, 3),
    Post("2", "a NUL stays\0", 0, None, None, 4),
    Post("1", "later", 1, 6, "b", 5),
    Post("11", "before 1970", 0, -1, "b", 6),
    Post("111", "the epoch", 0, 0, "b", 7),
)


class TestPosts:
    @given(st.permutations(POSTS))
    def test_stand_by_time_then_id_as_text_and_those_without_time_last(self, records: list[Post]) -> None:
        posts = Posts.from_records(records, digest="d")
        assert posts.ids.tolist() == ["11", "111", "10", "9", "1", "2"]
        assert posts.texts.tolist() == ["before 1970", "the epoch", "ten", "nine", "later", "a NUL stays\0"]
        assert posts.labels.tolist() == [0, 0, 1, 0, 1, 0]
        assert posts.events.tolist() == ["b", "b", None, "a", "b", None]
        assert posts.times.dtype == np.dtype("datetime64[ms]")
        assert posts.times[:5].astype(int).tolist() == [-1, 0, 5, 5, 6]
        assert np.isnat(posts.times[5])
        assert len(posts) == 6

    def test_without_any_record_keep_their_types(self) -> None:
        posts = Posts.from_records([], digest="d")
        assert (posts.ids.dtype.kind, posts.labels.dtype, posts.times.dtype.kind) == ("U", np.int64, "M")

    def test_tell_what_was_dropped_and_mended(self) -> None:
        dropped = {"no text": [f"line {i}" for i in range(1, 1201)], "no label": ["7"]}
        posts = Posts.from_records([], digest="d", dropped=dropped, notes={"blanks removed": ["line 8", "line 9"]})
        assert posts.remarks() == [
            "1,200 rows dropped, no text (line 1, line 2, line 3, line 4, line 5, …)",
            "1 row dropped, no label (7)",
            "blanks removed: 2 (line 8, line 9)",
        ]

    def test_hold_threads_and_parts_where_every_post_has_one(self) -> None:
        placed = [Post("2", "b", 0, 2, None, thread="t", part="test", columns={"depth": 1}), Post("1", "a", 0, 1, None)]
        posts = Posts.from_records(placed[:1], digest="d")
        assert (posts.threads.tolist(), posts.parts.tolist()) == (["t"], ["test"])
        assert {name: cells.tolist() for name, cells in posts.columns.items()} == {"depth": [1]}
        posts = Posts.from_records([post._replace(columns={}) for post in placed], digest="d")
        assert (posts.threads, posts.parts, posts.columns) == (None, None, {})


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_out_of_the_years_that_utc_can_hold_is_refused(value: str) -> None:
    with pytest.raises(UserError, match="years 1 and 9999"):
        parse_time(value)


def test_an_id_of_thousands_of_digits_carries_no_time() -> None:
    assert snowflake_time("9" * 5000) is None
