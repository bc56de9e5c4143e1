"""The run that a new run is a fork of, if the input or the facade names one."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.caller import Fork, caller_on
from planner_executor.graph.context import Services
from planner_executor.graph.errors import InputError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.inheritance import inherited, steps_anew
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.words.name_list import there_are

FORK = 'fork_from is {"run": "thread.1", "step": "step_3"}'


async def fork_source(services: Services, state: Mapping[str, Any], thread: str) -> Fork:
    """Return what a new run takes over; nothing unless it is a fork.

    A client may name a run of its own thread only: it may not read others.

    Raises:
        InputError: The input names no such run or step.
    """
    # What the facade hands over is trusted; what an input names is looked for on its own thread alone.
    fork, named = caller_on(thread).fork, state.get("fork_from")
    if fork.drafts or not named:
        return fork
    if not isinstance(named, Mapping) or not isinstance(named.get("step"), str):
        raise InputError("fork_from", FORK)
    record = await _record(services, thread, named.get("run"))
    plan = await done_aside(record.size, lambda: Plan.model_validate(record.plan_state.plan or {}))
    if named["step"] not in plan.by_id:
        raise InputError("fork_from", f"{record.id} has no step {named['step']!r}; {there_are(list(plan.by_id))}")
    begun, specs = {named["step"]}, services.toolbox.specs
    drafts = await done_aside(len(plan.steps), lambda: inherited(record, plan, steps_anew(plan, begun), specs))
    return Fork(record.assignment, tuple(drafts), plan=plan.to_json())


async def _record(services: Services, thread: str, name: Any) -> RunState:
    """Return a run of the thread."""
    ledger = await services.ledger()
    latest = await ledger.latest(thread)
    # Compared with the names of this thread's runs, never parsed: a name of another thread's run finds nothing.
    for n in range(latest[0].n if latest is not None else 0, 0, -1):
        if name in (None, "", f"{thread}.{n}"):
            return await state_of(ledger, RunKey(thread, n))
    raise InputError("fork_from", f"this thread has no run {name!r}; {FORK}")
