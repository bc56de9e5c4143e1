"""Runs that the desk continues after a decision, on a thread and an event loop of their own (decision 76)."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from planner_executor.graph.agent import AsyncAgent
from planner_executor.graph.builder.bounded_graph import BoundedGraph
from planner_executor.graph.builder.configuration import policy_named
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.desk.policy_view import NO_POLICY, KeptPolicy, PolicyView, policy_of
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.errors import AgentError, RunOwnedError
from planner_executor.graph.lifetime import LoopThread
from planner_executor.graph.playbooks.folder import folder_of
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.settings.trust import store_path

SETTLES_S, LOOKS_S = 10.0, 0.05
"""How long a page waits until a decision is on record, and how often it looks."""
MOST_FAULTS = 1_000
OF_CODE = "set by the program that serves this desk"


@dataclass(frozen=True)
class OpenedAgent:
    """An agent, and the settings that the record keeps of a run it starts."""

    agent: AsyncAgent
    setup: Mapping[str, Any]


class Agents(Protocol):
    """Opens the agent that continues a run; for None, the one that starts runs.

    Raises AgentError if this process lacks something of the run's settings.
    """

    def __call__(self, run: Run | None) -> AbstractAsyncContextManager[OpenedAgent]:
        """Return the agent, open for the block."""


@dataclass(frozen=True)
class SameAgents:
    """Agents that continue every run with the same options."""

    database: str | Path
    options: Mapping[str, Any]

    @asynccontextmanager
    async def __call__(self, run: Run | None) -> AsyncIterator[OpenedAgent]:  # noqa: ARG002  (the same for all)
        """Open an agent."""
        async with AsyncAgent.open(self.database, **{"identity": verified, **self.options}) as agent:
            yield OpenedAgent(agent, {})

    def policy(self) -> KeptPolicy:
        """Return the policy of runs that these agents start."""
        return KeptPolicy(lambda: run_sync(lambda: asyncio.run(self._policy())), self._files)

    def playbooks(self) -> Path | None:
        """Return the folder of playbooks that the settings name."""
        return folder_of(settings_file(self.options.get("config")))

    async def _policy(self) -> PolicyView:
        async with self(None) as opened:
            named = self._named()
            source = NO_POLICY if named is None else str(named) if isinstance(named, str | Path) else OF_CODE
            assert isinstance(opened.agent.graph, BoundedGraph)
            return policy_of(opened.agent.graph.services, source)

    def _named(self) -> Any:
        return policy_named(self.options.get("policy"), self.options.get("config"))

    def _files(self) -> Iterator[Path]:
        named = (settings_file(self.options.get("config")).path, self._named(), store_path())
        return (Path(file) for file in named if isinstance(file, str | Path))


def agents_with(database: str | Path, **options: Any) -> SameAgents:
    """Return agents that continue every run with the same options, those of `AsyncAgent`."""
    return SameAgents(database, options)


Work = Callable[[OpenedAgent], Awaitable[Run]]


@dataclass
class Drives:
    """The runs that are continued here, at most one at a time for each thread of LangGraph."""

    agents: Agents
    _loop: LoopThread | None = None
    _going: "dict[str, Future[Run]]" = field(default_factory=dict)
    _faults: "OrderedDict[str, str]" = field(default_factory=OrderedDict)

    def begin(self, thread: str, run: Run | None, work: Work) -> "Future[Run]":
        """Begin to continue a run.

        Raises:
            RunOwnedError: This desk continues it already.
        """
        going = self._going.get(thread)
        if going is not None and not going.done():
            raise RunOwnedError("this desk", run.id if run is not None else thread)
        # Those that are over go with the next one that begins: nobody asks for them before.
        self._going = {name: each for name, each in self._going.items() if not each.done()}
        if self._loop is None:
            self._loop = LoopThread()
        self._faults.pop(thread, None)
        self._going[thread] = future = self._loop.begin(self._driven(run, work))
        return future

    async def _driven(self, run: Run | None, work: Work) -> Run:
        async with self.agents(run) as opened:
            return await work(opened)

    async def settled(self, future: "Future[Run]", thread: str, runs: Runs, key: RunKey | None, after: int) -> None:
        """Wait until the outcome is on record or the drive has ended, and keep the error of the drive.

        Raises:
            AgentError: The drive failed at once.
        """
        future.add_done_callback(lambda done: self._ended(thread, done))
        # The drive lasts as long as the run; the page waits for the decision alone. The record says whether it counted.
        loop = asyncio.get_running_loop()
        until = loop.time() + SETTLES_S
        while not future.done() and loop.time() < until:
            await asyncio.sleep(LOOKS_S)
            news = await runs.ledger.events(key, after=after) if key is not None else ()
            if any(Part.FOLLOWS in part_of_event(event.data_if_known) for event in news):
                break  # if the request is asked again instead, the drive ends by itself
            if key is None and await runs.ledger.last_run(thread) is not None:
                break
        if future.done() and not future.cancelled() and isinstance(error := future.exception(), AgentError):
            raise error

    def fault(self, thread: str) -> str | None:
        """Return the error of the last drive of a thread, None if there was none."""
        return self._faults.get(thread)

    def _ended(self, thread: str, future: "Future[Run]") -> None:
        try:
            error = future.exception()
        except CancelledError:
            return
        if error is not None:
            self._faults[thread] = str(error) if isinstance(error, AgentError) else f"{type(error).__name__}: {error}"
            while len(self._faults) > MOST_FAULTS:
                self._faults.popitem(last=False)

    def close(self) -> None:
        """Stop; runs that are being continued are paused."""
        loop, self._loop = self._loop, None
        if loop is not None:
            for future in self._going.values():
                future.cancel()
            loop.stop(SETTLES_S)
