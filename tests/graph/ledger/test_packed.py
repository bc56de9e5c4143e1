"""Packed checkpoints: what was packed once is read for ever, and nothing else is taken for it."""

import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.ledger import packed
from graph.ledger.packed import DICTIONARY, pack, unpack


@given(st.binary(max_size=2_000))
def test_what_is_packed_is_unpacked(data: bytes) -> None:
    assert unpack(pack(data)) == data


def test_the_dictionary_never_changes() -> None:
    """Rows that were packed with it could not be read any more: a new dictionary needs a new name in `PACKED`."""
    digest = "8f2222800d7637f03214945f364575208a394ae34600e8adfcda2c579ac28a2e"
    assert (packed.PACKED, sha256(DICTIONARY).hexdigest()) == ("msgpack.deflate1", digest)


@pytest.mark.parametrize("data", [b"", b"no", b"\xff" * 50, pack(b"a" * 1_000)[:-3]])
def test_bytes_that_were_never_packed_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"packed|cut off"):
        unpack(data)


def test_a_row_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="larger"):
        unpack(pack(bytes(1_000_000)), most_bytes=100_000)


def test_a_damaged_row_is_refused() -> None:
    with pytest.raises(ValueError, match="packed"):
        unpack(zlib.compress(b"a" * 100))
