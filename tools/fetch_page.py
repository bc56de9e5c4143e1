"""Tool `fetch_page`: the readable text of a public web page. HTML needs the extra `web`."""

from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.numbers_in_words import counted
from planner_executor.tools.web.blocking import blocking
from planner_executor.tools.web.exchange import WebResponse, within
from planner_executor.tools.web.guard import Guard
from planner_executor.tools.web.readable import EXTRACTION_S, Page, read_page
from planner_executor.tools.web.redirects import follow
from planner_executor.tools.web.statuses import advice, refused
from planner_executor.tools.web.transport import guarded, request_for
from planner_executor.tools.web.urls import LONGEST_URL, checked_url

_ACCEPT = {"accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1"}
_MARGIN_S = 10.0


@dataclass(frozen=True)
class FetchBounds:
    """How long a page may take to come in, all redirects included, and how large it may be, packed or unpacked."""

    seconds: float = 30.0
    most_bytes: int = 5_000_000


class FetchPageArgs(ToolArgs):
    """Arguments of `fetch_page`."""

    url: str = Field(min_length=1, max_length=LONGEST_URL, description="address of a public page, http or https")
    start: int = Field(default=0, ge=0, description="first character; next_start of an earlier part goes on there")
    max_characters: int = Field(default=20_000, ge=1, le=100_000, description="how many characters at most")


def fetch_page(guard: Guard | None = None, bounds: FetchBounds | None = None) -> BaseTool:
    """Return the tool.

    Args:
        guard: Says which addresses may be connected to. Left out: those of the public internet.
        bounds: Left out: 30 seconds and 5 MB.
    """
    guard, bounds = guard or Guard(), bounds or FetchBounds()

    async def fetch(url: str, start: int = 0, max_characters: int = 20_000) -> dict[str, Any]:
        answer = await _fetched(url, guard, bounds)
        # A cancelled call does not wait for the process that reads the page: its own bounds end it.
        page = await anyio.to_thread.run_sync(read_page, answer, abandon_on_cancel=True)
        return _part(str(answer.url), page, start, max_characters)

    return StructuredTool.from_function(
        func=blocking(fetch),
        coroutine=fetch,
        name="fetch_page",
        description=(
            "Fetch a public web page and read its main text as Markdown. The result is {source, title, published, "
            "start, end, total, next_start, text}: source is the address after redirects, next_start is null at the "
            "end of the text."
        ),
        args_schema=FetchPageArgs,
        metadata=declare(
            "external",
            idempotent=True,
            # Later than the limits within, which say what took so long.
            timeout_s=bounds.seconds + EXTRACTION_S + _MARGIN_S,
            trusted=False,
            free_args=("start", "max_characters"),
            reversible=False,
        ),
    )


async def _fetched(url: str, guard: Guard, bounds: FetchBounds) -> WebResponse:
    target = checked_url(url)
    with within(bounds.seconds, url):
        async with guarded(guard) as transport:
            send = transport.handle_async_request
            answer = await follow(send, target, lambda place: request_for("GET", place, _ACCEPT), bounds.most_bytes)
    if not answer.is_success:
        reason = f"it answered {answer.phrase}; {advice(answer.status, answer.headers)}"
        raise refused(str(answer.url), answer.status, reason)
    return answer


def _part(source: str, page: Page, start: int, most: int) -> dict[str, Any]:
    total = len(page.text)
    if start >= total:
        raise SourceNotReadable(source, f"its text has {counted(total, 'character')}, none at {start}")
    end = min(start + most, total)
    return {
        "source": source,
        "title": page.title,
        "published": page.published,
        "start": start,
        "end": end,
        "total": total,
        "next_start": end if end < total else None,
        "text": page.text[start:end],
    }
