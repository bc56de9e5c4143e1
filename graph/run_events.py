"""Events derived from the state of a run: revisions, reached limits, and handled messages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from graph.ledger.protocol import Message
from graph.plan.revision import difference
from graph.plan.schema import Plan
from graph.policy.replanning import Cause
from graph.prompts.planner import UNTRUSTED
from graph.record.amendment import Amendment
from graph.record.events import PAUSES, BudgetReached, Draft, Paused, PlanRevised, cancelled
from graph.record.remaining import steps_left
from graph.record.revocation import Revocation
from graph.record.trust_label import joined, label_of_tool
from graph.run_context import RunContext

BY_PEOPLE = ("caller", "person", "state")
"""Authors of plans that are people; a plan in the state is that of whoever invokes the graph."""


def revision(
    run: RunContext,
    plan: Plan,
    author: str,
    reason: str,
    *,
    cause: Cause | Literal["refined"] = "failure",
    failures: Sequence[str] = (),
    stalled: str | None = None,
    notes: Sequence[str] = (),
) -> PlanRevised:
    """Return the event that makes `plan` the run's next revision, under its current terms.

    Args:
        plan: The whole plan.
        author: `planner`, `replanner`, `caller`, `person` or `state`.
        reason: The reason for the revision.
        cause: The cause of replanning; `refined` if due steps are expanded and all others stay.
        failures: Fingerprints of the failures that it responds to.
        stalled: Why it makes no progress, None if it does.
        notes: Normalizations of the author's text.
    """
    return PlanRevised(
        revision=run.record.plan_state.revision + 1,
        plan=plan.to_json(),
        digest=plan.digest,
        binding=run.terms.binding(plan),
        author=author,
        reason=reason,
        cause=cause,
        diff=difference(run.recorded_plan(), plan),
        replaced=tuple(run.replaced_in(plan)),
        tainted=tuple(_tainted(run, plan, author)),
        failures=tuple(failures),
        stalled=stalled,
        read_as=tuple(notes),
        written_by=str(run.approver) if author in BY_PEOPLE else None,
    )


def budget_reached(run: RunContext, limit: str, by: str, plan: Plan | None) -> Draft:
    """Return the event of a reached limit, with the node that reached it and the remaining steps."""
    left = [step.id for step in steps_left(plan, run.record.steps.results)] if plan else []
    bounds, usage = run.terms.bounds, run.usage
    if bounds.elapsed_s is not None:
        usage = replace(usage, elapsed_s=round(run.elapsed_s, 1))
    return Draft(BudgetReached(limit=limit, by=by, budget=bounds, spent=usage, left=tuple(left)))


def inbox_events(run: RunContext, messages: Sequence[Message]) -> Sequence[Draft]:
    """Return the events that handle the messages in a run's inbox."""
    if run.record.ended:
        return ()
    if "cancel" in messages:
        return [Draft(cancelled(run.checkpoint))]
    drafts: list[Draft] = []
    constraints = run.record.assignment.constraints
    for message in messages:
        if message in PAUSES:
            continue
        if (revocation := Revocation.read(message)) is not None:
            drafts.append(revocation.draft())
            continue
        amendment = Amendment.read(message)
        drafts.append(amendment.draft(constraints))
        constraints = amendment.applied(constraints)
    pauses = [Draft(Paused(reason=reason)) for message, reason in PAUSES.items() if message in messages]
    return [*drafts, *pauses[:1]]


def _tainted(run: RunContext, plan: Plan, author: str) -> list[str]:
    """Return ids of the steps written by a model that had read untrusted results, in this run or an earlier one."""
    record, before = run.record, run.recorded_plan()
    kept = {step.id for step in plan.steps if before and step.same_as(before.by_id.get(step.id))}
    specs = run.services.toolbox.specs
    made = [label_of_tool(specs[call.tool]) for call in record.calls.by_key.values() if call.tool in specs]
    read = joined([*made, *(record.steps.labels[step] for step in record.steps.supplied)])
    in_chat = any(UNTRUSTED in message for message in record.assignment.history)
    new = (read.untrusted or in_chat) and author in ("planner", "replanner")
    tainted = record.plan_state.tainted
    if before is None and tainted:  # a fork, whose steps are those of the forked run
        return [step.id for step in plan.steps if step.id in tainted]
    return [step.id for step in plan.steps if (step.id in tainted if step.id in kept else new)]
