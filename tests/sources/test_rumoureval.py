"""RumourEval's conversations joined with its keys: on invented editions, and on the real ones."""

import dataclasses
import json
import os
import tarfile
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from temporal_rumors import benchmark
from temporal_rumors.benchmark import Benchmark
from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.records import Posts, snowflake_time
from temporal_rumors.sources import conversations, rumoureval
from temporal_rumors.sources.files import DATA_VARIABLE

YEARS = (2017, 2019)
TASKS = ("stance", "veracity")
TREES = {
    2017: ("semeval2017-task8-dataset", "rumoureval2017-test"),
    2019: ("rumoureval-2019-training-data", "rumoureval-2019-test-data"),
}
EVENTS = "semeval2017-task8-dataset/rumoureval-data"
TRAIN_KEY, DEV_KEY, TEST_KEY = (
    "semeval2017-task8-dataset/traindev/rumoureval-subtaskA-train.json",
    "semeval2017-task8-dataset/traindev/rumoureval-subtaskA-dev.json",
    "subtaska.json",
)
STRADDLES = "conversation in several parts of the official split"

WriteEdition = Callable[..., Path]
every_year = pytest.mark.parametrize("year", YEARS)
every_task = pytest.mark.parametrize("task", TASKS)


@pytest.fixture(autouse=True)
def _no_data_of_ones_own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "data_dir" not in request.fixturenames:
        monkeypatch.delenv(DATA_VARIABLE, raising=False)


def of(year: int, task: str) -> Benchmark:
    return benchmark.get(f"rumoureval{year}", task)


def read(folder: Path | None, year: int = 2017, task: str = "stance") -> Posts:
    b = of(year, task)
    return b.source.read(b.classes, folder)


def rows(posts: Posts, year: int, task: str) -> dict[str, dict[str, Any]]:
    """Id -> its cells, with the name of the class and the time in words."""
    classes = of(year, task).classes
    return {
        str(posts.ids[i]): {
            "text": posts.texts[i],
            "label": classes[posts.labels[i]],
            "created_at": str(posts.times[i]),
            "event": posts.events[i],
            "part": posts.parts[i],
            **{name: cells[i] for name, cells in posts.columns.items()},
        }
        for i in range(len(posts))
    }


def notes(posts: Posts) -> dict[str, list[str]]:
    return {note: list(places) for note, places in posts.notes.items()}


def without(*names: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda held: {name: value for name, value in held.items() if name not in names}


def ms(time: str) -> int:
    return int(np.datetime64(time, "ms").astype(int))


class TestStance:
    def test_rows_are_posts_with_what_they_answer(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        found = rows(read(write_edition(2017, tmp_path)), 2017, "stance")
        source = "this is confirmed by the police 4"
        common = {"event": "ferguson", "part": "train", "platform": "twitter", "thread_id": "400"}
        assert {id: row for id, row in found.items() if row["thread_id"] == "400"} == {
            "400": {
                **common,
                "text": source,
                "label": "support",
                "created_at": "2014-08-04T12:00:00.000",
                "parent_id": None,
                "parent_text": None,
                "source_text": source,
                "depth": 0,
            },
            "401": {
                **common,
                "text": "that is a fake, do not share it 4",
                "label": "deny",
                "created_at": "2014-08-04T12:01:00.000",
                "parent_id": "400",
                "parent_text": source,
                "source_text": source,
                "depth": 1,
            },
            "402": {
                **common,
                "text": "stay safe everyone &amp; take care 4",
                "label": "comment",
                "created_at": "2014-08-04T12:02:00.000",
                "parent_id": "401",
                "parent_text": "that is a fake, do not share it 4",
                "source_text": source,
                "depth": 2,
            },
            "403": {
                **common,
                "text": "stay safe everyone &amp; take care 4",
                "label": "comment",
                "created_at": "2014-08-04T12:03:00.000",
                "parent_id": "400",
                "parent_text": source,
                "source_text": source,
                "depth": 1,
            },
        }

    def test_rows_of_reddit_hold_title_and_text_of_the_source(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        found = rows(read(write_edition(2019, tmp_path), 2019), 2019, "stance")
        source = "this is confirmed by the police 13\n\nmore in the link"
        assert found["r1300"]["text"] == found["r1300"]["source_text"] == found["r1301"]["parent_text"] == source
        assert found["r1300"]["created_at"] == "2018-01-13T12:00:00.000"
        # What Reddit did not give: a labelled post without text and time.
        assert found["r1302"] == {
            "text": "",
            "label": "comment",
            "created_at": "NaT",
            "event": None,
            "part": "test",
            "platform": "reddit",
            "thread_id": "r1300",
            "parent_id": "r1301",
            "parent_text": found["r1301"]["text"],
            "source_text": source,
            "depth": 2,
        }

    @every_year
    def test_every_row_agrees_with_that_of_its_parent_and_of_its_source(
        self, write_edition: WriteEdition, tmp_path: Path, year: int
    ) -> None:
        posts = read(write_edition(year, tmp_path), year)
        found = rows(posts, year, "stance")
        assert posts.threads is not None
        assert posts.threads.tolist() == posts.columns["thread_id"].tolist()
        for id, row in found.items():
            source = found[row["thread_id"]]
            assert (row["source_text"], row["platform"]) == (source["text"], source["platform"])
            assert row["platform"] == ("reddit" if id.startswith("r") else "twitter")
            assert (row["depth"] == 0) == (row["parent_id"] is None) == (id == row["thread_id"])
            if row["parent_id"] in found:
                parent = found[row["parent_id"]]
                assert (row["parent_text"], row["depth"]) == (parent["text"], parent["depth"] + 1)
            else:
                assert row["parent_text"] is None
        answered = Counter(row["parent_id"] in found for row in found.values())
        assert answered[True] > answered[False] > 0

    def test_a_parent_that_nobody_could_fetch_is_named_without_text(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        found = rows(read(write_edition(2017, tmp_path)), 2017, "stance")
        names = ("parent_id", "parent_text", "depth")
        assert [found["103"][name] for name in names] == ["109", None, 2]
        # Outside the conversation: how deep it stands is not known.
        assert [found["1203"][name] for name in names] == ["1299", None, None]

    def test_posts_stand_in_time_order_those_without_a_time_last(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        posts = read(write_edition(2019, tmp_path), 2019)
        assert posts.ids[-1] == "r1302"
        keys = [(time, id) for time, id in zip(posts.times[:-1].tolist(), posts.ids[:-1].tolist(), strict=True)]
        assert keys == sorted(keys)


class TestVeracity:
    def test_rows_are_sources_with_their_replies(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        found = rows(read(write_edition(2017, tmp_path), task="veracity"), 2017, "veracity")
        assert found["400"] == {
            "text": "this is confirmed by the police 4",
            "label": "false",
            "created_at": "2014-08-04T12:00:00.000",
            "event": "ferguson",
            "part": "train",
            "platform": "twitter",
            "replies": [
                {
                    "id": "401",
                    "parent": "400",
                    "text": "that is a fake, do not share it 4",
                    "created_at": ms("2014-08-04T12:01"),
                },
                {
                    "id": "402",
                    "parent": "401",
                    "text": "stay safe everyone &amp; take care 4",
                    "created_at": ms("2014-08-04T12:02"),
                },
                {
                    "id": "403",
                    "parent": "400",
                    "text": "stay safe everyone &amp; take care 4",
                    "created_at": ms("2014-08-04T12:03"),
                },
            ],
        }

    @every_year
    def test_replies_are_the_posts_of_the_stance_task(
        self, write_edition: WriteEdition, tmp_path: Path, year: int
    ) -> None:
        folder = write_edition(year, tmp_path)
        stance = rows(read(folder, year), year, "stance")
        veracity = rows(read(folder, year, "veracity"), year, "veracity")
        assert list(veracity) == [id for id, row in stance.items() if row["depth"] == 0]
        for id, row in veracity.items():
            expected = [
                (reply, cells["parent_id"], cells["text"], cells["created_at"])
                for reply, cells in stance.items()
                if cells["thread_id"] == id != reply
            ]
            given = [
                (r["id"], r["parent"], r["text"], str(np.datetime64(r["created_at"], "ms"))) for r in row["replies"]
            ]
            assert given == expected

    def test_a_reply_without_text_and_time_is_kept_last(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        found = rows(read(write_edition(2019, tmp_path), 2019, "veracity"), 2019, "veracity")
        replies = found["r1300"]["replies"]
        assert [reply["id"] for reply in replies] == ["r1301", "r1303", "r1302"]
        assert replies[-1] == {"id": "r1302", "parent": "r1301", "text": "", "created_at": None}

    def test_a_conversation_without_replies_has_none(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        changes = {f"{EVENTS}/ferguson/400/replies/40{i}.json": None for i in (1, 2, 3)}
        changes[f"{EVENTS}/ferguson/400/structure.json"] = {"400": []}
        found = rows(read(write_edition(2017, tmp_path, changes), task="veracity"), 2017, "veracity")
        assert found["400"]["replies"] == []

    def test_posts_stand_alone(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        assert read(write_edition(2017, tmp_path), task="veracity").threads is None


class TestKeys:
    @every_year
    @every_task
    def test_parts_and_labels_are_theirs(
        self, write_edition: WriteEdition, tmp_path: Path, year: int, task: str
    ) -> None:
        folder = write_edition(year, tmp_path)
        posts = read(folder, year, task)
        given = {id: (row["label"], row["part"]) for id, row in rows(posts, year, task).items()}
        assert given == real_keys(folder, year, task, lambda tree, path: (folder / tree / path).read_bytes())

    @every_year
    @every_task
    def test_nothing_is_told_but_what_the_trees_lack(
        self, write_edition: WriteEdition, tmp_path: Path, year: int, task: str
    ) -> None:
        expected = {
            2017: {
                conversations.DETACHED: ["1200/1203"],
                rumoureval.BY_MONTH: ["1200", "1300", "1400"],
                conversations.NO_FILE: ["100/109", "1200/1299"],
            },
            2019: {
                conversations.NO_TEXT: ["r1300/r1302"],
                conversations.NO_TIME: ["r1300/r1302"],
                conversations.OTHER_PARENT: ["1100/1103"],
                conversations.PLACEHOLDER: ["r800/r803"],
            },
        }
        assert notes(read(write_edition(year, tmp_path), year, task)) == expected[year]

    def test_what_only_key_or_tree_has_is_told_and_is_no_row(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        whole = read(write_edition(2017, tmp_path / "whole"))
        folder = write_edition(
            2017,
            tmp_path / "changed",
            {
                TRAIN_KEY: lambda key: without("402", "300")(key) | {"9": "deny", "7777": "query"},
                DEV_KEY: lambda key: {**key, "8": "deny"},
            },
        )
        posts = read(folder)
        assert set(whole.ids) - set(posts.ids) == {"402", "300"}
        assert not set(posts.ids) - set(whole.ids)
        assert {note: places for note, places in notes(posts).items() if note not in whole.notes} == {
            rumoureval.NO_POST["stance"]: ["7777", "8", "9"],
        }
        assert posts.dropped == {rumoureval.NO_LABEL: ("300/300", "400/402")}
        # An unlabelled parent or source lends its text all the same.
        found = rows(posts, 2017, "stance")
        assert (found["301"]["parent_id"], found["301"]["parent_text"], found["301"]["depth"]) == (
            *("300", "this is confirmed by the police 3"),
            1,
        )
        assert found["301"]["source_text"] == "this is confirmed by the police 3"

    def test_a_reply_with_a_label_for_veracity_starts_no_thread(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        change = {"subtaskb.json": lambda key: without("1400")(key) | {"1401": "true", "7777": "true"}}
        whole = read(write_edition(2017, tmp_path / "whole"), task="veracity")
        posts = read(write_edition(2017, tmp_path / "changed", change), task="veracity")
        assert set(whole.ids) ^ set(posts.ids) == {"1400"}
        assert {note: places for note, places in notes(posts).items() if note not in whole.notes} == {
            rumoureval.NO_POST["veracity"]: ["1401", "7777"],
        }
        assert posts.dropped == {rumoureval.NO_LABEL: ("1400",)}

    def test_a_conversation_that_straddles_parts_stays_where_its_keys_put_it_and_is_told(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        changes = {TRAIN_KEY: without("402"), DEV_KEY: lambda key: {**key, "402": "comment"}}
        posts = read(write_edition(2017, tmp_path, changes))
        parts = {id: row["part"] for id, row in rows(posts, 2017, "stance").items() if row["thread_id"] == "400"}
        assert parts == {"400": "train", "401": "train", "402": "validation", "403": "train"}
        assert notes(posts)[STRADDLES] == ["400"]
        # Every other protocol keeps it whole.
        b = of(2017, "stance")
        for protocol in ("random_fold0", "chrono", "chrono_stratified", "loo_ferguson"):
            parts = [set(posts.threads[rows]) for rows in b.split(posts, protocol).parts().values()]
            assert sum("400" in part for part in parts) == 1

    @pytest.mark.parametrize("other", [DEV_KEY, TEST_KEY])
    def test_an_id_in_two_of_them_is_refused_naming_both(
        self, write_edition: WriteEdition, tmp_path: Path, other: str
    ) -> None:
        folder = write_edition(2017, tmp_path, {other: lambda key: {**key, "402": "comment"}})
        names = "rumoureval-subtaskA-train.json", other.rpartition("/")[2]
        with pytest.raises(UserError, match=r"id '402' is labelled in .* too: keep one of them") as error:
            read(folder)
        assert all(name in str(error.value) for name in names)

    @pytest.mark.parametrize(
        ("content", "found"),
        [
            ({"400": "deny", "401": "agree"}, "id '401': found label 'agree', expected one of support"),
            ({"400": "Support"}, "Support"),
            ({"400": ["support", 1]}, "expected a label alone"),
            (b"", "not JSON"),
            (b'{"400": "deny", "400": "query"}', "'400' occurs more than once"),
            (b"[]", "found list at the top"),
            (b"\xff", "not UTF-8"),
        ],
    )
    def test_a_mistake_in_one_is_told_with_its_place(
        self, write_edition: WriteEdition, tmp_path: Path, content: object, found: str
    ) -> None:
        folder = write_edition(2017, tmp_path, {TRAIN_KEY: content})
        with pytest.raises(UserError, match=rf"semeval2017-task8-dataset.*rumoureval-subtaskA-train\.json.*{found}"):
            read(folder)

    def test_that_of_the_other_task_is_not_read(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path, {TRAIN_KEY: b"", DEV_KEY: b""})
        assert len(read(folder, task="veracity")) == 18
        with pytest.raises(UserError, match="not JSON"):
            read(folder)

    def test_the_key_of_another_task_in_its_place_is_refused(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path, {TEST_KEY: {"1200": "true"}})
        with pytest.raises(UserError, match=r"subtaska\.json"):
            read(folder)

    def test_copies_are_taken_if_they_agree(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path)
        expected = read(folder)
        beside = folder / TREES[2017][1] / "rumoureval-subtaskA-train.json"
        beside.write_bytes((folder / TRAIN_KEY).read_bytes())
        assert read(folder).digest == expected.digest
        beside.write_bytes(beside.read_bytes() + b"\n")
        with pytest.raises(
            UserError,
            match=r"rumoureval-subtaskA-train\.json and .*rumoureval-subtaskA-train\.json differ: keep the right one",
        ):
            read(folder)

    def test_those_of_another_edition_label_nothing(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        keys = {TRAIN_KEY: {"7": "deny"}, DEV_KEY: {"8": "deny"}, TEST_KEY: {"9": "deny"}}
        with pytest.raises(UserError, match="no post has a label: are the trees and the keys of one edition"):
            read(write_edition(2017, tmp_path, keys))


class TestConversations:
    def test_in_both_trees_are_refused(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        """As one that was released twice: which of them the label is of cannot be told."""
        folder = write_edition(2017, tmp_path)
        (folder / EVENTS / "ferguson/400").rename(folder / "400")
        for place in (f"{EVENTS}/ferguson", "rumoureval2017-test/semeval2017-task8-test-data"):
            for file in (folder / "400").rglob("*.json"):
                target = folder / place / "400" / file.relative_to(folder / "400")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_bytes())
        for task in TASKS:
            with pytest.raises(
                UserError, match=r"the post 40\d stands in .*semeval2017-task8-dataset and in .*-test: keep"
            ):
                read(folder, task=task)

    def test_of_one_tree_that_repeat_are_told_and_read_once(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path)
        digest = read(folder).digest
        again = folder / TREES[2017][0] / "again/rumoureval-data/ferguson/400"
        for file in (folder / EVENTS / "ferguson/400").rglob("*.json"):
            target = again / file.relative_to(folder / EVENTS / "ferguson/400")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
        posts = read(folder)
        assert posts.digest == digest
        assert notes(posts)[conversations.THREAD_REPEATED] == ["400"]

    def test_have_the_event_of_their_folder_or_else_of_their_month(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        for task in TASKS:
            found = rows(read(write_edition(2017, tmp_path / task), task=task), 2017, task)
            assert {id: row["event"] for id, row in found.items() if id.endswith("00")} == {
                **dict.fromkeys(("100", "200", "300"), "charliehebdo"),
                **dict.fromkeys(("400", "500", "600"), "ferguson"),
                **dict.fromkeys(("700", "800", "900"), "ottawashooting"),
                **dict.fromkeys(("1000", "1100"), "sydneysiege"),
                "1200": "ferguson",
                "1300": "germanwings-crash",
                "1400": "illary",
                "1500": None,
                "1600": "ebola-essien",
                "1700": "prince-toronto",
                "1800": "putinmissing",
            }

    def test_take_their_event_from_the_month_of_the_source(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        place = "rumoureval2017-test/semeval2017-task8-test-data/1300/{}.json"
        late = {"created_at": "Wed Apr 01 00:00:00 +0000 2015"}
        replied = read(write_edition(2017, tmp_path / "a", {place.format("replies/1301"): lambda post: post | late}))
        assert rows(replied, 2017, "stance")["1301"]["event"] == "germanwings-crash"
        posted = read(
            write_edition(2017, tmp_path / "b", {place.format("source-tweet/1300"): lambda post: post | late})
        )
        assert rows(posted, 2017, "stance")["1301"]["event"] is None

    def test_of_2019_have_an_event_only_where_they_stand_in_a_folder_of_it(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        found = rows(read(write_edition(2019, tmp_path), 2019), 2019, "stance")
        assert {row["event"] for id, row in found.items() if id.startswith("r")} == {None}
        expected = {"charliehebdo", "ferguson", "illary", "ark-park"}
        assert {row["event"] for id, row in found.items() if not id.startswith("r")} == expected

    def test_junk_of_macos_is_ignored_and_told(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        tree = TREES[2017][0]
        junk = {
            f"{tree}/traindev/._rumoureval-subtaskA-train.json": b"\0",
            f"{tree}/__MACOSX/ferguson/400/source-tweet/._400.json": b"\0",
        }
        posts = read(write_edition(2017, tmp_path / "junk", junk, ".zip"))
        assert posts.digest == read(write_edition(2017, tmp_path / "clean")).digest
        assert notes(posts)["files of macOS ignored"] == [f"{tree}.zip"] * 2


class TestPlaces:
    @every_year
    @every_task
    @pytest.mark.parametrize("form", ["", ".tar.bz2", ".zip"])
    @pytest.mark.parametrize("below", ["", "rumoureval{}"])
    def test_folders_and_archives_give_the_same_rows(
        self, write_edition: WriteEdition, tmp_path: Path, year: int, task: str, form: str, below: str
    ) -> None:
        expected = read(write_edition(year, tmp_path / "plain"), year, task)
        write_edition(year, tmp_path / "data" / below.format(year), form=form)
        posts = read(tmp_path / "data", year, task)
        assert posts.digest == expected.digest == of(year, task).digest(tmp_path / "data", allow_modified=True)
        assert rows(posts, year, task) == rows(expected, year, task)
        assert posts.notes == expected.notes

    def test_forms_may_be_mixed_and_a_folder_is_preferred(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        expected = read(write_edition(2017, tmp_path / "plain")).digest
        folder = write_edition(2017, tmp_path / "mixed", form=".zip")
        (folder / f"{TREES[2017][0]}.zip").unlink()
        (tmp_path / "plain" / TREES[2017][0]).rename(folder / TREES[2017][0])
        assert read(folder).digest == expected
        (folder / f"{TREES[2017][0]}.tar.bz2").write_bytes(b"no archive")
        assert read(folder).digest == expected

    @every_year
    def test_may_be_named_by_the_environment(
        self, write_edition: WriteEdition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, year: int
    ) -> None:
        source = of(year, "stance").source
        assert source.lacking()
        assert source.digest() == source.sha256
        monkeypatch.setenv(DATA_VARIABLE, str(write_edition(year, tmp_path)))
        assert source.lacking() is None
        assert source.digest() == read(None, year).digest == read(tmp_path, year).digest != ""
        # data_dir= is then the only place to look in.
        assert source.lacking(tmp_path / "elsewhere")

    @every_year
    @every_task
    def test_what_is_missing_is_told_with_what_to_do(
        self, write_edition: WriteEdition, tmp_path: Path, year: int, task: str
    ) -> None:
        b = of(year, task)
        beside = [key.file for key in b.source.keys if key.beside and task in key.tasks]
        for name in (*TREES[year], *beside):
            folder = write_edition(year, tmp_path / name)
            (folder / name).rename(tmp_path / f"{name}-away")
            with pytest.raises(DataNotFoundError) as error:
                b.posts(folder)
            found = str(error.value)
            assert found.startswith(f"{b.source.name} lacks {name}")
            assert f": not in data_dir={str(folder)!r}. Get it from https://" in found
            # What belongs there, and how to name the folder.
            advice = str(error.value).partition("Get it from")[2]
            for word in (*TREES[year], *beside, "data_dir=", "--data-dir", DATA_VARIABLE, f"rumoureval{year}"):
                assert word in advice
            assert b.source.lacking(folder) == found

    def test_without_any_folder_all_is_missing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        with pytest.raises(DataNotFoundError, match=r"no folder is named\. Get it from https://") as error:
            read(None)
        assert all(name in str(error.value).partition(": no folder")[0] for name in (*TREES[2017], TEST_KEY))
        monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
        with pytest.raises(DataNotFoundError, match=f"not in {DATA_VARIABLE}='{tmp_path}'"):
            read(None)

    def test_a_folder_may_be_named_from_home(
        self, write_edition: WriteEdition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        write_edition(2017, tmp_path / "data")
        assert read(Path("~/data")).digest == read(tmp_path / "data").digest
        with pytest.raises(DataNotFoundError, match="not in data_dir='~nobody-of-that-name/data'"):
            read(Path("~nobody-of-that-name/data"))

    @pytest.mark.parametrize("key", [TRAIN_KEY, DEV_KEY])
    def test_a_tree_without_its_key_is_told(self, write_edition: WriteEdition, tmp_path: Path, key: str) -> None:
        name = key.rpartition("/")[2]
        with pytest.raises(UserError, match=f"the key {name} is in none of the trees: get them again"):
            read(write_edition(2017, tmp_path, {key: None}))

    def test_a_damaged_tree_is_told_by_name(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path, form=".tar.bz2")
        path = folder / f"{TREES[2017][0]}.tar.bz2"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(UserError, match=f"{TREES[2017][0]}.tar.bz2"):
            read(folder)

    @pytest.mark.parametrize("form", ["", ".zip"])
    def test_what_changes_within_a_process_is_read_anew(
        self, write_edition: WriteEdition, tmp_path: Path, form: str
    ) -> None:
        folder = write_edition(2017, tmp_path, form=form)
        first = read(folder)
        assert read(folder) is first
        change = {f"{EVENTS}/ferguson/400/replies/401.json": lambda post: post | {"text": "that was a mistake"}}
        write_edition(2017, folder, change, form)
        second = read(folder)
        assert second.digest != first.digest
        assert rows(second, 2017, "stance")["401"]["text"] == "that was a mistake"
        assert rows(second, 2017, "stance")["402"]["parent_text"] == "that was a mistake"
        key = json.loads((folder / TEST_KEY).read_text())
        (folder / TEST_KEY).write_text(json.dumps(key | {"1200": "deny"}))
        assert rows(read(folder), 2017, "stance")["1200"]["label"] == "deny"

    def test_a_file_rewritten_with_as_many_bytes_is_read_anew(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        folder = write_edition(2017, tmp_path)
        path = folder / EVENTS / "ferguson/400/replies/401.json"
        read(folder)
        before = path.stat()
        path.write_bytes(path.read_bytes().replace(b"fake", b"FAKE"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        assert "FAKE" in rows(read(folder), 2017, "stance")["401"]["text"]


class TestPublished:
    @every_year
    @every_task
    def test_other_data_are_refused_unless_allowed(
        self, write_edition: WriteEdition, tmp_path: Path, year: int, task: str
    ) -> None:
        folder, b = write_edition(year, tmp_path), of(year, task)
        with pytest.raises(
            UserError, match=r"not the published data: .* in the train part, not .*allow_modified=True"
        ) as error:
            b.posts(folder)
        assert f"{b.classes[0]} posts in the train part, not {b.official['train'][b.classes[0]]}" in str(error.value)
        assert "https://" in str(error.value)
        posts = b.posts(folder, allow_modified=True)
        assert not b.is_published(posts)
        assert posts.digest == b.digest(folder, allow_modified=True)

    def test_the_same_counts_with_another_text_are_taken_but_not_called_published(
        self, write_edition: WriteEdition, tmp_path: Path
    ) -> None:
        b = of(2017, "veracity")
        posts = b.posts(write_edition(2017, tmp_path), allow_modified=True)
        counts = {
            part: {name: int(((posts.parts == part) & (posts.labels == i)).sum()) for i, name in enumerate(b.classes)}
            for part in b.official
        }
        known = dataclasses.replace(b, official=counts)
        assert not known.is_published(known.posts(tmp_path))
        known = dataclasses.replace(known, source=dataclasses.replace(b.source, sha256=posts.digest))
        assert known.is_published(known.posts(tmp_path))
        # The same numbers of each class, but in other parts.
        counts["train"]["true"] += 1
        counts["test"]["true"] -= 1
        moved = dataclasses.replace(b, official=counts)
        with pytest.raises(UserError, match=r"not the published data: 4 true posts in the train part, not 5, .* test"):
            moved.posts(tmp_path)

    def test_an_event_that_nobody_declared_is_refused(self, write_edition: WriteEdition, tmp_path: Path) -> None:
        folder = write_edition(2017, tmp_path)
        (folder / EVENTS / "ferguson").rename(folder / EVENTS / "fergusson")
        with pytest.raises(UserError, match="the event 'fergusson' is not one of charliehebdo, "):
            of(2017, "stance").posts(folder, allow_modified=True)


# Read independently: keys by plain json, texts by tarfile and json.

KEYS = {
    (2017, "stance"): {
        "train": "traindev/rumoureval-subtaskA-train.json",
        "validation": "traindev/rumoureval-subtaskA-dev.json",
        "test": "subtaska.json",
    },
    (2017, "veracity"): {
        "train": "traindev/rumoureval-subtaskB-train.json",
        "validation": "traindev/rumoureval-subtaskB-dev.json",
        "test": "subtaskb.json",
    },
    **{
        (2019, task): {"train": "train-key.json", "validation": "dev-key.json", "test": "final-eval-key.json"}
        for task in TASKS
    },
}


def real_keys(folder: Path, year: int, task: str, from_tree: Callable[[str, str], bytes]) -> dict[str, tuple[str, str]]:
    """Id -> label and part, by plain json."""
    found: dict[str, tuple[str, str]] = {}
    for part, path in KEYS[year, task].items():
        data = (folder / path).read_bytes() if part == "test" else from_tree(TREES[year][0], path)
        key = json.loads(data)
        if year == 2019:
            key = key["subtaskaenglish" if task == "stance" else "subtaskbenglish"]
        found |= {id: (label, part) for id, label in key.items()}
    return found


@pytest.fixture(scope="module")
def archives(data_dir: Path) -> dict[int, dict[str, bytes]]:
    """Year -> path in the archives -> content, of JSON files."""
    contents: dict[int, dict[str, bytes]] = {}
    for year in YEARS:
        contents[year] = {}
        for tree in TREES[year]:
            with tarfile.open(data_dir / f"rumoureval{year}" / f"{tree}.tar.bz2") as archive:
                for member in archive:
                    if member.isfile() and member.name.endswith(".json"):
                        contents[year][member.name] = archive.extractfile(member).read()  # type: ignore[union-attr]
    return contents


def text_of(post: dict[str, Any]) -> str:
    if "kind" not in post:
        return post.get("full_text") or post["text"]
    if post["kind"] == "Listing":
        data = post["data"]["children"][0]["data"]
        return "\n\n".join(text for text in (data["title"], data["selftext"]) if text)
    return post["data"].get("body", "")


class TestRealData:
    @pytest.mark.parametrize(
        ("year", "task", "sizes"),
        [
            (2017, "stance", {"train": 4238, "validation": 281, "test": 1049}),
            (2017, "veracity", {"train": 272, "validation": 25, "test": 28}),
            (2019, "stance", {"train": 5217, "validation": 1485, "test": 1827}),
            (2019, "veracity", {"train": 327, "validation": 38, "test": 81}),
        ],
    )
    def test_parts_hold_the_ids_and_labels_of_their_keys(
        self,
        data_dir: Path,
        archives: dict[int, dict[str, bytes]],
        year: int,
        task: str,
        sizes: dict[str, int],
    ) -> None:
        b = of(year, task)
        posts = b.posts(data_dir)
        assert b.is_published(posts)
        assert Counter(posts.parts.tolist()) == sizes
        keys = real_keys(
            data_dir / f"rumoureval{year}", year, task, lambda tree, path: archives[year][f"{tree}/{path}"]
        )
        given = zip(posts.ids.tolist(), posts.labels.tolist(), posts.parts.tolist(), strict=True)
        assert {id: (b.classes[label], part) for id, label, part in given} == keys
        split = b.split(posts, "official")
        assert {part: set(posts.ids[rows]) for part, rows in split.parts().items()} == {
            part: {id for id, (_, its) in keys.items() if its == part} for part in sizes
        }

    @every_year
    def test_texts_are_those_of_the_files(
        self, data_dir: Path, archives: dict[int, dict[str, bytes]], year: int
    ) -> None:
        texts, threads = {}, {}
        for path, data in archives[year].items():
            thread, folder, name = ["", *path.split("/")][-3:]
            if folder in ("source-tweet", "replies"):
                texts[name.removesuffix(".json")] = text_of(json.loads(data))
                threads[name.removesuffix(".json")] = thread
        stance, veracity = (of(year, task).posts(data_dir) for task in TASKS)
        for posts in (stance, veracity):
            assert dict(zip(posts.ids.tolist(), posts.texts.tolist(), strict=True)) == {i: texts[i] for i in posts.ids}
        columns = stance.columns
        assert columns["thread_id"].tolist() == [threads[id] for id in stance.ids]
        assert columns["source_text"].tolist() == [texts[threads[id]] for id in stance.ids]
        assert columns["parent_text"].tolist() == [texts.get(parent) for parent in columns["parent_id"]]
        assert {r["id"]: r["text"] for row in veracity.columns["replies"] for r in row} == {
            id: text for id, text in texts.items() if threads[id] != id
        }

    @every_year
    def test_no_conversation_straddles_parts_under_any_protocol(self, data_dir: Path, year: int) -> None:
        b = of(year, "stance")
        posts = b.posts(data_dir)
        assert STRADDLES not in posts.notes
        thread_of = posts.columns["thread_id"]
        for protocol in b.protocols:
            split = b.split(posts, protocol)
            parts = [set(thread_of[rows]) for rows in (*split.parts().values(), split.excluded)]
            assert sum(map(len, parts)) == len(set(thread_of)), protocol

    @every_task
    def test_remarks_count_what_the_trees_lack(self, data_dir: Path, task: str) -> None:
        counts = {
            2017: {conversations.NO_FILE: 347, conversations.DETACHED: 2, rumoureval.BY_MONTH: 28},
            2019: {
                conversations.NO_FILE: 350,
                conversations.DETACHED: 2,
                conversations.PLACED_TWICE: 2,
                conversations.NO_TEXT: 90,
                conversations.NO_TIME: 90,
                conversations.PLACEHOLDER: 63,
                conversations.OTHER_PARENT: 128,
                conversations.NO_OWN_PARENT: 3,
                conversations.SOURCE_ANSWERS: 4,
            },
        }
        for year in YEARS:
            posts = of(year, task).posts(data_dir)
            assert {note: len(places) for note, places in posts.notes.items()} == counts[year]

    def test_platforms_and_events_are_those_of_the_folders(
        self, data_dir: Path, archives: dict[int, dict[str, bytes]]
    ) -> None:
        for year in YEARS:
            folders = {}
            for path in archives[year]:
                if "/source-tweet/" in path or "/replies/" in path:
                    folders[path.rpartition("/")[2].removesuffix(".json")] = path.split("/")[:-3]
            posts = of(year, "stance").posts(data_dir)
            platforms = Counter(posts.columns["platform"].tolist())
            expected = Counter("reddit" if any("reddit" in f for f in folders[id]) else "twitter" for id in posts.ids)
            assert platforms == expected
            assert platforms == ({"twitter": 5568} if year == 2017 else {"twitter": 6634, "reddit": 1895})
            for id, event, platform in zip(posts.ids, posts.events, posts.columns["platform"], strict=True):
                if year == 2019 and platform == "reddit":
                    assert event is None
                elif folders[id][-1] != "semeval2017-task8-test-data":
                    assert event == folders[id][-1]

    def test_events_of_the_test_tree_of_2017_are_those_of_the_release_of_2019(self, data_dir: Path) -> None:
        old, new = (of(year, "stance").posts(data_dir) for year in YEARS)
        later = dict(zip(new.ids.tolist(), new.events.tolist(), strict=True))
        test = old.parts == "test"
        assert test.sum() == 1049
        assert old.events[test].tolist() == [later[id] for id in old.ids[test]]

    def test_times_of_tweets_are_those_of_their_ids(self, data_dir: Path) -> None:
        for year in YEARS:
            posts = of(year, "stance").posts(data_dir)
            tweets = posts.columns["platform"] == "twitter"
            for id, time in zip(posts.ids[tweets], posts.times[tweets].astype(int), strict=True):
                # The files give whole seconds.
                assert abs(snowflake_time(str(id)) - time) <= 1000
            assert datetime(2014, 1, 1) < posts.times[tweets].min().item() < posts.times[tweets].max().item()


@pytest.mark.parametrize("target", ["nowhere", "notes.txt"])
def test_a_link_in_a_tree_is_refused_by_name(write_edition: WriteEdition, tmp_path: Path, target: str) -> None:
    folder = write_edition(2017, tmp_path)
    (folder / TREES[2017][0] / "notes.txt").symlink_to(target)
    with pytest.raises(UserError, match=r"notes\.txt"):
        read(folder)


@pytest.mark.parametrize("task", ["stance", "veracity"])
def test_the_archives_as_they_unpack_are_the_published_data(data_dir: Path, tmp_path: Path, task: str) -> None:
    published = data_dir / "rumoureval2017"
    for name in ("semeval2017-task8-dataset", "rumoureval2017-test"):
        with tarfile.open(published / f"{name}.tar.bz2") as archive:
            archive.extractall(tmp_path, filter="data")
    for key in ("subtaska.json", "subtaskb.json"):
        (tmp_path / key.replace("task", "Task")).write_bytes((published / key).read_bytes())
    b = of(2017, task)
    assert b.is_published(b.posts(tmp_path))
    assert b.posts(tmp_path).remarks() == b.posts(published).remarks()


def test_months_tell_the_events_of_the_test_tree_alone(write_edition: WriteEdition, tmp_path: Path) -> None:
    folder = write_edition(2017, tmp_path)
    root = folder / TREES[2017][0] / "rumoureval-data"
    for event in list(root.iterdir()):
        for thread in list(event.iterdir()):
            thread.rename(root / thread.name)
        event.rmdir()
    posts = read(folder)
    assert {event for event, part in zip(posts.events, posts.parts, strict=True) if part != "test"} == {None}
    assert {event for event, part in zip(posts.events, posts.parts, strict=True) if part == "test"} != {None}
