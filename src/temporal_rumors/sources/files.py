"""Find an upstream file, download it once, and vouch for its bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporal_rumors.errors import DataNotFoundError, UserError
from temporal_rumors.records import sha256

DATA_VARIABLE = "TEMPORAL_RUMORS_DATA"
CACHE_VARIABLE = "TEMPORAL_RUMORS_CACHE"
# A data folder may hold the files themselves or the folder that the project calls `paper`.
SUBFOLDERS = ("", "paper")
TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class SourceFile:
    """An upstream file.

    Attributes:
        name: file name, as upstream calls it.
        sha256: of its bytes, hexadecimal.
        url: where it is downloaded from.
        path: where it stands if it comes with the package; such a file is never looked for elsewhere.
    """

    name: str
    sha256: str
    url: str = ""
    path: Path | None = None


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a source file as they were read once.

    Attributes:
        name: where they came from, for messages.
        data: the bytes.
        digest: their sha256, hexadecimal.
    """

    name: str
    data: bytes
    digest: str


def find(file: SourceFile, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return where a file is at hand, or None; nothing is downloaded. A damaged file in the cache is not at hand.

    Args:
        file: the file.
        data_dir: the only place to look in; None looks in the folder named by TEMPORAL_RUMORS_DATA, then
            in the download cache.

    Raises:
        DataNotFoundError: ``data_dir`` is given but does not hold the file.
        UserError: the file in the cache cannot be read.
    """
    if file.path is not None:
        return file.path
    if data_dir is not None:
        if found := _in_folder(file, data_dir):
            return found
        raise DataNotFoundError(_not_found(file, f"it is not in data_dir={str(data_dir)!r}"))
    variable = os.environ.get(DATA_VARIABLE)
    if variable and (found := _in_folder(file, variable)):
        return found
    cached = _cached(file)
    return cached if os.path.isfile(cached) and sha256(read_bytes(cached)) == file.sha256 else None


def read(file: SourceFile, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> Snapshot:
    """Read a file's bytes, downloading it if it is not at hand, and check their sha256.

    Args:
        file: the file.
        data_dir: the only place to look in, see :func:`find`.
        allow_modified: take bytes whose sha256 differs from the pinned one.

    Returns:
        The bytes, with their origin and sha256.

    Raises:
        DataNotFoundError: not at hand and not to be had; the message says what to put where.
        UserError: the sha256 differs and ``allow_modified`` is False.
    """
    return _checked(file, find(file, data_dir) or fetch(file), allow_modified)


def digest(file: SourceFile, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> str:
    """Return the sha256 of the bytes that :func:`read` gives, downloading nothing: of a file that is not at hand
    it is the pinned one.

    Args and errors are those of :func:`read`.
    """
    path = find(file, data_dir)
    return file.sha256 if path is None else _checked(file, path, allow_modified).digest


def _checked(file: SourceFile, path: Path, allow_modified: bool) -> Snapshot:
    data = read_bytes(path)
    found = sha256(data)
    if found != file.sha256 and not allow_modified:
        mend = f"Take it from {file.url}" if file.url else "Install temporal-rumors again"
        raise UserError(
            f"{path} is not the published file: its sha256 is {found}, expected {file.sha256}. "
            f"{mend}, or pass allow_modified=True (--allow-modified) to use it all the same: "
            "every score's data digest will then say so"
        )
    return Snapshot(str(path), data, found)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, or refuse with a UserError one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}; mend its permissions or its disk") from None


def fetch(file: SourceFile) -> Path:
    """Download a file into the cache, unless it is there undamaged, and return its path.

    The download goes to a temporary file, is checked against the sha256, and only then takes its name;
    what an interrupted process left behind is removed by the next one.

    Raises:
        DataNotFoundError: offline, unreachable, cut off, or not the file that was expected.
        UserError: the cache cannot be written.
    """
    target = _cached(file)
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise DataNotFoundError(_not_found(file, f"{_sought(file)}the network is switched off (HF_HUB_OFFLINE)"))

    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent):
            for leftover in target.parent.glob("tmp*"):
                leftover.unlink()
            with _progress(file) as progress:
                pooch.retrieve(
                    file.url,
                    f"sha256:{file.sha256}",
                    fname=file.name,
                    path=target.parent,
                    downloader=pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT_SECONDS),
                )
            # pooch leaves it readable by its owner alone; a lab shares a cache.
            target.chmod(0o644)
    except (requests.RequestException, ValueError) as error:
        raise DataNotFoundError(_not_found(file, f"{_sought(file)}the download failed: {error}")) from None
    except OSError as error:
        raise UserError(
            f"cannot write {target}: {error.strerror or error}; set {CACHE_VARIABLE} to a folder that can be written"
        ) from None
    return target


def _in_folder(file: SourceFile, folder: str | os.PathLike[str]) -> Path | None:
    for subfolder in SUBFOLDERS:
        # os.path: a folder that is not there or may not be entered holds nothing, and is no error.
        path = os.path.join(os.path.expanduser(folder), subfolder, file.name)
        if os.path.isfile(path):
            return Path(path)
    return None


def cache_folder() -> Path:
    """Return the folder of what can be had again: downloads, and what is made of data."""
    import platformdirs

    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("temporal-rumors", appauthor=False)
    return Path(os.path.expanduser(root))


def _cached(file: SourceFile) -> Path:
    return cache_folder() / file.sha256[:16] / file.name


def _sought(file: SourceFile) -> str:
    """Say which places do not hold the file although one would think so."""
    variable, cached = os.environ.get(DATA_VARIABLE), _cached(file)
    places = f"{DATA_VARIABLE}={variable!r} does not hold it, and " if variable else ""
    return places + (f"the copy at {cached} is damaged, and " if os.path.isfile(cached) else "")


def _not_found(file: SourceFile, why: str) -> str:
    return (
        f"{file.name} is needed but {why}. Download {file.url} (sha256 {file.sha256}) and put it in a folder that you "
        f"name with data_dir= (--data-dir) or {DATA_VARIABLE}, or save it as {_cached(file)}"
    )


def _progress(file: SourceFile) -> Any:
    from tqdm import tqdm

    # disable=None: quiet where standard error is not a terminal.
    bar = tqdm(desc=file.name, unit="B", unit_scale=True, disable=None)
    # pooch asks for the bar's truth before it sets the total, and a bar without one has none.
    bar.total = 1
    return bar


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes: two first uses at once download one file."""
    from filelock import FileLock

    with FileLock(folder / ".lock"):
        yield
