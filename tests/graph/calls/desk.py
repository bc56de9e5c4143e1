"""A run in a ledger in memory, owned, for those who stand in front of its calls."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.meter import Meter
from planner_executor.graph.calls.model_gate import ModelGate
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.budget import NO_BUDGET, Budget, Price
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.testing import drafted

Result = TypeVar("Result")
NO_RATES: Mapping[str, float] = {}
NO_PRICES: Mapping[str, Price] = {}
PLAN = Plan(steps=(Step(id="a", objective="o", tool="send", args={"to": "x"}),))


class Desk:
    """A run in a ledger in memory, owned, with a gate as a node would get it."""

    def __init__(self, ledger: MemoryLedger, lease: Lease, toolbox: Toolbox) -> None:
        self.ledger, self.lease, self.run, self.toolbox = ledger, lease, lease.run, toolbox

    async def record(self) -> RunState:
        return project(await self.ledger.events(self.run))

    async def gate(
        self,
        *,
        budget: Budget = NO_BUDGET,
        rates: Mapping[str, float] = NO_RATES,
        prices: Mapping[str, Price] = NO_PRICES,
        **options: Any,
    ) -> CallGate:
        """Return a gate as a node would get it; under `rates` no time passes."""
        record = await self.record()
        meter, turns = Meter(budget, record.spending.usage, prices), RateLimiter(rates, lambda: 0.0)
        return CallGate(OwnedRun(self.ledger, self.lease, record, self.toolbox, meter, turns, **options))

    async def models(self, **options: Any) -> ModelGate:
        """Return a gate of model calls, as the next process would get it."""
        return (await self.gate(**options)).models

    async def kinds(self) -> list[str]:
        return [event.kind for event in await self.ledger.events(self.run)][1:]

    async def last(self) -> Event:
        return (await self.ledger.events(self.run))[-1]

    async def happened(self, key: str, result: Any = None, *, run: str | None = None) -> None:
        """Let a person say that an uncertain call happened."""
        settled = {"key": key, "happened": True, "result": result, **({"run": run} if run else {})}
        decided = {"decision": "settle", "digest": None, "binding": None, "settled": [settled]}
        await self.ledger.append(self.lease, [drafted("decided", decided)])

    @asynccontextmanager
    async def next_run(self) -> AsyncIterator["Desk"]:
        """Begin the thread's next run, and own it too."""
        run = await self.ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
        async with self.ledger.owned(run) as lease:
            yield Desk(self.ledger, lease, self.toolbox)

    async def revise(self, revision: int) -> None:
        revised = {"revision": revision, "plan": PLAN.to_json(), "digest": PLAN.digest, "author": "replanner"}
        await self.ledger.append(self.lease, [drafted("plan_revised", revised)])


@asynccontextmanager
async def at_desk(*tools: Any) -> AsyncIterator[Desk]:
    ledger = MemoryLedger()
    run = await ledger.open_run("t", [drafted("run_started", {"goal": "g", "constraints": []})])
    try:
        async with ledger.owned(run) as lease:
            yield Desk(ledger, lease, Toolbox(tools))
    finally:
        await ledger.close()
