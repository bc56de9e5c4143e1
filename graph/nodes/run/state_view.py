"""The state's view of a run, taken from the ledger and never from a client's input."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import ENDED, StepResult
from planner_executor.graph.record.said import spent_since
from planner_executor.graph.route import Route, headed, named_in_state
from planner_executor.graph.state import END, StateUpdate, proof_of
from planner_executor.graph.text.ending import ending_text
from planner_executor.graph.text.event_text.standing import ahead_line
from planner_executor.graph.text.expectation import said_and_spent
from planner_executor.graph.text.todos import Todo, todos


def state_update(run: RunContext, route: Route, **keys: Any) -> StateUpdate:
    """Return a state update that names the run, what it has seen of the ledger, and where it goes next."""
    named = named_in_state(run.key, run.record.seq)
    if isinstance(run.named, dict):
        named["saw"] = [run.named.get("n"), run.named.get("seq")]
    return {"run": named, **headed(route), "todos": _todos(run, route, keys.get("results")), **keys}


def _todos(run: RunContext, route: Route, shown: Mapping[str, Any] | None) -> list[Todo]:
    """Return the plan as a to-do list: from the record, and from the results of a pass that has just ended."""
    plan = run.recorded_plan()
    if plan is None:
        return []
    statuses: dict[str, str] = {step: result.status for step, result in run.record.steps.results.items()}
    statuses |= {step: str(entry["status"]) for step, entry in (shown or {}).items()}
    return todos(plan, statuses, starts=route == "execute")


async def state_at_end(run: RunContext, **keys: Any) -> StateUpdate:
    """Return the state of a run that has ended, all of it from the ledger."""
    return await done_aside(run.record.size, partial(_at_end, run, keys))


def _at_end(run: RunContext, keys: Mapping[str, Any]) -> StateUpdate:
    end, record = run.record.ended, run.record
    assert end is not None
    answer = end.answer.shown
    plan = run.recorded_plan()
    unjudged = record.steps.unjudged(plan) if plan is not None else []
    compared = _compared(run, plan) if plan is not None else ""
    ahead = [ahead_line(use) for use in record.standing.used_here]
    message = AIMessage(ending_text(end.status, end.reason, answer, unjudged, compared, ahead), id=f"{record.id}{END}")
    outcome = {"status": end.status, "reason": end.reason, "answer": answer, "plan": record.plan_state.plan}
    issues = [issue.to_json() for issue in record.plan_state.issues]
    shown = {
        **state_while_waiting(run, plan),
        **outcome,
        "issues": issues,
        "messages": [message],
        "doubts": [],
    }
    state = state_update(run, "end", **{**shown, **keys})
    return {**state, "proof": proof_of(state)}


def _compared(run: RunContext, plan: Plan) -> str:
    """Return what was expected of a plan against what it took, in words; empty if nothing was said."""
    said, record = run.record.said, run.record
    if said is None:
        return ""
    return said_and_spent(said.takes, spent_since(said, plan, record.steps.results, record.spending.total))


def state_while_waiting(run: RunContext, plan: Plan | None) -> dict[str, Any]:
    """Return the state of a run beside its plan and status while `plan` waits for a decision."""
    record = run.record
    results = results_shown(run, plan) if plan is not None and record.steps.results else {}
    return {
        "goal": record.assignment.started.goal,
        "constraints": list(record.assignment.constraints),
        "revision": record.plan_state.revision,
        "digest": record.plan_state.digest,
        "results": results,
        "reason": None,
        "issues": [],
        "answer": None,
    }


def state_with_plan(run: RunContext, plan: Plan, route: Route, **keys: Any) -> StateUpdate:
    """Return the state of a run that continues with `plan`, which is not written twice."""
    raw = plan.to_json()
    shown: dict[str, Any] = {**state_while_waiting(run, plan), "digest": plan.digest}
    if repr(raw) != repr(run.shown):  # to Python alone 1 and true are equal
        shown["plan"] = raw
    return state_update(run, route, **{**shown, **keys})


async def state_to_execute(run: RunContext, plan: Plan) -> StateUpdate:
    """Return the state of a run whose plan is executed next."""
    return await done_aside(len(plan.steps), partial(state_with_plan, run, plan, "execute", doubts=[]))


def results_shown(run: RunContext, plan: Plan, results: Mapping[str, StepResult] | None = None) -> dict[str, Any]:
    """Return the results of a plan's steps as the state shows them."""
    results = run.record.steps.results if results is None else results
    found, pending = {**results, **skipped_in(plan, results)}, StepResult("pending")
    return {step.id: found.get(step.id, pending).to_json() for step in plan.steps}


def is_shown_by(run: RunContext, state: Mapping[str, Any], plan: Plan | None) -> bool:
    """Whether the state shows the run as it waits, and nothing that a client wrote there.

    Of a step that has come to no end, or may have, the executor states more than the ledger's result.
    Checkpoints of versions before the key have no route.
    """
    expected = state_while_waiting(run, plan)
    same = all(
        state.get(key) == expected[key] or not (state.get(key) or expected[key]) for key in expected if key != "results"
    )
    results, record = state.get("results") or {}, run.record
    goes_there = state.get("status") == "waiting" and state.get("route") in (None, "review")
    if not same or not goes_there or not isinstance(results, dict):
        return False
    known = {**record.steps.results, **(skipped_in(plan, record.steps.results) if plan is not None else {})}
    closed = {name: _untimed(known[name].to_json()) for name in results if name in known}
    # A client may have written any: each result that the state claims must be on record, and none may be missing.
    claims = {name: _untimed(entry) for name, entry in results.items() if not _is_open(entry)}
    complete = {name for name in expected["results"] if name in record.steps.succeeded} <= set(claims)
    return complete and all(closed.get(name) == entry for name, entry in claims.items())


def _untimed(entry: Any) -> Any:
    """Return an entry of the results without its times, which a replay has of its own."""
    times = ("started_at", "ended_at")
    return {key: value for key, value in entry.items() if key not in times} if isinstance(entry, dict) else entry


def _is_open(entry: Any) -> bool:
    """Whether an entry of the results states only that a step has not ended."""
    return isinstance(entry, dict) and entry.get("status") not in ENDED and entry.get("value") is None
