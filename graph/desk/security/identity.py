"""How visitors get a session: by a link with a token, or by the header of a trusted proxy."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from graph.desk.security.visitor import Role
from graph.errors import ConfigError
from graph.record.person import MAX_CHARACTERS
from graph.serving.access import RequestHead

Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class ProxyIdentity:
    """The name of a person in a header that a trusted proxy sets; requests of any other address have no name.

    `reviewers` are those who decide, everybody if it is empty; all others only read.
    """

    header: str
    proxies: tuple[Network, ...]
    reviewers: frozenset[str] = frozenset()

    def name_in(self, head: RequestHead) -> str | None:
        """Return the name that the proxy vouches for, or None."""
        name = (head.single(self.header) or "").strip()
        return (
            name
            if name and name.isprintable() and len(name) <= MAX_CHARACTERS and self._is_proxy(head.client)
            else None
        )

    def role_of(self, name: str) -> Role:
        """Return what the person may do."""
        return Role.REVIEWER if not self.reviewers or name in self.reviewers else Role.READER

    def _is_proxy(self, address: str | None) -> bool:
        try:
            client = ip_address(address or "")
        except ValueError:
            return False
        return any(client in network for network in self.proxies)


def proxy_identity(header: str, proxies: Sequence[str], reviewers: Sequence[str]) -> ProxyIdentity:
    """Return the identity by a header.

    Raises:
        ConfigError: No proxy is named, or one is not an address.
    """
    if not proxies:
        raise ConfigError(f"the header {header} needs the address of the proxy that sets it; name it with --proxy")
    try:
        networks = tuple(ip_network(address) for address in proxies)
    except ValueError as error:
        raise ConfigError(f"--proxy: {error}; write for example 10.0.0.5 or 10.0.0.0/24") from error
    return ProxyIdentity(header.lower(), networks, frozenset(reviewers))
