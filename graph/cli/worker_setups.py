"""The setups under which a worker of the command line continues runs: those on record, as far as the operator allows.

A record starts no program and imports nothing: tools and MCP servers that it names are used only if the operator named
the same ones.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_executor.graph.builder.configuration import tools_in_file
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.cli.resumed_setup import setup_on_record
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.errors import AgentError, ConfigError, LedgerError
from planner_executor.graph.runs.run import Run, run_of
from planner_executor.graph.words.name_list import listed
from planner_executor.graph.work.candidate import Candidate

if TYPE_CHECKING:
    from planner_executor.graph.playbooks.playbook import Playbook
    from planner_executor.graph.playbooks.schedule import Schedule
    from planner_executor.graph.work.continuing import BySession, Fit

OPEN = 16
"""So many setups are kept open; of those not in use the one used longest ago is closed."""


class MissingSetupError(ConfigError):
    """A run needs something that the operator of the worker has not named."""


def setup_to_work(run: Run, options: Mapping[str, Any]) -> Setup:
    """Return the setup that a worker continues a run with; a run without a setup on record has the operator's.

    Args:
        run: The run.
        options: `own_tools`, `mcp`, `config` and `policy` of the command line, None if not given.

    Raises:
        MissingSetupError: The run needs tools, servers or folders that are not there.
        InputError: The recorded settings cannot be read.
    """
    current = Setup.default().changed(**options)
    if not run.setup:
        return current
    used = setup_on_record(run, current, {"policy": options.get("policy")})
    own = run.setup.get("own_tools") or ()
    # Tools named by the record are code: only what the operator has named here is imported.
    if missing := [name for name in own if name not in (*current.own_tools, *tools_in_file(current.config))]:
        raise MissingSetupError(f"needs {listed(missing)}: name {'it' if len(missing) == 1 else 'them'} with --tools")
    # Servers are programs that would be started; the record alone starts none.
    if used.mcp is not None and used.mcp != current.mcp:
        raise MissingSetupError(f"needs the MCP servers in {used.mcp}: name it with --mcp")
    if not Path(used.documents).is_dir() and Path(used.documents) != Path(current.documents):
        raise MissingSetupError(f"needs the folder {used.documents}")
    return replace(used, own_tools=tuple(own))


@dataclass
class _Opened:
    way: "BySession"
    closing: AsyncExitStack
    in_hand: int = 0


@dataclass
class BySetup:
    """Continues each run in this process under its own setup; agents of the same setup are shared."""

    database: str
    options: Mapping[str, Any]
    _opened: OrderedDict[str, _Opened] = field(default_factory=OrderedDict, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def fit(self, run: Candidate) -> "Fit":
        """See `graph.work.continuing.Continuing`."""
        from planner_executor.graph.work.continuing import Fit

        try:
            async with self._way_of(run) as way:
                return await way.fit(run)
        except LedgerError:
            raise
        except AgentError as error:
            return Fit(str(error))

    async def go_on(self, run: Candidate) -> None:
        """See `graph.work.continuing.Continuing`."""
        async with self._way_of(run) as way:
            await way.go_on(run)

    async def let_go(self, run: Candidate) -> bool:
        """See `graph.work.continuing.Continuing`."""
        async with self._way_of(run) as way:
            return await way.let_go(run)

    async def begin(self, playbook: "Playbook", schedule: "Schedule", thread: str) -> None:
        """Begin a run of a playbook under the operator's setup, see `graph.work.due.begin`."""
        from planner_executor.graph.work.due import begin

        async with self._way(await run_sync(lambda: Setup.default().changed(**self.options))) as way:
            await begin(way.session, playbook, schedule, thread)

    async def aclose(self) -> None:
        """Close the agents."""
        while self._opened:
            await self._opened.popitem()[1].closing.aclose()

    @asynccontextmanager
    async def _way_of(self, run: Candidate) -> AsyncIterator["BySession"]:
        setup = await run_sync(lambda: setup_to_work(run_of(run.record, worked_on=False), self.options))
        async with self._way(setup) as way:
            yield way

    @asynccontextmanager
    async def _way(self, setup: Setup) -> AsyncIterator["BySession"]:
        """Hold a setup open for the length of the block."""
        # By its text, as it has dictionaries in it and cannot be a key.
        name = repr(setup)
        # One at a time, or two runs of one setup would open it twice.
        async with self._opening:
            if name not in self._opened:
                await self._make_room()
                self._opened[name] = await self._open(setup)
            self._opened.move_to_end(name)
            opened = self._opened[name]
            # Before another is let in, who may close to make room what is not in hand.
            opened.in_hand += 1
        try:
            yield opened.way
        finally:
            opened.in_hand -= 1

    async def _open(self, setup: Setup) -> _Opened:
        from planner_executor.graph.session import open_session
        from planner_executor.graph.work.continuing import BySession

        options: Any = {**await run_sync(setup.options), "mcp": setup.mcp}
        closing = AsyncExitStack()
        session = await closing.enter_async_context(open_session(self.database, options))
        return _Opened(BySession(session), closing)

    async def _make_room(self) -> None:
        idle = [name for name, opened in self._opened.items() if not opened.in_hand]
        for name in idle[: max(0, len(self._opened) + 1 - OPEN)]:
            await self._opened.pop(name).closing.aclose()
