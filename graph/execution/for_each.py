"""A step that is done for each item of a list: at once, results in order, one failure does not lose the others."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from graph.calls.meter import BudgetReached
from graph.calls.tool_call import CallHeld, CallUncertain
from graph.errors import ResultError, StaleRunError, UnresolvedReferenceError
from graph.execution.model_step import StepFailed
from graph.execution.step_outcome import StepAttempt, StepOutcome, for_a_person
from graph.plan.references import resolve
from graph.plan.schema import Step
from graph.policy.grants import Refused
from graph.record.trust_label import TrustLabel, joined


@dataclass(frozen=True)
class ItemOutcome:
    """What one item came to, what that is worth, and how often each tool was called with success."""

    value: JsonValue
    label: TrustLabel
    called: Mapping[str, int]


Work = Callable[[], Awaitable[ItemOutcome]]


def items_of(step: Step, values: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the list that a step goes through.

    Raises:
        Refused: It is none, or longer than the plan allows.
        UnresolvedReferenceError: It has no value.
    """
    items = resolve(step.for_each, values)
    if not isinstance(items, list):
        raise Refused(f"for_each is no list but a {type(items).__name__}; refer to a list")
    if len(items) > step.most_items:
        raise Refused(f"for_each has {len(items)} items, the plan allows {step.most_items}; raise max_items or cut it")
    return items


@dataclass
class Items:
    """The items of one step as they come to their ends; `slots` bound how many are under way in the whole plan.

    `read` is the label of all that an item rests on, and so of the words in which it fails.
    """

    step: Step
    slots: asyncio.Semaphore
    read: TrustLabel
    done: dict[int, ItemOutcome] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    asks: list[CallHeld | CallUncertain | BudgetReached] = field(default_factory=list)
    stale: StaleRunError | None = None

    async def do(self, works: Iterable[Work]) -> None:
        """Do the work of each item when there is a slot for it; if the run has changed, none is begun any more."""
        async with asyncio.TaskGroup() as tasks:
            for place, work in enumerate(works):
                await self.slots.acquire()
                tasks.create_task(self._do_one(place, work), name=f"{self.step.id}[{place}]")

    async def _do_one(self, place: int, work: Work) -> None:
        try:
            if self.stale is None:
                self.done[place] = await work()
        except StaleRunError as error:
            self.stale = error
        except (StepFailed, ResultError, Refused, UnresolvedReferenceError) as error:
            self.failed[place] = str(error)
        except (CallHeld, CallUncertain, BudgetReached) as reason:
            self.asks.append(reason)
        finally:
            self.slots.release()

    def end(self, attempt: StepAttempt, count: int) -> StepOutcome:
        """Return the end of the step: values in order, with the error of an item in its place if that is allowed.

        Raises:
            StaleRunError: The run has changed, and items were left.
        """
        if self.stale is not None:
            raise self.stale
        if self.asks:
            return for_a_person(self.step.id, *self.asks)
        missing = [f"{self.step.id}[{place}] failed: {self.failed[place]}" for place in sorted(self.failed)]
        if len(self.failed) > (self.step.max_failures or 0):
            error = f"{len(self.failed)} of {count} items failed; {'; '.join(missing[:5])}"
            return attempt.failed(error, sorted(self.failed))
        values = [self._value(place) for place in range(count)]
        called: Counter[str] = Counter()
        for outcome in self.done.values():
            called.update(outcome.called)
        labels = [outcome.label for outcome in self.done.values()] + ([self.read] if self.failed else [])
        return attempt.succeeded(values, joined(labels), missing, called)

    def _value(self, place: int) -> JsonValue:
        return self.done[place].value if place in self.done else {"error": self.failed[place]}
