"""Output of the commands, made safe for terminals."""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from pydantic import JsonValue
from rich.console import Console, RenderableType
from rich.text import Text

from planner_executor.graph.cli.outlet import Outlet, OutletConsole
from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plain_text.sanitize import document, escaped, one_line, visible
from planner_executor.graph.text.review.layout import fitted_line

DEFAULT_COLUMNS = 100
"""Width of drawings if the output is not a terminal."""

DEFAULT_TABLE_COLUMNS = 1000
"""Width of tables if the output is not a terminal: wide enough that nothing is cut or wrapped."""

LABEL = 8
"""Columns of a label before its value."""
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

    def say(self, sentence: str = "", style: str = "", whole: str = "") -> None:
        """Print one line of untrusted text; `whole` ends it and is never broken by us, so that it can be copied."""
        _print(self.out, escaped(sentence), style, whole=escaped(whole))

    def say_each(self, sentences: Iterable[str]) -> None:
        """Print sentences of untrusted text, each on a line of its own."""
        for sentence in sentences:
            self.say(sentence)

    def show_text(self, text: str, style: str = "", under: int | None = None) -> None:
        """Print lines laid out by this program, in which untrusted text is already escaped.

        See `graph.plain_text.sanitize`.

        On a terminal a line that is too long is broken between words, and goes on in column `under`, or further in.
        """
        _print(self.out, visible(text), style, under)

    def show_fact(self, line: str) -> None:
        """Print a line like `show_text`; a value after a label goes on below itself."""
        self.show_text(line, under=LABEL if FACT.match(line) else None)

    def show_json(self, value: JsonValue) -> None:
        """Print JSON for programs, which no terminal breaks into lines."""
        self.out.print(Text(visible(json.dumps(value, indent=2))), soft_wrap=True)

    def write(self, text: str) -> None:
        """Print an untrusted document of any length, unwrapped and unstyled."""
        Outlet(self.out.file).write(f"{document(text)}\n")

    def ask(self, question: str) -> None:
        """Print a prompt, broken between its words, and leave the cursor after it."""
        self.out.print(Text(escaped(question), "bold"), end="")
        self.out.file.flush()

    def complain(self, sentence: str) -> None:
        """Print one line of untrusted text on standard error."""
        _print(self.err, escaped(sentence))

    def show(self, table: RenderableType) -> None:
        """Print a table whose cells were made by `cell`."""
        self.out.print(table)


def cell(text: str, style: str = "", most: int | None = None) -> Text:
    """Return untrusted text as a table cell: one line, no markup, cut to `most` characters."""
    return Text(one_line(text, most), style)


def _print(console: Console, text: str, style: str = "", under: int | None = None, whole: str = "") -> None:
    """Print lines that are broken between their words for a terminal, and whole for programs."""
    lines = text.split("\n")
    if console.is_terminal:
        lines = [part for line in lines for part in fitted_line(line, console.width, under)]
    if whole and text:
        # What is to be copied stands on one line, by itself if need be.
        is_apart = console.is_terminal and columns(f"{lines[-1]} {whole}") > console.width
        lines[-1:] = [lines[-1], whole] if is_apart else [f"{lines[-1]} {whole}"]
    console.print(Text("\n".join(lines) if text else whole, style), soft_wrap=True)


def _console(stream: TextIO) -> Console:
    console = OutletConsole(file=stream, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = DEFAULT_TABLE_COLUMNS
    return console


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
