from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from planner_executor.tools.errors import NotConnected, UrlRefused
from planner_executor.tools.web.guard import Guard, system_addresses
from planner_executor.tools.web.urls import checked_url

PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946")


def addresses(guard: Guard, url: str) -> list[str]:
    return [str(address) for address in anyio.run(guard.addresses, checked_url(url))]


def written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def test_a_forbidden_address_is_refused_as_such(forbidden: str, names: Any) -> None:
    resolve = names({})

    with pytest.raises(UrlRefused):
        addresses(Guard(resolve), f"http://{written(forbidden)}/")

    assert resolve.asked == []


def test_a_name_that_leads_to_a_forbidden_address_is_refused(forbidden: str, names: Any) -> None:
    with pytest.raises(UrlRefused) as refusal:
        addresses(Guard(names({"evil.example": (forbidden,)})), "https://evil.example/")

    assert refusal.value.reason.startswith("evil.example leads to ")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_forbidden_address_among_public_ones_is_enough(forbidden: str, place: int, names: Any) -> None:
    answer = [*PUBLIC]
    answer.insert(place, forbidden)

    with pytest.raises(UrlRefused):
        addresses(Guard(names({"mixed.example": tuple(answer)})), "https://mixed.example/")


def test_a_name_that_leads_to_an_address_with_a_zone_is_refused(names: Any) -> None:
    with pytest.raises(UrlRefused):
        addresses(Guard(names({"evil.example": ("2606:4700::1111%lo",)})), "https://evil.example/")


def test_public_addresses_pass_in_their_order(names: Any) -> None:
    assert addresses(Guard(names({"example.org": PUBLIC})), "https://example.org/") == list(PUBLIC)
    assert addresses(Guard(names({})), f"http://[{PUBLIC[1]}]:8080/") == [PUBLIC[1]]


@pytest.mark.parametrize("port", [22, 25, 81, 3306, 6379, 65535])
def test_ports_that_are_not_the_webs_are_refused(port: int, names: Any) -> None:
    with pytest.raises(UrlRefused) as refusal:
        addresses(Guard(names({"example.org": PUBLIC})), f"http://example.org:{port}/")

    assert refusal.value.reason == f"port {port} is not allowed; use one of 80, 443, 8080, 8443"


@pytest.mark.parametrize("answer", [(), ("nonsense",)])
def test_a_name_without_an_address_is_not_connected_to(answer: Sequence[str], names: Any) -> None:
    with pytest.raises(NotConnected):
        addresses(Guard(names({"nowhere.example": answer})), "https://nowhere.example/")


def test_the_system_resolver_is_the_default() -> None:
    assert {"127.0.0.1", "::1"} & set(anyio.run(system_addresses, "localhost"))
    with pytest.raises(UrlRefused):
        addresses(Guard(), "http://localhost/")
