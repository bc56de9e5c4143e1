"""A value taken out of what LangGraph stores in a checkpoint: the bytes of a cell, whichever database holds it.

See `docs/decisions/0017-redaction.md`.
"""

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import ormsgpack

from planner_executor.graph.ledger.packed_checkpoint import DICTIONARIES, packed_cell, unpacked_cell
from planner_executor.graph.record.redaction import DIGEST, MARK, NAME, Redactor

DIGESTS = (re.compile(rb"-asks-([0-9a-f]{16})"), re.compile(rb"\xa7brought\xd9@([0-9a-f]{64})"))
"""Digests found only in checkpoints: in the ids of review messages, and of a plan brought by the caller."""


def with_more_names(redactor: Redactor, cells: Iterable[bytes], brought: Iterable[bytes]) -> Redactor:
    """Return the redactor with new names for digests found only here, if the runs' digests are renamed too.

    Args:
        redactor: The redactor of the runs.
        cells: The unpacked cells of a thread.
        brought: Those that hold the digest of a plan brought by the caller, and nothing else.
    """
    if not redactor.names:
        return redactor
    found = {name.decode() for cell in cells for digest in DIGESTS for name in digest.findall(cell)}
    # Latin-1 reads any bytes, and a digest is ASCII wherever it stands among them.
    found |= {name for cell in brought for name in DIGEST.findall(cell.decode("latin-1"))}
    more = {name: NAME + secrets.token_hex(8) for name in sorted(found)}
    return replace(redactor, names={**more, **redactor.names})


def erased(content: Any, kind: str, redactor: Redactor) -> Any:
    """Return a cell without the value; one of an unknown serializer is left unchanged."""
    if not isinstance(content, bytes) or kind not in ("msgpack", "json", *DICTIONARIES):
        return content
    try:
        # The same words packed anew may differ in bytes, so it is the plain bytes that are compared.
        if kind in DICTIONARIES:
            plain = unpacked_cell(kind, content)
            new = _repacked(plain, redactor)
            return packed_cell(new, kind) if new != plain else content
        if kind == "msgpack":
            return _repacked(content, redactor)
        found = json.loads(content)
    except ValueError:  # not written by LangGraph's serializer or ours
        return content
    new = redactor.json(found)
    return json.dumps(new, ensure_ascii=False).encode() if new != found else content


def plain_bytes(kind: str, content: bytes) -> bytes:
    """Return a cell's unpacked bytes; the metadata of a packed checkpoint is not packed."""
    try:
        return unpacked_cell(kind, content)
    except ValueError:
        return content


def _repacked(data: bytes, redactor: Redactor) -> bytes:
    """Return packed data without the value; nested objects are redacted as bytes, never instantiated."""

    def within(code: int, inner: bytes) -> Any:
        return ormsgpack.Ext(code, _repacked(inner, redactor))

    found = ormsgpack.unpackb(data, ext_hook=within, option=ormsgpack.OPT_NON_STR_KEYS)
    return ormsgpack.packb(redactor.json(_without_echo(found, redactor)), option=ormsgpack.OPT_NON_STR_KEYS)


def _without_echo(found: Any, redactor: Redactor) -> Any:
    """Return unpacked data; an assistant message that may repeat the value in Markdown is replaced as a whole."""
    if isinstance(found, list | tuple):
        return type(found)(_without_echo(item, redactor) for item in found)
    if isinstance(found, dict) and found.get("type") == "ai" and redactor.may_echo_in(str(found.get("content"))):
        return {**found, "content": MARK}
    return found
