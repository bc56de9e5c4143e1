"""Answers that came after the time of their request: refused, on record, and said in the chat."""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from planner_executor.graph.caller import caller_on
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.review_clock import late_answer, too_late
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.state import REVIEW, StateUpdate
from planner_executor.graph.text.decision import expired_text


async def answered_late(run: RunContext) -> bool:
    """Record the answer to a request that has expired, once; return whether there is one at this checkpoint.

    Whatever is asked after that is announced first, and so asked at another checkpoint, which has no answer yet.
    """
    state = run.record.review_state
    if run.checkpoint in state.late_at:
        return True
    if state.last_expired is None:
        return False
    try:
        # The only way to an answer that LangGraph holds for this checkpoint; nobody is asked.
        answer: Any = interrupt(None)
    except GraphInterrupt:  # nobody has answered
        return False
    caller = caller_on(run.key.thread)
    caller.note_reading()
    late = late_answer(run.record, answer, run.approver, unseen=caller.unseen)
    assert late is not None
    draft, artifacts = late
    await RunWriter(run).write(draft, artifacts=artifacts)
    return True


def with_expiry(run: RunContext, update: StateUpdate, *, is_late: bool) -> StateUpdate:
    """Return the state update with messages before any other: that nobody decided, and that an answer was too late."""
    expired = run.record.review_state.last_expired
    if expired is None:
        return update
    told = [AIMessage(expired_text(expired), id=f"{run.record.id}-expired-{expired.request}", name=REVIEW)]
    if is_late:
        text = f"Not counted: {too_late(expired)}."
        told.append(AIMessage(text, id=f"{run.record.id}-late-{run.checkpoint}", name=REVIEW))
    return {**update, "messages": [*told, *update.get("messages", ())]}
