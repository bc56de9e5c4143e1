from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.tools.web.addresses import kind_of

KINDS = {
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1", "fec0::1"],
    "shared": ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.1.1", "fe80::1", "fe80::1%eth0", "febf::1", "2606:4700::1%eth0"],
    "metadata": [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
    ],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "wrapped": [
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:10.0.0.1",
        "::127.0.0.1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001:0:7f00:1::",
        "64:ff9b:1::a00:1",
    ],
    "reserved": [
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "240.0.0.1",
        "255.255.255.255",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "5f00::1",
        "4000::1",
        "1000::1",
    ],
    "public": [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::200e",
        "64:ff9b::808:808",
    ],
}


@pytest.mark.parametrize(("address", "kind"), [(address, kind) for kind, found in KINDS.items() for address in found])
def test_each_range_has_its_kind(address: str, kind: str) -> None:
    assert kind_of(ip_address(address)) == kind


@given(st.ip_addresses(v=4))
def test_nothing_that_python_knows_as_special_is_public(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert kind_of(address) != "public"


@given(st.sampled_from(["::/8", "fc00::/6", "2001::/16", "2002::/16", "ff00::/8", "::/0", "3fff::/20"]), st.data())
def test_nothing_that_python_knows_as_special_is_public_in_six(network: str, data: st.DataObject) -> None:
    address = data.draw(st.ip_addresses(network=network))
    behind_nat64 = address in IPv6Network("64:ff9b::/96")
    if not behind_nat64 and (not address.is_global or address.is_multicast or address.is_reserved):
        assert kind_of(address) != "public"


@given(st.ip_addresses(v=4))
def test_an_address_behind_nat64_is_what_it_holds(address: IPv4Address) -> None:
    assert kind_of(IPv6Address(f"64:ff9b::{address}")) == kind_of(address)


@given(st.ip_addresses(v=4))
def test_no_other_form_that_holds_an_address_is_public(address: IPv4Address) -> None:
    mapped = IPv6Address(f"::ffff:{address}")
    compatible = IPv6Address(int(address))
    six_to_four = IPv6Address((0x2002 << 112) | (int(address) << 80))
    teredo = IPv6Address((0x20010000 << 96) | (int(address) ^ 0xFFFFFFFF))

    assert "public" not in {kind_of(form) for form in (mapped, compatible, six_to_four, teredo)}
