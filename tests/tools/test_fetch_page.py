import asyncio
import sys
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from planner_executor.tools.errors import NotConnected, RequestFailed, SourceNotReadable, UrlRefused
from planner_executor.tools.fetch_page import FetchBounds, fetch_page
from planner_executor.tools.summarize_text import summarize

PAGE = "<html><head><title>Wind</title></head><body><p>Wind turns into power. It is cheap.</p></body></html>"


@pytest.fixture
def fetch(guard: Any) -> BaseTool:
    return fetch_page(guard())


def test_a_page_is_fetched_and_read(site: Any, fetch: BaseTool) -> None:
    site.serve("/wind", PAGE, Content_Type="text/html")
    site.serve("/", status=302, Location="/wind")

    page = fetch.invoke({"url": site.url()})

    assert page == {
        "source": site.url("/wind"),
        "title": "Wind",
        "published": None,
        "start": 0,
        "end": 35,
        "total": 35,
        "next_start": None,
        "text": "Wind turns into power. It is cheap.",
    }


def test_a_long_text_comes_in_parts_that_say_so(site: Any, fetch: BaseTool) -> None:
    site.serve("/", "0123456789", Content_Type="text/plain")

    first = fetch.invoke({"url": site.url(), "max_characters": 6})
    second = fetch.invoke({"url": site.url(), "max_characters": 6, "start": first["next_start"]})

    assert (first["text"], first["end"], first["total"], first["next_start"]) == ("012345", 6, 10, 6)
    assert (second["text"], second["end"], second["next_start"]) == ("6789", 10, None)
    with pytest.raises(SourceNotReadable):
        fetch.invoke({"url": site.url(), "start": 10})


async def test_it_can_be_awaited_and_called_while_a_loop_runs(site: Any, fetch: BaseTool) -> None:
    site.serve("/", "words", Content_Type="text/plain")

    awaited = await fetch.ainvoke({"url": site.url()})
    called = fetch.invoke({"url": site.url()})
    assert [awaited["text"], called["text"]] == ["words", "words"]


@pytest.mark.parametrize(
    ("status", "headers", "advice"),
    [
        (404, {}, "there is nothing at this address"),
        (403, {}, "use another source"),
        (429, {"Retry_After": "30"}, "try again in 30 seconds"),
        (503, {}, "the server failed; try again later"),
        (418, {}, "does not serve this request"),
        (302, {}, "does not serve this request"),
    ],
)
def test_an_error_status_is_an_error_with_the_next_move(
    site: Any, fetch: BaseTool, status: int, headers: dict[str, str], advice: str
) -> None:
    site.serve("/", PAGE, status=status, **headers)

    with pytest.raises(RequestFailed) as failure:
        fetch.invoke({"url": site.url()})

    assert failure.value.reason.startswith(f"it answered {status}") and advice in failure.value.reason


def test_a_forbidden_address_is_never_fetched_named_or_redirected_to(
    site: Any, guard: Any, names: Any, forbidden: str
) -> None:
    literal = f"[{forbidden}]" if ":" in forbidden else forbidden
    fetch = fetch_page(
        guard(
            names(
                {
                    "page.example": ("127.0.0.1",),
                    "evil.example": (forbidden,),
                    "mixed.example": ("93.184.216.34", forbidden),
                }
            )
        )
    )
    targets = [
        f"{scheme}://{host}/" for scheme in ("http", "https") for host in (literal, "evil.example", "mixed.example")
    ]

    for number, target in enumerate(targets):
        site.serve(f"/{number}", status=302, Location=target)
        with pytest.raises(UrlRefused):
            fetch.invoke({"url": target})
        with pytest.raises(RequestFailed) as failure:
            fetch.invoke({"url": site.url(f"/{number}")})
        assert "only public ones may be used" in failure.value.reason

    assert len(site.asked) == len(targets)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://2130706433/", "http://me:secret@example.org/"])
def test_an_invalid_address_is_refused(fetch: BaseTool, url: str) -> None:
    with pytest.raises(UrlRefused):
        fetch.invoke({"url": url})


def test_without_a_guard_of_ones_own_this_machine_is_out_of_reach(site: Any) -> None:
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(UrlRefused) as refusal:
            fetch_page().invoke({"url": site.url(host=host)})
        assert "loopback" in refusal.value.reason
    assert site.asked == []


def test_a_redirect_to_this_machine_is_refused(site: Any, guard: Any, names: Any) -> None:
    fetch = fetch_page(guard(names({"page.example": [("127.0.0.1",), ("127.0.0.1", "::1")]})))
    site.serve("/", status=307, Location=site.url("/secret"))
    site.serve("/secret", "secret")

    with pytest.raises(RequestFailed) as failure:
        fetch.invoke({"url": site.url()})

    assert "loopback" in failure.value.reason
    assert [path for _, path, _ in site.asked] == ["/"]


def test_a_host_that_does_not_exist_is_not_reached(fetch: BaseTool) -> None:
    with pytest.raises(NotConnected):
        fetch.invoke({"url": "https://nowhere.example/"})


def test_a_page_that_is_too_large_is_never_cut(site: Any, guard: Any) -> None:
    site.serve("/", "x" * 101, Content_Type="text/plain")

    with pytest.raises(SourceNotReadable) as failure:
        fetch_page(guard(), FetchBounds(most_bytes=100)).invoke({"url": site.url()})

    assert failure.value.reason == "it is larger than 100 bytes"


def test_a_silent_server_is_left_at_the_time_limit(site: Any, guard: Any) -> None:
    site.routes["/"] = lambda request: site.closing.wait() and None

    with pytest.raises(RequestFailed) as failure:
        fetch_page(guard(), FetchBounds(seconds=0.2)).invoke({"url": site.url()})

    assert failure.value.reason == "no complete answer within 0.2 seconds"


async def test_a_fetch_that_is_cancelled_ends_at_once(site: Any, fetch: BaseTool) -> None:
    site.routes["/"] = lambda request: site.closing.wait() and None

    with pytest.raises(asyncio.CancelledError):
        fetching = asyncio.ensure_future(fetch.ainvoke({"url": site.url()}))
        while not site.asked:
            await asyncio.sleep(0.01)
        fetching.cancel()
        await fetching


def test_it_declares_that_a_url_may_carry_data_out(fetch: BaseTool) -> None:
    declared = fetch.metadata or {}

    assert (declared["effect"], declared["idempotent"], declared["trusted"]) == ("external", True, False)
    assert "url" not in declared["free_args"]


def test_html_without_the_package_is_an_error_that_names_it(
    site: Any, fetch: BaseTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    site.serve("/", PAGE, Content_Type="text/html")

    with pytest.raises(SourceNotReadable) as failure:
        fetch.invoke({"url": site.url()})

    assert "pip install '.[web]' in the folder of planner-executor" in failure.value.reason


def test_a_summary_of_a_page_cites_its_address_and_heading(site: Any, fetch: BaseTool) -> None:
    words = "<p>Offshore wind costs more to build than wind on land, and it blows more often.</p>" * 4
    page = f"<html><body><article><h1>Wind</h1>{words}<h2>Costs are rising.</h2>{words}</article></body></html>"
    site.serve("/wind", page, Content_Type="text/html")

    statement, *_ = summarize(fetch.invoke({"url": site.url("/wind")}))["statements"]

    assert (statement["source"], statement["heading"]) == (site.url("/wind"), "Wind")


def test_a_run_reads_a_page_and_ends_failed_if_it_may_not(site: Any, fetch: BaseTool, build: Any) -> None:
    site.serve("/", "words", Content_Type="text/plain")
    steps = [
        {"id": "page", "objective": "Read", "tool": "fetch_page", "args": {"url": site.url()}},
        {"id": "secret", "objective": "Read", "tool": "fetch_page", "args": {"url": "http://169.254.169.254/"}},
    ]
    graph = build(tools=[fetch], approval="never", replan="never")

    state = graph.invoke({"goal": "Read", "plan": {"steps": steps}}, {"configurable": {"thread_id": "one"}})

    assert state["results"]["page"]["value"]["text"] == "words"
    assert state["status"] == "partial"
    assert "a metadata address" in state["results"]["secret"]["error"]
