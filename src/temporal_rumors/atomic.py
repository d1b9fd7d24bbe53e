"""Files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

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
    part = path.with_name(f".{uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as stream:
                stream.write(payload)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
