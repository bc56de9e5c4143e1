"""One session with a server: its contexts are entered and left in one task, and used from any task of the loop."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from planner_executor.tools.call_progress import CallProgress, ProgressListener
from planner_executor.tools.call_questions import CallQuestion, CallReplies, InputNeeded
from planner_executor.tools.errors import McpCallFailed, McpConnectionLost, McpUnavailable
from planner_executor.tools.mcp.config import HttpServer, StdioServer
from planner_executor.tools.mcp.content import error_of, size_fault, value_of
from planner_executor.tools.mcp.elicitation import declare_forms, input_needed, responses
from planner_executor.tools.mcp.launch import entered, reason_of
from planner_executor.tools.mcp.stderr import LOG, StandardError

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.shared.dispatcher import ProgressFnT
    from mcp.types import Tool

LAST_WORDS_S = 0.5
END_TIMEOUT_S = 8.0
"""A program is given two seconds to end by itself, two more when it is asked to, and is then killed."""

WORDS = 500
MAX_PAGES = 100
_FORGOTTEN = "the server does not take the answer: it was started anew since it asked, or the answer came too late"
_LOST = "the server ended during the call, which may have had its effect; it is started again when next needed"

for noisy in ("mcp", "client"):  # the client's own loggers: without a handler their warnings go to the terminal
    logging.getLogger(noisy).addHandler(logging.NullHandler())


class NoListing(Exception):
    """The server does not list its tools; the message is the reason."""


class StateRefused(Exception):
    """The server does not go on with the call that it had asked in; the message is the reason."""


class Session:
    """A server that is started or reached at once, and held until `end`."""

    def __init__(self, server: StdioServer | HttpServer, start_timeout_s: float) -> None:
        self._server = server
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # somebody has looked
        self._keeper = asyncio.create_task(self._keep(start_timeout_s), name=f"mcp {server.name}")

    async def begun(self) -> "ClientSession":
        """Wait until the server can be used.

        Raises:
            McpUnavailable: It cannot be started or reached in time.
        """
        # Shielded: one caller that is cancelled must not cancel the start for the others.
        return await asyncio.shield(self._ready)

    async def end(self) -> None:
        """Leave the server; one that was started here is stopped. Does not wait for one that does not end."""
        self._leave.set()
        if self._ready.done():
            await asyncio.wait([self._keeper], timeout=END_TIMEOUT_S)
        if not self._keeper.done():
            self._keeper.cancel()
            await asyncio.wait([self._keeper], timeout=END_TIMEOUT_S)

    async def tools(self) -> "dict[str, Tool]":
        """Return the server's tools as they are now, by name.

        Raises:
            NoListing: It does not answer, or its response is unreadable.
        """
        from mcp import MCPError
        from mcp.types import PaginatedRequestParams
        from pydantic import ValidationError

        found: dict[str, Tool] = {}
        cursor: str | None = None
        client = await self.begun()
        try:
            # Bounded: a server may name another page for ever.
            for _ in range(MAX_PAGES):
                page = await client.list_tools(params=PaginatedRequestParams(cursor=cursor))
                found = {**{tool.name: tool for tool in page.tools}, **found}
                cursor = page.next_cursor
                if not cursor:
                    break
        except (MCPError, ValidationError) as error:
            raise NoListing(self._words(error)) from None
        return found

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        listener: ProgressListener | None = None,
        replies: CallReplies | None = None,
    ) -> Any:
        """Call a tool and return its value; the listener is told of the progress that the server reports.

        With `replies` the call goes on that the server has asked in.

        Raises:
            InputNeeded: The server asks; the call is over.
            StateRefused: The server does not take the replies; the tool did not run.
            McpCallFailed: The server says so, its answer cannot be read, or the connection ended before it.
        """
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, INVALID_PARAMS, InputRequiredResult

        try:
            client = await self.begun()
            answer = await client.call_tool(
                tool,
                args,
                progress_callback=self._progress_callback(listener),
                input_responses=responses(replies) if replies is not None else None,
                request_state=replies.state if replies is not None else None,
                allow_input_required=True,
            )
            if isinstance(answer, InputRequiredResult):
                raise self._asked(input_needed(answer))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise McpConnectionLost(self._server.name, tool, _LOST) from None
            if replies is not None and error.code == INVALID_PARAMS:
                raise StateRefused(f"{_FORGOTTEN} ({self._words(error)})") from None
            raise McpCallFailed(self._server.name, tool, self._words(error)) from None
        except (ValueError, RuntimeError) as error:  # breaks the protocol or its own schema, or asks for input
            raise McpCallFailed(self._server.name, tool, self._words(error)) from None
        if answer.is_error:
            raise McpCallFailed(self._server.name, tool, self._server.hide(error_of(answer)))
        value = self._server.hide(value_of(answer))
        if fault := size_fault(value):
            raise McpCallFailed(self._server.name, tool, fault)
        return value

    def _asked(self, needed: InputNeeded) -> InputNeeded:
        hide = self._server.hide
        told = [CallQuestion(one.id, hide(one.text), hide(one.schema)) for one in needed.questions]
        return InputNeeded(tuple(told), needed.state)

    def _progress_callback(self, listener: ProgressListener | None) -> "ProgressFnT | None":
        if listener is None:
            return None

        async def callback(progress: float, total: float | None, message: str | None) -> None:
            listener(CallProgress(progress, total, self._server.hide(message) if message else None))

        return callback

    def _words(self, error: Exception) -> str:
        return str(self._server.hide(str(error)))[:WORDS]

    async def _keep(self, start_timeout_s: float) -> None:
        """Hold the server from its start until it is left, all in this task."""
        server = self._server
        standard_error = StandardError(server) if isinstance(server, StdioServer) else None
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(start_timeout_s):
                    client = await entered(server, standard_error, stack)
                declare_forms(client.session)
                self._ready.set_result(client.session)
                await self._leave.wait()
        except Exception as error:  # noqa: BLE001  (around a server that others wrote, where it becomes an error)
            reason = reason_of(error, start_timeout_s)
            if self._ready.done():
                LOG.info("%s: the connection ended: %s", server.name, server.hide(reason))
                return
            if standard_error and (said := await asyncio.to_thread(standard_error.last_words, LAST_WORDS_S)):
                reason = f"{reason}; it said: {said}"
            self._ready.set_exception(McpUnavailable(server.name, server.hide(reason)))
        finally:
            # Without effect once it is set; if this task was cancelled at the start, `begun` would wait for ever.
            self._ready.cancel()
