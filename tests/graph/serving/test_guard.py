"""The guard as an ASGI application: HTTP, WebSockets, and the server's requests to itself."""

import asyncio
import json
from collections.abc import MutableMapping
from functools import partial
from typing import Any

import pytest

from planner_executor.graph.serving.access import Access, Refusal
from planner_executor.graph.serving.guard import INTERNAL_ROOT, DeskAt, Guard, TokenGuard, refuse, request_head
from planner_executor.graph.serving.hosts import Host

SECRET = "a-token-of-twenty-four"
DESK = DeskAt("/desk", Host("desk-7f3c5a0d9e1b2468.localhost", None))


def answered(guard: Any, access: Access, **scope: Any) -> list[MutableMapping[str, Any]]:
    """Return what is sent back for a request; `passed` where the application behind the guard got it."""
    sent: list[MutableMapping[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "passed"})

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    ends = {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2024)}
    given = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"127.0.0.1")], **ends, **scope}
    asyncio.run(guard(app, access)(given, receive, send))
    return sent


def test_a_refusal_is_json_that_says_why() -> None:
    start, body = answered(Guard, Access(), headers=[(b"Host", b"evil.example")])

    assert start["status"] == 421 and "PLANNER_EXECUTOR_HOSTS" in json.loads(body["body"])["detail"]


def test_a_websocket_is_closed_before_it_opens() -> None:
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"https://evil.example")]

    (message,) = answered(Guard, Access(), type="websocket", headers=headers)

    assert message["type"] == "websocket.close" and message["code"] == 1008


def test_a_websocket_of_this_machine_passes_and_needs_the_token_where_one_is_set() -> None:
    assert answered(Guard, Access(), type="websocket") == [{"type": "passed"}]
    (message,) = answered(TokenGuard, Access(token=SECRET), type="websocket")
    assert message["type"] == "websocket.close"


@pytest.mark.parametrize("guard", [Guard, TokenGuard])
def test_requests_of_the_server_to_itself_and_its_lifespan_pass(guard: Any) -> None:
    access = Access(token=SECRET)

    assert answered(guard, access, root_path=INTERNAL_ROOT, headers=[(b"host", b"api")]) == [{"type": "passed"}]
    assert answered(guard, access, type="lifespan") == [{"type": "passed"}]


@pytest.mark.parametrize("path", ["/noauth", "/noauth/threads", "/ok/", "/ok/../threads", "//ok"])
def test_no_path_passes_for_the_server_itself(path: str) -> None:
    start, _ = answered(TokenGuard, Access(token=SECRET), path=path)

    assert start["status"] == 401


def test_whether_the_server_is_up_is_told_without_the_token() -> None:
    assert answered(TokenGuard, Access(token=SECRET), path="/ok") == [{"type": "passed"}]


FORM = [(b"host", b"127.0.0.1"), (b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"9")]


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        ({"path": "/desk/run/decide"}, None),
        ({"path": "/of/us/desk/run/decide", "root_path": "/of/us"}, None),
        ({"path": "/desktop"}, 415),
        ({"path": "/threads/desk/"}, 415),
        ({"path": "/threads"}, 415),
        ({"path": "/desk/", "headers": [*FORM[1:], (b"host", b"evil.example")]}, 421),
        ({"path": "/desk/", "headers": [*FORM, (b"x-forwarded-for", b"203.0.113.9")]}, 403),
        ({"path": "/desk/", "client": ("203.0.113.9", 1)}, 403),
    ],
)
def test_forms_pass_below_the_desk_alone_and_from_this_machine(scope: dict[str, Any], status: int | None) -> None:
    guard = partial(Guard, desk=DESK)

    first, *_ = answered(guard, Access(), **{"method": "POST", "headers": FORM, **scope})

    assert first.get("status") == status


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        ({"path": "/desk/"}, None),
        ({"path": "/desk/", "headers": [(b"host", b"desk-0000000000000000.localhost:2024")]}, 421),
        ({"path": "/threads"}, 421),
        ({"path": "/desk/", "client": ("203.0.113.9", 1)}, 403),
    ],
)
def test_the_host_of_the_desk_leads_to_the_desk_alone(scope: dict[str, Any], status: int | None) -> None:
    at = {"headers": [(b"host", b"desk-7f3c5a0d9e1b2468.localhost:2024")], **scope}

    first, *_ = answered(partial(Guard, desk=DESK), Access(), **at)

    assert first.get("status") == status


def test_a_websocket_below_the_desk_is_guarded_as_any_other() -> None:
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"https://evil.example")]

    (message,) = answered(partial(Guard, desk=DESK), Access(), type="websocket", path="/desk/x", headers=headers)

    assert message["type"] == "websocket.close"


def test_a_request_may_lack_the_addresses_of_its_connection() -> None:
    head = request_head({"type": "http", "headers": [(b"Host", b"localhost")]})

    assert (head.method, head.client, head.server, head.single("host")) == ("GET", None, None, "localhost")


def test_a_websocket_is_read_before_it_is_closed_with_a_short_reason() -> None:
    happened: list[Any] = []

    async def receive() -> MutableMapping[str, Any]:
        happened.append("read")
        return {"type": "websocket.connect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        happened.append(message)

    asyncio.run(refuse(Refusal(403, "x" * 200), {"type": "websocket"}, receive, send))

    assert happened == ["read", {"type": "websocket.close", "code": 1008, "reason": "x" * 120}]


@pytest.mark.parametrize(
    ("root", "passes"),
    [(INTERNAL_ROOT, True), (f"{INTERNAL_ROOT}/more", True), (f"{INTERNAL_ROOT}more", False), ("", False)],
)
def test_only_the_servers_own_root_is_internal(root: str, passes: bool) -> None:
    sent = answered(Guard, Access(), type="http", path="/", root_path=root, headers=[(b"host", b"evil.example")])

    assert (sent[0]["type"] == "passed") == passes
