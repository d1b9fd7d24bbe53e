import itertools
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_rumors.errors import UserError
from temporal_rumors.sources import conversations
from temporal_rumors.sources.archives import Tree, read_tree
from temporal_rumors.sources.conversations import Message, Thread, read_threads, wanted

SECOND = 1000
NOON = 1_420_632_000_000  # 2015-01-07T12:00:00Z
REMARKS = [
    value
    for name, value in vars(conversations).items()
    if name.isupper() and not name.startswith("_") and isinstance(value, str) and " " in value
]


def tweet(id: str, parent: str | None = None, /, **other: Any) -> dict[str, Any]:
    """Return a post as Twitter gives it out, made as many seconds after noon as its id says."""
    second = int(id) % 60
    post = {
        "id_str": id,
        "id": int(id),
        "text": f"text {id}",
        "created_at": f"Wed Jan 07 12:00:{second:02} +0000 2015",
        "in_reply_to_status_id_str": parent,
    }
    return {key: value for key, value in (post | other).items() if value != "absent"}


def comment(id: str, parent: str | None = None, /, **other: Any) -> dict[str, Any]:
    """Return a post as Reddit gives it out."""
    data = {"id": id, "body": f"text {id}", "created_utc": NOON / SECOND, "parent_id": parent}
    return {"kind": "t1", "data": {key: value for key, value in (data | other).items() if value != "absent"}}


def submission(id: str, title: str = "a title", selftext: str = "", **other: Any) -> dict[str, Any]:
    return {
        "kind": "t3",
        "data": {"id": id, "title": title, "selftext": selftext, "created_utc": NOON // SECOND} | other,
    }


def listing(*children: object) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"children": list(children)}}


def dump(value: object) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def thread(
    *replies: dict[str, Any], source: dict[str, Any] | None = None, structure: object = None, at: str = "c/e/100"
) -> dict[str, bytes]:
    """Return the files of a thread; without a structure there is no structure.json."""
    source = source or tweet("100")
    files = {f"{at}/source-tweet/{at.rpartition('/')[2]}.json": dump(source)}
    for reply in replies:
        id = reply["data"]["id"] if "data" in reply else reply["id_str"]
        files[f"{at}/replies/{id}.json"] = dump(reply)
    if structure is not None:
        files[f"{at}/structure.json"] = dump(structure)
    return files


def read(*files: Mapping[str, bytes]) -> tuple[list[Thread], dict[str, list[str]]]:
    return read_threads(Tree("tree.zip", {k: v for part in files for k, v in part.items()}, 0), ["c"])


def one(*files: Mapping[str, bytes]) -> Thread:
    (only,), _ = read(*files)
    return only


def remarks(*files: Mapping[str, bytes]) -> dict[str, list[str]]:
    return read(*files)[1]


def places(read: Thread) -> dict[str, tuple[str | None, int | None]]:
    return {message.id: (message.parent_id, message.depth) for message in (read.source, *read.replies)}


class TestWanted:
    @pytest.mark.parametrize(
        "path",
        [
            "c/e/1/source-tweet/1.json",
            "c/1/source-tweets/1.json",
            "1/replies/2.json",
            "c/e/rumours/1/reactions/2.json",
            "c/e/1/structure.json",
        ],
    )
    def test_are_posts_and_structures(self, path: str) -> None:
        assert wanted(path)

    @pytest.mark.parametrize(
        "path",
        [
            "c/e/1/urls-content/0123",
            "c/e/1/context/wikipedia.json",
            "c/1/raw.json",
            "c/1/urls.dat",
            "c/e/1/annotation.json",
            "c/train-key.json",
            "c/e/1/replies/2.txt",
            "replies/2.json",
            "structure.json",
        ],
    )
    def test_is_nothing_else(self, path: str) -> None:
        assert not wanted(path)
        assert read(thread(), {path: b"not JSON"}) == read(thread())


class TestPlaces:
    @pytest.mark.parametrize(
        ("at", "event", "kind"),
        [
            ("c/100", None, None),
            ("c/e/100", "e", None),
            ("top/top/c/e/100", "e", None),
            ("c/e-all-rnr-threads/rumours/100", "e", "rumours"),
            ("c/e-all-rnr-threads/non-rumours/100", "e", "non-rumours"),
            ("c/rumours/100", None, "rumours"),
            ("c/c/100", None, None),
        ],
    )
    def test_tell_event_and_kind(self, at: str, event: str | None, kind: str | None) -> None:
        (found,), remarks = read(thread(at=at))
        assert (found.id, found.event, found.kind) == ("100", event, kind)
        assert remarks == {}

    @pytest.mark.parametrize("at", ["100", "other/100", "other/e/100", "c/e/deeper/100", "rumours/100"])
    def test_outside_of_known_folders_tell_no_event(self, at: str) -> None:
        (found,), remarks = read(thread(at=at))
        assert found.event is None
        assert remarks == {conversations.NO_CONTAINER: ["100"]}

    def test_come_back_by_time_of_the_source_then_id(self) -> None:
        late, early, timeless = tweet("7"), tweet("65"), tweet("6", created_at=None)
        parts = [thread(source=post, at=f"c/{post['id']}") for post in (timeless, late, early, tweet("5"))]
        assert [found.id for found in read(*parts)[0]] == ["5", "65", "7", "6"]


class TestTwitter:
    def test_posts_are_read(self) -> None:
        found = one(thread(tweet("101", "100"), structure={"100": {"101": []}}))
        assert found.source == Message("100", "text 100", NOON + 40 * SECOND, "twitter", None, 0)
        assert found.replies == (Message("101", "text 101", NOON + 41 * SECOND, "twitter", "100", 1),)

    def test_ids_may_be_numbers(self) -> None:
        reply = tweet("101", id_str="absent", in_reply_to_status_id_str="absent", in_reply_to_status_id=100)
        files = thread(structure={"100": ["101"]}) | {"c/e/100/replies/101.json": dump(reply)}
        (found,), remarks = read(files)
        assert places(found)["101"] == ("100", 1)
        assert remarks == {}

    def test_full_text_goes_before_text(self) -> None:
        assert one(thread(source=tweet("100", full_text="all of it"))).source.text == "all of it"
        assert one(thread(source=tweet("100", full_text="all of it", text="absent"))).source.text == "all of it"

    def test_texts_stay_as_they_are(self) -> None:
        text = " &amp; \u0000\r\n\u00e9 e\u0301 \U0001f600 [deleted]\t"
        (found,), remarks = read(thread(source=tweet("100", text=text)))
        assert found.source.text == text
        assert remarks == {}

    @pytest.mark.parametrize("created_at", ["absent", None])
    def test_time_falls_back_to_the_ids(self, created_at: str | None) -> None:
        id = str(86_400_000 << 22)
        (found,), remarks = read(thread(source=tweet(id, created_at=created_at), at=f"c/{id}"))
        assert found.source.created_at == 1_288_834_974_657 + 86_400_000
        assert remarks == {}

    def test_without_any_time_is_remarked(self) -> None:
        (found,), remarks = read(thread(source=tweet("100", created_at=None)))
        assert found.source.created_at is None
        assert remarks == {conversations.NO_TIME: ["100/100"]}

    @pytest.mark.parametrize("text", ["absent", None, "", " \n"])
    def test_without_text_is_remarked(self, text: str | None) -> None:
        (found,), remarks = read(thread(source=tweet("100", text=text)))
        assert found.source.text == (text if text and text != "absent" else "")
        assert remarks == {conversations.NO_TEXT: ["100/100"]}

    def test_half_a_character_is_replaced(self) -> None:
        (found,), remarks = read(thread(source=tweet("100", text="\ud83d cut \ude00 \U0001f600")))
        assert found.source.text == "\ufffd cut \ufffd \U0001f600"
        assert remarks == {conversations.HALF_CHARACTER: ["100/100"]}

    def test_source_that_answers_something_outside_stays_the_first_post(self) -> None:
        (found,), remarks = read(thread(source=tweet("100", "99")))
        assert places(found) == {"100": (None, 0)}
        assert remarks == {conversations.SOURCE_ANSWERS: ["100"]}


class TestReddit:
    def test_posts_are_read(self) -> None:
        reply, answer = comment("b1", "t3_a0"), comment("b2", "t1_b1", created_utc=NOON // SECOND + 1)
        files = thread(reply, answer, source=listing(submission("a0")), structure={"a0": {"b1": ["b2"]}}, at="c/a0")
        (found,), remarks = read(files)
        assert found.source == Message("a0", "a title", NOON, "reddit", None, 0)
        assert found.replies == (
            Message("b1", "text b1", NOON, "reddit", "a0", 1),
            Message("b2", "text b2", NOON + SECOND, "reddit", "b1", 2),
        )
        assert remarks == {}

    @pytest.mark.parametrize(
        ("title", "selftext", "text"),
        [("a", "b\n", "a\n\nb\n"), ("a", "", "a"), ("", "b", "b"), ("a", None, "a"), (None, "b", "b")],
    )
    def test_source_is_its_title_and_its_text(self, title: str, selftext: str, text: str) -> None:
        for source in (submission("a0", title, selftext), listing(submission("a0", title, selftext))):
            assert one(thread(source=source, at="c/a0")).source.text == text

    def test_stubs_of_comments_are_kept_without_text_and_time(self) -> None:
        stub = {"kind": "more", "data": {"id": "b1", "parent_id": "t3_a0", "children": ["b1", "b2"], "count": 2}}
        (found,), remarks = read(thread(stub, source=submission("a0"), structure={"a0": {"b1": []}}, at="c/a0"))
        assert found.replies == (Message("b1", "", None, "reddit", "a0", 1),)
        assert remarks == {conversations.NO_TEXT: ["a0/b1"], conversations.NO_TIME: ["a0/b1"]}

    def test_placeholders_are_kept_and_counted(self) -> None:
        replies = [comment("b1", "t3_a0", body="[deleted]"), comment("b2", "t3_a0", body="he [removed] it")]
        source = submission("a0", "a title", "[removed]")
        (found,), remarks = read(thread(*replies, source=source, structure={"a0": ["b1", "b2"]}, at="c/a0"))
        assert [message.text for message in (found.source, *found.replies)] == [
            "a title\n\n[removed]",
            "[deleted]",
            "he [removed] it",
        ]
        assert remarks == {conversations.PLACEHOLDER: ["a0/a0", "a0/b1"]}


class TestStructure:
    @pytest.mark.parametrize(
        "tree",
        [
            '{"101": {"102": []}}',
            '{"101": {"102": {}}}',
            '{"101": {"102": null}}',
            '{"101": ["102"]}',
            '{"101": [102]}',
            '[{"101": ["102"]}]',
            ' { "101" : [ { "\\u0031\\u0030\\u0032" : [ ] } ]\r\n}\t',
        ],
    )
    def test_leaves_may_be_written_in_any_way(self, tree: str) -> None:
        files = thread(tweet("101", "100"), tweet("102", "101"), structure=b'{"100": %s}\n' % tree.encode())
        (found,), remarks = read(files)
        assert places(found) == {"100": (None, 0), "101": ("100", 1), "102": ("101", 2)}
        assert remarks == {}

    def test_goes_before_the_parent_that_the_post_names(self) -> None:
        files = thread(tweet("101", "100"), tweet("102", "100"), structure={"100": {"101": {"102": []}}})
        (found,), remarks = read(files)
        assert places(found)["102"] == ("101", 2)
        assert remarks == {conversations.OTHER_PARENT: ["100/102"]}

    def test_suffices_where_the_post_names_no_parent(self) -> None:
        (found,), remarks = read(thread(tweet("101"), structure={"100": ["101"]}))
        assert places(found)["101"] == ("100", 1)
        assert remarks == {conversations.NO_OWN_PARENT: ["100/101"]}

    def test_may_name_posts_that_are_not_kept(self) -> None:
        files = thread(tweet("102", "101"), structure={"100": {"101": {"102": []}, "_": []}})
        (found,), remarks = read(files)
        assert places(found) == {"100": (None, 0), "102": ("101", 2)}
        assert remarks == {conversations.NO_FILE: ["100/101", "100/_"]}

    def test_may_lack_posts(self) -> None:
        files = thread(tweet("101", "100"), tweet("102", "101"), tweet("103", "9"), structure={"100": {"101": []}})
        (found,), remarks = read(files)
        assert places(found) == {"100": (None, 0), "101": ("100", 1), "102": ("101", 2), "103": (None, None)}
        assert remarks == {
            conversations.NOT_PLACED: ["100/102", "100/103"],
            conversations.OWN_PARENT: ["100/102"],
            conversations.DETACHED: ["100/103"],
        }

    def test_may_have_several_roots(self) -> None:
        files = thread(
            *(tweet("101", "100"), tweet("102", "9"), tweet("103", "102"), tweet("104", "9")),
            structure={"102": {"103": []}, "100": [], "101": [], "9": ["104"]},
        )
        (found,), remarks = read(files)
        assert places(found) == {
            "100": (None, 0),
            "101": ("100", 1),
            "102": ("9", None),
            "103": ("102", None),
            "104": ("9", None),
        }
        assert remarks == {
            conversations.BESIDE_SOURCE: ["100/101", "100/102"],
            conversations.OWN_PARENT: ["100/101", "100/102"],
            conversations.DETACHED: ["100/102", "100/103", "100/104"],
            conversations.NO_FILE: ["100/9"],
        }

    @pytest.mark.parametrize("structure", ["{}", "[]"])
    def test_may_be_empty(self, structure: str) -> None:
        (found,), remarks = read(thread(tweet("101", "100"), structure=structure.encode()))
        assert places(found)["101"] == ("100", 1)
        assert remarks == {
            conversations.NOT_PLACED: ["100/100", "100/101"],
            conversations.OWN_PARENT: ["100/101"],
        }

    def test_places_a_post_where_it_names_it_first(self) -> None:
        structure = b'{"100": {"101": {"103": []}, "102": {"103": {"104": []}, "100": []}, "101": []}}'
        posts = [tweet("101", "100"), tweet("102", "100"), tweet("103", "101"), tweet("104", "103")]
        (found,), remarks = read(thread(*posts, structure=structure))
        assert places(found) == {
            "100": (None, 0),
            "101": ("100", 1),
            "102": ("100", 1),
            "103": ("101", 2),
            "104": ("103", 3),
        }
        assert remarks == {conversations.PLACED_TWICE: ["100/100", "100/101", "100/103"]}

    def test_does_not_move_the_source(self) -> None:
        files = thread(tweet("99"), tweet("101", "100"), structure={"99": {"100": {"101": []}}})
        (found,), remarks = read(files)
        assert places(found) == {"100": (None, 0), "101": ("100", 1), "99": (None, None)}
        assert remarks == {conversations.BESIDE_SOURCE: ["100/99"], conversations.DETACHED: ["100/99"]}

    def test_may_be_missing(self) -> None:
        (found,), remarks = read(thread(tweet("102", "101"), tweet("101", "100"), tweet("103", "9"), tweet("104")))
        assert places(found) == {
            "100": (None, 0),
            "101": ("100", 1),
            "102": ("101", 2),
            "103": (None, None),
            "104": (None, None),
        }
        assert remarks == {conversations.NO_STRUCTURE: ["100"], conversations.DETACHED: ["100/103", "100/104"]}

    def test_is_not_missed_where_nothing_was_answered(self) -> None:
        assert remarks(thread()) == {}

    def test_a_circle_is_cut_at_its_first_post(self) -> None:
        posts = [
            tweet("103", "101"),
            tweet("102", "103"),
            tweet("101", "102"),
            tweet("104", "103"),
            tweet("105", "105"),
        ]
        (found,), remarks = read(thread(*posts, tweet("106", "100")))
        assert places(found) == {
            "100": (None, 0),
            "101": (None, None),
            "102": ("103", None),
            "103": ("101", None),
            "104": ("103", None),
            "105": (None, None),
            "106": ("100", 1),
        }
        assert remarks == {
            conversations.CIRCLE: ["100/101", "100/105"],
            conversations.DETACHED: ["100/101", "100/102", "100/103", "100/104", "100/105"],
            conversations.NO_STRUCTURE: ["100"],
        }

    def test_a_circle_is_cut_where_structure_json_does_not_go(self) -> None:
        # 101 is the first, but its parent is that of structure.json.
        files = thread(tweet("101", "102"), tweet("102", "101"), structure={"100": [], "102": {"101": []}})
        (found,), remarks = read(files)
        assert places(found) == {"100": (None, 0), "101": ("102", None), "102": (None, None)}
        assert remarks == {
            conversations.BESIDE_SOURCE: ["100/102"],
            conversations.CIRCLE: ["100/102"],
            conversations.DETACHED: ["100/101", "100/102"],
        }

    @pytest.mark.parametrize("with_structure", [True, False])
    def test_may_be_thousands_of_posts_deep(self, with_structure: bool) -> None:
        ids = [str(id) for id in range(100, 20_100)]
        structure = "".join(f'{{"{id}": ' for id in ids) + "[]" + "}" * len(ids)
        replies = [tweet(id, parent) for parent, id in itertools.pairwise(ids)]
        (found,), remarks = read(thread(*replies[::-1], structure=structure.encode() if with_structure else None))
        assert {id: depth for id, (_, depth) in places(found).items()} == {id: i for i, id in enumerate(ids)}
        assert remarks == ({} if with_structure else {conversations.NO_STRUCTURE: ["100"]})

    def test_a_circle_may_be_thousands_of_posts_long(self) -> None:
        ids = [str(id) for id in range(101, 10_101)]
        (found,), remarks = read(
            thread(*[tweet(id, parent) for id, parent in zip(ids, ids[1:] + ids[:1], strict=True)])
        )
        assert remarks[conversations.CIRCLE] == ["100/10020"]
        assert {depth for _, depth in places(found).values()} == {0, None}

    @pytest.mark.parametrize(
        "structure",
        [
            b"",
            b" ",
            b"null",
            b'"100"',
            b"100",
            b"true",
            b"{",
            b'{"100"',
            b'{"100":',
            b'{"100": []',
            b'{"100": []}}',
            b'{"100": []} []',
            b'{"100": [}',
            b'{"100": {]',
            b'{"100": [],}',
            b'{"100": ["101",]}',
            b'{"100": [,]}',
            b'{"100": [] "101": []}',
            b'{"100" []}',
            b'{"100": "101"}',
            b'{"100": 101}',
            b'{"100": true}',
            b'{"100": [null]}',
            b'{"100": [1.5]}',
            b"{100: []}",
            b"{{}: []}",
            b'{["100"]: []}',
            b"{'100': []}",
            b'{"": []}',
            b'{"1 0": []}',
            b'{"\\ud800": []}',
            b'{"\\x": []}',
            b'{"1\n": []}',
            b'{null: []}',
            b'{"100": [0101]}',
        ],
    )  # fmt: skip
    def test_that_is_none_is_refused(self, structure: bytes) -> None:
        with pytest.raises(
            UserError, match=r"^tree\.zip, c/e/100/structure\.json is no tree of ids \(.*get the file again"
        ):
            read(thread(structure=structure))


class TestRepeats:
    def test_of_a_thread_are_left_out(self) -> None:
        files = thread(tweet("101", "100"), structure={"100": ["101"]})
        again = {f"copy/{path}": data for path, data in files.items()}
        more = {"copy/c/e/100/replies/102.json": dump(tweet("102", "100"))}
        (found,), remarks = read(files, again, more)
        assert found == one(files)
        assert remarks == {
            conversations.THREAD_REPEATED: ["100"],
            conversations.POST_REPEATED: ["100/101"],
            conversations.LEFT_OUT: ["100/102"],
        }

    @pytest.mark.parametrize("at", ["c/other/100", "c/e/rumours/100", "c/100"])
    def test_of_a_thread_in_another_event_or_kind_are_refused(self, at: str) -> None:
        first, second = sorted(("c/e/100/source-tweet/100.json", f"{at}/source-tweet/100.json"))
        with pytest.raises(UserError, match=rf"^tree\.zip, {second} contradicts {first}, which has the same id: keep"):
            read(thread(), thread(at=at))

    def test_of_a_post_go_to_the_first_thread(self) -> None:
        files = thread(tweet("101", "100"), structure={"100": ["101"]})
        other = thread(tweet("101", "100"), source=tweet("200"), structure={"200": []}, at="c/e/200")
        threads, remarks = read(other, files)
        assert {found.id: [reply.id for reply in found.replies] for found in threads} == {"100": ["101"], "200": []}
        assert remarks == {conversations.POST_REPEATED: ["200/101"]}

    def test_of_a_source_as_a_reply_leave_the_source(self) -> None:
        files = thread(tweet("200"), tweet("100"), structure={"100": []})
        threads, remarks = read(files, thread(source=tweet("200"), at="c/e/200"))
        assert {found.id: found.replies for found in threads} == {"100": (), "200": ()}
        assert remarks == {conversations.POST_REPEATED: ["100/100", "100/200"]}

    def test_in_both_folders_for_replies_are_left_out(self) -> None:
        files = thread(tweet("101", "100"), structure={"100": ["101"]})
        again = {"c/e/100/reactions/101.json": files["c/e/100/replies/101.json"]}
        (found,), remarks = read(files, again)
        assert found == one(files)
        assert remarks == {conversations.POST_REPEATED: ["100/101"]}

    @pytest.mark.parametrize("change", [{"text": "other"}, {"created_at": None}, {"in_reply_to_status_id_str": "9"}])
    def test_that_differ_are_refused(self, change: dict[str, Any]) -> None:
        first, second = "c/e/100/replies/101.json", "c/e/200/replies/101.json"
        files = thread(tweet("101", "100"))
        other = thread(tweet("101", "100", **change), source=tweet("200"), at="c/e/200")
        with pytest.raises(UserError, match=rf"^tree\.zip, {second} contradicts {first}, which has the same id: keep"):
            read(files, other)
        with pytest.raises(UserError, match=r"replies/100\.json contradicts c/e/100/source-tweet/100\.json"):
            read(thread(tweet("100", text="other")))


class TestFiles:
    def test_without_a_source_are_left_out(self) -> None:
        lost = thread(tweet("201", "200"), source=tweet("200"), structure={"200": ["201"]}, at="c/e/200")
        del lost["c/e/200/source-tweet/200.json"]
        threads, remarks = read(thread(), lost)
        assert [found.id for found in threads] == ["100"]
        assert remarks == {conversations.NO_SOURCE: ["200"]}

    @pytest.mark.parametrize(
        "files", [{}, {"c/e/100/structure.json": b"{}"}, {"c/e/100/replies/1.json": dump(tweet("1"))}]
    )
    def test_without_any_thread_are_refused(self, files: dict[str, bytes]) -> None:
        with pytest.raises(UserError, match=r"^tree\.zip holds no conversation: expected folders with source-tweet/"):
            read(files)

    @pytest.mark.parametrize("second", ["source-tweet/101.json", "source-tweets/100.json"])
    def test_with_two_sources_are_refused(self, second: str) -> None:
        id = second[-8:-5]
        with pytest.raises(
            UserError, match=r"/source-tweets?/10.\.json is a second source beside c/e/100/source-tweet/100"
        ):
            read(thread(), {f"c/e/100/{second}": dump(tweet(id))})

    def test_that_hold_another_post_than_their_name_says_are_refused(self) -> None:
        with pytest.raises(UserError, match=r"^tree\.zip, c/e/100/replies/102\.json holds the post 101: name the file"):
            read(thread(), {"c/e/100/replies/102.json": dump(tweet("101", "100"))})

    def test_of_a_source_that_does_not_name_its_thread_are_refused(self) -> None:
        with pytest.raises(UserError, match="is the source 100 of the thread '200': give both the same name"):
            read({"c/e/200/source-tweet/100.json": dump(tweet("100"))})

    @pytest.mark.parametrize(
        ("data", "found"),
        [
            (b"", "is no JSON"),
            (b'{"id_str": "100"', "is no JSON"),
            (b'{"id_str": "100", "text": "a\nb"}', "is no JSON"),
            (b'{"id": ' + b"1" * 5000 + b"}", "is no JSON|holds the post 1"),
            (b"[" * 200_000, "is no JSON"),
            (b"[]", r"the post is \[\], expected a JSON object"),
            (b"null", "the post is None, expected a JSON object"),
            (b'"' + b"x" * 5000 + b'"', r"the post is 'x{1,30}\.\.\.x{1,30}', expected a JSON object"),
            (b"\xef\xbb\xbf" + dump(tweet("100")), "begins with a byte order mark: save it"),
            (dump(tweet("100")) + b"\0", "holds NUL bytes: save it"),
            (json.dumps(tweet("100")).encode("utf-16"), "is not UTF-8 from byte 0 on: save it"),
            (json.dumps(tweet("100")).encode("utf-16-le"), "holds NUL bytes"),
            ('{"id_str": "100", "text": "é"}'.encode("latin-1"), "is not UTF-8 from byte 27 on"),
        ],
    )
    def test_that_are_no_json_objects_are_refused(self, data: bytes, found: str) -> None:
        with pytest.raises(UserError, match=rf"^tree\.zip, c/e/100/source-tweet/100\.json:? ({found})"):
            read({"c/e/100/source-tweet/100.json": data})

    @pytest.mark.parametrize(
        ("post", "found"),
        [
            ({"text": "x"}, "the post has no id: expected id_str"),
            (tweet("100", id_str=None, id=None), "the post has no id: expected id_str"),
            (tweet("100", id_str=""), "the id is missing"),
            (tweet("100", id_str="1 0"), "holds blanks"),
            (tweet("100", id_str="1E+02"), "floating-point number"),
            (tweet("100", id_str=None, id=100.0), "id is 100.0, expected an id as text"),
            (tweet("100", id_str=True), "id_str is True, expected an id as text"),
            (tweet("100", id_str=["100"]), r"id_str is \['100'\], expected an id as text"),
            (tweet("100", in_reply_to_status_id_str={}), r"in_reply_to_status_id_str is \{\}, expected an id"),
            (tweet("100", text=5), "text is 5, expected text"),
            (tweet("100", text=False), "text is False, expected text"),
            (tweet("100", full_text=["a"]), r"full_text is \['a'\], expected text"),
            (tweet("100", created_at="Wed Feb 30 12:00:00 +0000 2015"), "does not exist"),
            (tweet("100", created_at="yesterday"), "the time 'yesterday' is not understood"),
            (tweet("100", created_at="2015-01-07T12:00:00"), "names no time zone"),
            (tweet("100", created_at=""), "the time '' is not understood"),
            (tweet("100", created_at=True), "created_at is True, expected a time"),
            (tweet("100", created_at=[1]), r"created_at is \[1\], expected a time"),
            (comment("100", created_utc=float("nan")), "the time 'nan' is not understood"),
            (comment("100", created_utc=float("inf")), "the time 'inf' is not understood"),
            (comment("100", created_utc=-1420632000), "the time '-1420632000' is not understood"),
            (comment("100", created_utc=1e30), "is not understood"),
            (comment("100", body=7), "body is 7, expected text"),
            (comment("100", id=None), "the post has no id: expected one in data"),
            (comment("100", parent_id="101"), "parent_id is '101', expected t1_<id> or t3_<id>"),
            (comment("100", parent_id="t5_x"), "parent_id is 't5_x'"),
            (comment("100", parent_id="t1_"), "parent_id is 't1_'"),
            ({"kind": "t1"}, "data is None, expected a JSON object"),
            ({"kind": "t1", "data": []}, r"data is \[\], expected a JSON object"),
            ({"kind": "t5", "data": {"id": "100"}}, "the post is a 't5', expected 't1', 't3', 'more' or a 'Listing'"),
            ({"kind": None, "data": {"id": "100"}}, "the post is a None, expected 't1'"),
            ({"kind": "Listing", "data": {}}, "the listing does not hold one post"),
            (listing(), "the listing does not hold one post"),
            (listing(submission("100"), submission("101")), "the listing does not hold one post"),
            (listing(comment("100")), "the listing holds a 't1', expected a submission"),
            (listing("100"), "the listing's child is '100', expected a JSON object"),
            (listing({"kind": "t3"}), "data is None, expected a JSON object"),
            (submission("100", title=["a"]), r"title is \['a'\], expected text"),  # type: ignore[arg-type]
        ],
    )
    def test_that_are_no_posts_are_refused(self, post: dict[str, Any], found: str) -> None:
        with pytest.raises(UserError, match=rf"^tree\.zip, c/e/100/source-tweet/100\.json: .*{found}"):
            read(thread(source=post))


@st.composite
def trees(draw: st.DrawFn) -> tuple[Thread, dict[str, bytes]]:
    """Draw a conversation and one of the ways to write it as a tree."""
    reddit = draw(st.booleans())
    numbers = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=9, unique=True))
    ids = [f"x{number}" if reddit else str(number) for number in numbers]
    texts = draw(
        st.lists(st.text("aé帖\U0001f600&\n ", min_size=1).map("t".__add__), min_size=len(ids), max_size=len(ids))
    )
    seconds = draw(st.lists(st.integers(0, 10**8), min_size=len(ids), max_size=len(ids)))
    parents = [draw(st.integers(0, i)) for i in range(len(ids) - 1)]
    depths = [0]
    for parent in parents:
        depths.append(depths[parent] + 1)
    messages = [
        Message(id, text, NOON + second * SECOND, "reddit" if reddit else "twitter", above, depth)
        for id, text, second, above, depth in zip(
            ids, texts, seconds, [None, *(ids[parent] for parent in parents)], depths, strict=True
        )
    ]

    def nested(id: str) -> Any:
        below = draw(st.permutations([message.id for message in messages if message.parent_id == id]))
        inner = {child: nested(child) for child in below}
        if not inner:
            return draw(st.sampled_from([[], {}, None]))
        return below if not any(inner.values()) and draw(st.booleans()) else inner

    event = draw(st.sampled_from([None, "e"]))
    kind = draw(st.sampled_from([None, "rumours", "non-rumours"]))
    folder = "/".join(filter(None, (draw(st.sampled_from(["", "top"])), "c", event, kind, ids[0])))
    source_folder = draw(st.sampled_from(["source-tweet", "source-tweets"]))
    replies_folder = draw(st.sampled_from(["replies", "reactions"]))
    files = {f"{folder}/structure.json": dump({ids[0]: nested(ids[0])})}
    for i, message in enumerate(messages):
        assert message.created_at is not None
        second, own = message.created_at // SECOND, message.parent_id
        if not reddit:
            post = tweet(message.id, own, text=message.text, created_at=str(second))
        elif i:
            assert own is not None
            mark = "t3_" if own == ids[0] else "t1_"
            post = comment(
                message.id, mark + own, body=message.text, created_utc=draw(st.sampled_from([int, float]))(second)
            )
        else:
            post = submission(message.id, message.text, created_utc=float(second))
            post = listing(post) if draw(st.booleans()) else post
        files[f"{folder}/{replies_folder if i else source_folder}/{message.id}.json"] = dump(post)
    for junk in draw(st.sets(st.sampled_from(["urls.dat", "raw.json", "context/1.json", "urls-content/ab"]))):
        files[f"{folder}/{junk}"] = b"no JSON"
    replies = sorted(messages[1:], key=lambda message: (message.created_at, message.id))
    return Thread(ids[0], event, kind, messages[0], tuple(replies)), dict(draw(st.permutations(list(files.items()))))


@given(trees())
def test_a_conversation_reads_back_however_it_is_written(drawn: tuple[Thread, dict[str, bytes]]) -> None:
    expected, files = drawn
    assert read(files) == ([expected], {})


@given(trees(), st.data())
def test_a_conversation_reads_back_without_its_structure(
    drawn: tuple[Thread, dict[str, bytes]], data: st.DataObject
) -> None:
    expected, files = drawn
    kept = {path: content for path, content in files.items() if not path.endswith("structure.json")}
    assert read(kept) == ([expected], {conversations.NO_STRUCTURE: [expected.id]} if expected.replies else {})


@settings(max_examples=150)
@given(trees(), st.data())
def test_a_damaged_file_gives_a_thread_or_a_user_error(
    drawn: tuple[Thread, dict[str, bytes]], data: st.DataObject
) -> None:
    _, files = drawn
    path = data.draw(st.sampled_from(sorted(files)))
    at = data.draw(st.integers(0, len(files[path])))
    put = data.draw(st.binary(max_size=3) | st.sampled_from([b"{", b"]", b'"', b",", b"null", b"1"]))
    cut = data.draw(st.integers(0, 3))
    try:
        threads, found = read(files | {path: files[path][:at] + put + files[path][at + cut :]})
    except UserError:
        return
    assert len(threads) == 1
    assert set(found) <= set(REMARKS)


REAL = {
    "rumoureval2017/semeval2017-task8-dataset": (297, 4519, 8, {conversations.NO_FILE: 341}),
    "rumoureval2017/rumoureval2017-test": (28, 1049, 0, {conversations.NO_FILE: 6, conversations.DETACHED: 2}),
    "rumoureval2019/rumoureval-2019-training-data": (
        *(365, 6702, 9),
        {
            conversations.NO_FILE: 348,
            conversations.DETACHED: 2,
            conversations.NO_TEXT: 19,
            conversations.NO_TIME: 19,
            conversations.PLACEHOLDER: 47,
        },
    ),
    "rumoureval2019/rumoureval-2019-test-data": (
        *(81, 1827, 28),
        {
            conversations.NO_FILE: 2,
            conversations.PLACED_TWICE: 2,
            conversations.NO_TEXT: 71,
            conversations.NO_TIME: 71,
            conversations.PLACEHOLDER: 16,
            conversations.OTHER_PARENT: 128,
            conversations.NO_OWN_PARENT: 3,
            conversations.SOURCE_ANSWERS: 4,
        },
    ),
    "pheme-veracity-rumours": (2402, 2402, 9, {}),
}
CONTAINERS = (
    *("rumoureval-data", "semeval2017-task8-test-data", "twitter-english", "reddit-training-data", "reddit-dev-data"),
    *("twitter-en-test-data", "reddit-test-data", "all-rnr-annotated-threads"),
)


class TestRealData:
    @pytest.mark.parametrize("name", REAL)
    def test_is_read_whole(self, data_dir: Path, name: str) -> None:
        n_threads, n_posts, n_events, counts = REAL[name]
        threads, remarks = read_threads(read_tree(data_dir / f"{name}.tar.bz2", wanted), CONTAINERS)
        assert len(threads) == n_threads
        assert sum(1 + len(found.replies) for found in threads) == n_posts
        assert len({found.event for found in threads} - {None}) == n_events
        assert {what: len(places) for what, places in remarks.items()} == counts
        assert {found.kind for found in threads} == ({"rumours"} if name.startswith("pheme") else {None})
        assert all(found.source.text and found.source.created_at for found in threads)

    def test_is_the_same_as_folder_tar_and_zip(self, data_dir: Path, tmp_path: Path) -> None:
        path = data_dir / "rumoureval2017/rumoureval2017-test.tar.bz2"
        with tarfile.open(path) as archive:
            archive.extractall(tmp_path, filter="data")
        folder = tmp_path / "semeval2017-task8-test-data"
        with zipfile.ZipFile(tmp_path / "test.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
            for file in folder.rglob("*"):
                zipped.write(file, file.relative_to(tmp_path))
        trees = [read_tree(form, wanted) for form in (path, folder, tmp_path / "test.zip")]
        assert trees[0].files == trees[1].files == trees[2].files
        results = [read_threads(tree, CONTAINERS) for tree in trees]
        assert results[0] == results[1] == results[2]
