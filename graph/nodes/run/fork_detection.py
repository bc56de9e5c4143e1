"""Distinguishing a fork from a crash: an old state starts a run of its own, a crashed node runs again.

See docs/decisions/0003-fork-or-crash.md and docs/decisions/0004-old-answers.md.
"""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.record.events import WITHOUT_ANSWER
from planner_executor.graph.state import int_or_zero


def is_fork(run: RunContext, state: Mapping[str, Any]) -> bool:
    """Whether the state is older than the last closed decision, and so starts a run of its own.

    Within the invocation of a graph server that began the run it does not: checkpoints may be lost by a crash, and no
    client can name that invocation (docs/decisions/0071-repeated-invocations.md). Nor does it if the
    previous node left the state: then another invocation has decided meanwhile.
    """
    # A client may have written anything here; 0 makes it the oldest state there is.
    seen = int_or_zero(state["run"].get("seq"))
    may_be = not (run.here_before or run.is_repeated or run.goes_on)
    closed = may_be and run.record.review_state.last_decision_seq > seen
    return closed and not _passes_again(run, state, seen)


def _passes_again(run: RunContext, state: Mapping[str, Any], seen: int) -> bool:
    """Whether the only decision after the state is one without an answer, about the plan in the state, in an open run.

    With `durability="async"` a process may die after the policy has approved a plan and before the checkpoint of that
    decision is stored. LangGraph then makes the checkpoint again, under another id.
    """
    approval, record = run.record.review_state.approval, run.record
    if (
        approval is None
        or approval.by not in WITHOUT_ANSWER
        or record.ended
        or state.get("plan") != record.plan_state.plan
    ):
        return False
    return approval.seq == record.review_state.last_decision_seq and record.review_state.decision_before_seq <= seen


def is_after_the_end(run: RunContext, state: Mapping[str, Any]) -> bool:
    """Whether a client wrote another plan into a finished thread; the finished run does not change.

    The plan without steps of a direct answer does not count as another plan, nor does that of the previous node, which
    another process has overtaken meanwhile.
    """
    record, plan = run.record, state.get("plan")
    is_answer = isinstance(plan, dict) and not plan.get("steps")
    return (
        record.ended is not None
        and not (run.here_before or run.goes_on)
        and not is_answer
        and plan not in (None, record.plan_state.plan)
    )
