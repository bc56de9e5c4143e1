"""The standard error of a server: written to the log, never to the terminal."""

import logging
import os
import threading
from collections import deque
from types import TracebackType
from typing import TextIO

from planner_executor.tools.mcp.config import StdioServer

LOG = logging.getLogger("planner_executor.tools.mcp")
LINE_BYTES = 2_000
LAST_LINES = 3


class StandardError:
    """A pipe that is read to its end; as a context it is the end that the server writes to."""

    def __init__(self, server: StdioServer) -> None:
        self._server = server
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        read, write = os.pipe()
        self._given: TextIO = os.fdopen(write, "w", encoding="utf-8")
        self._reader = threading.Thread(target=self._read, args=(read,), name="mcp-stderr", daemon=True)
        self._reader.start()

    def __enter__(self) -> TextIO:
        return self._given

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._given.close()

    def last_words(self, within_s: float) -> str:
        """Return the last lines of a server that has ended, on one line; waits for them no longer than `within_s`."""
        self._reader.join(within_s)
        return " | ".join(self._last)

    def _read(self, end: int) -> None:
        with os.fdopen(end, "rb") as pipe:
            # Bounded, as a server may never end a line.
            while line := pipe.readline(LINE_BYTES):
                words = _printable(self._server.hide(line.decode(errors="replace")).strip())
                if words:
                    LOG.info("%s: %s", self._server.name, words)
                    self._last.append(words)


def _printable(text: str) -> str:
    """Return one line of a log; line breaks and invisible characters are escaped."""
    return "".join(letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in text)
