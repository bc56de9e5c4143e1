"""Who comes in by which way to sign in, and by none that was switched off."""

from dataclasses import replace

import pytest
from starlette.requests import Request

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.gate import Door
from planner_executor.graph.desk.security.sessions import COOKIE
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.record.person import Person

LINKS = DeskSettings(secret="s" * 32)
PROVIDER = replace(LINKS, links=False, oidc=Oidc("https://id.example.org", "desk"), url="https://desk.example.org")
ADA = Person("ada@example.org")


def request_with(cookie: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]})


@pytest.mark.parametrize(
    ("person", "settings", "comes_in"),
    [
        (None, LINKS, True),
        (ADA, PROVIDER, True),
        (None, PROVIDER, False),  # a link's cookie, and the desk has a provider by now
        (ADA, LINKS, False),  # a provider's cookie, and the desk has links by now
        (None, replace(LINKS, links=False), False),
    ],
)
def test_a_cookie_of_a_way_to_sign_in_that_was_switched_off_counts_for_nothing(
    person: Person | None, settings: DeskSettings, comes_in: bool
) -> None:
    door = Door(settings)
    cookie = door.sessions.begin(person)
    assert cookie is not None

    visitor = door.visitor(request_with(cookie))

    assert (visitor is not None) == comes_in
    assert visitor is None or visitor.person == person
