"""Versions of channels as a checkpoint holds them: parts of the dictionaries that checkpoints are packed with."""

from collections.abc import Sequence


def channel_versions(keys: Sequence[bytes], size: int, seen: int, before: bytes = b"") -> bytes:
    """Return the versions in the last checkpoint of a run that was approved, up to its updated channels.

    Args:
        keys: The channels.
        size: The size of the map of all versions.
        seen: The size of the map of those that the interrupt has seen.
        before: Versions that come before those of the channels.
    """
    return (
        b"\xb0channel_versions"
        + _head(size)
        + before
        + b"".join(version(key, b"5") for key in keys)
        + b"\xadversions_seen\x86\xa9__input__\x80\xa9__start__\x81"
        + version(b"__start__", b"1")
        + b"\xa7planner\x81"
        + version(b"branch:to:planner", b"2")
        + b"\xad__interrupt__"
        + _head(seen)
        + b"".join(version(key, b"3") for key in keys)
        + b"\xa6review\x81"
        + version(b"branch:to:review", b"3")
        + b"\xa8executor\x81"
        + version(b"branch:to:executor", b"4")
        + b"\xb0updated_channels"
    )


def version(key: bytes, number: bytes) -> bytes:
    """Return a key with the version of its channel."""
    return name(key) + b"\xd9 " + number.zfill(32)


def name(key: bytes) -> bytes:
    """Return a key in MessagePack."""
    return bytes([0xA0 + len(key)]) + key


def _head(size: int) -> bytes:
    """Return the head of a map in MessagePack."""
    return bytes([0xDE]) + size.to_bytes(2)
