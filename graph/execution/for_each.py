"""A step with `for_each`: items run in parallel, results keep their order, one failure does not lose the others."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from planner_executor.graph.errors import ResultError, StaleRunError, UnresolvedReferenceError
from planner_executor.graph.execution.model_step import StepFailed
from planner_executor.graph.execution.reports import Reports
from planner_executor.graph.execution.step_outcome import NOT_NOW, NotNow, StepAttempt, StepOutcome, not_now
from planner_executor.graph.plan.json_values import json_kind
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import TrustLabel, joined
from planner_executor.graph.words.name_list import counted


@dataclass(frozen=True)
class ItemOutcome:
    """The value of one item, its trust label, the number of successful calls by tool, and what it lacks."""

    value: JsonValue
    label: TrustLabel
    called: Mapping[str, int]
    missing: tuple[str, ...] = ()


ItemWork = Callable[[], Awaitable[Mapping[int, ItemOutcome]]]
"""Returns the outcomes of the items that it did, by their indexes."""


def items_of(step: Step, values: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the list of items of a step.

    Raises:
        Refused: The value is not a list, or is longer than the plan allows.
        UnresolvedReferenceError: A reference has no value.
    """
    items = step.resolved(step.for_each, values)
    if not isinstance(items, list):
        raise Refused(f"for_each must be a list, not {json_kind(items)}; refer to a list")
    if len(items) > step.most_items:
        limit = f"the plan allows {step.most_items}"
        raise Refused(f"for_each has {len(items)} items, {limit}; raise max_items or shorten the list")
    return items


@dataclass
class Items:
    """The outcomes of one step's items; `slots` bounds the number of running items and steps in the whole plan.

    `read` is the label of everything that an item reads, and so of its error message.
    """

    step: Step
    slots: asyncio.Semaphore
    read: TrustLabel
    reports: Reports
    done: dict[int, ItemOutcome] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    asks: list[NotNow] = field(default_factory=list)
    stale: StaleRunError | None = None

    async def do(self, works: Iterable[tuple[Sequence[int], ItemWork]]) -> None:
        """Do each piece of work, with the indexes of its items, when a slot is free.

        Once the run has changed, no further piece starts.
        """
        async with asyncio.TaskGroup() as tasks:
            for places, work in works:
                await self.slots.acquire()  # before the task: a long list has no more tasks than can run
                tasks.create_task(self._do_one(places, work), name=f"{self.step.id}{[*places]}")

    async def _do_one(self, places: Sequence[int], work: ItemWork) -> None:
        try:
            if self.stale is None:
                for place, outcome in (await work()).items():
                    self.done[place] = outcome
                    self.reports.item(self.step.id, place, StepResult("succeeded", outcome.value))
        except StaleRunError as error:
            self.stale = error  # raised by `end`: the group would cancel items whose calls are under way
        except (StepFailed, ResultError, Refused, UnresolvedReferenceError) as error:
            for place in places:
                self.failed[place] = str(error)
                self.reports.item(self.step.id, place, StepResult("failed", error=str(error)))
        # The other items go on; people are asked once, when all have ended.
        except NOT_NOW as reason:
            self.asks.append(reason)
        finally:
            self.slots.release()

    def end(self, attempt: StepAttempt, count: int) -> StepOutcome:
        """Return the outcome of the step: values in order; a tolerated failure has its error in its place.

        Raises:
            StaleRunError: The run has changed, and items were not run.
        """
        if self.stale is not None:
            raise self.stale
        if self.asks:
            return not_now(self.step.id, *self.asks)
        missing = [f"{self.step.id}[{place}] failed: {self.failed[place]}" for place in sorted(self.failed)]
        if len(self.failed) > (self.step.max_failures or 0):
            error = f"{len(self.failed)} of {counted(count, 'item')} failed; {'; '.join(missing[:5])}"
            return attempt.failed(error, sorted(self.failed))
        missing += [lacks for place in sorted(self.done) for lacks in self.done[place].missing]
        values = [self._value(place) for place in range(count)]
        called: Counter[str] = Counter()
        for outcome in self.done.values():
            called.update(outcome.called)
        # The error of a failed item may quote anything that the step has read.
        labels = [outcome.label for outcome in self.done.values()] + ([self.read] if self.failed else [])
        return attempt.succeeded(values, joined(labels), missing, called)

    def _value(self, place: int) -> JsonValue:
        return self.done[place].value if place in self.done else {"error": self.failed[place]}
