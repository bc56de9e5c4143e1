"""The agents of a desk that the command line serves."""

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.cli.resumed_setup import setup_to_resume
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.desk.drives import OpenedAgent
from planner_executor.graph.desk.security.visitor import verified

if TYPE_CHECKING:
    from planner_executor.graph.runs.run import Run


class DeskAgents:
    """Opens an agent for each run that the desk carries on, as `resume` does."""

    def __init__(self, screen: Screen, database: str, given: RunOptions) -> None:
        # Nobody at this terminal answers for people in browsers.
        self._screen = replace(screen, interactive=False)
        self._database, self._given = database, given

    @asynccontextmanager
    async def __call__(self, run: "Run | None") -> AsyncIterator[OpenedAgent]:
        """Open an agent with the setup that a run recorded; for None with that of new runs.

        Raises:
            AgentError: A folder, a model or a server of it cannot be used here.
        """
        from planner_executor.graph.agent import AsyncAgent

        stack = ExitStack()

        def opened() -> tuple[Setup, Mapping[str, Any]]:
            setup = self._setup(run)
            return setup, stack.enter_context(setup.opened())

        try:
            setup, built = await run_sync(opened)
            async with AsyncAgent.open(self._database, **{**built, "identity": verified}) as agent:
                yield OpenedAgent(agent, setup.to_json())
        finally:
            await run_sync(stack.close)

    def _setup(self, run: "Run | None") -> Setup:
        if run is None:
            return Setup.default().changed(**self._given.settings)
        return setup_to_resume(self._screen, run, self._given.settings, own_settings=False)
