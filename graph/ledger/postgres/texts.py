"""Texts with a NUL, which PostgreSQL refuses: a thread may be called anything, and a goal may hold anything.

Every text without one is stored as it is, except those that would be read as one that has it.
"""

import re
from typing import Any

import psycopg
from psycopg.adapt import Buffer
from psycopg.types.string import StrDumper, TextLoader

_STORED = {"\0": "\x01\x02", "\x01": "\x01\x01"}
_READ = {stored: char for char, stored in _STORED.items()}
_TO_STORE = re.compile("[\0\x01]")
_TO_READ = re.compile("\x01[\x01\x02]")


def stored_text(text: str) -> str:
    r"""Return a text as it is stored.

    >>> stored_text("a\0b"), stored_text("a\x01b"), stored_text("a\x01\x02b")
    ('a\x01\x02b', 'a\x01b', 'a\x01\x01\x02b')
    """
    if "\0" not in text and _TO_READ.search(text) is None:
        return text
    return _TO_STORE.sub(lambda found: _STORED[found[0]], text)


def read_text(stored: str) -> str:
    r"""Return the text that was stored.

    >>> read_text("a\x01\x02b"), read_text("a\x01b")
    ('a\x00b', 'a\x01b')
    """
    return _TO_READ.sub(lambda found: _READ[found[0]], stored) if "\x01" in stored else stored


class _Dumper(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(stored_text(obj))


class _Loader(TextLoader):
    def load(self, data: Buffer) -> bytes | str:
        found = super().load(data)
        return read_text(found) if isinstance(found, str) else found


def add_texts(connection: "psycopg.Connection[Any]") -> None:
    """Let a connection store and read every text."""
    connection.adapters.register_dumper(str, _Dumper)
    connection.adapters.register_loader("text", _Loader)
