"""Who is answered by the development server: each rule on requests as browsers, programs and proxies send them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.serving.access import HOSTS, ORIGINS, TOKEN, Access, RequestHead

LOCAL = "127.0.0.1"
STUDIO = "https://smith.langchain.com"
SECRET = "a-token-of-twenty-four"
OPEN = Access()
NAMED = Access.from_environment({HOSTS: "agent.example.com, 10.0.0.5:2024", ORIGINS: f"{STUDIO} http://app.test:8080"})
GUARDED = Access.from_environment({HOSTS: "agent.example.com", TOKEN: SECRET})


def request(method: str = "GET", client: str | None = LOCAL, server: str | None = LOCAL, **headers: Any) -> RequestHead:
    """Return a request from this machine to this machine; a header that is given as a list is sent several times."""
    given = {"host": "127.0.0.1:2024", **{name.replace("_", "-"): value for name, value in headers.items()}}
    pairs = [(name, each) for name, value in given.items() for each in (value if isinstance(value, list) else [value])]
    return RequestHead(method, [(name, value) for name, value in pairs if value is not None], client, server)


def status(access: Access, request: RequestHead) -> int | None:
    refusal = access.refusal(request)
    return refusal.status if refusal else None


@pytest.mark.parametrize(
    "host", ["127.0.0.1:2024", "127.0.0.9", "localhost:2024", "LocalHost", "[::1]:2024", "localhost."]
)
def test_this_machines_own_names_are_answered(host: str) -> None:
    assert status(OPEN, request(host=host)) is None


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0:2024", "2130706433", "[::]:2024",
     "", "a@127.0.0.1", "127.0.0.1:2024/x", "127.0.0.1 evil", None,
     ["127.0.0.1", "evil.example"], ["127.0.0.1", "127.0.0.1"]],
)  # fmt: skip
def test_other_hosts_are_refused_although_they_lead_here(host: Any) -> None:
    assert status(OPEN, request(host=host)) == 421


@pytest.mark.parametrize(
    ("host", "refused"),
    [("agent.example.com", 403), ("agent.example.com:99", 403), ("10.0.0.5:2024", 403), ("10.0.0.5:1", 421)],
)
def test_a_host_that_was_named_is_known_and_still_needs_a_token(host: str, refused: int) -> None:
    assert status(NAMED, request(host=host)) == refused


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:2024", "https://[::1]:3", None])
def test_pages_of_this_machine_and_programs_are_answered(origin: str | None) -> None:
    assert status(OPEN, request("POST", origin=origin)) is None


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", STUDIO, "file://", "http://localhost.evil.example", "http://127.0.0.1@evil.example",
     "http://evil.example#127.0.0.1", "chrome-extension://abc", "*", ["http://localhost:1", "https://evil.example"]],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_pages_of_other_origins_are_refused(origin: Any, method: str) -> None:
    assert status(OPEN, request(method, origin=origin)) == 403


def test_an_origin_that_was_named_is_answered_and_no_other_port_or_scheme_of_it() -> None:
    answered = [STUDIO, f"{STUDIO}:443", "http://app.test:8080"]
    refused = ["http://smith.langchain.com", f"{STUDIO}:8443", "http://app.test", "https://sub.smith.langchain.com"]

    assert [status(NAMED, request("POST", origin=origin)) for origin in answered] == [None] * 3
    assert [status(NAMED, request("POST", origin=origin)) for origin in refused] == [403] * 4


@pytest.mark.parametrize(
    ("site", "refused"), [("cross-site", 403), ("same-origin", None), ("none", None), (None, None)]
)
def test_a_link_or_an_image_on_a_page_of_others_is_refused(site: str | None, refused: int | None) -> None:
    assert status(OPEN, request(sec_fetch_site=site)) == refused


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "text/plain;charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "", None, "application/jsonx", "text/json", ["application/json", "text/plain"], "text/plain, application/json"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "QUERY"])
def test_a_body_that_is_not_said_to_be_json_is_refused(kind: Any, method: str) -> None:
    assert status(OPEN, request(method, content_type=kind, content_length="12")) == 415
    assert status(OPEN, request(method, content_type=kind, transfer_encoding="chunked")) == 415


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"]
)
def test_json_is_taken_and_so_is_a_request_without_a_body(kind: str) -> None:
    assert status(OPEN, request("POST", content_type=kind, content_length="12")) is None
    assert status(OPEN, request("DELETE")) is None and status(OPEN, request("POST", content_length="0")) is None


@pytest.mark.parametrize(
    "more",
    [{"client": "192.168.0.9"}, {"server": "192.168.0.2"}, {"client": None}, {"client": "testclient"},
     {"x_forwarded_for": LOCAL}, {"forwarded": "for=127.0.0.1"}, {"x_forwarded_host": "a"}, {"x_real_ip": LOCAL}],
)  # fmt: skip
def test_what_comes_from_elsewhere_needs_a_token_whatever_it_calls_itself(more: dict[str, Any]) -> None:
    refusal = OPEN.refusal(request(**more))

    assert refusal is not None and refusal.status == 403 and TOKEN in refusal.reason
    assert GUARDED.refusal(request(**more)) is None


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"authorization": f"Bearer {SECRET}"}, False),
        ({"authorization": f"bearer  {SECRET} "}, False),
        ({"x_api_key": SECRET}, False),
        ({}, True),
        ({"authorization": SECRET}, True),
        ({"authorization": f"Basic {SECRET}"}, True),
        ({"authorization": f"Bearer {SECRET}x"}, True),
        ({"authorization": "Bearer é"}, True),
        ({"x_api_key": ""}, True),
        ({"x_auth_scheme": "langsmith"}, True),
    ],
)
def test_where_a_token_is_set_every_request_holds_it(headers: dict[str, str], refused: bool) -> None:
    assert (GUARDED.token_refusal(request(**headers)) is not None) == refused
    assert OPEN.token_refusal(request(**headers)) is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [(HOSTS, "*"), (HOSTS, "https://a.example"), (ORIGINS, "*"), (ORIGINS, "a.example"), (ORIGINS, "https://a.example/x"),
     (ORIGINS, "null"), (TOKEN, "short"), (TOKEN, "sixteen letters x"), (TOKEN, "é" * 20)],
)  # fmt: skip
def test_a_variable_that_cannot_be_meant_stops_the_server_before_it_starts(variable: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Access.from_environment({variable: value})

    assert variable in str(caught.value) and (variable != TOKEN or value not in str(caught.value))


def test_the_token_is_in_no_representation() -> None:
    assert SECRET not in repr(GUARDED)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_in_a_header_raises_or_passes_for_this_machine(host: str, origin: str) -> None:
    ours = host.strip().lower().startswith(("localhost", "127.", "[::1]", "[::ffff:"))
    if not ours:
        assert status(OPEN, request(host=host)) == 421
    OPEN.refusal(request("POST", host=host, origin=origin))


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", [("origin", "http://localhost:3000")], None),
        ("GET", [("origin", "http://localhost:3000")] * 2, 403),
        ("GET", [("origin", "http://localhost:3000"), ("sec-fetch-site", "cross-site")], None),
        ("GET", [("sec-fetch-site", "cross-site")], 403),
        ("GET", [("content-length", "4"), ("content-type", "text/plain")], None),
        ("POST", [("content-length", "4"), ("content-type", "text/plain")], 415),
        ("POST", [("content-length", "4"), ("content-type", "text/x+json")], 415),
        ("POST", [("content-length", "4"), ("content-type", "application/x+json")], None),
    ],
)
def test_a_page_of_one_allowed_origin_sends_json(
    method: str, headers: list[tuple[str, str]], status: int | None
) -> None:
    refused = Access().refusal(RequestHead(method, [("host", "localhost"), *headers], LOCAL, LOCAL))

    assert (None if refused is None else refused.status) == status


def test_a_token_has_at_least_16_characters() -> None:
    assert Access.from_environment({TOKEN: "x" * 16}).token == "x" * 16
    with pytest.raises(ConfigError, match="16 ASCII characters"):
        Access.from_environment({TOKEN: "x" * 15})


def test_a_request_without_a_host_is_refused() -> None:
    assert status(OPEN, RequestHead("GET", [], LOCAL, LOCAL)) == 421
    assert status(OPEN, RequestHead("GET", [("host", "localhost")], LOCAL, LOCAL)) is None
