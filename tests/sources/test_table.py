import csv
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from temporal_rumors import benchmark, protocols
from temporal_rumors.errors import UserError
from temporal_rumors.records import Posts, is_missing
from temporal_rumors.sources import files
from temporal_rumors.sources.table import Table

Reader = Callable[..., Posts]

# Ids that carry a time: so many days after snowflakes began, in November 2010.
ID = [str((day * 86_400_000) << 22) for day in range(1, 21)]


MONTHS = {"2014-12": "siege", "2015-01": "attack"}


def table(*rows: str, header: str = "id,text,label", end: str = "\n") -> str:
    return "".join(row + end for row in (header, *rows))


def same(a: Posts, b: Posts) -> bool:
    """Whether two readings give the same posts; the lines they stood in aside."""
    columns = all(
        np.array_equal(getattr(a, c), getattr(b, c), equal_nan=c == "times")
        for c in ("ids", "texts", "labels", "times", "events")
    )
    return columns and all(
        {reason: len(places) for reason, places in one.items()} == {r: len(p) for r, p in other.items()}
        for one, other in ((a.notes, b.notes), (a.dropped, b.dropped))
    )


class TestRows:
    def test_become_posts_in_the_order_of_their_times(self, read_table: Reader) -> None:
        posts = read_table(table(f"{ID[2]},third,1", f"{ID[0]},first,0", f"{ID[1]},second,1"))
        assert posts.ids.tolist() == ID[:3]
        assert posts.texts.tolist() == ["first", "second", "third"]
        assert posts.labels.tolist() == [0, 1, 1]
        assert str(posts.times[0]) == "2010-11-05T01:42:54.657"
        assert posts.remarks() == []

    @pytest.mark.parametrize(
        "text",
        [
            "\ue001\uf8ff private use",
            "👩\u200d👩\u200d👧 joined, \u200b\u200c hidden",
            "\u202eright to left\u202c שלום مرحبا",
            "line\u2028separator, paragraph\u2029separator, next\u0085line",
            "form\x0cfeed vertical\x0btab \x1c\x1d\x1e separators \x07 bell",
            "a\ttab",
            "two\nlines",
            "old\rlines and\r\nnew",
            " leading and trailing blanks kept ",
            'he said "yes", then "no"',
            '"',
            '""quoted""',
            "\ufeffa byte order mark",
            "e\u0301 is not é",
            "𝔸 astral 🈯",
            "nan and null",
            "=1+1",
            '\\n \\, \\"',
        ],
    )
    def test_keep_a_text_as_it_is(self, read_table: Reader, text: str) -> None:
        stream = io.StringIO()
        csv.writer(stream).writerows([("id", "text", "label"), (ID[0], text, 0), (ID[1], "after it", 1)])
        posts = read_table(stream.getvalue())
        assert posts.texts.tolist() == [text, "after it"]

    def test_take_a_quote_inside_an_unquoted_text_as_it_is(self, read_table: Reader) -> None:
        posts = read_table(table(f'{ID[0]},he said "yes" to 5" pipes,1'))
        assert posts.texts.tolist() == ['he said "yes" to 5" pipes']

    @given(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
                lambda t: not is_missing(t)
            ),
            min_size=1,
            max_size=8,
        ),
        st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        st.sampled_from([b"", b"\xef\xbb\xbf"]),
    )
    def test_read_back_exactly_what_csv_writes(
        self, read_table: Reader, texts: list[str], quoting: int, mark: bytes
    ) -> None:
        stream = io.StringIO()
        writer = csv.writer(stream, quoting=quoting)
        writer.writerow(["text", "more", "id", "label"])
        writer.writerows([[text, i, f"p{i}", i % 2] for i, text in enumerate(texts)])
        posts = read_table(mark + stream.getvalue().encode())
        assert dict(zip(posts.ids.tolist(), posts.texts.tolist(), strict=True)) == {
            f"p{i}": text for i, text in enumerate(texts)
        }

    @given(st.data())
    def test_may_stand_in_any_order(self, read_table: Reader, data: st.DataObject) -> None:
        rows = [
            *(f"{id},2015-0{i}-02T00:00Z,text {id},{i % 2},e{i % 3}" for i, id in enumerate(("7", "70", "8", "a"), 1)),
            "8,2015-03-02 00:00:00+00:00,text 8,1,e0",  # Repeats a row in other words.
            " 7,1420156800,text 7,1,e1",
            "9,2015-01-02T00:00Z,of the same second,0,",
            "b,,no time,0,e1",
            "c,2015-01-02T00:00Z,,0,e1",
        ]
        header = "id,when,text,label,event"
        expected = read_table(table(*rows, header=header), time="when", event="event")
        shuffled = read_table(table(*data.draw(st.permutations(rows)), header=header), time="when", event="event")
        assert len(expected) == 6
        assert same(shuffled, expected)

    def test_of_the_real_files_may_stand_in_any_order(self, data_dir: Path, tmp_path: Path) -> None:
        for name in benchmark.names():
            known = benchmark.get(name)
            if not isinstance(known.source, Table) or known.source.file.path is not None:
                continue
            original = known.posts(data_dir)
            published = files.read(known.source.file, data_dir).data.decode()
            header, *rows = csv.reader(io.StringIO(published, newline=""), strict=True)
            random.Random(1).shuffle(rows)
            with (tmp_path / known.source.file.name).open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([header, *rows])
            shuffled = known.posts(tmp_path, allow_modified=True)
            assert same(shuffled, original), name
            assert shuffled.digest != original.digest
            assert len(rows) == len(original) + sum(map(len, original.dropped.values()))


class TestRepeatedIds:
    def test_with_equal_content_are_dropped_and_counted(self, read_table: Reader) -> None:
        posts = read_table(table(f"{ID[0]},same,1", f"{ID[1]},other,0", f"{ID[0]},same,1", f' {ID[0]} ,"same",1'))
        assert posts.ids.tolist() == ID[:2]
        assert dict(posts.dropped) == {"repeats an earlier row": ("line 4", "line 5")}
        assert dict(posts.notes) == {"blanks around an id removed": ("line 5",)}

    def test_without_time_are_counted_once(self, read_table: Reader) -> None:
        posts = read_table(table("a,same,1", "a,same,1"))
        assert dict(posts.notes) == {"no time, left out of chronological protocols": ("line 2",)}

    @pytest.mark.parametrize(
        ("second", "different"),
        [
            ("1,same,0,2015-01-01Z,e", "label"),
            ("1,Same,1,2015-01-01Z,e", "text"),
            ("1,same,1,2015-01-02Z,e", "created_at"),
            ("1,same,1,2015-01-01Z,f", "event"),
            ("1,same,0,,e", "label and created_at"),
        ],
    )
    def test_with_different_content_name_both_lines(self, read_table: Reader, second: str, different: str) -> None:
        rows = table("1,same,1,2015-01-01Z,e", "2,other,0,2015-01-01Z,e", second, header="id,text,label,time,event")
        expected = rf"posts\.csv: the id 1 stands in lines 2 and 4 with different {different}: keep the right row"
        with pytest.raises(UserError, match=expected):
            read_table(rows, time="time", event="event")

    def test_of_which_one_has_no_text_leave_the_other(self, read_table: Reader) -> None:
        posts = read_table(table("1,,0", "1,here,1"))
        assert (posts.texts.tolist(), dict(posts.dropped)) == (["here"], {"no text": ("line 2",)})


class TestLabels:
    @pytest.mark.parametrize("label", ["-1", "2", "true", "True", "false", "1.0", "01", " 1", "", "nan", "１"])
    def test_other_than_the_declared_ones_are_refused(self, read_table: Reader, label: str) -> None:
        with pytest.raises(UserError) as caught:
            read_table(table(f"{ID[0]},fine,1", f"{ID[1]},not fine,{label}"))
        assert str(caught.value) == (
            f"posts.csv, line 3: the label {label!r} is not one of '0', '1': correct it, or delete the row"
        )

    def test_mean_what_the_table_declares(self, read_table: Reader) -> None:
        rows = table(f"{ID[0]},a,true", f"{ID[1]},b,-1")
        posts = read_table(rows, labels={"-1": "rumour", "true": "news"}, classes=("rumour", "news"))
        assert posts.labels.tolist() == [1, 0]


class TestMissingTexts:
    @pytest.mark.parametrize(
        "text", ["", " ", '"\n\t\u3000"', "null", "NULL", "nan", "NaN", "None", "<NA>", '" nan "', '""']
    )
    def test_are_excluded_and_counted(self, read_table: Reader, text: str) -> None:
        posts = read_table(table(f"{ID[0]},kept,1", f"{ID[1]},{text},0", f"{ID[2]},kept,0"))
        assert posts.texts.tolist() == ["kept", "kept"]
        assert dict(posts.dropped) == {"no text": ("line 3",)}
        assert posts.remarks() == ["1 row dropped, no text (line 3)"]

    def test_of_a_short_row_are_excluded_and_counted(self, read_table: Reader) -> None:
        posts = read_table(table(f"{ID[0]},1,kept", ID[1], f"{ID[2]},1", header="id,label,text"))
        assert (posts.texts.tolist(), dict(posts.dropped)) == (["kept"], {"no text": ("line 3", "line 4")})

    def test_everywhere_leave_no_table(self, read_table: Reader) -> None:
        with pytest.raises(UserError, match=r"posts\.csv: the table holds no post with a text"):
            read_table(table(f"{ID[0]},,1"))


class TestIds:
    @pytest.mark.parametrize("id", ["5.00378E+17", "500378223977721860.0", "5.00378223977721860e+17"])
    def test_that_lost_digits_are_refused_with_their_line(self, read_table: Reader, id: str) -> None:
        with pytest.raises(UserError, match="floating-point number, so its last digits are lost") as caught:
            read_table(table(f"{ID[0]},fine,1", f"{id},not fine,1"))
        assert str(caught.value).startswith(f"posts.csv, line 3: the id {id!r}")

    def test_lose_the_blanks_around_them_and_say_so(self, read_table: Reader) -> None:
        posts = read_table(table(f" {ID[0]},a,1", f"{ID[1]}\t,b,1", f"{ID[2]},c,1"))
        assert posts.ids.tolist() == ID[:3]
        assert posts.remarks() == ["blanks around an id removed: 2 (line 2, line 3)"]

    @pytest.mark.parametrize("id", ["", "  ", "nan"])
    def test_that_are_missing_are_refused_with_their_line(self, read_table: Reader, id: str) -> None:
        with pytest.raises(UserError, match=r"posts\.csv, line 3: the id is missing"):
            read_table(table(f"{ID[0]},fine,1", f"{id},not fine,1"))

    @pytest.mark.parametrize("id", ["29700859247", "abc", "1"])
    def test_that_carry_no_time_give_none_and_say_so(self, read_table: Reader, id: str) -> None:
        posts = read_table(table(f"{id},no time,1", f"{ID[0]},timed,1"))
        assert posts.ids.tolist() == [ID[0], id]
        assert np.isnat(posts.times).tolist() == [False, True]
        assert posts.remarks() == ["no time, left out of chronological protocols: 1 (line 2)"]

    def test_that_carry_no_time_are_left_out_of_a_chronological_split_and_counted(self, read_table: Reader) -> None:
        posts = read_table(table("abc,no time,1", *(f"{id},timed,{i % 2}" for i, id in enumerate(ID))))
        arrays = {"times": posts.times, "labels": posts.labels}
        for protocol in ("chrono", "chrono_stratified"):
            split = protocols.make_split(protocol, ids=posts.ids, **arrays)
            assert posts.ids[split.excluded].tolist() == ["abc"]
            assert protocols.report(split, **arrays).excluded == 1
            assert sum(map(len, split.parts().values())) == len(ID)

    def test_keep_leading_zeros_and_every_digit(self, read_table: Reader) -> None:
        posts = read_table(table("007,a,1", "7,b,1", "9007199254740993123,c,1"))
        assert sorted(posts.ids.tolist()) == ["007", "7", "9007199254740993123"]


class TestTimes:
    HEADER = "id,when,text,label"

    def test_of_every_form_may_be_mixed(self, read_table: Reader) -> None:
        rows = table(
            "1,1420630200,seconds,0",
            "2,1420630200000,milliseconds,0",
            "3,2015-01-07T11:30:00Z,ISO with Z,0",
            "4,2015-01-07 19:30:00+08:00,ISO with an offset,0",
            "5,2015-01-07 19:30,ISO without zone,0",
            header=self.HEADER,
        )
        posts = read_table(rows, time="when", zone="Asia/Shanghai")
        moment = datetime(2015, 1, 7, 11, 30, tzinfo=timezone.utc)
        assert posts.times.astype(np.int64).tolist() == [int(moment.timestamp()) * 1000] * 5

    def test_without_zone_are_refused_where_none_is_declared(self, read_table: Reader) -> None:
        rows = table("1,2015-01-07T11:30:00Z,a,0", "2,2015-01-07 11:30:00,b,0", header=self.HEADER)
        with pytest.raises(
            UserError, match=r"posts\.csv, line 3: the time '2015-01-07T11:30:00' names no time zone: write it"
        ):
            read_table(rows, time="when")

    @pytest.mark.parametrize("when", ["yesterday", "0", "1.42e9", "2015-02-30"])
    def test_that_are_none_are_refused_with_their_line(self, read_table: Reader, when: str) -> None:
        rows = table("1,1420630200,a,0", f"2,{when},b,0", header=self.HEADER)
        with pytest.raises(UserError, match=rf"posts\.csv, line 3: the time '{when}"):
            read_table(rows, time="when", zone="UTC")

    @pytest.mark.parametrize("when", ["", "  ", "nan", "NaT", "null"])
    def test_that_are_missing_are_counted_and_not_taken_from_the_id(self, read_table: Reader, when: str) -> None:
        rows = table(f"{ID[1]},{when},a,0", f"{ID[0]},1420630200,b,0", header=self.HEADER)
        posts = read_table(rows, time="when")
        assert np.isnat(posts.times).tolist() == [False, True]
        assert posts.remarks() == ["no time, left out of chronological protocols: 1 (line 2)"]

    @pytest.mark.parametrize("when", ["1420630200", ""])
    def test_are_those_of_the_column_where_there_is_one(self, read_table: Reader, when: str) -> None:
        posts = read_table(table(f"{ID[0]},{when},a,0", header=self.HEADER), time="when")
        assert posts.times.astype("datetime64[s]").astype(str).tolist() == ["2015-01-07T11:30:00" if when else "NaT"]

    def test_depend_on_no_time_zone_and_no_hash_seed_of_the_machine(self) -> None:
        program = """
import hashlib
from temporal_rumors.sources.files import Snapshot, SourceFile
from temporal_rumors.sources.table import Table
data = b'''id,when,text,label
3,2015-01-01 00:00:00,a,0
2,2014-12-31T23:59:59.999Z,b,1
1,1420070400,c,0
4,2015-07-01 02:30,d,0
'''
months = {"2014-12": "old", "2015-01": "new", "2015-06": "late"}
source = Table(SourceFile("t.csv", ""), {"0": "x", "1": "y"}, time="when", zone="Asia/Shanghai", event_by_month=months)
posts = source.parse(Snapshot("t.csv", data, ""), ("x", "y"))
print(posts.ids.tolist(), posts.times.astype(int).tolist(), posts.events.tolist(), posts.remarks())
"""
        printed = {
            subprocess.run(
                [sys.executable, "-c", program],
                env=os.environ | {"TZ": zone, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for zone, seed in (("Asia/Shanghai", "1"), ("America/New_York", "2"))
        }
        times = [1_420_041_600_000, 1_420_070_399_999, 1_420_070_400_000, 1_435_689_000_000]
        assert printed == {f"['3', '2', '1', '4'] {times} ['old', 'old', 'new', 'late'] []\n"}


class TestEvents:
    def test_come_from_the_month_in_utc(self, read_table: Reader) -> None:
        rows = table(
            "1,2015-01-01T00:00:00+01:00,a,0", "2,2015-01-01T00:00:00Z,b,0", "3,,c,0", header="id,t,text,label"
        )
        posts = read_table(rows, time="t", event_by_month=MONTHS)
        assert posts.events.tolist() == ["siege", "attack", None]

    def test_of_an_unknown_month_are_refused(self, read_table: Reader) -> None:
        rows = table("1,2015-02-01Z,a,0", header="id,t,text,label")
        with pytest.raises(
            UserError, match="line 2: no event is known for 2015-02; the events' months are 2014-12, 2015-01"
        ):
            read_table(rows, time="t", event_by_month=MONTHS)

    def test_come_from_their_column(self, read_table: Reader) -> None:
        rows = table(f"{ID[0]},a,0,siege", f"{ID[1]},b,0,", f"{ID[2]},c,0,nan", header="id,text,label,e")
        assert read_table(rows, event="e").events.tolist() == ["siege", None, None]


class TestFiles:
    def test_with_byte_order_mark_crlf_and_further_columns_read_alike(self, read_table: Reader) -> None:
        plain = read_table(table(f"{ID[0]},a,0", f"{ID[1]},b,1"))
        rows = (f'7,"0",{ID[0]},,a', f"8,1,{ID[1]},x,b")
        written = table(*rows, "", header="n,label,id,note,text", end="\r\n")
        assert same(read_table(b"\xef\xbb\xbf" + written.encode()), plain)
        assert same(read_table(written.replace("\r\n", "\r")), plain)
        assert same(read_table(written.rstrip("\r\n")), plain)

    @pytest.mark.parametrize(
        ("content", "error"),
        [
            (b"", "posts.csv: the file is empty"),
            (b"\n \r\n", "posts.csv: the file is empty"),
            (b"\xef\xbb\xbf", "posts.csv: the file is empty"),
            (b"id,text,label\n", "posts.csv: the table holds no post"),
            (b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>", "posts.csv: this is a web page, not a table"),
            (b"<html lang='en'>", "posts.csv: this is a web page, not a table"),
            (
                table("1;a;0", header="id;text;label"),
                "line 1: the column 'id' is missing, found 'id;text;label': separate",
            ),
            (
                table("1\ta\t0", header="id\ttext\tlabel"),
                r"line 1: the column 'id' is missing, found 'id\ttext\tlabel'",
            ),
            (
                table("1,a", header="id,text"),
                "line 1: the column 'label' is missing, found 'id', 'text': take the file",
            ),
            (table("1,a,0", header="id,text,labels"), "line 1: the column 'label' is missing, found"),
            (table("1,a,0"), None),
            ("\n" + table("1,a,0"), "line 1: the column 'id' is missing, found an empty line"),
            (table("1,a,0", header='"id,text,label'), "line 1: no header, expected the columns id, text, label"),
            (table("1,a,0,1", header="id,text,label,label"), "line 1: the column 'label' stands there more than once"),
            (table("1,a,0", "2,b, c,1"), "line 3: 4 cells, expected 3: a text with a comma must be quoted"),
            (table("1,a,0", "2,b", "3,c,1"), "line 3: the row ends before the column 'label': complete it"),
            (table("1,a,0") + "2,b", "line 3: the last line breaks off after 2 of 3 cells: the file was cut short"),
            (table("1,a,0") + "2", "line 3: the last line breaks off after 1 of 3 cells: the file was cut short"),
            (table("1,a,0") + "2,b,", "line 3: the label '' is not one of"),
            (table("1,a,0") + '2,"b c', "line 3: not valid CSV (unexpected end of data)"),
            (table('1,"never closed,0', "2,b,0", "3,c,0"), "line 2: not valid CSV (unexpected end of data)"),
            (table('1,"never closed,0', '2,"b",0'), "line 2: not valid CSV (',' expected after '\"')"),
            (
                table('11111,"never closed,0', '22222,ends in a ",0'),
                "line 2: a text opens with a double quote that swallows",
            ),
            (table("1,a,0", '2,"b" c,0'), "line 3: not valid CSV (',' expected after '\"')"),
            (table('1,"two\nlines",0', "2,b,?"), "line 4: the label '?'"),
            (table('1,"two\r\nlines",0', "2,b\u2028\u0085\x0c,?", end="\r\n"), "line 4: the label '?'"),
            (table("1,a,0", "2,b\0b,1"), "line 3: a NUL character: the file is damaged, get it again"),
            (
                table("1,a,0").encode() + "2,naïve,1\n".encode("latin-1"),
                "line 3: the byte 0xef is not UTF-8: save the file as",
            ),
            (table("1,a,0").encode() + "2,很".encode()[:-1], "line 3: the byte 0xe5 is not UTF-8"),
            (table("1,a,0").encode("utf-16"), "posts.csv: the file is UTF-16: save it as UTF-8"),
            (
                table("1,a,0", f'2,"{"x" * 200_000}",1'),
                "line 3: not valid CSV (field larger than field limit (131072))",
            ),
        ],
    )
    def test_that_are_not_such_a_table_say_where_and_why(
        self, read_table: Reader, content: str | bytes, error: str | None
    ) -> None:
        if error is None:
            assert len(read_table(content)) == 1
            return
        with pytest.raises(UserError) as caught:
            read_table(content)
        assert error in str(caught.value)
        assert str(caught.value).startswith("posts.csv")

    def test_cut_anywhere_but_between_rows_are_refused(self, read_table: Reader) -> None:
        rows = ["id,text,label", '1,"one, with\na break",0', '2,"he said ""yes""",1', "3,three,0"]
        whole = "\n".join(rows) + "\n"
        # Cut there a file is a table of its own, with or without the end of its last line.
        readable = {len("\n".join(rows[: n + 1])) + end: n for n in (1, 2, 3) for end in (0, 1)}
        for length in range(len(whole) + 1):
            if length in readable:
                assert len(read_table(whole[:length])) == readable[length]
            else:
                with pytest.raises(UserError, match=r"^posts\.csv"):
                    read_table(whole[:length])
