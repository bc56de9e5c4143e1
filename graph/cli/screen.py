"""Output of the commands, made safe for terminals."""

import re
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from graph.sanitize import document, escaped, one_line, visible
from graph.text.drawing.lettering import columns, filled

DEFAULT_COLUMNS = 100
"""Width of drawings if the output is not a terminal."""

DEFAULT_TABLE_COLUMNS = 1000
"""Width of tables if the output is not a terminal: wide enough that nothing is cut or wrapped."""

LABEL = 8
"""Columns of a label before its value."""
INDENT = "  "
FACT = re.compile(r"(?=.{8}\S.*\Z)[a-z]+ +")

DIGEST_CHARACTERS = 12
"""Length of digests shown to people."""


@dataclass(frozen=True)
class Screen:
    """Standard output and standard error; all text is escaped for the terminal first (decision 0030).

    `interactive`: standard input and output are both terminals, so a person can be prompted.
    """

    out: Console
    err: Console
    interactive: bool = False

    @classmethod
    def here(cls) -> "Screen":
        """Return the screen of this process; characters that its encoding lacks become question marks."""
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        return cls(_console(sys.stdout), _console(sys.stderr), _is_terminal(sys.stdin) and _is_terminal(sys.stdout))

    @classmethod
    def beside_json(cls) -> "Screen":
        """Return a non-interactive screen on standard error; standard output is left to the JSON lines."""
        err = cls.here().err
        return cls(err, err)

    @property
    def is_live(self) -> bool:
        """Whether the terminal can redraw lines."""
        return self.out.is_terminal and not self.out.is_dumb_terminal

    @property
    def columns(self) -> int:
        """Width of drawings, in columns."""
        return self.out.width if self.out.is_terminal else DEFAULT_COLUMNS

    def say(self, sentence: str = "", style: str = "") -> None:
        """Print one line of untrusted text."""
        self.out.print(Text(escaped(sentence), style), soft_wrap=True)

    def show_text(self, text: str, style: str = "") -> None:
        """Print lines laid out by this program, in which untrusted text is already escaped (see `graph.sanitize`)."""
        self.out.print(Text(visible(text), style), soft_wrap=True)

    def show_fact(self, line: str) -> None:
        """Print a line like `show_text`; on a terminal a value after a label goes on below itself, between words."""
        if self.out.is_terminal and FACT.match(line):
            first, *others = filled(line[LABEL:], max(1, self.out.width - LABEL))
            line = "\n".join([line[:LABEL] + first, *(" " * LABEL + other for other in others)])
        self.show_text(line)

    def show_item(self, line: str) -> None:
        """Print a line of untrusted text; on a terminal it goes on below, indented and between words.

        A line with a word that is wider than the terminal is left as it is.
        """
        line, room = escaped(line), self.out.width - len(INDENT)
        if self.out.is_terminal and not line.startswith(" ") and max(map(columns, line.split(" "))) <= room:
            line = f"\n{INDENT}".join(filled(line, room))
        self.show_text(line)

    def write(self, text: str) -> None:
        """Print an untrusted document of any length, unwrapped and unstyled."""
        self.out.file.write(f"{document(text)}\n")

    def ask(self, question: str) -> None:
        """Print a prompt, broken between its words, and leave the cursor after it."""
        self.out.print(Text(escaped(question), "bold"), end="")
        self.out.file.flush()

    def complain(self, sentence: str) -> None:
        """Print one line of untrusted text on standard error."""
        self.err.print(Text(escaped(sentence)), soft_wrap=True)

    def show(self, table: RenderableType) -> None:
        """Print a table whose cells were made by `cell`."""
        self.out.print(table)


def cell(text: str, style: str = "", most: int | None = None) -> Text:
    """Return untrusted text as a table cell: one line, no markup, cut to `most` characters."""
    return Text(one_line(text, most), style)


def _console(stream: TextIO) -> Console:
    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = DEFAULT_TABLE_COLUMNS
    return console


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
