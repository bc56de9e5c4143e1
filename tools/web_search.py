"""Tool `web_search`: addresses and snippets from public search engines. Needs the extra `web`."""

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from tools.declaration import ToolArgs, declare
from tools.errors import WebSearchFailed

Backend = Callable[[str, int], list[dict[str, Any]]]

_TIMEOUT_S = 10


class WebSearchArgs(ToolArgs):
    """Arguments of `web_search`."""

    query: str = Field(min_length=1, max_length=400, description="what to look for")
    limit: int = Field(default=5, ge=1, le=20, description="how many results at most")


class BackendError(Exception):
    """A search backend could not answer; the message says why."""


def web_search(backend: Backend | None = None) -> BaseTool:
    """Return the tool.

    Args:
        backend: Query and limit -> results with `title`, `href` and `body`; raises `BackendError`, `OSError` or
            `ValueError` when it has none. Left out: the engines that `ddgs` asks.
    """
    ask = backend or ask_ddgs

    def search(query: str, limit: int = 5) -> dict[str, Any]:
        try:
            found = ask(query, limit)
        except (BackendError, OSError, ValueError) as error:
            raise WebSearchFailed(query, " ".join(str(error).split()) or type(error).__name__) from error
        if not found:
            raise WebSearchFailed(query, "no results")
        return {"query": query, "results": [_to_json(each) for each in found[:limit]]}

    return StructuredTool.from_function(
        func=search,
        name="web_search",
        description="Search the public web. The result is {query, results: [{title, url, snippet}]}.",
        args_schema=WebSearchArgs,
        metadata=declare("external", idempotent=True, timeout_s=60, trusted=False),
    )


def ask_ddgs(query: str, limit: int) -> list[dict[str, Any]]:
    """Ask public search engines; honours the proxy in `DDGS_PROXY`.

    Raises:
        BackendError: No network, no engine answered, nothing found, or `ddgs` is not installed.
    """
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException
    except ImportError as error:
        raise BackendError("it needs: pip install 'planner-executor[web]'") from error
    try:
        return list(DDGS(timeout=_TIMEOUT_S).text(query, max_results=limit))
    except DDGSException as error:
        raise BackendError(str(error)) from error


def _to_json(found: Mapping[str, Any]) -> dict[str, str]:
    return {
        "title": str(found.get("title") or ""),
        "url": str(found.get("href") or ""),
        "snippet": str(found.get("body") or ""),
    }
