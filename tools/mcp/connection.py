"""A connection to one server: restarts it once if it dies, and refuses tools that changed."""

import asyncio
from dataclasses import replace
from typing import Any

from planner_executor.tools.call_progress import ProgressListener
from planner_executor.tools.call_questions import CallReplies, InputNeeded
from planner_executor.tools.errors import McpCallFailed, McpUnavailable, McpUnreachable
from planner_executor.tools.mcp.config import HttpServer, StdioServer
from planner_executor.tools.mcp.offer import Offer
from planner_executor.tools.mcp.session import NoListing, Session, StateRefused
from planner_executor.tools.mcp.stderr import LOG

AS_TASK_ONLY = (
    "it can only be run as a task of the protocol, and calls here are no tasks; "
    'use another tool, or put "disabled": true for it under "tools" of the server'
)


class Connection:
    """One server; all of its methods are called on the event loop it was opened on."""

    def __init__(self, server: StdioServer | HttpServer, start_timeout_s: float) -> None:
        self.server = server
        self._start_timeout_s = start_timeout_s
        self._session: Session | None = None
        self._restarted = False
        self._restarting = asyncio.Lock()

    async def open(self) -> list[Offer]:
        """Start or reach the server and return its tools.

        Raises:
            McpUnavailable: It cannot be started or reached, or does not list its tools.
        """
        self._session = Session(self.server, self._start_timeout_s)
        await self._session.begun()
        try:
            async with asyncio.timeout(self._start_timeout_s):
                tools = await self._session.tools()
        except (NoListing, TimeoutError) as error:
            raise McpUnavailable(self.server.name, f"it does not list its tools: {error}") from None
        offers = [offer for tool in tools.values() if (offer := Offer.of(tool, self.server)) is not None]
        for offer in offers:
            if offer.as_task_only:
                LOG.warning("%s: %.80r is left out: %s", self.server.name, offer.tool, AS_TASK_ONLY)
        return [offer for offer in offers if not offer.as_task_only]

    async def close(self) -> None:
        """Leave the server, which is stopped if it was started here."""
        if self._session is not None:
            await self._session.end()

    async def call(
        self,
        offer: Offer,
        args: dict[str, Any],
        listener: ProgressListener | None = None,
        replies: CallReplies | None = None,
    ) -> Any:
        """Check that a tool is unchanged, call it, and return its value.

        Half of the call's time limit is for that check: if the server does not answer, the error can state that nothing
        was called. The `listener` is told of the progress that the server reports.

        Raises:
            InputNeeded: The server asks something; with `replies` the same call goes on.
            McpUnavailable: The server does not answer, or the tool has changed; nothing was called.
            McpCallFailed: The server reported a failure, or ended during the call.
        """
        before_s = offer.timeout_s / 2
        try:
            async with asyncio.timeout(before_s):
                session = await self._session_with(offer)
        except TimeoutError:
            raise McpUnreachable(self.server.name, f"it gave no answer within {before_s:g} s") from None
        if replies is None:
            value = await session.call(offer.tool, args, listener)
        else:
            value = await self._go_on(session, offer, args, listener, replies)
        # It has answered since, so it may be restarted once more.
        self._restarted = False
        return value

    async def _go_on(
        self,
        session: Session,
        offer: Offer,
        args: dict[str, Any],
        listener: ProgressListener | None,
        replies: CallReplies,
    ) -> Any:
        """Go on with a call that asked; if the server has forgotten it, begin again if that is harmless."""
        if not replies.anew:
            try:
                return await session.call(offer.tool, args, listener, replies)
            except StateRefused as refused:
                if not offer.idempotent:
                    raise McpCallFailed(self.server.name, offer.tool, str(refused)) from None
        try:
            return await session.call(offer.tool, args, listener)
        except InputNeeded as needed:
            # The person answered other questions, so these have to be asked.
            if needed.questions != replies.questions:
                raise
            return await session.call(offer.tool, args, listener, replace(replies, state=needed.state))

    async def _session_with(self, offer: Offer) -> Session:
        """Return a session whose tool is unchanged; restarts the server if it has died."""
        session = self._session
        assert session is not None
        try:
            return await self._checked(session, offer)
        except NoListing as gone:
            session = await self._after(session, gone)
        try:
            return await self._checked(session, offer)
        except NoListing as gone:
            raise McpUnreachable(self.server.name, str(gone)) from None

    async def _checked(self, session: Session, offer: Offer) -> Session:
        tool = (await session.tools()).get(offer.tool)
        now = Offer.of(tool, self.server) if tool is not None else None
        if now is not None and now.as_task_only:
            raise McpUnavailable(self.server.name, f"its tool {offer.tool!r} was not called: {AS_TASK_ONLY}")
        if now is None or now.face != offer.face:
            raise McpUnavailable(self.server.name, _changed(offer.tool, is_gone=now is None))
        return session

    async def _after(self, dead: Session, why: NoListing) -> Session:
        """Return the session that replaces a dead one; the first caller starts it."""
        async with self._restarting:
            if self._session is dead:
                if self._restarted:
                    raise McpUnreachable(self.server.name, f"it died again after it was started anew ({why})")
                self._restarted = True
                await dead.end()
                self._session = Session(self.server, self._start_timeout_s)
            assert self._session is not None
            await self._session.begun()
            return self._session


def _changed(tool: str, is_gone: bool) -> str:
    change = "is no longer offered" if is_gone else "has changed its arguments or its effect"
    return (
        f"its tool {tool!r} {change} and was not called; "
        "start again, so that the tool is listed, planned with and approved as it is now"
    )
