"""The host that an address or a mail address leads to, as far as every program reads it so.

What one program reads as this host and another as that one leads to none: a policy is not satisfied by it.
"""

import re
from urllib.parse import urlsplit

from pydantic import JsonValue

SCHEMES = ("http", "https")
"""Schemes of addresses that lead to their host; without one (`//example.com`) it is the page's own."""
LONGEST = 8_192
_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|[0-9a-f:.]*:[0-9a-f:.]*", re.ASCII)
"""A name or an address in lower case."""
_NUMBERS = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)|.*:.*", re.ASCII)
"""A host that is an address in numbers: nothing is below it."""
_SECOND = re.compile(r"[,;|]\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
"""Where a list of addresses goes on; within one address this is written otherwise."""
_MAIL = re.compile(r"(?:mailto:)?([A-Za-z0-9_][A-Za-z0-9_.+'=~*&$#?^-]*)@([A-Za-z0-9.-]+)", re.ASCII | re.IGNORECASE)
"""No route before the name (`@a:ann@b`) nor in it (`ann%b@a`, `b!ann@a`), no quotes, no comments, no headers behind."""
_NAMED = re.compile(r"""(?:"[^"<>@,;:\\]*"|[^"<>@,;:()\\]*)\s*<([^<>]*)>""")
"""A mail address behind the name of its owner."""


def host_of(value: JsonValue) -> str:
    """Return the host of an address or a mail address in lower case, empty where it cannot be told for sure.

    >>> host_of("https://api.example.com:8443/x?y"), host_of("Ann <ann@Example.com>"), host_of("https://a@b.c/d@e.f")
    ('api.example.com', 'example.com', 'b.c')
    >>> host_of("javascript://example.com/%0aalert(1)"), host_of("<@evil.com:ann@example.com>")
    ('', '')
    """
    if not isinstance(value, str) or len(value) > LONGEST:
        return ""
    text = value.strip(" ")
    if not text.isprintable() or "\\" in text:
        return ""
    return plain_host(_host_of_address(text) if "//" in text else _host_of_mail(text))


def plain_host(text: str) -> str:
    """Return the host that a text is, in lower case and without the dot of the root, or nothing."""
    host = text.lower().removesuffix(".") if text.isascii() else ""
    return host if _HOST.fullmatch(host) else ""


def is_below(host: str, domain: str) -> bool:
    """Whether a host is a domain or below it; nothing is below an address in numbers."""
    above = plain_host(domain)
    if not host or not above:
        return False
    return host == above or (
        host.endswith(f".{above}") and not _NUMBERS.fullmatch(above) and not _NUMBERS.fullmatch(host)
    )


def _host_of_address(text: str) -> str:
    if any(letter.isspace() for letter in text) or _SECOND.search(text):
        return ""
    try:
        split = urlsplit(text)
        _ = split.port  # which is no number, or beyond the last one: who knows what is read of it
        host = split.hostname or ""
    except ValueError:
        return ""
    is_known = split.scheme in SCHEMES if split.scheme else text.startswith("//")
    is_plain = split.netloc.isascii() and "%" not in split.netloc and split.netloc.count("@") < 2
    return host if is_known and is_plain else ""


def _host_of_mail(text: str) -> str:
    named = _NAMED.fullmatch(text)
    found = _MAIL.fullmatch(named[1] if named else text)
    return found[2] if found else ""
