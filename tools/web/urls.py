"""A text -> a URL that may be requested, before any name is looked up."""

import re
from ipaddress import ip_address

import httpx

from planner_executor.tools.errors import UrlRefused

LONGEST_URL = 2000

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# As the last label it makes a host an IPv4 address to resolvers and browsers, in hexadecimal too (WHATWG URL, "ends in
# a number").
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME = 253
_LAST_PORT = 65535


def checked_url(text: str) -> httpx.URL:
    """Return a URL of http or https whose host is a plain name or address, without fragment and final dot.

    Raises:
        UrlRefused: It is anything else, or holds a user name; a number such as 2130706433 or 0x7f.1 is not a host name.

    >>> str(checked_url("https://Example.org.:443/a b".replace(" ", "%20") + "#part"))
    'https://example.org/a%20b'
    """
    url = _parsed(text.strip())
    if url.scheme not in ("http", "https"):
        raise UrlRefused(text, "its scheme is neither http nor https")
    if url.userinfo:
        raise UrlRefused(text, "it holds a user name or a password")
    host = host_of(url).removesuffix(".")
    if fault := _host_fault(host):
        raise UrlRefused(text, fault)
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        raise UrlRefused(text, f"port {url.port} does not exist")
    return url.copy_with(host=str(ip_address(host)) if ":" in host else host, fragment=None)


def host_of(url: httpx.URL) -> str:
    """Return the host as it is looked up: in lower case, a name beyond ASCII in its IDNA form, without brackets."""
    return url.raw_host.decode("ascii")


def _parsed(text: str) -> httpx.URL:
    if len(text) > LONGEST_URL:
        raise UrlRefused(text, f"it is longer than {LONGEST_URL} characters")
    if not text.isprintable() or " " in text or "\\" in text:
        raise UrlRefused(text, "it holds a space, a backslash or a character that cannot be seen")
    try:
        return httpx.URL(text)
    except httpx.InvalidURL as error:
        raise UrlRefused(text, f"it is not a URL ({error})") from error


def _host_fault(host: str) -> str | None:
    if not host:
        return "it names no host"
    if ":" in host:
        return "its address holds a zone" if "%" in host else None
    labels = host.split(".")
    if len(host) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        return "its host is not a name"
    if _NUMBER.fullmatch(labels[-1]) and not _is_plain_ipv4(host):
        return "its host is a number; write an IPv4 address as four decimal numbers"
    return None


def _is_plain_ipv4(host: str) -> bool:
    try:
        return str(ip_address(host)) == host
    except ValueError:
        return False
