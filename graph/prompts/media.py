"""Images and other media in results: a prompt names their type and size and leaves out their bytes.

Text models cannot read base64, and an image of a megabyte would cost more tokens than all else in a run.
"""

import re
from collections.abc import Mapping

from pydantic import JsonValue

BYTES_IN = ("data", "blob", "base64")
TYPE_IN = ("mimeType", "mime_type", "media_type")
TEXTS = re.compile(r"text/|application/(json|xml|yaml)")
SHORT = 64
"""Shorter texts are left as they are."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/_-]+={0,2})")
_CUT = re.compile(r'("(?:data|blob|base64)"\s*:\s*")([A-Za-z0-9+/_-]{64,}={0,2})')


def media_named(value: JsonValue) -> JsonValue:
    """Return a value with each medium in it replaced by its type and size.

    A medium is base64 beside its media type, in the forms of MCP, LangChain and model providers, or a `data:` address.

    >>> media_named({"type": "image", "data": "iVBO" * 100, "mimeType": "image/png"})["data"]
    '(image/png, 300 bytes, not shown)'
    """
    if isinstance(value, str):
        return _DATA_URI.sub(lambda found: _named(found[1], found[2]), value)
    if isinstance(value, list):
        return [media_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = _type_of(value)
    return {
        name: _named(kind, text) if name in BYTES_IN and kind and (text := _base64(item)) else media_named(item)
        for name, item in value.items()
    }


def media_named_in_preview(text: str) -> str:
    """Return the beginning of a JSON text without media; its end, which may name the type, need not be there.

    >>> media_named_in_preview('[{"type":"image","data":"' + "iVBO" * 100)
    '[{"type":"image","data":"(base64, not shown)'
    """
    without_addresses = _DATA_URI.sub(lambda found: f"({found[1]}, not shown)", text)
    return _CUT.sub(r"\1(base64, not shown)", without_addresses)


def _type_of(value: Mapping[str, JsonValue]) -> str | None:
    # A text may stand under `data` beside its type: it is to be read.
    found = next((kind for name in TYPE_IN if isinstance(kind := value.get(name), str)), None)
    return None if found is None or TEXTS.match(found) else found


def _base64(item: JsonValue) -> str | None:
    is_media = isinstance(item, str) and len(item) >= SHORT and _BASE64.fullmatch(item)
    return item if isinstance(item, str) and is_media else None


def _named(kind: str, text: str) -> str:
    return f"({kind[:80]}, {len(text.rstrip('=')) * 3 // 4:,} bytes, not shown)"
