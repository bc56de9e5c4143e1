"""The addresses of a host that may be connected to: looked up once, all of them checked."""

import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import anyio
import httpx

from planner_executor.tools.errors import NotConnected, UrlRefused
from planner_executor.tools.web.addresses import Address, kind_of
from planner_executor.tools.web.urls import host_of

Resolver = Callable[[str], Awaitable[Sequence[str]]]
Rule = Callable[[str, Address, int], str | None]

PORTS = (80, 443, 8080, 8443)
_DEFAULT_PORTS = {"http": 80, "https": 443}


async def system_addresses(host: str) -> list[str]:
    """Return the addresses of a host name as the machine knows them, best first.

    Raises:
        OSError: There is no such name, or no name server.
    """
    found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def public_only(host: str, address: Address, port: int) -> str | None:
    """Return why an address must not be connected to, or None for a public one at a port of the web."""
    if (kind := kind_of(address)) != "public":
        return f"{leading(host, address)} a {kind} address; only public ones may be used"
    return None if port in PORTS else f"port {port} is not allowed; use one of {', '.join(map(str, PORTS))}"


def leading(host: str, address: Address) -> str:
    """Return the start of a sentence about what an address is.

    >>> leading("localhost", ip_address("127.0.0.1")), leading("::1", ip_address("::1"))
    ('localhost leads to 127.0.0.1,', '::1 is')
    """
    return f"{address} is" if str(address) == host else f"{host} leads to {address},"


def port_of(url: httpx.URL) -> int:
    """Return the port of a URL, explicit or by scheme."""
    return url.port if url.port is not None else _DEFAULT_PORTS[url.scheme]


@dataclass(frozen=True)
class Guard:
    """Turns a URL into addresses that may be connected to.

    A name is looked up once per connection, and the connection goes to an address that was checked: an answer that
    changes between check and connection has no effect.

    Args:
        resolve: Host name -> addresses.
        rule: Host, address and port -> why it must not be connected to, or None.
    """

    resolve: Resolver = system_addresses
    rule: Rule = public_only

    async def addresses(self, url: httpx.URL) -> list[Address]:
        """Return the addresses of the URL's host, best first, at least one.

        Raises:
            UrlRefused: At least one of the addresses must not be connected to.
            NotConnected: The name has no address.
        """
        host = host_of(url)
        addresses = await self._lookup(host, url)
        # All of them: whoever answers for a name may put another one first the next time.
        for address in addresses:
            if reason := self.rule(host, address, port_of(url)):
                raise UrlRefused(str(url), reason)
        return addresses

    async def _lookup(self, host: str, url: httpx.URL) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass  # a name
        try:
            found = [ip_address(text) for text in await self.resolve(host)]
        except (OSError, ValueError) as error:
            raise NotConnected(str(url), f"the name {host} has no address ({error})") from error
        if not found:
            raise NotConnected(str(url), f"the name {host} has no address")
        return found
