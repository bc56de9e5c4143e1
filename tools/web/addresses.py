"""Kinds of IP addresses: public, or one of the special-purpose ranges."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal

Address = IPv4Address | IPv6Address
Kind = Literal[
    "public",
    "private",
    "loopback",
    "shared",
    "link-local",
    "metadata",
    "multicast",
    "unspecified",
    "wrapped",
    "reserved",
]

# Where clouds hand credentials to their machines; some of these lie in ranges that anybody may use.
_METADATA = {
    ip_address(address)
    for address in (
        "100.100.100.200",
        "168.63.129.16",
        "169.254.0.23",
        "169.254.42.42",
        "169.254.169.254",
        "169.254.170.2",
        "192.0.0.192",
        "fd00:42::42",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
}
# The first that holds an address says its kind, so a narrower range stands before a wider one.
_NETWORKS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("unspecified", ("0.0.0.0/8", "::/128")),
    ("loopback", ("127.0.0.0/8", "::1/128")),
    ("private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")),
    ("shared", ("100.64.0.0/10",)),
    ("link-local", ("169.254.0.0/16", "fe80::/10")),
    ("multicast", ("224.0.0.0/4", "ff00::/8")),
    ("wrapped", ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")),
    (
        "reserved",
        (
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "240.0.0.0/4",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
        ),
    ),
)
_TABLE: tuple[tuple[Kind, IPv4Network | IPv6Network], ...] = tuple(
    (kind, ip_network(network)) for kind, networks in _NETWORKS for network in networks
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


def kind_of(address: Address) -> Kind:
    """Return the kind of an address; `public` is every address in no special-purpose registry.

    An address behind NAT64's well-known prefix is what the IPv4 address in it is: networks without IPv4 reach public
    hosts that way. Every other form that holds an IPv4 address is `wrapped`, whatever it holds. The table is our own,
    since Python's `is_global` differs between versions.

    Source: IANA, IPv4 and IPv6 Special-Purpose Address Registries; RFC 6052; RFC 4291, section 2.4.

    >>> kind_of(ip_address("10.0.0.7")), kind_of(ip_address("::ffff:8.8.8.8")), kind_of(ip_address("8.8.8.8"))
    ('private', 'wrapped', 'public')
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "link-local"
    if address in _METADATA:
        return "metadata"
    # The network connects to the address inside.
    if isinstance(address, IPv6Address) and address in _NAT64:
        return kind_of(IPv4Address(address.packed[-4:]))
    for kind, network in _TABLE:
        if address.version == network.version and address in network:
            return kind
    return "public" if address.version == 4 or address in _GLOBAL_UNICAST else "reserved"
