"""Tool `http_get`: a reading request to an allowed host."""

from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.web.allowed_hosts import READING
from planner_executor.tools.web.blocking import blocking
from planner_executor.tools.web.service import Service
from planner_executor.tools.web.urls import LONGEST_URL

_MARGIN_S = 10.0


def http_get(service: Service) -> BaseTool:
    """Return the tool over the hosts that allow reading; its schema lists them, so an approval covers them."""
    allowed = service.allowed.allowing(READING)

    class HttpGetArgs(ToolArgs):
        """Arguments of `http_get`."""

        url: str = Field(min_length=1, max_length=LONGEST_URL, description=f"address at one of: {allowed}")
        method: Literal["GET", "HEAD"] = Field(default="GET", description="HEAD asks for the headers alone")

    async def get(url: str, method: Literal["GET", "HEAD"] = "GET") -> dict[str, Any]:
        return await service.read(url, method)

    return StructuredTool.from_function(
        func=blocking(get),
        coroutine=get,
        name="http_get",
        description=(
            "Read from an HTTP service. The result is {url, status, content_type, headers, body}: body is JSON if "
            "the service sends JSON, else text."
        ),
        args_schema=HttpGetArgs,
        metadata=declare(
            "external", idempotent=True, timeout_s=service.seconds + _MARGIN_S, trusted=False, reversible=False
        ),
    )
