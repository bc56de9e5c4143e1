"""Hosts and origins as HTTP headers name them: which are this machine's own, and which the operator has named."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from graph.errors import ConfigError

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>\d{1,5}))?")


@dataclass(frozen=True)
class Host:
    """The value of a `Host` header: a name or an address in lower case, and the port where one is given."""

    name: str
    port: str | None

    @property
    def is_loopback(self) -> bool:
        """Whether it names this machine and nothing else, whatever a name server says.

        >>> [read_host(text).is_loopback for text in ("localhost:2024", "127.0.0.1", "[::1]:80", "example.com")]
        [True, True, True, False]
        """
        return self.name == "localhost" or is_loopback_address(self.name)

    def is_one_of(self, named: "frozenset[Host]") -> bool:
        """Whether it was named, by its port or for every port."""
        return self in named or Host(self.name, None) in named


def read_host(text: str) -> Host | None:
    """Return the host that a header names, None where it names none."""
    found = _HOST.fullmatch(text.strip())
    return Host(found["name"].strip("[]").lower().rstrip("."), found["port"]) if found else None


def is_loopback_address(text: str) -> bool:
    """Whether it is an address of this machine that no other can reach.

    >>> [is_loopback_address(text) for text in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "localhost")]
    [True, True, True, False, False]
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def read_origin(text: str) -> str | None:
    """Return an origin as browsers write it, None where it is none, such as `null`.

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
    usual = {"http": "80", "https": "443"}[parts.scheme]
    name = f"[{host.name}]" if ":" in host.name else host.name
    return f"{parts.scheme}://{name}" + (f":{host.port}" if host.port not in (None, usual) else "")


def is_loopback_origin(origin: str) -> bool:
    """Whether pages of this origin come from a server of this machine."""
    host = read_host(urlsplit(origin).netloc)
    return host is not None and host.is_loopback


def named_hosts(text: str, variable: str) -> frozenset[Host]:
    """Read hosts, apart by spaces or commas, each with a port or for every port.

    Raises:
        ConfigError: One of them is no host.
    """
    hosts = {word: read_host(word) for word in _words(text)}
    if wrong := [word for word, host in hosts.items() if host is None]:
        raise ConfigError(f"{variable}: {wrong[0]!r} is no host; give names such as agent.example.com or 10.0.0.5:2024")
    return frozenset(host for host in hosts.values() if host is not None)


def named_origins(text: str, variable: str) -> frozenset[str]:
    """Read origins, apart by spaces or commas.

    Raises:
        ConfigError: One of them is no origin.
    """
    origins = {word: read_origin(word) for word in _words(text)}
    if wrong := [word for word, origin in origins.items() if origin is None]:
        raise ConfigError(f"{variable}: {wrong[0]!r} is no origin; give origins such as https://smith.langchain.com")
    return frozenset(origin for origin in origins.values() if origin is not None)


def _words(text: str) -> list[str]:
    return re.split(r"[\s,]+", text.strip()) if text.strip() else []
