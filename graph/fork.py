"""A fork told apart from a crash: an old state that goes on as a run of its own, or a node that runs again.

Decisions 0003 and 0004.
"""

from collections.abc import Mapping
from typing import Any

from graph.run_context import RunContext
from graph.state import number


def is_fork(run: RunContext, state: Mapping[str, Any]) -> bool:
    """Whether the state is from before a decision that is closed: such a state goes on as a run of its own."""
    seen = number(state["run"].get("seq"))
    closed = not run.here_before and run.record.review_state.last_decision_seq > seen
    return closed and not _passes_again(run, state, seen)


def _passes_again(run: RunContext, state: Mapping[str, Any], seen: int) -> bool:
    """Whether the one decision after the state is the policy's, about the plan in it, in a run that goes on.

    With `durability="async"` a process may die after the policy has let a plan pass and before the checkpoint is
    kept at which it did. LangGraph then makes that checkpoint anew, under another id.
    """
    approval, record = run.record.review_state.approval, run.record
    if approval is None or approval.by != "policy" or record.ended or state.get("plan") != record.plan_state.plan:
        return False
    return approval.seq == record.review_state.last_decision_seq and record.review_state.decision_before_seq <= seen


def is_after_the_end(run: RunContext, state: Mapping[str, Any]) -> bool:
    """Whether somebody put another plan into a finished thread; the finished run stays as it is.

    A direct answer leaves a plan without steps, which is no other.
    """
    record, plan = run.record, state.get("plan")
    is_answer = isinstance(plan, dict) and not plan.get("steps")
    return (
        record.ended is not None
        and not run.here_before
        and not is_answer
        and plan not in (None, record.plan_state.plan)
    )
