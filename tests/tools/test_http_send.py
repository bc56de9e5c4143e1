import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from planner_executor.tools.errors import NotConnected, NothingHappened, RequestFailed, UrlRefused
from planner_executor.tools.http_send import http_send
from planner_executor.tools.web.allowed_hosts import AllowedHost, AllowList
from planner_executor.tools.web.service import Service

KEY = "sk-1234567890"


@pytest.fixture
def patience_s() -> float:
    """How long a request may take: longer than any does, but where a test says otherwise."""
    return 60.0


@pytest.fixture
def send(site: Any, names: Any, patience_s: float) -> BaseTool:
    hosts = (
        AllowedHost(f"http://page.example:{site.port}", ("GET", "POST", "DELETE"), {"Authorization": f"Bearer {KEY}"}),
        AllowedHost(f"http://read.example:{site.port}"),
    )
    resolve = names({"page.example": ("127.0.0.1",), "read.example": ("127.0.0.1",)})
    return http_send(Service(AllowList(hosts), resolve, seconds=patience_s))


@pytest.mark.parametrize(
    ("body", "content", "content_type"),
    [
        ({"to": "ü"}, '{"to": "ü"}'.encode(), "application/json"),
        ([1, None], b"[1, null]", "application/json"),
        (7, b"7", "application/json"),
        (False, b"false", "application/json"),
        ("wörds", "wörds".encode(), "text/plain; charset=utf-8"),
        (None, b"", None),
    ],
)
def test_a_body_is_sent_with_its_content_type(
    site: Any, send: BaseTool, body: Any, content: bytes, content_type: str | None
) -> None:
    site.serve("/", json.dumps({"id": 1}), status=201, Content_Type="application/json", Location="/things/1")

    answer = send.invoke({"url": site.url(), "body": body})

    method, _, headers = site.asked[0]
    assert (method, site.bodies, headers.get("content-type")) == ("POST", [content], content_type)
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (answer["status"], answer["body"], answer["omitted"]) == (201, {"id": 1}, None)
    assert answer["headers"]["location"] == "/things/1"


def test_the_method_is_the_one_that_was_named(site: Any, send: BaseTool) -> None:
    site.serve("/", status=204)

    send.invoke({"url": site.url(), "method": "DELETE"})

    assert site.asked[0][0] == "DELETE"


@pytest.mark.parametrize(
    ("host", "method"), [("page.example", "PUT"), ("read.example", "POST"), ("other.example", "POST")]
)
def test_a_request_that_is_not_allowed_is_not_sent(site: Any, send: BaseTool, host: str, method: str) -> None:
    with pytest.raises(UrlRefused) as refusal:
        send.invoke({"url": site.url(host=host), "method": method, "body": "x"})

    assert isinstance(refusal.value, NothingHappened)
    assert site.asked == []


def test_a_body_that_is_too_large_is_not_sent(site: Any, send: BaseTool) -> None:
    with pytest.raises(UrlRefused):
        send.invoke({"url": site.url(), "body": "x" * 1_000_001})

    assert site.asked == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 422, 429])
def test_a_rejection_by_a_service_means_that_nothing_happened(site: Any, send: BaseTool, status: int) -> None:
    site.serve("/", f"not with {KEY}", status=status)

    with pytest.raises(NothingHappened) as failure:
        send.invoke({"url": site.url()})

    assert str(failure.value).endswith(": not with [hidden]")


@pytest.mark.parametrize("status", [307, 308])
def test_a_service_that_has_moved_did_nothing(site: Any, send: BaseTool, status: int) -> None:
    site.serve("/", status=status, Location="/there")

    with pytest.raises(NothingHappened) as failure:
        send.invoke({"url": site.url()})

    assert str(failure.value).endswith(": it has moved to /there")
    assert len(site.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504])
def test_a_service_that_failed_may_have_done_it(site: Any, send: BaseTool, status: int) -> None:
    site.serve("/", status=status)

    with pytest.raises(RequestFailed) as failure:
        send.invoke({"url": site.url()})

    assert not isinstance(failure.value, NothingHappened)


@pytest.mark.parametrize(("said", "patience_s"), [(None, 0.1), (b"", 60.0), (b"nonsense\r\n\r\n", 60.0)])
def test_no_answer_leaves_open_whether_it_was_done(site: Any, send: BaseTool, said: bytes | None) -> None:
    site.routes["/"] = lambda request: (site.closing.wait() if said is None else request.wfile.write(said)) and None

    with pytest.raises(RequestFailed) as failure:
        send.invoke({"url": site.url()})

    assert not isinstance(failure.value, NothingHappened)


def test_no_connection_is_nothing_that_happened(names: Any) -> None:
    hosts = AllowList((AllowedHost("http://page.example", ("POST",)),))

    with pytest.raises(NotConnected) as failure:
        http_send(Service(hosts, names({}))).invoke({"url": "http://page.example/"})

    assert isinstance(failure.value, NothingHappened)


def test_a_redirect_after_the_deed_is_an_answer(site: Any, send: BaseTool) -> None:
    site.serve("/", status=303, Location="/things/1")

    answer = send.invoke({"url": site.url()})

    assert (answer["status"], answer["headers"]["location"]) == (303, "/things/1")
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("body", "headers", "why"),
    [
        (b"x" * 1_000_001, {"Content_Type": "text/plain"}, "larger than"),
        (b"half", {"Content_Length": "100"}, "the connection broke"),
        (b"\x89PNG\x00", {"Content_Type": "image/png"}, "image/png"),
        (b"{", {"Content_Type": "application/json"}, "is not valid"),
        (b"x", {"Content_Encoding": "br"}, "packed"),
    ],
)
def test_a_request_with_an_unreadable_response_body_is_a_success(
    site: Any, send: BaseTool, body: bytes, headers: dict[str, str], why: str
) -> None:
    site.serve("/", body, **headers)

    answer = send.invoke({"url": site.url()})

    assert (answer["status"], answer["body"]) == (200, None)
    assert why in answer["omitted"]


def test_a_run_sends_the_key_of_each_call(site: Any, send: BaseTool, build: Callable[..., Any]) -> None:
    site.serve("/", status=201)
    step = {"objective": "Send", "tool": "http_send"}
    steps = [{**step, "id": f"step_{n}", "args": {"url": site.url(), "body": n}} for n in range(3)]
    graph = build(tools=[send], approval="never")

    state = graph.invoke({"goal": "Send", "plan": {"steps": steps}}, {"configurable": {"thread_id": "one"}})

    keys = {headers["idempotency-key"] for _, _, headers in site.asked}
    assert (state["status"], len(keys), {len(key) for key in keys}) == ("succeeded", 3, {64})


def test_it_declares_that_sending_twice_is_not_sending_once(send: BaseTool) -> None:
    declared = send.metadata or {}

    assert (declared["effect"], declared["idempotent"], declared["free_args"]) == ("external", False, ())


def test_a_preview_is_the_request_as_it_would_leave_without_its_key(site: Any, send: BaseTool) -> None:
    shown = (send.metadata or {})["preview"](url=site.url(), body={"key": KEY, "to": "ü"})

    assert shown.startswith(f"POST {site.url()}\n")
    assert "authorization: [hidden]" in shown.lower() and "content-type: application/json" in shown
    assert shown.endswith('{"key": "[hidden]", "to": "ü"}') and KEY not in shown
    assert site.asked == []


def test_a_preview_of_a_request_to_another_host_is_refused(site: Any, send: BaseTool) -> None:
    with pytest.raises(UrlRefused):
        (send.metadata or {})["preview"](url=site.url().replace("page.example", "other.example"))
