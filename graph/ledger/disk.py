"""What is on disk."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file, or the list of a folder, is on disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
