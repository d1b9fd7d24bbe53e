import hashlib
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.sources import files
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.table import Table

BODY = b"id,text,label\n" + b"".join(b"post%d,an invented text of no importance,%d\n" % (i, i % 2) for i in range(4000))
Answer = Callable[[BaseHTTPRequestHandler], None]

# Reads the file that its arguments describe, and prints the sha256 of what it read.
READ = """
import hashlib, sys
from temporal_rumors.sources import files
name, sha256, url = sys.argv[1:]
print(hashlib.sha256(files.read(files.SourceFile(name, sha256, url)).data).hexdigest())
"""


class Server(ThreadingHTTPServer):
    """Answers every request as ``answer`` says, and counts them."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer: Answer = whole
        self.requests = 0
        self.released = threading.Event()

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that left."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
        self.server.answer(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def begin(handler: BaseHTTPRequestHandler, status: int = 200, length: int = len(BODY), kind: str = "text/csv") -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(length))
    handler.end_headers()


def whole(handler: BaseHTTPRequestHandler) -> None:
    begin(handler)
    handler.wfile.write(BODY)


def cut(handler: BaseHTTPRequestHandler) -> None:
    begin(handler)
    handler.wfile.write(BODY[: len(BODY) // 2])


def without_length(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(BODY)


def cut_without_length(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(BODY[: len(BODY) // 2])


def web_page(handler: BaseHTTPRequestHandler) -> None:
    page = b"<!doctype html><title>Please sign in to this network</title>"
    begin(handler, length=len(page), kind="text/html")
    handler.wfile.write(page)


def status(code: int) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        begin(handler, code, length=0)

    return answer


def trickle(handler: BaseHTTPRequestHandler) -> None:
    begin(handler)
    step = len(BODY) // 8
    for start in range(0, len(BODY), step):
        handler.wfile.write(BODY[start : start + step])
        handler.wfile.flush()
        time.sleep(0.1)


def stall(handler: BaseHTTPRequestHandler) -> None:
    begin(handler)
    handler.wfile.write(BODY[: len(BODY) // 2])
    handler.wfile.flush()
    handler.server.released.wait()  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty download cache; no data folder and no proxy."""
    monkeypatch.setenv(files.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.delenv(files.DATA_VARIABLE, raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()


@pytest.fixture
def file(server: Server) -> SourceFile:
    url = f"http://127.0.0.1:{server.server_port}/posts.csv"
    return SourceFile("posts.csv", hashlib.sha256(BODY).hexdigest(), url)


def in_cache(cache: Path) -> list[str]:
    """The names of files in the cache, but for the lock's."""
    return sorted(p.name for p in cache.rglob("*") if p.is_file() and p.name != ".lock")


def put(folder: Path, data: bytes = BODY, name: str = "posts.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder


def start_reading(file: SourceFile, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", READ, file.name, file.sha256, file.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, **{"stderr": subprocess.PIPE, **options})  # type: ignore[call-overload]


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def message(caught: pytest.ExceptionInfo[UserError]) -> str:
    assert caught.value.__cause__ is None
    return str(caught.value)


def says_what_to_put_where(text: str, file: SourceFile, cache: Path) -> bool:
    places = ("data_dir=", files.DATA_VARIABLE, str(cache))
    return text.startswith("posts.csv is needed but") and all(part in text for part in (file.url, file.sha256, *places))


class TestDownload:
    def test_happens_once_and_is_kept(self, file: SourceFile, server: Server, cache: Path) -> None:
        assert files.find(file) is None
        first = files.read(file)
        again = files.read(file)
        assert (first.data, first.digest) == (BODY, file.sha256)
        assert again == first
        assert server.requests == 1
        assert in_cache(cache) == ["posts.csv"]
        assert str(files.find(file)) == first.name

    def test_is_not_started_by_asking_for_the_digest(self, file: SourceFile, server: Server) -> None:
        assert files.digest(file) == file.sha256
        assert server.requests == 0

    @pytest.mark.parametrize("answer", [trickle, without_length])
    def test_takes_a_slow_server_and_one_that_names_no_length(
        self, file: SourceFile, server: Server, cache: Path, answer: Answer
    ) -> None:
        server.answer = answer
        assert files.read(file).data == BODY
        assert in_cache(cache) == ["posts.csv"]

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            (cut, "IncompleteRead"),
            (cut_without_length, "does not match the known hash"),
            (web_page, "does not match the known hash"),
            (status(404), "404 Client Error"),
            (status(500), "500 Server Error"),
        ],
    )
    def test_that_fails_leaves_nothing_and_says_what_to_do(
        self, file: SourceFile, server: Server, cache: Path, answer: Answer, why: str
    ) -> None:
        server.answer = answer
        with pytest.raises(DataNotFoundError, match=why) as caught:
            files.read(file)
        assert says_what_to_put_where(message(caught), file, cache)
        assert in_cache(cache) == []
        server.answer = whole
        assert files.read(file).data == BODY

    def test_from_a_server_that_stalls_is_given_up(
        self, file: SourceFile, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "TIMEOUT_SECONDS", 0.2)
        server.answer = stall
        began = time.monotonic()
        with pytest.raises(DataNotFoundError, match="Read timed out") as caught:
            files.read(file)
        assert time.monotonic() - began < 10
        assert says_what_to_put_where(message(caught), file, cache)
        assert in_cache(cache) == []

    def test_from_no_server_says_what_to_do(self, file: SourceFile, server: Server, cache: Path) -> None:
        server.server_close()
        with pytest.raises(DataNotFoundError, match="the download failed") as caught:
            files.read(file)
        assert says_what_to_put_where(message(caught), file, cache)

    def test_takes_no_modified_bytes_even_where_a_copy_may_be_modified(self, file: SourceFile, cache: Path) -> None:
        other = replace(file, sha256="0" * 64)
        with pytest.raises(DataNotFoundError, match=f"expected sha256:{other.sha256} but got {file.sha256}"):
            files.read(other, allow_modified=True)
        assert in_cache(cache) == []

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise on Windows")
    def test_killed_halfway_is_cleaned_up_by_the_next(self, file: SourceFile, server: Server, cache: Path) -> None:
        server.answer = stall
        with start_reading(file) as process:
            wait_for(lambda: any(p.stat().st_size for p in cache.rglob("tmp*")))
            process.kill()
        assert process.returncode == -signal.SIGKILL
        assert len(in_cache(cache)) == 1
        assert files.find(file) is None
        server.answer = whole
        assert files.read(file).data == BODY
        assert in_cache(cache) == ["posts.csv"]

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are interrupted otherwise on Windows")
    def test_interrupted_from_the_keyboard_leaves_nothing(self, file: SourceFile, server: Server, cache: Path) -> None:
        server.answer = stall
        with start_reading(file) as process:
            wait_for(lambda: any(p.stat().st_size for p in cache.rglob("tmp*")))
            process.send_signal(signal.SIGINT)
        assert process.returncode
        assert in_cache(cache) == []

    def test_by_two_processes_at_once_is_one(self, file: SourceFile, server: Server, cache: Path) -> None:
        server.answer = trickle
        processes = [start_reading(file) for _ in range(2)]
        printed = [process.communicate(timeout=60)[0].decode().strip() for process in processes]
        assert printed == [file.sha256] * 2
        assert server.requests == 1
        assert in_cache(cache) == ["posts.csv"]

    @pytest.mark.parametrize("damaged", [b"", BODY[:1000], b"<html>" + BODY])
    def test_replaces_a_damaged_file_in_the_cache(
        self, file: SourceFile, server: Server, cache: Path, damaged: bytes
    ) -> None:
        place = Path(files.read(file).name)
        place.write_bytes(damaged)
        assert files.find(file) is None
        assert files.digest(file, allow_modified=True) == file.sha256
        assert files.read(file, allow_modified=True).data == BODY
        assert place.read_bytes() == BODY
        assert (server.requests, in_cache(cache)) == (2, ["posts.csv"])

    @pytest.mark.parametrize("below", ["", "deep/er"])
    def test_into_a_cache_that_cannot_be_written_says_so(
        self, file: SourceFile, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
    ) -> None:
        put(tmp_path, b"", name="regular")
        monkeypatch.setenv(files.CACHE_VARIABLE, str(tmp_path / "regular" / below))
        with pytest.raises(
            UserError, match=rf"cannot write .*regular.*: .*; set {files.CACHE_VARIABLE} to a folder"
        ) as caught:
            files.read(file)
        assert not isinstance(caught.value, DataNotFoundError)
        assert server.requests == 0
        assert put(tmp_path / "copy") == tmp_path / "copy"
        assert files.read(file, tmp_path / "copy").data == BODY


class TestProgress:
    def test_is_not_shown_where_standard_error_is_no_terminal(self, file: SourceFile) -> None:
        output, errors = start_reading(file).communicate(timeout=60)
        assert (output.decode().strip(), errors) == (file.sha256, b"")

    def test_is_shown_in_a_terminal(self, file: SourceFile, server: Server) -> None:
        fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))
        server.answer = trickle
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
        process = start_reading(file, stderr=slave)
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # So ends a terminal on Linux.
            pass
        finally:
            os.close(master)
        assert process.communicate(timeout=60)[0].decode().strip() == file.sha256
        lines = shown.decode().split("\r")
        assert any(line.startswith("posts.csv:") and "100%" in line for line in lines)
        assert any(line.startswith("posts.csv:") and "%" in line and "100%" not in line for line in lines)


class TestOffline:
    @pytest.fixture(autouse=True, params=["1", "true"])
    def offline(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HF_HUB_OFFLINE", request.param)

    def test_says_which_file_from_where_with_which_digest_to_put_where(
        self, file: SourceFile, server: Server, cache: Path
    ) -> None:
        with pytest.raises(DataNotFoundError, match="the network is switched off") as caught:
            files.read(file)
        assert says_what_to_put_where(message(caught), file, cache)
        assert server.requests == 0
        place = Path(message(caught).rpartition("save it as ")[2])
        put(place.parent)
        assert files.read(file).data == BODY

    def test_names_a_data_folder_that_lacks_the_file(
        self, file: SourceFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path))
        with pytest.raises(DataNotFoundError) as caught:
            files.read(file)
        assert f"{files.DATA_VARIABLE}={str(tmp_path)!r} does not hold it, and the network" in message(caught)

    def test_reads_what_was_downloaded_before(
        self, file: SourceFile, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as online:
            online.setenv("HF_HUB_OFFLINE", "0")
            files.read(file)
        assert files.read(file).data == BODY
        assert server.requests == 1

    def test_says_that_the_copy_in_the_cache_is_damaged(
        self, file: SourceFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as online:
            online.delenv("HF_HUB_OFFLINE")
            place = Path(files.read(file).name)
        place.write_bytes(b"damaged")
        with pytest.raises(DataNotFoundError) as caught:
            files.read(file)
        assert f"the copy at {place} is damaged, and the network is switched off" in message(caught)


class TestOwnCopy:
    @pytest.mark.parametrize("subfolder", ["", "paper"])
    def test_is_read_from_data_dir_or_its_paper_folder(
        self, file: SourceFile, server: Server, cache: Path, tmp_path: Path, subfolder: str
    ) -> None:
        put(tmp_path / "copy" / subfolder)
        snapshot = files.read(file, str(tmp_path / "copy"))
        assert (snapshot.data, snapshot.digest) == (BODY, file.sha256)
        assert snapshot.name == str(tmp_path / "copy" / subfolder / "posts.csv")
        assert (server.requests, cache.exists()) == (0, False)

    def test_is_looked_for_in_data_dir_alone_where_one_is_given(
        self, file: SourceFile, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files.read(file)
        monkeypatch.setenv(files.DATA_VARIABLE, str(put(tmp_path / "copy")))
        (tmp_path / "empty").mkdir()
        for folder in (tmp_path / "empty", tmp_path / "absent"):
            for ask in (files.read, files.digest):
                with pytest.raises(DataNotFoundError) as caught:
                    ask(file, folder)
                assert f"posts.csv is needed but it is not in data_dir={str(folder)!r}" in message(caught)
                assert file.sha256 in message(caught)
        assert server.requests == 1

    def test_named_by_the_environment_comes_before_the_cache(
        self, file: SourceFile, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cached = files.read(file)
        monkeypatch.setenv(files.DATA_VARIABLE, str(put(tmp_path / "copy")))
        assert files.read(file).name == str(tmp_path / "copy" / "posts.csv")
        monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path / "without"))
        assert files.read(file) == cached
        assert server.requests == 1

    def test_may_stand_in_the_home_folder(
        self, file: SourceFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path / "copy")
        for variable in ("HOME", "USERPROFILE"):
            monkeypatch.setenv(variable, str(tmp_path))
        assert files.read(file, "~/copy").data == BODY

    def test_may_stand_in_a_folder_that_cannot_be_written(self, file: SourceFile, tmp_path: Path) -> None:
        folder = put(tmp_path / "copy")
        folder.chmod(0o555)
        before = folder.stat().st_mtime_ns
        try:
            assert files.read(file, folder).data == BODY
        finally:
            folder.chmod(0o755)
        assert [p.name for p in folder.iterdir()] == ["posts.csv"]
        assert folder.stat().st_mtime_ns == before

    def test_moved_elsewhere_gives_the_same_posts_and_digest(self, file: SourceFile, tmp_path: Path) -> None:
        table = Table(file, {"0": "false", "1": "true"})
        (tmp_path / "deep").mkdir()
        here = table.parse(files.read(file, put(tmp_path / "copy")), ("false", "true"))
        (tmp_path / "copy").rename(tmp_path / "deep" / "moved")
        there = table.parse(files.read(file, tmp_path / "deep" / "moved"), ("false", "true"))
        assert here.digest == there.digest == files.digest(file, tmp_path / "deep" / "moved")
        for column in ("ids", "texts", "labels", "events"):
            assert getattr(here, column).tolist() == getattr(there, column).tolist()

    def test_that_was_modified_is_refused_unless_asked_for_and_then_has_its_own_digest(
        self, file: SourceFile, tmp_path: Path
    ) -> None:
        modified = BODY.replace(b"importance", b"consequence")
        folder, found = put(tmp_path / "copy", modified), hashlib.sha256(modified).hexdigest()
        for ask in (files.read, files.digest):
            with pytest.raises(UserError) as caught:
                ask(file, folder)
            for part in (
                str(folder / "posts.csv"),
                found,
                file.sha256,
                file.url,
                "allow_modified=True",
                "--allow-modified",
            ):
                assert part in message(caught)
        assert files.digest(file, folder, allow_modified=True) == found
        snapshot = files.read(file, folder, allow_modified=True)
        assert (snapshot.data, snapshot.digest) == (modified, found)
        posts = Table(file, {"0": "false", "1": "true"}).parse(snapshot, ("false", "true"))
        assert posts.digest == found

    def test_that_is_a_folder_is_no_copy(self, file: SourceFile, tmp_path: Path) -> None:
        (tmp_path / "copy" / "posts.csv").mkdir(parents=True)
        with pytest.raises(DataNotFoundError, match="not in data_dir"):
            files.read(file, tmp_path / "copy")

    def test_in_a_folder_that_may_not_be_entered_is_no_copy(self, file: SourceFile, tmp_path: Path) -> None:
        folder = put(tmp_path / "copy" / "inner")
        folder.parent.chmod(0)
        try:
            if os.access(folder, os.X_OK):
                pytest.skip("this user may enter every folder")
            with pytest.raises(DataNotFoundError, match="not in data_dir"):
                files.read(file, folder)
        finally:
            folder.parent.chmod(0o755)


class TestBundledFile:
    def test_is_never_looked_for_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = put(tmp_path / "package") / "posts.csv"
        bundled = SourceFile("posts.csv", hashlib.sha256(BODY).hexdigest(), path=path)
        monkeypatch.setenv(files.DATA_VARIABLE, str(put(tmp_path / "other", b"other")))
        for folder in (None, tmp_path / "other"):
            assert files.read(bundled, folder).data == BODY
            assert files.digest(bundled, folder) == bundled.sha256

    def test_that_was_changed_asks_for_a_new_installation(self, tmp_path: Path) -> None:
        path = put(tmp_path, b"changed") / "posts.csv"
        bundled = SourceFile("posts.csv", hashlib.sha256(BODY).hexdigest(), path=path)
        with pytest.raises(UserError, match=r"is not the published file: .* Install temporal-rumors again"):
            files.read(bundled)

    def test_that_is_gone_says_where_it_should_be(self, tmp_path: Path) -> None:
        bundled = SourceFile("posts.csv", "0" * 64, path=tmp_path / "posts.csv")
        with pytest.raises(UserError, match=r"posts\.csv cannot be read: No such file"):
            files.read(bundled)
