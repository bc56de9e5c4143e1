"""Who is answered by `langgraph dev`: programs and pages of this machine; a web page elsewhere is not, nor a name."""

import json
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langgraph_sdk.errors import APIStatusError

SUM = {"steps": [{"id": "sum", "objective": "add", "tool": "calculator", "args": {"expression": "2 + 3"}}]}
APPROVE = {"decisions": [{"type": "approve"}]}
STUDIO = "https://smith.langchain.com"
SECRET = "a-token-of-twenty-four"
ROUTES = [
    ("GET", "/"), ("GET", "/ok"), ("GET", "/info"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/metrics"),
    ("POST", "/threads"), ("POST", "/threads/search"), ("POST", "/assistants/search"), ("POST", "/runs/wait"),
    ("POST", "/mcp"), ("POST", "/a2a/planner_executor"), ("PUT", "/store/items"), ("POST", "/ui/planner_executor"),
    ("GET", "/noauth/threads"), ("GET", "/internal/truncate"),
    ("GET", "/threads/00000000-0000-0000-0000-000000000000/progress"),
]  # fmt: skip
FOREIGN: list[dict[str, str]] = [
    {"Host": "evil.example"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": STUDIO},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
]


@pytest.fixture
def http(server: Any) -> Any:
    with httpx.Client(base_url=server.url, timeout=30) as http:
        yield http


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any]) -> Any:
    """A server that asks for a token, and that is known by another name to pages of Studio."""
    named = {"PLANNER_EXECUTOR_HOSTS": "agent.example.com", "PLANNER_EXECUTOR_ORIGINS": STUDIO}
    return serve(PLANNER_EXECUTOR_TOKEN=SECRET, **named)


def threads(http: httpx.Client) -> int:
    return len(http.post("/threads/search", json={"limit": 1000}).json())


@pytest.mark.parametrize("headers", FOREIGN, ids=lambda headers: " ".join(headers.values()))
def test_a_page_of_another_origin_and_a_name_that_leads_here_get_no_answer_at_any_route(
    http: httpx.Client, headers: dict[str, str]
) -> None:
    before = threads(http)

    for method, route in ROUTES:
        answer = http.request(method, route, headers=headers, json={} if method != "GET" else None)
        asked = {**headers, "Access-Control-Request-Method": method}
        preflight = http.request("OPTIONS", route, headers=asked)

        assert answer.status_code in (403, 421) and "detail" in answer.json(), route
        assert preflight.status_code in (403, 421), route
        assert not {"access-control-allow-origin"} & {*answer.headers, *preflight.headers}
    assert threads(http) == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_what_a_page_may_send_without_asking_changes_nothing(http: httpx.Client, kind: str | None) -> None:
    before, body = threads(http), json.dumps({"metadata": {}, "assistant_id": "planner_executor", "input": {}}).encode()
    headers = {"Content-Type": kind} if kind else {}

    for method, route in ROUTES:
        if method != "GET":
            assert http.request(method, route, headers=headers, content=body).status_code == 415, route
    assert threads(http) == before


def test_a_page_of_this_machine_is_answered_and_its_browser_is_told_so(http: httpx.Client) -> None:
    page = {"Origin": "http://localhost:3000"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,x-api-key"}

    preflight = http.options("/threads", headers={**page, **asked, "Access-Control-Request-Private-Network": "true"})
    answer = http.post("/threads/search", headers=page, json={})

    assert preflight.status_code == 200 and preflight.headers["access-control-allow-private-network"] == "true"
    assert answer.status_code == 200 and "x-pagination-total" in answer.headers["access-control-expose-headers"]
    for response in (preflight, answer):
        assert response.headers.get_list("access-control-allow-origin") == [page["Origin"]]


def upgraded(server: Any, **headers: str) -> bytes:
    """Return the first line of what the server says to a WebSocket's handshake."""
    given = {"Host": "127.0.0.1", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    given |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        client.sendall(f"GET /threads/00000000-0000-0000-0000-000000000000/stream HTTP/1.1\r\n{lines}\r\n".encode())
        return client.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
def test_a_websocket_is_opened_to_no_page_of_others(server: Any, headers: dict[str, str]) -> None:
    assert b" 403 " in upgraded(server, **headers)


def test_where_a_token_is_set_nothing_but_whether_the_server_is_up_is_told_without_it(guarded: Any) -> None:
    with httpx.Client(base_url=guarded.url, timeout=30) as http:
        told = {route: http.request(method, route, headers={"x-auth-scheme": "langsmith"}) for method, route in ROUTES}
        with_it = http.get("/info", headers={"Authorization": f"Bearer {SECRET}"})

    assert {route for route, answer in told.items() if answer.status_code != 401} == {"/ok"}
    assert with_it.status_code == 200 and b" 403 " in upgraded(guarded)


def test_the_sdk_drives_a_run_with_the_token_and_its_holder_is_the_approver(guarded: Any, thread_of: Any) -> None:
    for headers in ({"Authorization": f"Bearer {SECRET}"}, {"X-Api-Key": SECRET}):
        thread = thread_of(guarded, **headers)
        thread.run({"goal": "add", "plan": SUM})
        assert thread.answer(APPROVE)["answer"] == 5

    with pytest.raises(APIStatusError):
        thread_of(guarded, Authorization="Bearer not-the-token-at-all")


def test_a_host_and_an_origin_that_were_named_are_answered_with_the_token_only(guarded: Any) -> None:
    elsewhere = {"Host": "agent.example.com", "Origin": STUDIO}
    with httpx.Client(base_url=guarded.url, timeout=30, headers=elsewhere) as http:
        refused = http.post("/threads/search", json={})
        answered = http.post("/threads/search", json={}, headers={"X-Api-Key": SECRET})

    assert refused.status_code == 401 and "PLANNER_EXECUTOR_TOKEN" in refused.json()["detail"]
    assert answered.status_code == 200
    assert {response.headers["access-control-allow-origin"] for response in (refused, answered)} == {STUDIO}


def test_beyond_this_machine_a_server_without_a_token_says_that_it_needs_one(http: httpx.Client) -> None:
    refused = http.post("/threads/search", json={}, headers={"X-Forwarded-For": "203.0.113.9"})

    assert refused.status_code == 403 and "PLANNER_EXECUTOR_TOKEN" in refused.json()["detail"]
