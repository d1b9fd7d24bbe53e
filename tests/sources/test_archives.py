import bz2
import gzip
import io
import lzma
import os
import re
import socket
import stat
import string
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_rumors.errors import UserError
from temporal_rumors.sources import archives
from temporal_rumors.sources.archives import find_tree, read_tree

ARCHIVES = (".tar", ".tar.bz2", ".tar.gz", ".tgz", ".tar.xz", ".zip")
FORMS = ("", *ARCHIVES)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.bz2": bz2.compress,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.xz": lzma.compress,
}
FILES = {"tree/a/1.json": b"one", "tree/a/2.json": b"", "tree/b.txt": b"three" * 1000}


def everything(path: str) -> bool:
    return True


def tar_of(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """Return a tar of the files and, behind them, of members that are headers only."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more:
            archive.addfile(info)
    return buffer.getvalue()


def zip_of(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path), data, compression)
    return buffer.getvalue()


def pack(folder: Path, form: str, files: dict[str, bytes]) -> Path:
    """Write files, all below one top folder, in one of the forms."""
    top = next(iter(files)).split("/")[0]
    if not form:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder / top
    data = zip_of(files) if form == ".zip" else PACKERS[form](tar_of(files))
    return put(folder / f"{top}{form}", data)


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def member(name: str, type: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = type, link
    return info


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=ARCHIVES)
def archive_form(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 20_000)
    monkeypatch.setattr(archives, "MAX_BYTES", 120_000)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 30)


PARTS = st.text(string.ascii_lowercase + string.digits + "-_", min_size=1, max_size=4)
TREES = st.dictionaries(
    st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: "/".join(["tree", *parts]) + ".x"),
    st.binary(max_size=40),
    min_size=1,
    max_size=8,
)


class TestReadTree:
    @settings(max_examples=30)
    @given(TREES, st.randoms(use_true_random=False))
    def test_gives_the_same_files_by_path_from_any_form_in_any_order(self, files: dict[str, bytes], random) -> None:  # type: ignore[no-untyped-def]
        shuffled = dict(random.sample(list(files.items()), len(files)))
        with TemporaryDirectory() as folder:
            trees = [read_tree(pack(Path(folder), form, shuffled), everything) for form in FORMS]
        for tree in trees:
            assert list(tree.files.items()) == sorted(files.items())
            assert tree.junk == 0

    def test_gives_the_wanted_files_only(self, tmp_path: Path, form: str) -> None:
        tree = read_tree(pack(tmp_path, form, FILES), lambda path: path.endswith(".json"))
        assert tree.files == {path: data for path, data in FILES.items() if path.endswith(".json")}

    def test_names_the_tree_after_its_path(self, tmp_path: Path, form: str) -> None:
        path = pack(tmp_path, form, FILES)
        assert read_tree(str(path), everything).name == str(path)

    def test_leaves_nothing_on_the_disk(
        self, tmp_path: Path, archive_form: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        path = pack(tmp_path, archive_form, FILES)
        read_tree(path, everything)
        assert list(tmp_path.rglob("*")) == [path]

    def test_counts_what_macos_left_behind_and_reads_none_of_it(self, tmp_path: Path, form: str) -> None:
        junk = ["__MACOSX/tree/a/._1.json", "tree/__MACOSX/1.json", "tree/a/._1.json", "tree/.DS_Store"]
        path = pack(tmp_path, form, FILES | dict.fromkeys(junk if form else junk[1:], b"junk"))
        tree = read_tree(path, everything)
        assert tree.files == dict(sorted(FILES.items()))
        assert tree.junk == (4 if form else 3)

    def test_reads_a_file_called_like_junk_only_in_part(self, tmp_path: Path, form: str) -> None:
        files = {"tree/__MACOSX": b"a file", "tree/a._b": b"", "tree/x.DS_Store": b""}
        assert read_tree(pack(tmp_path, form, files), everything).files == files

    def test_passes_over_empty_folders(self, tmp_path: Path) -> None:
        folder = pack(tmp_path, "", FILES)
        (folder / "empty" / "deep").mkdir(parents=True)
        with tarfile.open(tmp_path / "tree.tar", "w") as archive:
            archive.add(folder, "tree")
        with zipfile.ZipFile(tmp_path / "tree.zip", "w") as zipped:
            for path in sorted(folder.rglob("*")):
                zipped.write(path, path.relative_to(tmp_path))
        for path in (folder, tmp_path / "tree.tar", tmp_path / "tree.zip"):
            assert read_tree(path, everything).files == FILES

    @pytest.mark.parametrize("prefix", ["./", ".//", "./././"])
    def test_reads_paths_that_begin_at_the_working_folder(self, tmp_path: Path, prefix: str) -> None:
        dotted = {prefix + path: data for path, data in FILES.items()}
        tar = tar_of(dotted, member("./", tarfile.DIRTYPE))
        for path in (put(tmp_path / "a.tar", tar), put(tmp_path / "a.zip", zip_of(dotted))):
            assert read_tree(path, everything).files == FILES

    def test_of_the_working_folder_begins_with_its_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(pack(tmp_path, "", FILES))
        assert read_tree(".", everything).files == FILES

    def test_tells_the_form_by_the_content(self, tmp_path: Path, archive_form: str) -> None:
        path = pack(tmp_path, archive_form, FILES)
        for suffix in (".zip", ".tar", ".tar.gz", ""):
            assert read_tree(put(tmp_path / f"other{suffix}", path.read_bytes()), everything).files == FILES

    def test_reads_a_tar_that_ends_with_a_zip(self, tmp_path: Path) -> None:
        files = {"tree/inner.zip": zip_of({"other": b"x"})}
        assert read_tree(pack(tmp_path, ".tar", files), everything).files == files

    def test_reads_long_and_deep_paths(self, tmp_path: Path, archive_form: str) -> None:
        files = {"/".join(["tree", *["d"] * 2000, "x"]): b"deep", "tree/" + "n" * 3000: b"long", "tree/ä帖": b"wide"}
        assert read_tree(pack(tmp_path, archive_form, files), everything).files == files

    def test_reads_an_empty_tree(self, tmp_path: Path) -> None:
        (tmp_path / "tree").mkdir()
        for path in (tmp_path / "tree", put(tmp_path / "a.tar", tar_of({})), put(tmp_path / "a.zip", zip_of({}))):
            assert read_tree(path, everything).files == {}


class TestReadTreeRefuses:
    @pytest.mark.parametrize(
        "name",
        ["/etc/passwd", "tree/../../x", "..", "tree/..", "tree\\..\\x", "\\x", "C:/x", "c:x", "./C:/x", "//host/x"],
    )
    @pytest.mark.parametrize("wanted", [True, False])
    def test_a_path_that_leads_out(self, tmp_path: Path, name: str, wanted: bool) -> None:
        files = FILES | {name: b"x"}
        for path in (put(tmp_path / "a.tar", tar_of(files)), put(tmp_path / "a.zip", zip_of(files))):
            with pytest.raises(UserError, match=r"leads out of its folder.*get it again") as caught:
                read_tree(path, lambda _: wanted)
            assert str(path) in str(caught.value)
            assert repr(name) in str(caught.value)

    @pytest.mark.parametrize("name", ["/etc/", "tree/../../x/", "C:/x/"])
    def test_a_folder_that_leads_out(self, tmp_path: Path, name: str) -> None:
        tar = tar_of(FILES, member(name, tarfile.DIRTYPE))
        for path in (put(tmp_path / "a.tar", tar), put(tmp_path / "a.zip", zip_of(FILES | {name: b""}))):
            with pytest.raises(UserError, match="leads out of its folder"):
                read_tree(path, everything)

    @pytest.mark.parametrize(
        "type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
    )
    def test_links_and_devices_in_a_tar(self, tmp_path: Path, type: bytes) -> None:
        path = put(tmp_path / "a.tar", tar_of(FILES, member("tree/odd", type, link="tree/b.txt")))
        with pytest.raises(UserError, match=r"'tree/odd' is a link, a device or a sparse file.*replace it"):
            read_tree(path, lambda _: False)

    def test_sparse_files(self, tmp_path: Path) -> None:
        sparse = member("tree/odd")
        sparse.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": "9", "GNU.sparse.numblocks": "1"}
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            archive.addfile(sparse)
        with pytest.raises(UserError, match="'tree/odd' is a link, a device or a sparse file"):
            read_tree(put(tmp_path / "a.tar", buffer.getvalue()), everything)

    @pytest.mark.parametrize(("type", "what"), [(stat.S_IFLNK, "is a link"), (stat.S_IFIFO, "a device or a pipe")])
    def test_links_and_devices_in_a_zip(self, tmp_path: Path, type: int, what: str) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            info = zipfile.ZipInfo("tree/odd")
            info.external_attr = (type | 0o644) << 16
            archive.writestr(info, "/etc/passwd")
        with pytest.raises(UserError, match=what):
            read_tree(tmp_path / "a.zip", lambda _: False)

    @pytest.mark.parametrize("target", ["b.txt", "a", "/etc", "nowhere"])
    def test_links_in_a_folder(self, tmp_path: Path, target: str) -> None:
        folder = pack(tmp_path, "", FILES)
        (folder / "odd").symlink_to(target)
        with pytest.raises(UserError, match="'tree/odd' is a link, expected an ordinary file: replace it"):
            read_tree(folder, lambda _: False)

    def test_pipes_and_sockets_in_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = pack(tmp_path, "", FILES)
        os.mkfifo(folder / "odd")
        with pytest.raises(UserError, match="'tree/odd' is a folder, a device or a pipe"):
            read_tree(folder, everything)
        (folder / "odd").unlink()
        # A socket's path may not be long.
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("odd")
            with pytest.raises(UserError, match="'tree/odd' is a folder, a device or a pipe"):
                read_tree(folder, everything)

    def test_backslashes_in_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="leads out of its folder"):
            read_tree(pack(tmp_path, "", {"tree/a\\b": b""}), everything)

    def test_encrypted_members(self, tmp_path: Path) -> None:
        data = bytearray(zip_of({"tree/secret": b"x"}))
        for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.index(signature) + flags] |= 1
        with pytest.raises(UserError, match="'tree/secret' is encrypted"):
            read_tree(put(tmp_path / "a.zip", bytes(data)), everything)

    def test_compressions_that_zipfile_does_not_bound(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.zip", zip_of({"tree/x": bytes(1000)}, zipfile.ZIP_BZIP2))
        with pytest.raises(UserError, match="'tree/x' is compressed in an unusual way"):
            read_tree(path, everything)

    @pytest.mark.parametrize("again", ["tree/b.txt", "./tree/b.txt", "tree//b.txt"])
    def test_a_path_twice(self, tmp_path: Path, again: str) -> None:
        tar = put(tmp_path / "a.tar", tar_of(FILES, member(again)))
        zipped = tmp_path / "a.zip"
        with zipfile.ZipFile(zipped, "w") as archive, pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            for name in ("tree/b.txt", again):
                archive.writestr(name, "")
        for path in (tar, zipped):
            with pytest.raises(UserError, match=r"b\.txt' is there twice, and they may differ: keep one"):
                read_tree(path, lambda _: False)

    @pytest.mark.parametrize("name", ["tree/\udce4.x", "tree/a\nb.x", "tree/a\u202eb.x"])
    def test_wanted_names_that_are_not_utf8_or_invisible(self, tmp_path: Path, name: str) -> None:
        files = FILES | {name: b"x"}
        paths = [pack(tmp_path, form, files) for form in ("", ".tar")]
        if name.isascii():
            paths.append(pack(tmp_path, ".zip", files))
        for path in paths:
            with pytest.raises(UserError, match="not UTF-8, or with invisible characters: rename it") as caught:
                read_tree(path, everything)
            str(caught.value).encode()
            assert read_tree(path, lambda path: not path.endswith(".x")).files == FILES

    def test_a_name_cut_by_a_nul(self, tmp_path: Path) -> None:
        data = zip_of({"tree/xZy": b"x"}).replace(b"tree/xZy", b"tree/x\0y")
        with pytest.raises(UserError, match="leads out of its folder"):
            read_tree(put(tmp_path / "a.zip", data), everything)


@pytest.mark.usefixtures("small_limits")
class TestLimits:
    def test_a_tree_at_the_limits_is_read(self, tmp_path: Path, form: str) -> None:
        files = {f"tree/{i}": bytes(20_000) for i in range(4)} | {f"tree/e{i}": b"" for i in range(26)}
        assert read_tree(pack(tmp_path, form, files), everything).files == dict(sorted(files.items()))

    def test_one_large_file(self, tmp_path: Path, form: str) -> None:
        path = pack(tmp_path, form, {"tree/x": bytes(20_001)})
        with pytest.raises(UserError, match=r"'tree/x' has more than 20,000 bytes.*get it again"):
            read_tree(path, everything)
        assert read_tree(path, lambda _: False).files == {}

    def test_many_bytes_in_all(self, tmp_path: Path, form: str) -> None:
        path = pack(tmp_path, form, {f"tree/{i}": bytes(18_000) for i in range(7)})
        with pytest.raises(UserError, match="holds more than 120,000 bytes"):
            read_tree(path, everything)

    def test_many_bytes_in_files_that_are_not_wanted_but_must_be_unpacked(self, tmp_path: Path) -> None:
        path = pack(tmp_path, ".tar.gz", {"tree/a": bytes(200_000), "tree/b": b""})
        with pytest.raises(UserError, match="holds more than 120,000 bytes"):
            read_tree(path, lambda _: False)

    def test_many_bytes_behind_the_end(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.tar.gz", gzip.compress(tar_of(FILES) + bytes(200_000)))
        with pytest.raises(UserError, match="holds more than 120,000 bytes"):
            read_tree(path, everything)

    def test_many_files(self, tmp_path: Path, form: str) -> None:
        path = pack(tmp_path, form, {f"tree/{i}": b"" for i in range(31)})
        with pytest.raises(UserError, match="more than 30 files and folders"):
            read_tree(path, lambda _: False)

    def test_a_header_that_says_it_is_large(self, tmp_path: Path) -> None:
        long = member("x", tarfile.GNUTYPE_LONGNAME)
        long.size = 90_000
        data = long.tobuf(tarfile.GNU_FORMAT) + bytes(90_112)
        with pytest.raises(UserError, match="has a header of 90,112 bytes"):
            read_tree(put(tmp_path / "a.tar.gz", gzip.compress(data)), everything)


@pytest.mark.parametrize("form", [".tar.gz", ".tar.bz2", ".zip"])
def test_a_bomb_takes_little_memory(tmp_path: Path, form: str) -> None:
    path = pack(tmp_path, form, {"tree/x": bytes(200 << 20)})
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="'tree/x' has more than 16,777,216 bytes"):
            read_tree(path, everything)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 << 20


@pytest.mark.parametrize("claim", [0, 10, 40_000, 0xFFFFFFF0])
def test_a_zip_is_not_believed_what_it_says_of_its_sizes(tmp_path: Path, claim: int) -> None:
    whole = {"tree/x": bytes(30_000)}
    data = bytearray(zip_of(whole))
    for signature, size in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + size
        data[at : at + 4] = claim.to_bytes(4, "little")
    path = put(tmp_path / "a.zip", bytes(data))
    if claim > 30_000:
        assert read_tree(path, everything).files == whole
    else:
        with pytest.raises(UserError, match="Bad CRC-32"):
            read_tree(path, everything)


class TestDamage:
    @pytest.fixture
    def whole(self, tmp_path: Path, archive_form: str) -> bytes:
        return pack(tmp_path, archive_form, FILES).read_bytes()

    def test_a_cut_is_noticed_wherever_it_is(self, tmp_path: Path, whole: bytes) -> None:
        path = tmp_path / "cut"
        step = max(1, len(whole) // 256)
        refused = 0
        for length in range(0, len(whole), step):
            try:
                # All that a tar has behind its last file is zeros.
                assert read_tree(put(path, whole[:length]), everything).files == FILES
            except UserError:
                refused += 1
        assert refused > 25

    def test_a_changed_byte_is_noticed_or_changes_nothing(
        self, tmp_path: Path, whole: bytes, archive_form: str
    ) -> None:
        path = tmp_path / "changed"
        packed = archive_form != ".tar"
        refused = 0
        for at in range(0, len(whole), max(1, len(whole) // 256)):
            changed = bytearray(whole)
            changed[at] ^= 1
            try:
                files = read_tree(put(path, bytes(changed)), everything).files
            except UserError:
                refused += 1
            else:
                # A tar without compression has checksums for its headers only.
                assert files == FILES if packed else files.keys() == FILES.keys()
        assert refused > 5

    @pytest.mark.parametrize("field", [28, 30, 32])
    def test_a_zip_does_not_lose_members_where_a_length_in_its_list_is_damaged(
        self, tmp_path: Path, field: int
    ) -> None:
        data = bytearray(zip_of(FILES))
        data[data.index(b"PK\x01\x02") + field] += 1
        with pytest.raises(UserError, match="get it again"):
            read_tree(put(tmp_path / "a.zip", bytes(data)), lambda _: False)

    def test_a_zip_with_a_comment_is_whole(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.comment = b"packed by hand"
            archive.writestr("tree/x", b"1")
        assert read_tree(tmp_path / "a.zip", everything).files == {"tree/x": b"1"}

    def test_a_zip_of_more_members_than_fit_its_end_mark_is_whole(self, tmp_path: Path) -> None:
        files = {f"tree/{i}": b"" for i in range(70_000)}
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for path in files:
                archive.writestr(zipfile.ZipInfo(path), b"")
        assert len(read_tree(tmp_path / "a.zip", lambda path: path.endswith("9")).files) == 7_000

    def test_damage_between_two_files_of_a_tar_is_not_taken_for_its_end(self, tmp_path: Path) -> None:
        data = bytearray(tar_of(FILES))
        data[1024:1030] = b"\xff" * 6
        with pytest.raises(UserError, match="has no end mark"):
            read_tree(put(tmp_path / "a.tar", bytes(data)), everything)

    def test_a_tar_cut_between_two_files_is_not_whole(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="has no end mark"):
            read_tree(put(tmp_path / "a.tar", tar_of(FILES)[:1024]), everything)

    def test_two_tars_in_one_are_not_read_in_part(self, tmp_path: Path) -> None:
        data = tar_of({"tree/a": b""}) + tar_of({"tree/b": b""})
        with pytest.raises(UserError, match="something behind its end mark"):
            read_tree(put(tmp_path / "a.tar", data), everything)

    def test_a_size_below_nothing_does_not_lead_back(self, tmp_path: Path) -> None:
        info = member("tree/x")
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        header[124:136] = b"\xff" * 10 + (-512 & 0xFFFF).to_bytes(2, "big")
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        with pytest.raises(UserError, match="get it again"):
            read_tree(put(tmp_path / "a.tar", tar_of(FILES)[:1024] + bytes(header) + bytes(10240)), everything)

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"id,text\n1,x\n",
            b"<!doctype html><title>Sign in</title>",
            b"PK\x03\x04",
            b"BZh9",
            b"\x1f\x8b",
            bytes(99),
        ],
    )
    def test_what_is_no_archive_is_refused(self, tmp_path: Path, data: bytes) -> None:
        path = put(tmp_path / "tree.tar.bz2", data)
        with pytest.raises(UserError, match=r"is no whole folder, tar \(plain, gzip, bzip2, xz\) or zip") as caught:
            read_tree(path, everything)
        assert str(path) in str(caught.value)

    def test_what_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"nowhere\.zip cannot be read: No such file"):
            read_tree(tmp_path / "nowhere.zip", everything)


class TestFindTree:
    def test_takes_the_folder_before_any_archive(self, tmp_path: Path) -> None:
        for suffix in ARCHIVES:
            put(tmp_path / f"tree{suffix}", b"")
        assert find_tree(tmp_path, "tree") == tmp_path / "tree.tar.bz2"
        (tmp_path / "tree").mkdir()
        assert find_tree(str(tmp_path), "tree") == tmp_path / "tree"

    def test_takes_any_archive(self, tmp_path: Path, archive_form: str) -> None:
        put(tmp_path / f"tree{archive_form}", b"")
        assert find_tree(tmp_path, "tree") == tmp_path / f"tree{archive_form}"

    def test_takes_no_file_without_suffix_and_no_folder_with_one(self, tmp_path: Path) -> None:
        put(tmp_path / "tree", b"")
        (tmp_path / "tree.zip").mkdir()
        assert find_tree(tmp_path, "tree") is None
        assert find_tree(tmp_path / "nowhere", "tree") is None

    def test_knows_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        put(tmp_path / "tree.zip", b"")
        assert find_tree("~", "tree") == tmp_path / "tree.zip"


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XGLTYPE])
def test_a_tar_of_headers_that_lead_to_headers_is_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    data = b"name\0" if kind == tarfile.GNUTYPE_LONGNAME else b"11 path=abc\n"
    info.type, info.size = kind, len(data)
    chain = (info.tobuf(tarfile.GNU_FORMAT) + data.ljust(tarfile.BLOCKSIZE, b"\0")) * 5_000
    path = put(tmp_path / "tree.tar.gz", gzip.compress(chain + tar_of(FILES)))
    with pytest.raises(UserError, match=re.escape(str(path))):
        read_tree(path, everything)


def test_a_large_extension_of_a_header_is_refused_at_once(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 2 << 20
    data = info.tobuf(tarfile.USTAR_FORMAT) + b"5" * info.size + tar_of(FILES)
    with pytest.raises(UserError, match=r"has a header of 2,097,152 bytes"):
        read_tree(put(tmp_path / "tree.tar", data), everything)
