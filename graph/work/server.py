"""Runs of a LangGraph server, continued through its API; their checkpoints are never opened here."""

import os
from typing import Any

import httpx

from graph.errors import ConfigError
from graph.work.candidate import Candidate

TOKEN = "PLANNER_EXECUTOR_TOKEN"
BUSY = (409, 422)
"""Answers to another run of a thread that is busy."""
MISSING = 404
GRAPH = "planner_executor"
"""The name of the graph in `langgraph.json`."""


class ByServer:
    """Continues runs by the operation `continue`; the server brings its own tools, models and policy."""

    def __init__(self, url: str, client: Any = None) -> None:
        self._url, self._given = url, client

    @property
    def _client(self) -> Any:
        if self._given is None:
            from langgraph_sdk import get_client

            self._given = get_client(url=self._url, api_key=os.environ.get(TOKEN) or None)
        return self._given

    async def lacks(self, run: Candidate) -> str | None:
        """Return what is missing to continue a run: the server has to know its thread.

        Raises:
            ConfigError: The server does not answer.
        """
        return None if await self._assistant(run) else f"{self._url} does not know thread {run.key.thread}"

    async def go_on(self, run: Candidate) -> None:
        """Continue a run, and wait until it stops; nothing is done if the server works on it already.

        Raises:
            ConfigError: The server does not answer, or refuses.
        """
        assistant = await self._assistant(run)
        given = {"operation": "continue", "run": run.key.id}
        try:
            await self._client.runs.wait(
                run.key.thread,
                assistant,
                input=given,
                multitask_strategy="reject",
                on_disconnect="continue",
                raise_error=False,
            )
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in BUSY:
                raise self._unusable(error) from error
        except httpx.HTTPError as error:
            raise self._unusable(error) from error

    async def let_go(self, run: Candidate) -> bool:  # noqa: ARG002  (the same for all runs)
        """Return False: the server goes on with the run."""
        return False

    async def _assistant(self, run: Candidate) -> str | None:
        """Return the assistant that a thread belongs to, None if the server does not know the thread."""
        try:
            thread = await self._client.threads.get(run.key.thread)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (MISSING, *BUSY):
                return None
            raise self._unusable(error) from error
        except httpx.HTTPError as error:
            raise self._unusable(error) from error
        known = thread.get("metadata") or {}
        return str(known.get("assistant_id") or known.get("graph_id") or GRAPH)

    def _unusable(self, error: httpx.HTTPError) -> ConfigError:
        return ConfigError(f"{self._url} cannot be used: {str(error) or type(error).__name__}")
