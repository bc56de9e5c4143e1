"""Servers that are reached by streamable HTTP, on loopback."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest

from planner_executor import McpServers
from planner_executor.tools.errors import McpCallFailed, McpUnavailable

Small = Any


def call(servers: McpServers, tool: str, **args: Any) -> Any:
    (found,) = (each for each in servers.tools() if each.name == tool)
    return asyncio.run(found.arun(args))


def test_a_server_is_reached_with_the_headers_that_are_configured(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_TOKEN", "0123456789")
    small.behave("token", "0123456789")
    headers = {"Authorization": "Bearer ${SMALL_TOKEN}"}

    with small.over_http() as url, McpServers({"small": {"type": "http", "url": url, "headers": headers}}) as servers:
        assert [call(servers, "echo", text=text) for text in "ab"] == ["a", "b"]


def test_a_server_that_does_not_let_us_in_is_named(small: Small) -> None:
    small.behave("token", "0123456789")

    with (
        small.over_http() as url,
        pytest.raises(McpUnavailable) as refused,
        McpServers({"small": {"url": url}}),
    ):
        raise AssertionError("it was reached")

    assert refused.value.server == "small"


def test_a_server_that_nobody_runs_is_named() -> None:
    with pytest.raises(McpUnavailable), McpServers({"small": {"url": "http://127.0.0.1:9/mcp"}}):
        raise AssertionError("it was reached")


def test_a_server_that_goes_away_in_a_call_fails_that_call_and_the_next_did_not_happen(small: Small) -> None:
    with small.over_http() as url, McpServers({"small": {"url": url}}) as servers:
        with pytest.raises(McpCallFailed, match="ended during the call"):
            call(servers, "die")
        with pytest.raises(McpUnavailable):
            call(servers, "note", text="x")

    assert [tool for tool, _ in small.calls] == ["die"]


def test_a_server_that_is_back_at_its_address_is_reached_again(small: Small) -> None:
    with small.over_http() as url, McpServers({"small": {"url": url}}) as servers:
        with pytest.raises(McpCallFailed, match="ended during the call"):
            call(servers, "die")
        with small.over_http(urlsplit(url).port):
            assert call(servers, "echo", text="back") == "back"


@pytest.mark.timeout(60)  # the server never answers when its session is to be ended
def test_a_server_that_does_not_end_its_session_does_not_hold_us_up(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner_executor.tools.mcp.session.END_TIMEOUT_S", 0.5)
    small.behave("clingy")

    with small.over_http() as url, McpServers({"small": {"url": url}}) as servers:
        assert call(servers, "echo", text="x") == "x"


def test_a_call_that_is_given_up_does_not_disturb_the_next(small: Small) -> None:
    async def given_up(servers: McpServers) -> Any:
        tools = {tool.name: tool for tool in servers.tools()}
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await tools["slow"].arun({})
        return await tools["echo"].arun({"text": "x"})

    with small.over_http() as url, McpServers({"small": {"url": url}}) as servers:
        assert asyncio.run(given_up(servers)) == "x"
