"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from temporal_rumors.errors import UserError


def write(path: Path, data: bytes | str) -> None:
    """Write a file under a temporary name beside it, then give it its own: a reader never sees half of it.

    Args:
        path: the file; its folder is made if need be.
        data: text (written as UTF-8) or bytes.

    Raises:
        UserError: it cannot be written.
    """
    payload = data.encode() if isinstance(data, str) else data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(payload)
            # mkstemp makes files that only their owner can read.
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
