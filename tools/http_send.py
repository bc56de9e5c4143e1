"""Tool `http_send`: a request with an effect to an allowed host."""

import json
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.idempotency import idempotency_key
from planner_executor.tools.web.allowed_hosts import SENDING
from planner_executor.tools.web.blocking import blocking
from planner_executor.tools.web.service import Service
from planner_executor.tools.web.urls import LONGEST_URL

Body = dict[str, Any] | list[Any] | str | int | float | bool | None

_MARGIN_S = 10.0


def http_send(service: Service) -> BaseTool:
    """Return the tool over the hosts that allow sending; its schema lists them, so an approval covers them."""
    allowed = service.allowed.allowing(SENDING)

    class HttpSendArgs(ToolArgs):
        """Arguments of `http_send`."""

        url: str = Field(min_length=1, max_length=LONGEST_URL, description=f"address at one of: {allowed}")
        method: Literal["POST", "PUT", "PATCH", "DELETE"] = Field(default="POST", description="what is to be done")
        body: Body = Field(default=None, description="text is sent as text, everything else as JSON, null as nothing")

    async def send(
        url: str, method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST", body: Body = None
    ) -> dict[str, Any]:
        content, headers = _packed(body)
        return await service.send(url, method, content, {**headers, **_key()})

    def preview(url: str, method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST", body: Body = None) -> str:
        content, headers = _packed(body)
        return service.request_preview(url, method, content, headers)

    return StructuredTool.from_function(
        func=blocking(send),
        coroutine=send,
        name="http_send",
        description=(
            "Have an HTTP service do something, once. The result is {url, status, content_type, headers, body, "
            "omitted}: body is JSON if the service sends JSON, else text; omitted is the reason if it is null."
        ),
        args_schema=HttpSendArgs,
        metadata=declare(
            "external",
            idempotent=False,
            timeout_s=service.seconds + _MARGIN_S,
            trusted=False,
            reversible=False,
            preview=preview,
            preview_leaves=False,
        ),
    )


def _packed(body: Body) -> tuple[bytes, dict[str, str]]:
    if body is None:
        return b"", {}
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), {"content-type": "text/plain; charset=utf-8"}
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), {"content-type": "application/json"}


def _key() -> dict[str, str]:
    """Return the header by which a service recognises a repeated request."""
    try:
        return {"idempotency-key": idempotency_key()}
    except LookupError:
        return {}
