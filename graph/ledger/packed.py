"""Packing: bytes compressed against words that they have in common. What was packed once is read for ever."""

import zlib

MOST_BYTES = 512_000_000
"""More than any row holds: a small one that grows beyond it was made to fill the memory."""

SMALL_BYTES = 16_384
"""Less is packed with a smaller window and less memory: to set up zlib for more would cost more than the packing."""


def pack(data: bytes, dictionary: bytes) -> bytes:
    """Return bytes packed with a dictionary."""
    wbits, memory = (-13, 6) if len(data) < SMALL_BYTES else (-15, 8)
    packer = zlib.compressobj(6, wbits=wbits, memLevel=memory, zdict=dictionary)
    return packer.compress(data) + packer.flush()


def unpack(data: bytes, dictionary: bytes, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the bytes that were packed with this dictionary.

    Raises:
        ValueError: They are no packed bytes, or too many.
    """
    # The largest window reads what was packed with any.
    unpacker = zlib.decompressobj(wbits=-15, zdict=dictionary)
    try:
        found = unpacker.decompress(data, most_bytes)
    except zlib.error as error:
        raise ValueError(f"it is not packed as it was: {error}") from error
    if not unpacker.eof:
        raise ValueError("it is cut off, or larger than any row")
    return found
