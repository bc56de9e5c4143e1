"""Changes that a person makes to single steps of a run that stands still: skip a step, or give its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from graph.errors import InputError, ResultError, listed
from graph.ledger.protocol import RunKey
from graph.plan.schema import Plan, Step
from graph.record.events import Content, Draft, ResultSupplied, StepSkipped
from graph.record.projection import project
from graph.record.run_state import RunState
from graph.record.values import Kept, keep, normalise
from graph.review.human_steps import fit_answer
from graph.runs import Run, Runs
from graph.sanitize import is_utf8


async def skip_step(runs: Runs, name: str, step: str, why: str, by: str) -> Run:
    """Leave a step out, and with it the steps that need it; the run can then be continued.

    Args:
        runs: The runs of the ledger.
        name: The run's id, or its thread.
        step: The step's id.
        why: The reason, for the record; may be empty.
        by: The user.

    Raises:
        InputError: The step is unknown, has succeeded or is skipped already; or the run has ended or is executing.
    """
    if not is_utf8(why):
        raise InputError("why", "text with half a surrogate pair cannot be kept; give clean text")
    key = await runs.find(name)
    found = await _changeable(runs, key, step)
    if found.record.steps.is_skipped(step):
        raise InputError("step", f"{step} is skipped already")
    return await _changed(runs, key, step, Draft(StepSkipped(why=why.strip(), approver=by), step))


async def supply_result(runs: Runs, name: str, step: str, value: Any, by: str) -> Run:
    """Give the result of a step, which is then not executed; it still has to meet the step's checks.

    Args:
        runs: The runs of the ledger.
        name: The run's id, or its thread.
        step: The step's id.
        value: The result, as JSON.
        by: The user.

    Raises:
        InputError: The step is unknown, has succeeded or is a gate; the value is no JSON or does not fit the step's
            `output`; or the run has ended or is executing.
    """
    key = await runs.find(name)
    found = await _changeable(runs, key, step)
    kept = keep(fitting_result(found.step, value))
    supplied = ResultSupplied(result=Content.of(kept), approver=by)
    return await _changed(runs, key, step, Draft(supplied, step), [kept])


@dataclass(frozen=True)
class _Found:
    """A step of a run that may change, and the run's record."""

    record: RunState
    step: Step


async def _changeable(runs: Runs, key: RunKey, step: str) -> _Found:
    if await runs.ledger.is_worked_on(key):
        raise InputError("run", f"{key.thread}.{key.n} is executing; pause it first")
    record = project(await runs.ledger.events(key))
    return _Found(record, _step_to_change(record, step))


async def _changed(runs: Runs, key: RunKey, step: str, draft: Draft, kept: Sequence[Kept] = ()) -> Run:
    async with runs.ledger.owned(key) as lease:
        record = project(await runs.ledger.events(key))
        _step_to_change(record, step)
        await runs.ledger.append(lease, [draft], artifacts=kept, control_seq=record.control_seq)
    return await runs.show(key)


def _step_to_change(record: RunState, step: str) -> Step:
    """Return a step of the plan in force that has not succeeded.

    Raises:
        InputError: There is none.
    """
    if record.ended is not None:
        raise InputError("run", f"{record.id} has ended; retry it, or start a new run")
    plan = Plan.model_validate(record.plan_state.plan) if record.plan_state.plan is not None else Plan()
    if step not in plan.by_id:
        raise InputError("step", f"{record.id} has no step {step!r}; there are {listed(list(plan.by_id)) or 'none'}")
    if step in record.steps.succeeded:
        raise InputError("step", f"{step} succeeded and cannot change; fork the run to change it")
    return plan.by_id[step]


def fitting_result(step: Step, value: Any) -> JsonValue:
    """Return a value as the step's output schema requires it.

    Raises:
        InputError: It is no JSON, or does not fit; or the step is a gate.
    """
    if step.kind == "gate":
        raise InputError("step", f"{step.id} is a gate, which only a decision in its review passes")
    try:
        told, fault = fit_answer(normalise(value), step.output)
    except ResultError as error:
        raise InputError("value", f"{step.id}: {error}") from error
    if fault:
        raise InputError("value", f"the result of {step.id} does not match its schema: {fault}")
    return told
