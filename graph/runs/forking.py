"""A fork of a run on a thread of its own, with copies of the results that do not depend on the steps done anew."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.caller import Fork
from planner_executor.graph.errors import InputError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.inheritance import inherited, steps_anew
from planner_executor.graph.record.events import Content, Draft, ResultSupplied
from planner_executor.graph.record.values import keep
from planner_executor.graph.review.step_change import fitting_result
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.words.name_list import there_are


async def fork_of(runs: Runs, name: str, step: str, values: Mapping[str, Any], by: str) -> Fork:
    """Return a fork of a run.

    Args:
        runs: The runs of the ledger.
        name: The run's id, or its thread.
        step: The step from which on everything is done anew.
        values: Step id -> result that the user sets; these steps are not executed.
        by: The user.

    Raises:
        UnknownRunError: There is no such run.
        InputError: There is no such step, or a value does not fit.
    """
    record = await state_of(runs.ledger, await runs.find(name))
    # Aside from the loop as a plan of thousands of steps takes long to read.
    plan = await done_aside(record.size, lambda: Plan.model_validate(record.plan_state.plan or {}))
    for named in (step, *values):
        if named not in plan.by_id:
            raise InputError("step", f"{record.id} has no step {named!r}; {there_are(list(plan.by_id))}")
    # Values are held to the step's output, as those are that a person supplies to the run itself.
    kept = {named: keep(fitting_result(plan.by_id[named], value)) for named, value in values.items()}
    given = [Draft(ResultSupplied(result=Content.of(one), approver=by), named) for named, one in kept.items()]
    tools = await tools_of(runs.ledger, record)

    def fork() -> Fork:
        # What rests on a given value is done anew as well, with that value.
        drafts = inherited(record, plan, steps_anew(plan, {step, *values}), tools)
        return Fork(record.assignment, (*drafts, *given), tuple(kept.values()), plan.to_json())

    return await done_aside(record.size, fork)
