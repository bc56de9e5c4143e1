"""Files that people name: what cannot be read or written is a fault of the option."""

from collections.abc import Iterator
from contextlib import contextmanager

from planner_executor.graph.errors import InputError
from planner_executor.graph.words.unreadable import unreadable


@contextmanager
def file_faults(option: str, what: object, advice: str = "") -> Iterator[None]:
    """Say of a file or a folder why the block could not use it.

    Raises:
        InputError: The block could not.
    """
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(option, f"{what}: {unreadable(error, advice)}") from error
