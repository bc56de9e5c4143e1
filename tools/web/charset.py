"""Bytes from the web -> text."""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NAMED = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_TEXT = re.compile(r"ascii|utf-(8|16)|iso8859|cp(12\d\d|[4-9]\d\d)|koi8|gb|big5|euc_|shift_jis|iso2022|mac|tis-620")
_START = 1024


def text_of(body: bytes, content_type: str) -> str:
    """Return the text; what no character set explains becomes U+FFFD.

    The byte order mark decides, then the header, then a declaration in the first bytes of a page, then UTF-8 if it
    fits, else Windows-1252.

    Source: WHATWG HTML Living Standard, section 13.2.3.2, "Determining the character encoding".

    >>> text_of("Grüße".encode("latin-1"), "text/html; charset=ISO-8859-1")
    'Grüße'
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    named = _named(content_type) or _named(body[:_START].decode("ascii", "ignore"))
    if named:
        return body.decode(named, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _named(words: str) -> str | None:
    """Return the character set that is named, if Python has it and it is one: `charset=punycode` is none."""
    match = _NAMED.search(words)
    try:
        name = codecs.lookup(match[1]).name if match else ""
    except LookupError:
        return None
    if name in ("ascii", "iso8859-1"):
        return "cp1252"  # what browsers make of them
    return name if _TEXT.match(name) else None
