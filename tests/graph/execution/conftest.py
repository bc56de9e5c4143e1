"""One pass after another over a plan of a run in memory, with a gate as the executor gets it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from desk import NO_RATES, Desk

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.meter import Meter
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.execution.criteria import Criteria
from planner_executor.graph.execution.dataflow import Dataflow
from planner_executor.graph.execution.step_work import StepWork
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import ScriptedModel

HANGS_AFTER_S = 5
"""When a pass that never ends, such as one that lost a slot, is cut off."""


@dataclass
class Told:
    """Keeps what a pass reports."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    items: list[tuple[str, int, str]] = field(default_factory=list)
    tries: list[tuple[str, str]] = field(default_factory=list)
    people: list[str] = field(default_factory=list)

    def step(self, step: str, result: StepResult) -> None:
        self.steps.append((step, result.status))

    def item(self, step: str, place: int, result: StepResult) -> None:
        self.items.append((step, place, result.status))

    def again(self, step: str, why: str) -> None:
        self.tries.append((step, why))

    def person(self, step: str, result: StepResult) -> None:
        self.people.append(step)


@dataclass
class Pass:
    """What came of one pass: its dataflow, and what it reported."""

    flow: Dataflow
    reported: Told = field(default_factory=Told)

    @property
    def told(self) -> list[tuple[str, str]]:
        return self.reported.steps

    @property
    def results(self) -> dict[str, StepResult]:
        return self.flow.results

    @property
    def statuses(self) -> dict[str, str]:
        return {step: result.status for step, result in self.flow.results.items()}

    @property
    def started(self) -> list[str]:
        return [step for step, status in self.told if status == "running"]

    async def run(self) -> "Pass":
        """Run the pass to its end."""
        async with asyncio.timeout(HANGS_AFTER_S):
            await self.flow.run()
        return self

    async def free_slots(self) -> int:
        slots, free = self.flow.work.slots, 0
        while not slots.locked():
            await slots.acquire()
            free += 1
        return free


async def _prepared(
    desk: Desk,
    *steps: dict[str, Any],
    slots: int = 4,
    budget: Budget = NO_BUDGET,
    model: ScriptedModel | None = None,
    judge: ScriptedModel | None = None,
    max_check_attempts: int = 1,
    stops_early: bool = False,
    rates: Mapping[str, float] = NO_RATES,
) -> Pass:
    plan = Plan.model_validate({"steps": list(steps)})
    record = await desk.record()
    meter, limiter = Meter(budget, record.spending.usage, {}), RateLimiter(rates, lambda: 0.0)
    gate = CallGate(OwnedRun(desk.ledger, desk.lease, record, desk.toolbox, meter, limiter))
    judging = role_model(judge) if judge is not None else None
    criteria = Criteria(gate, judging, desk.toolbox.file, max_check_attempts)
    executors = {None: role_model(model if model is not None else ScriptedModel([]))}
    semaphore = asyncio.Semaphore(slots)
    told = Told()
    work = StepWork(record, gate, executors, waits_for(plan.steps), semaphore, criteria, told)
    return Pass(Dataflow(plan, work, stops_early=stops_early), told)


@pytest.fixture
def prepared() -> Callable[..., Any]:
    """Return what prepares a pass: `await prepared(desk, *steps, slots=..., budget=..., model=..., judge=...)`."""
    return _prepared
