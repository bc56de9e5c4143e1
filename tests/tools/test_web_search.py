import socket
import sys
from typing import Any

import pytest

from tools.errors import WebSearchFailed
from tools.web_search import BackendError, web_search


def some_results(query: str, limit: int) -> list[dict[str, Any]]:
    return [{"title": f"{query} {n}", "href": f"https://example.org/{n}", "body": "words"} for n in range(limit + 3)]


def test_results_have_title_url_and_snippet_and_are_no_more_than_asked_for() -> None:
    found = web_search(some_results).invoke({"query": "wind", "limit": 2})

    assert found == {
        "query": "wind",
        "results": [
            {"title": "wind 0", "url": "https://example.org/0", "snippet": "words"},
            {"title": "wind 1", "url": "https://example.org/1", "snippet": "words"},
        ],
    }


def test_no_results_are_an_error_and_never_an_empty_success() -> None:
    with pytest.raises(WebSearchFailed) as failure:
        web_search(lambda query, limit: []).invoke({"query": "wind"})

    assert (failure.value.query, failure.value.reason) == ("wind", "no results")


def test_a_refused_connection_becomes_a_clear_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def connect(query: str, limit: int) -> list[dict[str, Any]]:
        socket.create_connection(("127.0.0.1", port), timeout=5)
        return []

    with pytest.raises(WebSearchFailed) as failure:
        web_search(connect).invoke({"query": "wind"})

    assert "refused" in failure.value.reason
    assert "search local documents" in str(failure.value)


def test_a_backend_that_cannot_answer_says_why() -> None:
    def limited(query: str, limit: int) -> list[dict[str, Any]]:
        raise BackendError("too many requests")

    with pytest.raises(WebSearchFailed) as failure:
        web_search(limited).invoke({"query": "wind"})

    assert failure.value.reason == "too many requests"


def test_without_the_package_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)

    with pytest.raises(WebSearchFailed) as failure:
        web_search().invoke({"query": "wind"})

    assert "pip install 'planner-executor[web]'" in failure.value.reason
