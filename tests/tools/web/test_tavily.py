import gzip
import json
import socket
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from planner_executor import Agent, AllowedHost
from planner_executor.tools.errors import ToolError
from planner_executor.tools.http_get import http_get
from planner_executor.tools.web.allowed_hosts import AllowList
from planner_executor.tools.web.searching import Found, NoAnswerError
from planner_executor.tools.web.service import Service
from planner_executor.tools.web.tavily import Tavily
from planner_executor.tools.web_search import web_search

KEY = "tvly-1234567890"
RESULT = {"title": "Wind", "url": "https://example.org/", "content": "words", "score": 0.9}


@pytest.fixture
def tavily(site: Any) -> Tavily:
    return Tavily(SecretStr(KEY), site.url("/search", host="127.0.0.1"))


def test_a_question_is_asked_with_the_key_and_answered(site: Any, tavily: Tavily) -> None:
    site.serve("/search", json.dumps({"query": "wind", "results": [RESULT]}), Content_Type="application/json")

    assert tavily("wind", 3) == [Found("Wind", "https://example.org/", "words")]

    method, _, headers = site.asked[0]
    assert (method, headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert json.loads(site.bodies[0]) == {"query": "wind", "max_results": 3}


@pytest.mark.parametrize(
    ("status", "headers", "reason", "advice"),
    [
        (401, {}, "the key in TAVILY_API_KEY is not accepted", "have a person mend it"),
        (403, {}, "the key in TAVILY_API_KEY may not search", "have a person mend it"),
        (429, {"Retry_After": "30"}, "Tavily was asked too often", "try again in 30 seconds"),
        (429, {}, "Tavily was asked too often", "try again later"),
        (432, {}, "the plan of the key in TAVILY_API_KEY is used up", "search local documents"),
        (433, {}, "the budget of the key in TAVILY_API_KEY is used up", "search local documents"),
        (500, {}, "Tavily answered 500 Internal Server Error", "try again later"),
    ],
)
def test_a_refusal_names_the_next_move(
    site: Any, tavily: Tavily, status: int, headers: dict[str, str], reason: str, advice: str
) -> None:
    site.serve("/search", json.dumps({"detail": {"error": f"no, {KEY}"}}), status=status, **headers)

    with pytest.raises(NoAnswerError) as failure:
        tavily("wind", 3)

    assert failure.value.reason.startswith(reason)
    assert advice in failure.value.advice
    assert KEY not in "".join(traceback.format_exception(failure.value))


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"not json", {}),
        (b"[]", {}),
        (b'{"error": "an exception in a success"}', {}),
        (b'{"results": null}', {}),
        (b'{"results": [7]}', {}),
        (b"[" * 100_000, {}),
        (b"half", {"Content_Length": "100"}),
        (gzip.compress(bytes(10_000_000)), {"Content_Encoding": "gzip"}),
        (b"x", {"Content_Encoding": "br"}),
    ],
)
def test_a_response_without_results_is_a_failure(
    site: Any, tavily: Tavily, body: bytes, headers: dict[str, str]
) -> None:
    site.serve("/search", body, **headers)

    with pytest.raises(NoAnswerError):
        tavily("wind", 3)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        tavily = Tavily(SecretStr(KEY), f"http://127.0.0.1:{free.getsockname()[1]}/")
        with pytest.raises(NoAnswerError) as failure:
            tavily("wind", 3)

    assert "no connection" in failure.value.reason


def test_a_redirect_takes_the_key_nowhere(site: Any, tavily: Tavily) -> None:
    site.serve("/search", status=307, Location="/elsewhere")

    with pytest.raises(NoAnswerError):
        tavily("wind", 3)

    assert len(site.asked) == 1


@pytest.mark.parametrize("key", ["tvly-\x00secret", "tvly-sécret", "tvly\r\nHost: secret"])
def test_a_key_that_cannot_be_sent_is_not_shown(site: Any, key: str) -> None:
    with pytest.raises(NoAnswerError) as failure:
        Tavily(SecretStr(key), site.url(host="127.0.0.1"))("wind", 3)

    assert failure.value.reason == "the key in TAVILY_API_KEY is not accepted"
    assert site.asked == []


@pytest.mark.parametrize(("value", "is_there"), [(None, False), ("", False), (" ", False), (KEY, True)])
def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, value: str | None, is_there: bool) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TAVILY_API_KEY", value)

    engine = Tavily.configured()

    assert (engine is not None) is is_there
    assert KEY not in repr(engine)


def test_no_file_that_a_run_leaves_behind_holds_a_key(site: Any, names: Any, tavily: Tavily, tmp_path: Path) -> None:
    """Both services repeat the key in what they say, in success and in failure."""
    host = AllowedHost(site.url(""), headers={"Authorization": f"Bearer {KEY}"})
    get = http_get(Service(AllowList((host,)), names({"page.example": ("127.0.0.1",)})))
    said = {**RESULT, "content": f"the key is {KEY}"}
    site.serve("/search", json.dumps({"results": [said]}), Content_Type="application/json")
    site.serve("/yes", json.dumps({"sent": f"Bearer {KEY}"}), Content_Type="application/json")
    site.serve("/no", f"Bearer {KEY} is wrong", status=401)
    steps = [
        {"id": "found", "objective": "Search", "tool": "web_search", "args": {"query": "wind"}},
        {"id": "yes", "objective": "Ask", "tool": "http_get", "args": {"url": site.url("/yes")}},
        {"id": "no", "objective": "Ask", "tool": "http_get", "args": {"url": site.url("/no")}},
    ]

    with Agent.open(tmp_path / "runs.db", tools=[web_search(tavily), get], approval="never", replan="never") as agent:
        run = agent.start("Search", plan={"steps": steps})

    assert run.status == "partial"
    assert [headers["authorization"] for _, _, headers in site.asked] == [f"Bearer {KEY}"] * 3
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if KEY.encode() in file.read_bytes()]


def test_a_failed_search_does_not_show_the_key(site: Any, tavily: Tavily) -> None:
    site.serve("/search", f"wrong: {KEY}", status=400)

    with pytest.raises(ToolError) as failure:
        web_search(tavily).invoke({"query": "wind"})

    assert "wrong: [hidden]" in str(failure.value)
    assert KEY not in "".join(traceback.format_exception(failure.value))
