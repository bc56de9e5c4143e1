"""The host of a URL or a mail address, if all parsers agree on it.

A text that two parsers read as different hosts has none here, so that no policy accepts it.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import JsonValue

SCHEMES = ("http", "https")
"""Schemes with a host; a URL without a scheme (`//example.com`) is accepted too."""
MAX_LENGTH = 8_192
_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|[0-9a-f:.]*:[0-9a-f:.]*", re.ASCII)
"""A host name or an IP address, in lower case."""
_NUMBERS = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)|.*:.*", re.ASCII)
"""An IP address in any notation; it has no subdomains."""
_SECOND = re.compile(r"[,;|]\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
"""The start of a second URL in a list; in a single URL these characters are percent-encoded."""
_MAIL = re.compile(r"(?:mailto:)?([A-Za-z0-9_][A-Za-z0-9_.+'=~*&$#?^-]*)@([A-Za-z0-9.-]+)", re.ASCII | re.IGNORECASE)
"""No source routes (`@a:ann@b`, `ann%b@a`, `b!ann@a`), no quotes, no comments, no headers after the address."""
_NAMED = re.compile(r"""(?:"[^"<>@,;:\\]*"|[^"<>@,;:()\\]*)\s*<([^<>]*)>""")
"""A mail address after a display name."""


def host_of(value: JsonValue) -> str:
    """Return the host of a URL or a mail address in lower case, empty if it is ambiguous.

    >>> host_of("https://api.example.com:8443/x?y"), host_of("Ann <ann@Example.com>"), host_of("https://a@b.c/d@e.f")
    ('api.example.com', 'example.com', 'b.c')
    >>> host_of("javascript://example.com/%0aalert(1)"), host_of("<@evil.com:ann@example.com>")
    ('', '')
    """
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        return ""
    text = value.strip(" ")
    if not text.isprintable() or "\\" in text:
        return ""
    return plain_host(_host_of_address(text) if "//" in text else _host_of_mail(text))


def plain_host(text: str) -> str:
    """Return a host in lower case and without the root's dot, or an empty text if it is not a plain host."""
    host = text.lower().removesuffix(".") if text.isascii() else ""
    return host if _HOST.fullmatch(host) else ""


def is_below(host: str, domain: str) -> bool:
    """Whether a host is a domain or a subdomain of it; IP addresses have no subdomains."""
    above = plain_host(domain)
    return above != "" and (host == above or (host.endswith(f".{above}") and not _NUMBERS.fullmatch(host)))


def is_odd_address(host: str) -> bool:
    """Whether a host is an IP address in another than its usual notation, which may be any address.

    >>> is_odd_address("10.0.0.1"), is_odd_address("0x0a000001"), is_odd_address("::ffff:10.0.0.1")
    (False, True, True)
    """
    if not _NUMBERS.fullmatch(host):
        return False
    try:
        address = ip_address(host)
    except ValueError:
        return True
    return str(address) != host or getattr(address, "ipv4_mapped", None) is not None


def _host_of_address(text: str) -> str:
    if any(letter.isspace() for letter in text) or _SECOND.search(text):
        return ""
    try:
        split = urlsplit(text)
        _ = split.port  # raises for an invalid port, with which parsers disagree on the host
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
