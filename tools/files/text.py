"""Bytes -> text: by the mark at the start, else UTF-8, else the usual encoding of western Windows."""

import codecs
import re
from dataclasses import dataclass

# The mark of UTF-32 begins as that of UTF-16 does, so it is tried before.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Decoded:
    """Text, and the encoding it was in."""

    text: str
    encoding: str

    def lines(self) -> list[str]:
        """Return the lines without their ends, counted as editors count them."""
        lines = _LINE_END.split(self.text)
        return lines if lines[-1] else lines[:-1]


def decode(content: bytes) -> Decoded | None:
    """Return the text, or None if the bytes are not text; JSON can represent each character.

    >>> decode(b"na\\xc3\\xafve"), decode(b"na\\xefve"), decode(b"\\x00\\x01")
    (Decoded(text='naïve', encoding='utf-8'), Decoded(text='naïve', encoding='windows-1252'), None)
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return Decoded(content[len(mark) :].decode(encoding, "replace").replace("\0", "\ufffd"), encoding)
    if b"\0" in content:
        return None
    try:
        return Decoded(content.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return Decoded(content.decode("windows-1252", "replace"), "windows-1252")
