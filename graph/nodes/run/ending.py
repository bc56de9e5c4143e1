"""The end of a run from its record alone: what it has come to, and the event that says so."""

from collections.abc import Sequence

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.values import answer_from_results, values_of
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.ending import Ending, ending_of
from planner_executor.graph.record.events import Content, Draft, RunEnded
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.values import Kept, keep, to_text

ANSWER_BYTES = 250_000
"""Answers up to this size are inlined in the state."""


async def outcome_so_far(ledger: Ledger, record: RunState) -> Ending | None:
    """Return the outcome of a run's plan so far, None without a plan."""
    if record.plan_state.plan is None:
        return None
    plan, steps = Plan.model_validate(record.plan_state.plan), record.steps
    values = await values_of(ledger, record, plan)
    return ending_of(
        plan, steps.results, values, record.plan_state.dropped, steps.missing, steps.unjudged(plan), steps.untaken
    )


async def ended(
    ledger: Ledger, record: RunState, ending: Ending, notes: Sequence[str] = ()
) -> tuple[Draft, list[Kept]]:
    """Return the event of the end of a run, and the values to store with it; `notes` are those on a direct answer."""
    kept = keep(ending.answer, ANSWER_BYTES)
    answer, stored = Content.of(kept), [kept]
    if kept.artifact is not None and await _follows(ledger, record, kept):
        made = {"of": "results", "size": kept.artifact.size, "preview": kept.artifact.preview}
        answer, stored = Content(artifact=made), []
    return Draft(RunEnded(status=ending.status, reason=ending.reason, answer=answer, read_as=tuple(notes))), stored


async def _follows(ledger: Ledger, record: RunState, answer: Kept) -> bool:
    """Whether the answer follows from the plan and recorded results, and so need not be stored again."""
    try:
        return to_text(await answer_from_results(ledger, record)) == answer.text
    except UnresolvedReferenceError:
        return False
