"""A run in memory as a node has it: services without a model, a ledger, and the context of the run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels, role_model
from planner_executor.graph.context import Services
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.record.events import Draft, RunStarted
from planner_executor.graph.record.projection import project
from planner_executor.graph.settings.settings import Settings
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted

Result = TypeVar("Result")
READ = LoggedTools().tool("read", effect="read", trusted=True)
PAGE = LoggedTools().tool("page", effect="read", trusted=False)
SEND = LoggedTools().tool("send")
PLAN = {"steps": [{"id": "a", "objective": "o", "tool": "read", "args": {"q": 1}}]}


def services(*tools: Any, ledger: MemoryLedger | None = None, **settings: Any) -> Services:
    """Return services over one ledger in memory, with a clock that stands still."""
    store, model = ledger or MemoryLedger(), role_model(ScriptedModel([]))

    async def opened() -> MemoryLedger:
        return store

    models = RoleModels(model, model, model, None, layers=())
    toolbox = Toolbox(tools or (READ, PAGE, SEND))
    return Services(Settings(**settings), toolbox, models, opened, RateLimiter({}, lambda: 0.0), lambda: 0.0)


async def begun(given: Services, *drafts: Draft, checkpoint: str = "c", **more: Any) -> RunContext:
    """Begin a run with these events, and return it as a node at a checkpoint reads it."""
    ledger, (configured, stored) = await given.ledger(), given.configuration
    started = Draft(RunStarted(goal="g", configured=configured, **more))
    key = await ledger.open_run("t", [started, *drafts], stored)
    return RunContext(given, ledger, key, project(await ledger.events(key)), checkpoint)


@asynccontextmanager
async def run_in_memory(*drafts: Draft, **settings: Any) -> AsyncIterator[RunContext]:
    """Begin a run with these events."""
    given = services(**settings)
    try:
        yield await begun(given, *drafts)
    finally:
        await (await given.ledger()).close()  # type: ignore[attr-defined]


def planned(plan: Any = None, revision: int = 1, **more: Any) -> Draft:
    """Return the event of a revision."""
    return drafted("plan_revised", {"revision": revision, "plan": plan or PLAN, "digest": f"d{revision}", **more})


def finished(step: str, value: Any = "done", status: str = "succeeded", **more: Any) -> Draft:
    """Return the event of a step's result."""
    return drafted("step_finished", {"status": status, "value": value, **more}, step)


APPROVED = drafted("decided", {"decision": "approve", "digest": "d1", "binding": "b"})
