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
    """Return where a file is at hand, or None; nothing is downloaded.

    Args:
        file: the file.
        data_dir: the only place to look in; None looks in the folder named by TEMPORAL_RUMORS_DATA, then
            in the download cache.

    Raises:
        DataNotFoundError: ``data_dir`` is given but does not hold the file.
    """
    if file.path is not None:
        return file.path
    if data_dir is not None:
        if found := _in_folder(file, Path(data_dir).expanduser()):
            return found
        raise DataNotFoundError(_not_found(file, f"it is not in data_dir={str(data_dir)!r}"))
    variable = os.environ.get(DATA_VARIABLE)
    if variable and (found := _in_folder(file, Path(variable).expanduser())):
        return found
    cached = _cached(file)
    return cached if cached.is_file() else None


def read(file: SourceFile, data_dir: str | os.PathLike[str] | None = None, *, allow_modified: bool = False) -> Snapshot:
    """Read a file's bytes, downloading it if it is not at hand, and check their sha256.

    Args:
        file: the file.
        data_dir: the only place to look in, see :func:`find`.
        allow_modified: take bytes whose sha256 differs from the pinned one.

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
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    found = sha256(data)
    if found != file.sha256 and not allow_modified:
        raise UserError(
            f"{path} is not the published file: its sha256 is {found}, expected {file.sha256}. "
            f"Take it from {file.url}, or pass allow_modified=True (--allow-modified) to use it all the same: "
            "every score's data digest will then say so"
        )
    return Snapshot(str(path), data, found)


def fetch(file: SourceFile) -> Path:
    """Download a file into the cache, unless it is there, and return its path.

    The download goes to a temporary file, is checked against the sha256, and only then takes its name;
    what an interrupted process left behind is removed by the next one.

    Raises:
        DataNotFoundError: offline, unreachable, cut off, or not the file that was expected.
    """
    target = _cached(file)
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise DataNotFoundError(_not_found(file, "the network is switched off (HF_HUB_OFFLINE)"))

    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent):
            if not target.is_file():
                for leftover in target.parent.glob("tmp*"):
                    leftover.unlink()
                downloader = pooch.HTTPDownloader(progressbar=_progress(file), timeout=TIMEOUT_SECONDS)
                pooch.retrieve(
                    file.url, f"sha256:{file.sha256}", fname=file.name, path=target.parent, downloader=downloader
                )
    except (requests.RequestException, ValueError) as error:
        raise DataNotFoundError(_not_found(file, f"the download failed: {error}")) from error
    except OSError as error:
        raise UserError(
            f"cannot write {target}: {error.strerror or error}; set {CACHE_VARIABLE} to a folder that can be written"
        ) from error
    return target


def _in_folder(file: SourceFile, folder: Path) -> Path | None:
    for subfolder in SUBFOLDERS:
        if (path := folder / subfolder / file.name).is_file():
            return path
    return None


def _cached(file: SourceFile) -> Path:
    import platformdirs

    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("temporal-rumors", appauthor=False)
    return Path(root).expanduser() / file.sha256[:16] / file.name


def _not_found(file: SourceFile, why: str) -> str:
    return (
        f"{file.name} is needed but {why}. Download {file.url} (sha256 {file.sha256}) and put it in a folder that you "
        f"name with data_dir= (--data-dir) or {DATA_VARIABLE}, or save it as {_cached(file)}"
    )


def _progress(file: SourceFile) -> Any:
    from tqdm.auto import tqdm

    # disable=None: quiet where standard error is not a terminal.
    return tqdm(desc=file.name, unit="B", unit_scale=True, disable=None)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes: two first uses at once download one file."""
    from filelock import FileLock

    with FileLock(folder / ".lock"):
        yield
