import sys
import types
from collections.abc import Sequence
from typing import Any

import pytest

from planner_executor.tools.errors import NothingFound, ToolError
from planner_executor.tools.web.searching import Found, NoAnswerError
from planner_executor.tools.web_search import web_search


def some_results(query: str, limit: int) -> Sequence[Found]:
    return [Found(f"{query} {n}", f"https://example.org/{n}", "words") for n in range(limit + 3)]


def test_results_have_title_url_and_snippet_and_are_no_more_than_asked_for() -> None:
    found = web_search(some_results).invoke({"query": "wind", "limit": 2})

    assert found == {
        "query": "wind",
        "results": [
            {"title": "wind 0", "url": "https://example.org/0", "snippet": "words"},
            {"title": "wind 1", "url": "https://example.org/1", "snippet": "words"},
        ],
    }


def test_long_texts_are_cut_visibly_and_other_addresses_are_left_out() -> None:
    found = [
        Found("t" * 301, "https://example.org/", " a\n b " + "s" * 2000),
        Found("an advertisement", "/click?x", ""),
        Found("a script", "javascript:alert(1)", ""),
        Found("too long", "https://example.org/" + "x" * 2000, ""),
        Found("half \ud800", "http://example.org/", ""),
    ]

    first, second = web_search(lambda query, limit: found).invoke({"query": "wind"})["results"]

    assert first["title"] == "t" * 300 + "…"
    assert first["snippet"].startswith("a b ss")
    assert (len(first["snippet"]), first["snippet"][-1]) == (2001, "…")
    assert second == {"title": "half ?", "url": "http://example.org/", "snippet": ""}


def test_no_results_are_an_error_and_never_an_empty_success() -> None:
    with pytest.raises(NothingFound) as failure:
        web_search(lambda query, limit: []).invoke({"query": "wind"})

    assert "'wind' found nothing; use other words" in str(failure.value)


def test_a_failing_engine_gives_the_reason_and_the_next_move() -> None:
    def limited(query: str, limit: int) -> Sequence[Found]:
        raise NoAnswerError("too many requests", "wait")

    with pytest.raises(ToolError) as failure:
        web_search(limited).invoke({"query": "wind"})

    assert "(too many requests); wait" in str(failure.value)


def test_without_the_package_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    monkeypatch.setitem(sys.modules, "ddgs", None)

    with pytest.raises(ToolError) as failure:
        web_search().invoke({"query": "wind"})

    assert "pip install '.[web]' in the folder of planner-executor" in str(failure.value)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a package in place of `ddgs` that answers with what it is given."""
    from ddgs import exceptions

    def answering(answer: Any) -> Any:
        class DDGS:
            def __init__(self, **_: Any) -> None: ...

            def text(self, query: str, max_results: int) -> Any:
                if isinstance(answer, Exception):
                    raise answer
                return answer

        package = types.ModuleType("ddgs")
        package.DDGS = DDGS  # type: ignore[attr-defined]
        package.exceptions = exceptions  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "ddgs", package)
        monkeypatch.delenv("TAVILY_API_KEY", raising=False)
        return exceptions

    return answering


def test_without_a_key_the_public_engines_are_asked(engines: Any) -> None:
    engines([{"title": "Wind", "href": "https://example.org/", "body": "words"}, {"href": None}])
    search = web_search()

    found = search.invoke({"query": "wind"})

    assert found["results"] == [{"title": "Wind", "url": "https://example.org/", "snippet": "words"}]
    assert "public search engines" in search.description


@pytest.mark.parametrize(
    ("name", "words", "reason", "advice"),
    [
        ("RatelimitException", "202", "asked too often", "TAVILY_API_KEY"),
        ("DDGSException", "No results found.", "nothing found, or asked too often", "wait a few minutes"),
        ("TimeoutException", "timed out", "took too long", "try again later"),
        (
            "DDGSException",
            "DNSError: DNSError('error for url (http://x/?q=a)",
            "be reached: DNSError",
            "local documents",
        ),
        ("DDGSException", "what is this", "what is this", "search local documents"),
        ("DDGSException", "cannot use socks5://me:secret@proxy.example", "socks5://…@proxy.example", "later"),
    ],
)
def test_a_refusal_by_the_engines_is_an_error_with_the_next_move(
    engines: Any, name: str, words: str, reason: str, advice: str
) -> None:
    from ddgs import exceptions

    engines(getattr(exceptions, name)(words))

    with pytest.raises(ToolError) as failure:
        web_search().invoke({"query": "wind"})

    assert reason in str(failure.value)
    assert advice in str(failure.value)
    assert "secret" not in str(failure.value) and "http://x" not in str(failure.value)


def test_with_a_key_tavily_is_asked_and_the_description_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", " tvly-secret ")

    search = web_search()

    assert "by Tavily" in search.description
    assert "tvly-secret" not in repr(search) + str(search.metadata)


def test_it_declares_that_a_query_leaves_the_machine() -> None:
    declared = web_search(some_results).metadata or {}

    assert (declared["effect"], declared["idempotent"], declared["trusted"]) == ("external", True, False)
    assert "query" not in declared["free_args"]
