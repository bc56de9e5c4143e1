"""Parsing of hosts and origins in HTTP headers and settings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TypeVar
from urllib.parse import urlsplit

from planner_executor.graph.errors import ConfigError

Entry = TypeVar("Entry")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>\d{1,5}))?")


@dataclass(frozen=True)
class Host:
    """The value of a `Host` header: a name or address in lower case, and the port, if given."""

    name: str
    port: str | None

    @property
    def is_loopback(self) -> bool:
        """Whether it always means this machine, independent of DNS.

        >>> [read_host(text).is_loopback for text in ("localhost:2024", "127.0.0.1", "[::1]:80", "example.com")]
        [True, True, True, False]
        """
        return self.name == "localhost" or is_loopback_address(self.name)

    def is_one_of(self, allowed: "frozenset[Host]") -> bool:
        """Whether it is in `allowed`, with its port or for all ports."""
        return self in allowed or Host(self.name, None) in allowed


def read_host(text: str) -> Host | None:
    """Return the host in a header value, or None if it is malformed."""
    found = _HOST.fullmatch(text.strip())
    return Host(found["name"].strip("[]").lower().rstrip("."), found["port"]) if found else None


def is_loopback_address(text: str) -> bool:
    """Whether it is a loopback IP address.

    >>> [is_loopback_address(text) for text in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "localhost")]
    [True, True, True, False, False]
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    # An IPv6 socket shows the address of an IPv4 client in this form.
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def read_origin(text: str) -> str | None:
    """Return an origin in the form that browsers send, or None if it is not one, such as `null`.

    >>> read_origin("https://Smith.LangChain.com:443/")
    'https://smith.langchain.com'
    """
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return None
    host = read_host(parts.netloc)
    if parts.scheme not in ("http", "https") or host is None or parts.path.strip("/") or parts.query or parts.fragment:
        return None
    default_port = {"http": "80", "https": "443"}[parts.scheme]
    name = f"[{host.name}]" if ":" in host.name else host.name
    return f"{parts.scheme}://{name}" + (f":{host.port}" if host.port not in (None, default_port) else "")


def is_loopback_origin(origin: str) -> bool:
    """Whether an origin is a server on this machine."""
    host = read_host(urlsplit(origin).netloc)
    return host is not None and host.is_loopback


def parse_hosts(text: str, variable: str) -> frozenset[Host]:
    """Parse hosts separated by spaces or commas; without a port, a host is valid for all ports.

    Raises:
        ConfigError: An entry is not a host.
    """
    return _read(text, variable, read_host, "a host; write for example agent.example.com or 10.0.0.5:2024")


def parse_origins(text: str, variable: str) -> frozenset[str]:
    """Parse origins separated by spaces or commas.

    Raises:
        ConfigError: An entry is not an origin.
    """
    return _read(text, variable, read_origin, "an origin; write for example https://smith.langchain.com")


def _read(text: str, variable: str, read: Callable[[str], Entry | None], expected: str) -> frozenset[Entry]:
    found = {word: read(word) for word in re.split(r"[\s,]+", text) if word}
    if wrong := [word for word, entry in found.items() if entry is None]:
        raise ConfigError(f"{variable}: {wrong[0]!r} is not {expected}")
    return frozenset(entry for entry in found.values() if entry is not None)


def is_secure_address(address: str) -> bool:
    """Whether an address is HTTPS, or of this machine.

    >>> [is_secure_address(one) for one in ("https://a.example", "http://127.0.0.1:80/x", "http://a.example", "x")]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    host = read_host(parts.netloc)
    return host is not None and (parts.scheme == "https" or (parts.scheme == "http" and host.is_loopback))
