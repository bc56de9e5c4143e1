"""Changes that a person makes to single steps of a run that stands still: skip a step, or give its result."""

from functools import partial
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.recorded_terms import policy_of
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.review.step_change import Drafted, Skip, StepChange, Supply, drafted_by
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs


async def skip_step(runs: Runs, name: str, step: str, why: str, by: Approver) -> Run:
    """Leave a step out, and with it the steps that need it; the run can then be continued.

    Args:
        runs: The runs of the ledger.
        name: The run's id, or its thread.
        step: The step's id.
        why: The reason, for the record; may be empty.
        by: The person who does it.

    Raises:
        InputError: The step is unknown, has succeeded or is skipped already; or the run has ended or is executing.
    """
    return await _changed(runs, name, Skip(step, why), by)


async def supply_result(runs: Runs, name: str, step: str, value: Any, by: Approver) -> Run:
    """Give the result of a step, which is then not executed; it still has to meet the step's checks.

    Args:
        runs: The runs of the ledger.
        name: The run's id, or its thread.
        step: The step's id.
        value: The result, as JSON.
        by: The person who does it.

    Raises:
        InputError: The step is unknown, has succeeded or is a gate; the value is no JSON or does not fit the step's
            `output`; the policy of the run has others answer the question; or the run has ended or is executing.
    """
    return await _changed(runs, name, Supply(step, value), by)


async def _changed(runs: Runs, name: str, change: StepChange, by: Approver) -> Run:
    key = await runs.find(name)
    if await runs.ledger.is_worked_on(key):
        raise InputError("run", f"{key.thread}.{key.n} is executing; pause it first")
    await _drafted(runs, await state_of(runs.ledger, key), change, by)  # refused before the run is owned
    async with runs.ledger.owned(key) as lease:
        record = await state_of(runs.ledger, key)
        drafted = await _drafted(runs, record, change, by)
        await runs.ledger.append(lease, [drafted.draft], artifacts=drafted.kept, control_seq=record.control_seq)
    return await runs.show(key)


async def _drafted(runs: Runs, record: RunState, change: StepChange, by: Approver) -> Drafted:
    """Return the event of a change, judged by the rules on record."""
    approvers = (await policy_of(runs.ledger, record.assignment.configuration)).approvers
    tools = await tools_of(runs.ledger, record) if approvers != NO_APPROVERS else {}
    return await done_aside(record.size, partial(drafted_by, change, record, approvers, tools, by))
