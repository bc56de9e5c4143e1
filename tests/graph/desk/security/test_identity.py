"""People whom a proxy or a server names with each request."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.security.identity import (
    MOST_ROLES,
    ServerIdentity,
    known_person,
    proxy_identity,
    trusted_proxies,
)
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.record.person import Person
from planner_executor.graph.serving.access import RequestHead

PROXIES = trusted_proxies(["10.0.0.0/24", "192.0.2.1"], "--proxy")
BY_HEADERS = proxy_identity("X-User", PROXIES, "--proxy", "X-Roles")


def request(client: str | None, *headers: tuple[str, str]) -> dict[str, Any]:
    given = [(name.encode(), value.encode()) for name, value in headers]
    return {"type": "http", "headers": given, "client": None if client is None else (client, 1234)}


def test_a_proxy_names_the_person_and_their_roles() -> None:
    asked = request("10.0.0.5", ("X-User", " ada "), ("X-Roles", "finance, staff,,"))

    assert BY_HEADERS.person_in(asked) == Person("ada", ("finance", "staff"))


def test_a_name_beyond_ascii_is_read_as_utf_8_or_else_as_latin_1() -> None:
    utf8, latin1 = (
        {**request("10.0.0.5"), "headers": [(b"x-user", "Zoë".encode(coding))]} for coding in ("utf-8", "latin-1")
    )

    assert BY_HEADERS.person_in(utf8) == BY_HEADERS.person_in(latin1) == Person("Zoë")


@pytest.mark.parametrize(
    "asked",
    [
        request("10.0.1.5", ("X-User", "ada")),
        request(None, ("X-User", "ada")),
        request("10.0.0.5"),
        request("10.0.0.5", ("X-User", " ")),
        request("10.0.0.5", ("X-User", "ada"), ("X-User", "ben")),
        request("10.0.0.5", ("X-User", "ada"), ("X-Roles", "staff"), ("X-Roles", "finance")),
    ],
)
def test_another_address_or_a_header_that_is_missing_or_came_twice_names_nobody(asked: dict[str, Any]) -> None:
    assert BY_HEADERS.person_in(asked) is None


def test_roles_are_read_only_from_the_header_that_the_settings_name() -> None:
    asked = request("10.0.0.5", ("X-User", "ada"), ("X-Roles", "finance"), ("X-Roles", "staff"))

    assert proxy_identity("X-User", PROXIES, "--proxy").person_in(asked) == Person("ada")


def test_a_header_needs_the_address_of_the_proxy_that_sets_it() -> None:
    with pytest.raises(ConfigError, match="X-User needs the address of the proxy that sets it; name it with --proxy"):
        proxy_identity("X-User", trusted_proxies([], "--proxy"), "--proxy")


def test_an_address_of_a_proxy_that_is_none_is_named_with_its_setting() -> None:
    with pytest.raises(ConfigError, match=r"--proxy: '10\.0\.0' .* write for example"):
        trusted_proxies(["10.0.0"], "--proxy")


@pytest.mark.parametrize(
    ("client", "forwarded", "found"),
    [
        ("10.0.0.5", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.5", "198.51.100.1, 203.0.113.7, 10.0.0.6", "203.0.113.7"),
        ("10.0.0.5", "10.0.0.7, 10.0.0.6", "10.0.0.7"),
        ("10.0.0.5", "203.0.113.7:4711", "203.0.113.7"),
        ("10.0.0.5", "[2001:db8::7]:4711", "2001:db8::7"),
        ("10.0.0.5", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.5", "not an address", "10.0.0.5"),
        ("10.0.0.5", None, "10.0.0.5"),
        ("203.0.113.9", "203.0.113.7", "203.0.113.9"),
        (None, "203.0.113.7", ""),
        ("testclient", "203.0.113.7", "testclient"),
    ],
)
def test_only_a_proxy_of_ours_says_where_a_request_comes_from(
    client: str | None, forwarded: str | None, found: str
) -> None:
    headers = [("x-forwarded-for", forwarded)] if forwarded else []

    assert PROXIES.client_of(RequestHead("GET", headers, client)) == found


def test_the_server_names_the_user_whom_it_has_authenticated() -> None:
    ada = SimpleNamespace(is_authenticated=True, identity="ada", permissions=["staff"])
    guest = SimpleNamespace(is_authenticated=False, identity="guest", permissions=[])

    found = [ServerIdentity().person_in({"user": user}) for user in (ada, guest, object())]

    assert found == [Person("ada", ("staff",)), None, None]
    assert ServerIdentity().person_in({}) is None
    assert ServerIdentity().person_in({"user": SimpleNamespace(is_authenticated=True)}) is None
    assert ServerIdentity().person_in({"user": SimpleNamespace(identity="ada")}) is None


def test_what_is_no_name_names_nobody_and_what_is_no_role_is_left_out() -> None:
    assert known_person("", ["staff"]) is None and known_person(7, []) is None
    assert known_person("ada", ["staff", 7, "", "finance"]) == Person("ada", ("staff", "finance"))


def test_roles_beyond_the_most_are_left_out() -> None:
    found = known_person("ada", [f"role {number}" for number in range(MOST_ROLES + 1)])

    assert found is not None and len(found.roles) == MOST_ROLES == 500
