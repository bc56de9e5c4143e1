"""Hosts of addresses, as far as all parsers agree on them."""

from typing import Any

import pytest

from planner_executor.graph.policy.hosts import MAX_LENGTH, host_of, is_below, is_odd_address, plain_host


@pytest.mark.parametrize(
    ("host", "domain", "below"),
    [
        ("example.com", "example.com", True), ("example.com", "Example.com.", True),
        ("a.example.com", "example.com", True),
        ("aexample.com", "example.com", False), ("example.com", "a.example.com", False), ("", "example.com", False),
        ("", "", False), ("example.com", "", False), ("10.0.0.1", "10.0.0.1", True), ("1.10.0.0.1", "10.0.0.1", False),
        ("a.10.0.0.1", "10.0.0.1", False), ("a:b.bc.de", "bc.de", False), ("2001:db8::1", "2001:db8::1", True),
    ],
)  # fmt: skip
def test_a_domain_has_hosts_below_it_and_an_address_in_numbers_has_none(host: str, domain: str, below: bool) -> None:
    assert is_below(host, domain) == below


@pytest.mark.parametrize(
    ("host", "odd"),
    [
        ("10.0.0.1", False), ("example.com", False), ("::1", False), ("2001:db8::1", False), ("10.0.0", True),
        ("0x0a000001", True), ("167772161", True), ("010.0.0.1", True), ("2001:db8:0::1", True), ("::ffff:a00:1", True),
        ("::ffff:10.0.0.1", True),
    ],
)  # fmt: skip
def test_an_address_in_an_unusual_notation_is_odd(host: str, odd: bool) -> None:
    assert is_odd_address(host) == odd


def test_a_host_is_plain_ascii() -> None:
    assert plain_host("Example.COM.") == "example.com"
    assert plain_host("\u212a.example.com") == plain_host("a b") == plain_host("") == ""


@pytest.mark.parametrize(("length", "host"), [(MAX_LENGTH, "a.example"), (MAX_LENGTH + 1, "")])
def test_a_text_that_is_too_long_has_no_host(length: int, host: str) -> None:
    assert MAX_LENGTH == 8_192 and host_of("https://a.example/".ljust(length, "x")) == host


@pytest.mark.parametrize(
    ("value", "host"),
    [
        ("https://api.example.com:8443/x?y", "api.example.com"), ("//a.example/x", "a.example"),
        ("https://b@a.example", "a.example"), ("ann@Example.com", "example.com"), ("Ann <ann@a.example>", "a.example"),
        ("https:///x", ""), ("ftp://a.example", ""), ("https://a.example/\x07", ""),
        ("https://a.example\\@b.example", ""),
        ("https://a.example/b c", ""), ("https://a.example/,https://b.example", ""), ("https://b@c@a.example", ""),
        ("https://\u00e9@a.example", ""), ("https://b%40@a.example", ""), ("<@b.example:ann@a.example>", ""), (9, ""),
    ],
)  # fmt: skip
def test_an_address_that_parsers_read_differently_has_no_host(value: Any, host: str) -> None:
    assert host_of(value) == host
