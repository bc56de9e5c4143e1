"""Tool `web_search`: addresses and snippets from a search engine."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import NothingFound, ToolError, Transient
from planner_executor.tools.web.public_engines import ask_public_engines
from planner_executor.tools.web.searching import Engine, Found, NoAnswerError
from planner_executor.tools.web.tavily import Tavily
from planner_executor.tools.web.urls import LONGEST_URL

_LONGEST_TITLE = 300
_LONGEST_SNIPPET = 2000


class WebSearchArgs(ToolArgs):
    """Arguments of `web_search`."""

    query: str = Field(min_length=1, max_length=400, description="words to search for")
    limit: int = Field(default=5, ge=1, le=20, description="how many results at most")


def web_search(engine: Engine | None = None) -> BaseTool:
    """Return the tool.

    Args:
        engine: Default: Tavily if TAVILY_API_KEY is set, else the public engines of `ddgs`.
    """
    ask = engine or Tavily.configured() or ask_public_engines
    asked = "Tavily" if isinstance(ask, Tavily) else "public search engines"

    def search(query: str, limit: int = 5) -> dict[str, Any]:
        try:
            found = ask(query, limit)
        except NoAnswerError as error:
            failure = Transient if error.may_pass else ToolError
            raise failure(f"web search for {query!r} did not answer ({error.reason}); {error.advice}") from error
        results = [_to_json(each) for each in found if _is_page(each)][:limit]
        if not results:
            raise NothingFound(
                f"web search for {query!r} found nothing; use other words, or search local documents instead"
            )
        return {"query": query, "results": results}

    return StructuredTool.from_function(
        func=search,
        name="web_search",
        description=f"Search the public web by {asked}. The result is {{query, results: [{{title, url, snippet}}]}}.",
        args_schema=WebSearchArgs,
        metadata=declare(
            "external", idempotent=True, timeout_s=60, trusted=False, free_args=("limit",), reversible=False
        ),
    )


def _is_page(found: Found) -> bool:
    return found.url.startswith(("http://", "https://")) and len(found.url) <= LONGEST_URL


def _to_json(found: Found) -> dict[str, str]:
    return {
        "title": _shown(found.title, _LONGEST_TITLE),
        "url": found.url,
        "snippet": _shown(found.snippet, _LONGEST_SNIPPET),
    }


def _shown(text: str, longest: int) -> str:
    clean = " ".join(text.encode("utf-8", "replace").decode().split())
    return clean if len(clean) <= longest else f"{clean[:longest]}…"
