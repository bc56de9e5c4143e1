"""What a decision of people gave their run, value by value, under the name that a later one of the same takes over."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import Decided, Event, PlanRevised, ResultSupplied, RunReopened
from planner_executor.graph.record.given_value import GivenKind, GivenValue, given_kind
from planner_executor.graph.record.run_state import RunState

Named = tuple[str, GivenValue]
NONE: Mapping[str, Any] = {}


def values_given(
    record: RunState,
    *,
    given: Mapping[str, JsonValue] = NONE,
    replies: Mapping[str, Any] = NONE,
    results: Mapping[str, JsonValue] = NONE,
    edits: Mapping[str, Mapping[str, JsonValue]] = NONE,
    rejected: Mapping[str, str] = NONE,
    budget: Budget | None = None,
) -> Iterator[Named]:
    """Yield (name, value), still without those who gave it.

    Args:
        record: The run, as it was before.
        given: Step -> answer or consent.
        replies: Key of a call -> what its questions were answered with.
        results: Key of an uncertain call that happened -> its result.
        edits: Key of a held call -> the arguments to make it with instead.
        rejected: Key of a held call -> what was said against it.
        budget: The raised budget.
    """
    plan = record.plan_state.plan
    for name, told in given.items():
        yield f"step {name}", GivenValue(given_kind(plan, name), (), name, told, plan=plan)
    said: list[tuple[GivenKind, str, str | None, Any]] = [
        *(("answer", key, _step_of(record, key), value) for key, value in replies.items()),
        *(("result", key, _step_of(record, key), value) for key, value in results.items()),
        *(("edit", key, _step_of(record, key), args) for key, args in edits.items()),
        *(("words", key, _step_of(record, key), why) for key, why in rejected.items()),
    ]
    for kind, key, step, value in said:
        yield f"call {key}", GivenValue(kind, (), step, value, plan=plan)
    if budget is not None:
        yield "limit", GivenValue("limit", (), plan=plan)


def values_of_decision(record: RunState, event: Event, data: Decided) -> Iterator[Named]:
    """Yield (name, value) of a decision by people; `record` is the run before it."""
    if data.by != "person":
        return
    by, edited = data.voters or (data.approver,), record.review_state.replaced
    proposed = {key: edited[key] for key in data.steps if key in edited and key not in data.replaced}
    for name, value in values_given(
        record,
        given=data.given,
        replies=data.replies,
        results={one.key: one.result for one in data.settled if one.happened},
        edits={**proposed, **data.replaced},
        rejected=data.rejected,
        budget=data.budget,
    ):
        before = record.people.values.get(name)  # others have approved what one proposed: it is theirs too
        authors = before.by if before is not None and name.removeprefix("call ") in proposed else ()
        yield name, replace(value, by=tuple(dict.fromkeys((*authors, *by))), met=data.met or {}, seq=event.seq)
    if data.decision == "feedback":
        plan = record.plan_state.plan
        yield f"words {event.seq}", GivenValue("words", by, value=data.message, plan=plan, seq=event.seq)


def value_supplied(record: RunState, event: Event, data: ResultSupplied) -> Named:
    """Return (name, value) of a result that a person gave outside of a review."""
    preview = data.result.artifact["preview"] if data.result.artifact else data.result.value
    plan, met = record.plan_state.plan, data.met or {}
    value = GivenValue("result", (data.approver,), event.step, preview, met, plan, event.seq)
    return f"step {event.step}", value


def limit_raised(record: RunState, event: Event, data: RunReopened) -> Named:
    """Return (name, value) of a limit that was raised with a retry."""
    plan, met = record.plan_state.plan, data.met or {}
    return "limit", GivenValue("limit", (data.approver,), met=met, plan=plan, seq=event.seq)


def plan_given(event: Event, data: PlanRevised, by: str) -> Named:
    """Return (name, value) of a plan that a person put in the place of another: what models add to it rests on it."""
    return "plan", GivenValue("plan", (by,), met=data.met_alone, plan=data.plan, seq=event.seq)


def _step_of(record: RunState, key: str) -> str | None:
    """Return the step of a call of this run: one that was made, is held, or is new in the revision in force."""
    found = record.calls.by_key.get(key) or record.review_state.held.get(key)
    if found is not None:
        return found.step
    return next((one.step.id for one in record.plan_state.effects_of() if one.key == key), None)
