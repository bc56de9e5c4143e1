"""How far a run is, as the route of the server tells it (docs/observability.md): `schemas/progress.json`."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import with_config
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads none of typing's own

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.cost import NO_COST, StepCost
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import known, project
from planner_executor.graph.record.published_schema import CLOSED, published_schema
from planner_executor.graph.record.results import StepResult, StepStatus
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.run_status import RunStatus
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.record.stream_event import VERSION, StepState, preview_of
from planner_executor.graph.review.human_steps import open_questions
from planner_executor.graph.runs.lists import Log
from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.progress import PassProgress


@with_config(CLOSED)
class StepProgress(StepState):
    """How far a step is, and what it has cost in the whole run."""

    step: str
    objective: str


@with_config(CLOSED)
class RunProgress(TypedDict):
    """How far a run is; `person` are the steps that wait for a person, `line` says all in a sentence.

    Times are Unix seconds, and texts are from outside: escape them.
    """

    version: Literal[1]
    run: str
    goal: str
    status: RunStatus
    reason: str | None
    revision: int
    sequence: int
    line: str | None
    person: list[str]
    steps: list[StepProgress]


def progress_schema() -> dict[str, Any]:
    """Return the JSON Schema of what the route answers."""
    return published_schema(RunProgress)


def run_progress(log: Log) -> RunProgress:
    """Return the status of a run and of each of its steps; fields mean what they mean in events of the stream."""
    run, costs = log.run, step_costs(log.events)
    plan, statuses = run.plan, run.step_status
    waits = _waiting_steps(run, project(known(log.events)))
    return {
        "version": VERSION,
        "run": run.id,
        "goal": run.goal,
        "status": run.status,
        "reason": run.reason,
        "revision": run.revision,
        "sequence": _last(log.events),
        "line": PassProgress(len(statuses), statuses, {}, waits).line() if plan is not None else None,
        "person": waits,
        "steps": [_step(step, statuses[step.id], run, costs.get(step.id, NO_COST)) for step in plan.steps]
        if plan is not None
        else [],
    }


def _step(step: Step, status: StepStatus, run: Run, cost: StepCost) -> StepProgress:
    result: StepResult = run.results.get(step.id, StepResult(status="pending"))
    return {
        "step": step.id,
        "objective": step.objective,
        "status": status,
        "error": result.error,
        "started_at": result.started_at,
        "ended_at": result.ended_at,
        "preview": preview_of(result),
        "cost": cost.to_json(),
    }


def _waiting_steps(run: Run, record: RunState) -> list[str]:
    """Return the steps that wait for a person's decision, in the order of the plan."""
    if run.plan is None or run.ended:
        return []
    due = {step.id for step in open_questions(run.plan, record)}
    waiting = due | {held.step for held in record.waiting_calls} | set(record.uncertain_calls)
    return [step.id for step in run.plan.steps if step.id in waiting]


def _last(events: Sequence[Event]) -> int:
    return max((event.seq for event in events), default=0)
