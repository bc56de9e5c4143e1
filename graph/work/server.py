"""Runs of a LangGraph server, continued through its API; their checkpoints are never opened here."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from planner_executor.graph.errors import ConfigError, OtherTermsError
from planner_executor.graph.work.candidate import Candidate
from planner_executor.graph.work.continuing import Fit

TOKEN = "PLANNER_EXECUTOR_TOKEN"
BUSY = (409, 422)
"""Status codes for a thread that is busy."""
MISSING = 404
REFUSED = (401, 403)
GRAPH = "planner_executor"
"""The name of the graph in `langgraph.json`."""


class ByServer:
    """Continues runs by the operation `continue`; the server brings its own tools, models and policy."""

    def __init__(self, url: str, client: Any = None) -> None:
        """Take the server's address.

        Raises:
            ConfigError: It is not the address of a server.
        """
        self._url, self._given = url, client
        self._shown = _shown(url)

    @property
    def _client(self) -> Any:
        if self._given is None:
            from langgraph_sdk import get_client

            self._given = get_client(url=self._url, api_key=os.environ.get(TOKEN) or None)
        return self._given

    async def fit(self, run: Candidate) -> Fit:
        """Return whether a run can be continued: the server has to know its thread, and compares the terms itself.

        Raises:
            ConfigError: The server does not answer, or is another one.
        """
        return Fit("" if await self._assistant(run) else f"{self._shown} does not know thread {run.key.thread}")

    async def go_on(self, run: Candidate) -> None:
        """Continue a run, and wait until it stops; nothing is done if the server works on it already.

        Raises:
            ConfigError: The server does not answer, refuses, or is another one.
            OtherTermsError: The run was begun under other terms than the server's.
        """
        assistant = await self._assistant(run)
        given = {"operation": "continue", "run": run.key.id}
        # Rejected, not queued: on a busy thread the server works already, and a queued request would do it again.
        answer = None
        with self._answering(*BUSY):
            answer = await self._client.runs.wait(
                run.key.thread,
                assistant,
                input=given,
                multitask_strategy="reject",
                on_disconnect="continue",
                raise_error=False,
            )
        _require_terms(run.key.id, answer)

    async def let_go(self, run: Candidate) -> bool:  # noqa: ARG002  (the same for all runs)
        """Return False: the server goes on with the run."""
        return False

    async def _assistant(self, run: Candidate) -> str | None:
        """Return the assistant that a thread belongs to, None if the server does not know the thread."""
        thread = None
        # A thread that the server does not know is no fault.
        with self._answering(MISSING, *BUSY):
            thread = await self._client.threads.get(run.key.thread)
            # The server may be another product with the same routes; what it sends is checked.
            if not isinstance(thread, Mapping) or not isinstance(thread.get("metadata") or {}, Mapping):
                raise ValueError("it describes no thread")
        if thread is None:
            return None
        known = thread.get("metadata") or {}
        return str(known.get("assistant_id") or known.get("graph_id") or GRAPH)

    @contextmanager
    def _answering(self, *expected: int) -> Iterator[None]:
        """Raise a `ConfigError` for every failed request, except the expected ones, which end the block."""
        try:
            yield
        except httpx.HTTPStatusError as error:
            if error.response.status_code in expected:
                return
            hint = f"; put its token into {TOKEN}" if error.response.status_code in REFUSED else ""
            raise self._unusable(f"{error}{hint}") from error
        except httpx.HTTPError as error:
            raise self._unusable(str(error) or type(error).__name__) from error
        except ValueError as error:  # a page, a redirection, another service
            raise self._unusable(f"its answer is not that of LangGraph's API ({error}); check the address") from error

    def _unusable(self, why: str) -> ConfigError:
        return ConfigError(f"{self._shown} cannot be used: {why}")


def _require_terms(run: str, answer: Any) -> None:
    """Raise what the server did if it has left the run; of other errors the record tells enough.

    Raises:
        OtherTermsError: The run was begun under other terms than the server's.
    """
    error = answer.get("__error__") if isinstance(answer, Mapping) else None
    if isinstance(error, Mapping) and error.get("error") == OtherTermsError.__name__:
        raise OtherTermsError.told(run, str(error.get("message")))


def _shown(url: str) -> str:
    """Return a server's address without a user's name and password."""
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"server: {error}; write http://HOST:PORT") from error
    if read.scheme not in ("http", "https") or not read.host:
        raise ConfigError("server: this is not the address of a server; write http://HOST:PORT")
    return str(read.copy_with(userinfo=b""))
