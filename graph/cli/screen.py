"""Where commands print, and whether there is a person at the other end."""

import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from graph.sanitize import document, escaped, one_line, visible

PIPE_COLUMNS = 100
"""How wide drawings are where no terminal says how wide it is."""

PIPE_TABLE_COLUMNS = 1000
"""How wide tables may be there: nothing is cut or wrapped."""

DIGEST_CHARACTERS = 12
"""How much of a digest people are shown."""


@dataclass(frozen=True)
class Screen:
    """Standard output and standard error; whatever is said here is made safe for a terminal first.

    `interactive` says that a person can be asked: both sides of the conversation are a terminal.
    """

    out: Console
    err: Console
    interactive: bool = False

    @classmethod
    def here(cls) -> "Screen":
        """Return the process's own screen; letters that its encoding lacks become question marks."""
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        return cls(_console(sys.stdout), _console(sys.stderr), _is_terminal(sys.stdin) and _is_terminal(sys.stdout))

    @classmethod
    def beside_json(cls) -> "Screen":
        """Return a screen on standard error alone, with nobody to ask: standard output is for a program."""
        err = cls.here().err
        return cls(err, err)

    @property
    def is_live(self) -> bool:
        """Whether lines can be redrawn."""
        return self.out.is_terminal and not self.out.is_dumb_terminal

    @property
    def columns(self) -> int:
        """How wide a drawing may be."""
        return self.out.width if self.out.is_terminal else PIPE_COLUMNS

    def say(self, sentence: str = "", style: str = "") -> None:
        """Print one line; its words may come from anywhere."""
        self.out.print(Text(escaped(sentence), style), soft_wrap=True)

    def show_text(self, text: str, style: str = "") -> None:
        """Print lines that were laid out by us, words from outside in them escaped (see `graph.sanitize`)."""
        self.out.print(Text(visible(text), style), soft_wrap=True)

    def write(self, text: str) -> None:
        """Print a whole text from outside, of any length, and nothing else beside it."""
        self.out.file.write(f"{document(text)}\n")

    def ask(self, question: str) -> None:
        """Print a question and leave the cursor behind it; its words may come from anywhere."""
        self.out.print(Text(escaped(question), "bold"), soft_wrap=True, end="")
        self.out.file.flush()

    def complain(self, sentence: str) -> None:
        """Print a sentence on standard error; its words may come from anywhere."""
        self.err.print(Text(escaped(sentence)), soft_wrap=True)

    def show(self, table: RenderableType) -> None:
        """Print a table; its cells are made safe by `cell`."""
        self.out.print(table)


def cell(text: str, style: str = "", most: int | None = None) -> Text:
    """Return text from anywhere for a table, on one line and free of markup, cut to `most` characters."""
    return Text(one_line(text, most), style)


def _console(stream: TextIO) -> Console:
    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_TABLE_COLUMNS
    return console


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
