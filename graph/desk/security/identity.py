"""People named with each request: by a trusted proxy's headers, or by the server that the desk is mounted in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Protocol

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.record.person import Person, is_name
from planner_executor.graph.serving.access import RequestHead
from planner_executor.graph.serving.guard import Scope, request_head
from planner_executor.graph.settings.identity import server_roles

Network = IPv4Network | IPv6Network
MOST_ROLES = 500
FORWARDED_FOR = "x-forwarded-for"
WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]+)?")


class Identity(Protocol):
    """Names the sender of each request; without it, sessions do."""

    @property
    def words(self) -> str:
        """Instructions for visitors who have not signed in."""

    def person_in(self, scope: Scope) -> Person | None:
        """Return the sender of a request, None if unknown."""


@dataclass(frozen=True)
class Proxies:
    """The addresses of trusted proxies."""

    networks: tuple[Network, ...] = ()

    def has(self, address: str | None) -> bool:
        """Whether an address is a proxy's."""
        client = _address(address)
        return client is not None and any(client in network for network in self.networks)

    def client_of(self, head: RequestHead) -> str:
        """Return the address of a client; behind proxies of ours, the last one in the header that is none of theirs."""
        found = head.client or ""
        chain = [_without_port(part.strip()) for value in head.all(FORWARDED_FOR) for part in value.split(",")]
        # From the right: each proxy appends the address that it saw, and whatever stands before may be the client's.
        while self.has(found) and chain:
            found = chain.pop()
        # The header may hold anything, and this address is counted and logged.
        return found if _address(found) is not None else head.client or ""


@dataclass(frozen=True)
class ProxyIdentity:
    """The name of a person, and their roles, in headers that a trusted proxy sets.

    Requests of any other address have no name. `roles` are separated by commas.
    """

    proxies: Proxies
    name: str
    roles: str | None = None
    words: str = "This desk is reached through a proxy that signs people in. Open the address of the proxy."

    def person_in(self, scope: Scope) -> Person | None:
        """Return the person whom the proxy vouches for; a header that came twice names nobody."""
        head = request_head(scope)
        name = _text(head.single(self.name) or "").strip()
        given = list(map(_text, head.all(self.roles))) if self.roles else []
        if len(given) > 1 or not self.proxies.has(head.client):
            return None
        return known_person(name, [role.strip() for value in given for role in value.split(",")])


@dataclass(frozen=True)
class ServerIdentity:
    """The user whom the server has authenticated that the desk is mounted in, as Starlette's `scope["user"]`."""

    words: str = "This desk is part of a server that signs people in. Sign in there first."

    def person_in(self, scope: Scope) -> Person | None:
        """Return the server's user; their roles are `roles`, or else `permissions`, as for runs of the server."""
        user: Any = scope.get("user")
        if not getattr(user, "is_authenticated", False):
            return None
        return known_person(str(getattr(user, "identity", "")), server_roles(user))


def known_person(name: Any, roles: Sequence[Any]) -> Person | None:
    """Return a person, None if the name is no short text; what is no name of a role is left out."""
    return Person(name, tuple(filter(is_name, roles[:MOST_ROLES]))) if is_name(name) else None


def trusted_proxies(addresses: Sequence[str], where: str) -> Proxies:
    """Return proxies by address or network.

    Raises:
        ConfigError: One is not an address; `where` names the setting.
    """
    try:
        return Proxies(tuple(ip_network(address) for address in addresses))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write for example 10.0.0.5 or 10.0.0.0/24") from error


def proxy_identity(name: str, proxies: Proxies, where: str, roles: str | None = None) -> ProxyIdentity:
    """Return the identity by headers.

    Raises:
        ConfigError: No proxy is named; `where` names the setting.
    """
    if not proxies.networks:
        raise ConfigError(f"the header {name} needs the address of the proxy that sets it; name it with {where}")
    return ProxyIdentity(proxies, name.lower(), roles.lower() if roles else None)


def _text(value: str) -> str:
    """Return a header's text: proxies send UTF-8, and what is none is Latin-1, as HTTP has it."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


def _without_port(text: str) -> str:
    """Return an address without its port, which some proxies add.

    >>> _without_port("192.0.2.1:4711"), _without_port("[2001:db8::1]:80"), _without_port("2001:db8::1")
    ('192.0.2.1', '2001:db8::1', '2001:db8::1')
    """
    found = WITH_PORT.fullmatch(text)
    return found[1] or found[2] if found else text


def _address(text: str | None) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text or "")
    except ValueError:
        return None
