"""Cells of checkpoints as they are stored: packed with words that they have in common; see decision 0032."""

from collections.abc import Mapping

from planner_executor.graph.ledger.checkpoint_words_1 import FIRST
from planner_executor.graph.ledger.checkpoint_words_2 import SECOND
from planner_executor.graph.ledger.packed import pack, unpack

DICTIONARIES: Mapping[str, bytes] = {"msgpack.deflate1": FIRST, "msgpack.deflate2": SECOND}
"""Kind of a packed cell -> its dictionary, which belongs to it for ever."""
NEWEST = "msgpack.deflate2"
"""The kind that cells are written as."""


def packed_cell(data: bytes, kind: str = NEWEST) -> bytes:
    """Return the bytes of a cell, packed as this kind."""
    return pack(data, DICTIONARIES[kind])


def unpacked_cell(kind: str, content: bytes) -> bytes:
    """Return the bytes of a cell; only the kinds in `DICTIONARIES` are packed.

    Raises:
        ValueError: It was not packed as its kind says.
    """
    return unpack(content, DICTIONARIES[kind]) if kind in DICTIONARIES else content
