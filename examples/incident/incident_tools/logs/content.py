"""The bytes of a log, plain or gzip, never more of them than was asked for."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

MOST_BYTES = 50_000_000
MOST_LINES = 1_000_000
LONGEST_LINE = 64_000
_HEAD_BYTES = 64_000
_GZIP = b"\x1f\x8b"

DAMAGED = (OSError, EOFError, zlib.error)


class TooMuch(Exception):
    """A log holds more than may be read."""


class LogBytes:
    """Reads lines and blocks, counts both, and stops at a bound: a small gzip file may unpack to terabytes."""

    def __init__(self, stream: BinaryIO, most: int = MOST_BYTES) -> None:
        self._stream, self._most, self._left = stream, most, most
        self._ahead = self._take(_HEAD_BYTES, exact=False)
        self.head = self._ahead
        self.line = 0

    @property
    def taken(self) -> int:
        """How many bytes were read, unpacked."""
        return self._most - max(self._left, 0)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line with its number, without its end."""
        while line := self.readline():
            yield self.line, line.rstrip(b"\r\n").decode("utf-8", "replace")

    def readline(self) -> bytes:
        """Return the next line, cut if it is too long; empty at the end.

        Raises:
            TooMuch: The bound is reached.
        """
        line = self._next(LONGEST_LINE)
        more = line
        while more and not more.endswith(b"\n"):
            more = self._next(LONGEST_LINE)
        self.line += bool(line)
        if self.line > MOST_LINES:
            raise TooMuch
        return line

    def read(self, size: int) -> bytes:
        """Return the next bytes, which may be lines; fewer at the end.

        Raises:
            TooMuch: The bound is reached.
        """
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        taken += self._take(size - len(taken), exact=True)
        self.line += taken.count(b"\n")
        return taken

    def _next(self, most: int) -> bytes:
        """Return bytes up to the end of a line."""
        end = self._ahead.find(b"\n", 0, most) + 1 or min(len(self._ahead), most)
        line, self._ahead = self._ahead[:end], self._ahead[end:]
        if line.endswith(b"\n") or len(line) == most:
            return line
        more = self._stream.readline(most - len(line))
        self._spend(len(more))
        return line + more

    def _take(self, size: int, *, exact: bool) -> bytes:
        if exact and size > self._left:
            raise TooMuch
        taken = self._stream.read(min(size, self._left)) if size else b""
        self._left -= len(taken)
        return taken

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooMuch


@contextmanager
def opened(file: Path, most: int = MOST_BYTES) -> Iterator[LogBytes]:
    """Open a log; its first bytes, not its name, decide whether it is gzip.

    Raises:
        OSError, EOFError, zlib.error: It cannot be opened, or is damaged.
    """
    with file.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield LogBytes(raw, most)
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield LogBytes(cast(BinaryIO, unpacked), most)
