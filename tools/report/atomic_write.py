"""A file that is there whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_atomically(file: Path, content: bytes) -> None:
    """Replace a file in one step; its folder exists.

    Raises:
        OSError: Nothing changed: the old file, if any, is still there, and no other is left behind.
    """
    fresh = file.with_name(f".{uuid4().hex}.tmp")
    try:
        with fresh.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name safe from a power cut, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):  # the file is in place already: nothing to take back
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
