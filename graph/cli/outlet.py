"""Streams whose reader may go away, as `head` does: the command goes on, and what is left to say is said to nobody."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rich.console import Console


def give_up(stream: IO[str]) -> None:
    """Write what is still to be written nowhere: Python would try again at the end of the process."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def left_alone(stream: IO[str]) -> Iterator[None]:
    """Give the stream up if its reader has gone."""
    try:
        yield
    except BrokenPipeError:
        give_up(stream)


class Outlet:
    """A stream for programs, such as that of JSON lines."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        with left_alone(self._stream):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        with left_alone(self._stream):
            self._stream.flush()


class OutletConsole(Console):
    """A console for people; Rich's own would end the process with the code of a run that failed."""

    def on_broken_pipe(self) -> None:
        """See the base class."""
        self.quiet = True
        give_up(self.file)
