"""A person changes what is left of a run: skips a step, or gives its result."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.errors import InputError, ResultError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import parts_of, texts_in
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approvers import NO_APPROVERS, Approvers
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.record.events import Content, Draft, ResultSupplied, StepSkipped
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.values import Kept, keep, normalise
from planner_executor.graph.review.human_steps import fit_answer
from planner_executor.graph.words.name_list import there_are

SHAPE = '{"skip": {"step_3": "why"}, "supply": {"step_4": <result>}}'


class Drafted(NamedTuple):
    """The event of a change, and the value that is stored with it."""

    draft: Draft
    kept: tuple[Kept, ...] = ()


class Skip(NamedTuple):
    """A step is left out, and with it the steps that need it; `why` may be empty."""

    step: str
    why: str = ""

    def is_made(self, record: RunState) -> bool:
        """Whether the run has been changed in this way already."""
        return record.steps.is_skipped(self.step)

    def drafted(self, record: RunState, by: str) -> Drafted:
        """Return the event; `by` is the user.

        Raises:
            InputError: The step cannot be skipped, or the reason is no clean text.
        """
        check_texts("why", self.why)
        _changeable(record, self.step)
        if record.steps.is_skipped(self.step):
            raise InputError("step", f"{self.step} is skipped already")
        return Drafted(Draft(StepSkipped(why=self.why.strip(), approver=by), self.step))


class Supply(NamedTuple):
    """A step has this result and is not executed; it still has to meet the step's checks."""

    step: str
    value: Any

    def is_made(self, record: RunState) -> bool:
        """Whether the run has been changed in this way already; a large result is not compared."""
        result = record.steps.results.get(self.step)
        return self.step in record.steps.supplied and result is not None and result.value == self.value

    def drafted(self, record: RunState, by: str) -> Drafted:
        """Return the event; `by` is the user.

        Raises:
            InputError: The step cannot change or is a gate, or the value is no JSON or does not fit its `output`.
        """
        kept = keep(fitting_result(_changeable(record, self.step), self.value))
        return Drafted(Draft(ResultSupplied(result=Content.of(kept), approver=by), self.step), (kept,))


StepChange = Skip | Supply


def changes_from(raw: Any) -> list[StepChange]:
    """Return the changes that a client writes as data.

    Raises:
        InputError: They have another shape.

    >>> changes_from({"skip": {"fax": "sent by hand"}, "supply": {"price": 9}})
    [Skip(step='fax', why='sent by hand'), Supply(step='price', value=9)]
    """
    if not isinstance(raw, Mapping) or not set(raw) <= {"skip", "supply"}:
        raise InputError("changes", f"changes is {SHAPE}")
    skip, supply = raw.get("skip") or {}, raw.get("supply") or {}
    # Checked apart: a list has no items, and a text would be walked by its letters.
    if not isinstance(skip, Mapping) or not isinstance(supply, Mapping):
        raise InputError("changes", f"changes is {SHAPE}")
    if not all(isinstance(why, str) for why in skip.values()):
        raise InputError("changes", f"the reason of a skipped step is a text; changes is {SHAPE}")
    skipped: list[StepChange] = [Skip(str(step), why) for step, why in skip.items()]
    return [*skipped, *(Supply(str(step), value) for step, value in supply.items())]


def drafted_by(
    change: StepChange, record: RunState, approvers: Approvers, tools: Mapping[str, ToolSpec], by: Approver
) -> Drafted:
    """Return the event of a person's change, with the rules on people that a result's giver met.

    A result stands, whoever gives it: the calls that rest on it are held if the giver may not decide about them.

    Raises:
        InputError: The change cannot be made, or the step is a question, and the policy says who answers it.
    """
    drafted = change.drafted(record, str(by))
    data = drafted.draft.data
    # A skip is no value that calls rest on; a policy without people has nothing to hold against its giver.
    if approvers == NO_APPROVERS or not isinstance(data, ResultSupplied):
        return drafted
    plan, cost = Plan.model_validate(record.plan_state.plan), record.bounds.cost_usd
    if plan.by_id[change.step].kind == "ask" and approvers.rules((), cost):
        raise InputError("step", f"the policy says who answers {change.step}; answer the question in its review")
    # Which calls come to rest on the value decides who may give it alone, so they are looked up before it is on record.
    reached = GivenValue("result", (str(by),), change.step, plan=record.plan_state.plan).reached(plan)
    stake, askers = AtStake.of_steps(plan, reached, tools, cost), record.people.askers_of(plan, reached)
    met = stake.met(approvers, [by], askers, 0.0)
    return drafted._replace(draft=replace(drafted.draft, data=replace(data, met=met)))


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
    # Keys too: a lone surrogate in one cannot be written either.
    keys = (key for part in parts_of(told) if isinstance(part, dict) for key in part)
    check_texts("value", *texts_in(told), *keys)
    if fault:
        raise InputError("value", f"the result of {step.id} does not match its schema: {fault}")
    return told


def _changeable(record: RunState, step: str) -> Step:
    """Return a step of the plan in force that has not succeeded.

    Raises:
        InputError: There is none.
    """
    if record.ended is not None:
        raise InputError("run", f"{record.id} has ended; retry it, or start a new run")
    plan = record.plan_state.plan or {"steps": []}
    # From the raw steps, of which one is made a value below: a large plan is not read to skip one of its steps.
    steps = {raw["id"]: raw for raw in plan["steps"]}
    if step not in steps:
        raise InputError("step", f"{record.id} has no step {step!r}; {there_are(list(steps))}")
    if step in record.steps.succeeded:
        raise InputError("step", f"{step} succeeded and cannot change; fork the run to change it")
    if step in record.steps.untaken:
        raise InputError("step", f"{step} was skipped by its condition; edit the plan to change it")
    return Plan.model_validate({**plan, "steps": [steps[step]]}).by_id[step]
