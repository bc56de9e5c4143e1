"""Packing: what was packed once is read for ever, and nothing else is taken for it."""

import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.ledger.packed import pack, unpack
from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES, NEWEST, packed_cell, unpacked_cell

WORDS = b"goal constraints plan"


@given(st.binary(max_size=2_000), st.sampled_from([*DICTIONARIES]))
def test_what_is_packed_is_unpacked(data: bytes, kind: str) -> None:
    assert unpacked_cell(kind, packed_cell(data, kind)) == data


def test_no_dictionary_ever_changes() -> None:
    """Rows that were packed with it could not be read any more: a new dictionary needs a new name."""
    assert {kind: sha256(words).hexdigest() for kind, words in DICTIONARIES.items()} == {
        "msgpack.deflate1": "8f2222800d7637f03214945f364575208a394ae34600e8adfcda2c579ac28a2e",
        "msgpack.deflate2": "e44eb4f949465c4245bf7434edd38fcee919dd209ddb7cae324aae83bcf1878f",
    }


def test_cells_are_packed_with_the_newest_dictionary() -> None:
    assert packed_cell(b"goal" * 50) == packed_cell(b"goal" * 50, NEWEST)
    assert [*DICTIONARIES][-1] == NEWEST


def test_a_cell_of_another_kind_is_left_as_it_is() -> None:
    assert unpacked_cell("msgpack", b"\x80") == b"\x80"


@pytest.mark.parametrize("data", [b"", b"no", b"\xff" * 50, pack(b"a" * 1_000, WORDS)[:-3]])
def test_bytes_that_were_never_packed_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"packed|cut off"):
        unpack(data, WORDS)


def test_a_row_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="larger"):
        unpack(pack(bytes(1_000_000), WORDS), WORDS, most_bytes=100_000)


def test_a_damaged_row_is_refused() -> None:
    with pytest.raises(ValueError, match="packed"):
        unpack(zlib.compress(b"a" * 100), WORDS)
