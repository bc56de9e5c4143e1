r"""Text from outside, shown so that nothing in it hides: the one table for every place where people read.

Whatever is not one visible cell, or breaks or reorders lines, is shown as an escape of fixed form: a zero-width joiner
is `\u{200d}`, a newline inside of a one-line text is `\u{a}`. Wide characters (CJK, most emoji) are visible cells.
Marks stay on the letters that they belong to.

`escaped` and `document` take words from outside. They escape the backslash of a literal `\u{` too (`\u{5c}u{`), so that
every `\u{...}` in what they return stands for exactly one character. `visible` takes text that we laid out, whose parts
went through them or are JSON, which doubles its backslashes; it is the last step before a screen, and may be repeated.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from planner_executor.graph.errors import InputError

MOST_MARKS = 4
"""How many marks without width one letter carries; Hebrew, Tibetan and Burmese need as many."""
TAB = 4
"""How many spaces a tab stands for at most, if lines of a document stay lines."""

_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\U00013441\U00013442\U00016fe4\U0001d159"
    + "".join(map(chr, range(0x180B, 0x1810)))
)
"""Fillers, blanks and Mongolian selectors, which have the category of a letter, a symbol or a mark."""
_JAMO = (range(0x1161, 0x1200), range(0xD7B0, 0xD800))
"""Vowels and final consonants that join the Korean letter before them, and take no cell then."""
_RUN = re.compile("([ -~]?)([^ -~\n]+)")
_SEEN = re.compile("[ -~\n]*")
_BLANKS = re.compile(r"[ \t\r\n]+")
_LITERAL = "\\u{"


def escaped(text: str) -> str:
    r"""Return words from outside on one line.

    >>> print(escaped("ann\u200d@example.com\nDigest: 1"))
    ann\u{200d}@example.com\u{a}Digest: 1
    >>> print(escaped("ann\\u{200d}@example.com"))
    ann\u{5c}u{200d}@example.com
    """
    if text.isascii() and text.isprintable() and _LITERAL not in text:
        return text
    return visible(text.replace(_LITERAL, escape("\\") + "u{")).replace("\n", escape("\n"))


def document(text: str) -> str:
    r"""Return words from outside whose newlines stay; tabs become spaces.

    No line of ours may stand beside it, unless something sets its lines apart: a margin or a fence.

    >>> document("one\r\n\ttwo\u2028three")
    'one\n    two\\u{2028}three'
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(escaped(line.expandtabs(TAB)) for line in lines)


def visible(text: str) -> str:
    r"""Return text that was laid out by us, its lines as they are, without anything that cannot be seen.

    >>> print(visible("Käse 計画 ✓\nann\u200d@example.com \x1b[31mred"))
    Käse 計画 ✓
    ann\u{200d}@example.com \u{1b}[31mred
    """
    if _SEEN.fullmatch(text):
        return text
    return _RUN.sub(lambda found: found[1] + _shown(found[2], found[1]), text)


def one_line(text: str, most: int | None = None) -> str:
    r"""Return words from outside on one line without needless spaces, of at most `most` characters.

    >>> one_line("  two   words ")
    'two words'
    >>> one_line("two\nlines", 6)
    'two\\u…'
    """
    line = " ".join(escaped(text).split())
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def folded(text: str) -> str:
    r"""Return words from outside for the record, on one line and otherwise as they are; who shows them escapes them.

    >>> folded(" two\n  words\u200d")
    'two words\u200d'
    """
    return _BLANKS.sub(" ", text).strip(" ")


def margined(text: str) -> str:
    r"""Return a text from outside; of several lines all begin with a margin, so that none can pass for one of ours.

    >>> margined("fine\nstatus  succeeded")
    '| fine\n| status  succeeded'
    """
    lines = document(text).split("\n")
    return lines[0] if len(lines) == 1 else "\n".join(f"| {line}".rstrip() for line in lines)


def escape(letter: str) -> str:
    r"""Return the fixed form of a character that is not to be shown as it is.

    >>> escape("\u200d")
    '\\u{200d}'
    """
    return f"\\u{{{ord(letter):x}}}"


def is_utf8(text: str) -> bool:
    r"""Whether a text can be kept: it holds no half of a surrogate pair, which UTF-8 and JSON lack.

    >>> is_utf8("naïve"), is_utf8("\ud800")
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_fault(text: str) -> str | None:
    r"""Return why a text that somebody gives cannot be kept, None if it can.

    >>> text_fault("naïve"), text_fault("a\0b")
    (None, 'text with a NUL character cannot be kept; remove it')
    """
    if not is_utf8(text):
        return "text with half a surrogate pair cannot be kept; give clean text"
    return "text with a NUL character cannot be kept; remove it" if "\0" in text else None


def check_texts(field: str, *texts: str) -> None:
    """Check texts that somebody gives, before anything is done with them.

    Raises:
        InputError: One of them cannot be kept.
    """
    for text in texts:
        if fault := text_fault(text):
            raise InputError(field, fault)


def visible_json(value: Any) -> str:
    r"""Return JSON to read and to edit: it holds exactly the value, and what cannot be seen as JSON's own escapes.

    >>> print(visible_json({"to": "ann\u200d@example.com"}))
    {
      "to": "ann\u200d@example.com"
    }
    """
    # An indenting encoder is written in Python, and leaves a circle of functions behind for each value.
    text = json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list | tuple) else None)
    return _RUN.sub(lambda found: found[1] + _shown(found[2], found[1], _json_escape), text)


def is_mark(letter: str) -> bool:
    """Whether the character stands on the one before it and takes no cell of its own."""
    return unicodedata.category(letter) in ("Mn", "Me") or any(ord(letter) in jamo for jamo in _JAMO)


def _json_escape(letter: str) -> str:
    return json.dumps(letter)[1:-1]


def _shown(run: str, before: str, escape: Callable[[str], str] = escape) -> str:
    """Return characters beyond ASCII as they are shown; `before` is the one that stands before them, if any."""
    shown, base, marks = [], before, 0
    for letter in run:
        combines, stands_on_base = _combines(letter), is_mark(letter)
        marks += stands_on_base
        belongs = _carries(base, letter) if combines else _is_seen(letter)
        if not belongs or (stands_on_base and marks > MOST_MARKS):
            shown.append(escape(letter))
            # What cannot be seen carries no marks: those that follow stand alone.
            base = ""
            continue
        shown.append(letter)
        if not combines:
            base, marks = letter, 0
    return "".join(shown)


@lru_cache(maxsize=4096)
def _is_seen(letter: str) -> bool:
    """Whether the character can be seen by itself: no control, format, space, surrogate, private or unassigned one."""
    return unicodedata.category(letter)[0] not in "CZ" and letter not in _INVISIBLE


@lru_cache(maxsize=4096)
def _combines(letter: str) -> bool:
    return letter not in _INVISIBLE and (is_mark(letter) or unicodedata.category(letter) == "Mc")


@lru_cache(maxsize=4096)
def _carries(base: str, mark: str) -> bool:
    """Whether a mark is at home on the character before it: a letter, and one of its own script if it has one.

    The names of characters begin with their script; marks for all scripts are named "combining". Some scripts have
    joiners that cannot be seen and are marks by category: on letters of other scripts they are none.
    """
    if not base or unicodedata.category(base)[0] != "L":
        return False
    # Unicode's property of scripts is not in Python's standard library.
    script, *_ = unicodedata.name(mark, "").split(" ")
    return script == "COMBINING" or unicodedata.name(base, "").startswith(f"{script} ")
