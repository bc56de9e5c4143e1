"""The address of a PostgreSQL database: which texts are one, and how it is shown without its password."""

import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

SCHEMES = ("postgresql", "postgres")
SHOWN = ("host", "port", "dbname", "user", "options")
"""Parameters of an address that are shown; every other one may hold a secret."""
NO_PATH = re.compile(
    r"\s*(?P<scheme>[a-z][a-z0-9+.-]+):/|(?:.*\s)?(?:host|hostaddr|port|dbname|user|service)\s*=|.*\bpassword\s*=",
    re.IGNORECASE | re.DOTALL,
)
"""A text of this form is no file: an address, or libpq's `host=... password=...`, which would be its name.
`C:/` is a path."""
MISSPELT = (
    "an address begins with postgresql://, in small letters and without a space; any other text is a path of a file"
)
UNREADABLE = "the address cannot be read; write special characters of its password as %40, %2F, %23"


def is_address(text: str) -> bool:
    """Whether a text is the address of a database, and not the path of a file; `address_fault` says if it is misspelt.

    >>> is_address("postgresql://db.example.org/runs"), is_address("runs.db")
    (True, False)
    """
    return NO_PATH.match(text) is not None


def shown_address(address: str) -> str:
    """Return an address without its password, for messages.

    >>> shown_address("postgresql://ada:secret@db.example.org:5432/runs?password=x&options=-csearch_path%3Dagent")
    'postgresql://ada@db.example.org:5432/runs?options=-csearch_path%3Dagent'
    >>> shown_address("postgresql://ada:sec/ret@db.example.org/runs")
    'postgresql://...'
    """
    if address_fault(address) is not None:
        written = NO_PATH.match(address)
        return f"{written['scheme']}://..." if written and written["scheme"] else "(not shown)"
    parts = urlsplit(address)
    user, _, _ = parts.netloc.rpartition("@")[0].partition(":")
    place = parts.netloc.rpartition("@")[2]
    public = [(name, value) for name, value in parse_qsl(parts.query) if name in SHOWN]
    query = urlencode(public, safe="/-", quote_via=quote)  # PostgreSQL reads `+` as it is
    return f"{parts.scheme}://{user + '@' if user else ''}{place}{parts.path}{'?' + query if query else ''}"


def address_fault(address: str) -> str | None:
    """Return why an address cannot be read, without a part of it; None if it can.

    A password with `/`, `@` or `#` in it ends the host too early, and the rest of it would be taken for a public part.
    """
    if address.partition("://")[0] not in SCHEMES:
        return MISSPELT
    try:
        parts = urlsplit(address)
    except ValueError:  # half a pair of brackets
        return UNREADABLE
    if parts.netloc.count("@") > 1 or "@" in parts.path or parts.fragment or not _are_ports(parts):
        return UNREADABLE
    if "\0" in unquote(address):
        return "the address holds a NUL character"
    return None


def _are_ports(parts: SplitResult) -> bool:
    """Whether the ports are numbers; an address may name several hosts."""
    hosts = parts.netloc.rpartition("@")[2].split(",")
    ports = (host.rpartition("]")[2].rpartition(":") for host in hosts)
    return all(not colon or port.isdecimal() or not port for _, colon, port in ports)
