"""Read the wanted files of a folder or an archive, alike whatever the form, and extract nothing to disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn

from temporal_rumors.errors import UserError

SUFFIXES = (".tar.bz2", ".tar.gz", ".tgz", ".tar.xz", ".tar", ".zip")
# PHEME with all its replies, the largest published tree, stays well below them.
MAX_MEMBERS = 500_000
MAX_FILE_BYTES = 16 << 20
MAX_BYTES = 2 << 30
# Names and times of a member; older Pythons take time that grows with its square.
MAX_HEADER_BYTES = 32 << 10

# The first bytes of each form; what begins with none of them can only be a tar that is not compressed.
_COMPRESSED: dict[bytes, Callable[[Any], Any]] = {
    b"BZh": bz2.BZ2File,
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# The size of what ends a zip, but for the comment, and the number of members that tells to look elsewhere.
_ZIP_END = 22
_ZIP64 = 0xFFFF
_DRIVE = re.compile(r"[A-Za-z]:")
_CHUNK = 1 << 20
# What the standard library raises on damaged archives; the plain Python errors come from numbers in headers.
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, ArithmeticError, LookupError, NotImplementedError, RecursionError, MemoryError),
)
_FORMS = "folder, tar (plain, gzip, bzip2, xz) or zip"
_NOT_PUBLISHED = "no published copy has that, so do not trust it: get it again from where it is published"


@dataclass(frozen=True)
class Tree:
    """The wanted files of a folder or an archive.

    Attributes:
        name: where they came from, for messages.
        files: relative POSIX path -> bytes, by path.
        junk: how many files macOS had left beside the real ones (``__MACOSX/``, ``._*``, ``.DS_Store``); none is read.
    """

    name: str
    files: dict[str, bytes]
    junk: int


def find_tree(folder: str | os.PathLike[str], name: str) -> Path | None:
    """Return the folder ``name`` in a folder, or else the first archive of that name, or None.

    Args:
        folder: where to look.
        name: of the folder, or of the archive without its suffix.
    """
    path = os.path.join(os.path.expanduser(folder), name)
    if os.path.isdir(path):
        return Path(path)
    return next((Path(path + suffix) for suffix in SUFFIXES if os.path.isfile(path + suffix)), None)


def read_tree(path: str | os.PathLike[str], wanted: Callable[[str], bool]) -> Tree:
    """Read the wanted files of a folder, a tar (plain, gzip, bzip2, xz) or a zip.

    The paths of a folder begin with its own name, as they would in an archive of it.

    Args:
        path: the folder or the archive; which form an archive has is told by its content.
        wanted: which relative POSIX paths to read.

    Returns:
        The files, the same for the same content in any form.

    Raises:
        UserError: it cannot be read, is damaged or no archive, exceeds a limit, or holds what an honest copy does not:
            links, devices, encrypted members, a path twice, or a path that leads out of it.
    """
    reading = _Reading(str(path), wanted)
    try:
        if os.path.isdir(path):
            _read_folder(reading)
        else:
            with open(path, "rb") as file:
                start = file.read(8)
                file.seek(0)
                (_read_zip if start.startswith(_ZIP) else _read_tar)(reading, file, start)
    except UserError:
        raise
    except OSError as error:
        if error.errno is None:
            reading.damaged(error)
        reading.refuse(None, f"cannot be read: {error.strerror}", "mend its path, its permissions or its disk")
    except _DAMAGE as error:
        reading.damaged(error)
    return Tree(reading.name, dict(sorted(reading.files.items())), reading.junk)


@dataclass
class _Reading:
    """What has been read of a tree so far; every form gives its members to it, one by one."""

    name: str
    wanted: Callable[[str], bool]
    files: dict[str, bytes] = field(default_factory=dict)
    junk: int = 0
    members: int = 0
    bytes: int = 0
    seen: set[str] = field(default_factory=set)

    def count(self) -> None:
        """Count one more member, file or not."""
        self.members += 1
        if self.members > MAX_MEMBERS:
            self.refuse(None, f"holds more than {MAX_MEMBERS:,} files and folders", _NOT_PUBLISHED)

    def file(self, name: str, what: str, open: Callable[[], Any]) -> None:
        """Check one member that is no folder, and read it if it is wanted.

        Args:
            name: its path, as the tree names it.
            what: what it is if it is no ordinary file, else empty.
            open: opens it for reading.
        """
        path = self.path(name)
        base = path.rpartition("/")[2]
        if base.startswith("._") or base == ".DS_Store" or "__MACOSX" in path.split("/")[:-1]:
            self.junk += 1
            return
        if what:
            self.refuse(name, f"is {what}, expected an ordinary file", "replace it by the file that is meant")
        if path in self.seen:
            self.refuse(name, "is there twice, and they may differ", "keep one of them and pack it again")
        self.seen.add(path)
        if not self.wanted(path):
            return
        if not path.isprintable():
            self.refuse(name, "has a name that is not UTF-8, or with invisible characters", "rename it")
        with open() as file:
            # Whatever size its header claims.
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            self.refuse(name, f"has more than {MAX_FILE_BYTES:,} bytes", _NOT_PUBLISHED)
        self.bytes += len(data)
        if self.bytes > MAX_BYTES:
            self.too_much()
        self.files[path] = data

    def path(self, name: str) -> str:
        """Return a member's path without its empty parts; one that leads out of the tree is refused."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or "\\" in name or "\0" in name or ".." in parts or _DRIVE.match("".join(parts[:1])):
            self.refuse(name, "has a path that leads out of its folder or is not one on every system", _NOT_PUBLISHED)
        return "/".join(parts)

    def too_much(self) -> NoReturn:
        """Refuse a tree that is larger than any published one."""
        self.refuse(None, f"holds more than {MAX_BYTES:,} bytes", _NOT_PUBLISHED)

    def damaged(self, error: object) -> NoReturn:
        """Refuse an archive that cannot be read to its end."""
        self.refuse(None, f"is no whole {_FORMS} ({error})", "it is damaged, cut off or something else: get it again")

    def refuse(self, member: str | None, found: str, mend: str) -> NoReturn:
        """Raise the error that says where, what was found and what to do."""
        where = self.name if member is None else f"{self.name}, {member!r}"
        raise UserError(f"{where} {found}: {mend}")


def _read_folder(reading: _Reading) -> None:
    root = os.path.abspath(reading.name)
    pending = [(root, os.path.basename(root))]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                reading.count()
                name = f"{prefix}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, name))
                else:
                    what = _kind(entry.stat(follow_symlinks=False).st_mode)
                    reading.file(name, what, partial(open, entry.path, "rb"))


def _read_zip(reading: _Reading, file: IO[bytes], start: bytes) -> None:
    with zipfile.ZipFile(file) as archive:
        # zipfile does not compare the number of members, and loses some where a length in their list is damaged.
        file.seek(-_ZIP_END - len(archive.comment), os.SEEK_END)
        end = file.read(_ZIP_END)
        count = int.from_bytes(end[10:12], "little")
        if not end.startswith(b"PK\x05\x06") or count not in (len(archive.infolist()), _ZIP64):
            reading.damaged(f"it holds {len(archive.infolist()):,} files and folders, and says {count:,}")
        for info in archive.infolist():
            reading.count()
            # As it stands in the archive: zipfile cuts names at a NUL and, on Windows, turns backslashes.
            name = info.orig_filename
            if name.endswith("/"):
                reading.path(name)
                continue
            what = _kind(info.external_attr >> 16)
            if info.flag_bits & 1:
                what = "encrypted"
            elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # zipfile reads these without an upper bound.
                what = "compressed in an unusual way"
            reading.file(name, what, partial(archive.open, info))


def _read_tar(reading: _Reading, file: IO[bytes], start: bytes) -> None:
    unpack = next((unpack for magic, unpack in _COMPRESSED.items() if start.startswith(magic)), None)
    stream = _Forward(unpack(file) if unpack else file, reading)
    with tarfile.open(fileobj=stream, mode="r:") as archive:  # type: ignore[call-overload]
        for member in archive:
            reading.count()
            if member.isdir():
                reading.path(member.name)
                continue
            # tarfile gives a sparse file's parts in any order.
            ordinary = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()
            what = "" if ordinary else "a link, a device or a sparse file"
            stream.limit = MAX_FILE_BYTES + tarfile.BLOCKSIZE
            reading.file(member.name, what, partial(archive.extractfile, member))
            stream.limit = MAX_HEADER_BYTES
    # tarfile takes damage behind the first member, and a cut between two, for the end.
    if stream.last.strip(b"\0") or len(stream.last) < tarfile.BLOCKSIZE:
        reading.damaged("it has no end mark")
    while rest := stream.take(_CHUNK):
        if rest.strip(b"\0"):
            reading.damaged("there is something behind its end mark")


class _Forward:
    """A stream that tarfile can only read onwards, within the limits: going back would unpack all of it anew."""

    def __init__(self, stream: Any, reading: _Reading) -> None:
        self.stream = stream
        self.reading = reading
        self.position = 0
        self.last = b""
        self.limit = MAX_HEADER_BYTES

    def tell(self) -> int:
        return self.position

    def seek(self, position: int) -> None:
        if position < self.position:
            self.reading.damaged("a header points back")
        while self.position < position and self.take(min(_CHUNK, position - self.position)):
            pass

    def read(self, size: int) -> bytes:
        # tarfile reads a header's extension in one go, however large it says it is.
        if size > self.limit:
            self.reading.refuse(None, f"has a header of {size:,} bytes", _NOT_PUBLISHED)
        return self.take(size)

    def take(self, size: int) -> bytes:
        """Read on, as much as a program asks for that knows what it does."""
        self.last = self.stream.read(size)
        self.position += len(self.last)
        if self.position > MAX_BYTES:
            self.reading.too_much()
        return self.last


def _kind(mode: int) -> str:
    """Return what a file is by its mode, empty for an ordinary one; archives often give no type at all."""
    kind = stat.S_IFMT(mode)
    if kind in (0, stat.S_IFREG):
        return ""
    return "a link" if kind == stat.S_IFLNK else "a folder, a device or a pipe"
