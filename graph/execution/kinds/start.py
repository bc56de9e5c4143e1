"""How a kind of step starts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from planner_executor.graph.execution.for_each import ItemOutcome
from planner_executor.graph.execution.step_outcome import pending
from planner_executor.graph.execution.step_work import Started, StepWork
from planner_executor.graph.plan.schema import Step

Start = Callable[[StepWork, Step], Awaitable[Started]]
StartItem = Callable[[StepWork, Step, int, JsonValue], Awaitable[ItemOutcome]]
"""Runs one item of a list; takes the work, the step, the item's index from 0, and the item."""
StartBatch = Callable[[StepWork, Step, Mapping[int, JsonValue]], Awaitable[Mapping[int, ItemOutcome]]]
"""Runs several items at once; takes them by their indexes, and returns the outcomes of those that went well."""


@dataclass(frozen=True)
class KindStart:
    """How a kind starts once its dependencies have succeeded.

    `item` is None if the kind has no `for_each`, `batch` if it cannot do several items at once.
    """

    start: Start
    item: StartItem | None
    batch: StartBatch | None = None


def waits_for(what: str, *, needs_person: bool) -> KindStart:
    """Return the start of a kind whose result comes from another node; `what` completes "waits ..."."""

    async def start(work: StepWork, step: Step) -> Started:
        return await work.recorded(step) or pending(step.id, f"waits {what}", needs_person=needs_person)

    return KindStart(start, item=None)
