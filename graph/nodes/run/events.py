"""Events derived from the state of a run: revisions, reached limits, and handled messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from planner_executor.graph.ledger.protocol import Message
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.replanning import Cause
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.events import BudgetReached, Draft, PlanRevised, cancelled
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.revocation import Revocation
from planner_executor.graph.record.stop_request import cancel_in, is_stop, pause_in

BY_MODELS = ("planner", "replanner")
"""Authors of plans that are models."""
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
    on_comments: Mapping[str, str] | None = None,
    playbooks: Sequence[Mapping[str, Any]] = (),
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
        on_comments: What the author says of the comments on steps.
        playbooks: The playbooks in the plan.
    """
    tainted = run.tainted_in(plan, by_model=author in BY_MODELS)
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
        tainted=tuple(tainted),
        new_effects=run.new_effects_in(plan, tainted),
        by_look=bool(tainted) and not run.has_steps_with_untrusted,
        failures=tuple(failures),
        stalled=stalled,
        read_as=tuple(notes),
        on_comments=on_comments or {},
        written_by=_writer(run, author) if author in BY_PEOPLE else None,
        playbooks=tuple({**one, "by": author} for one in playbooks),
        met_alone=_met_alone(run) if author in BY_PEOPLE and run.record.plan_state.revision else {},
    )


def _writer(run: RunContext, author: str) -> str:
    """Return the label of who wrote a plan: of one that came with the run, whoever began it at this checkpoint.

    A process that died may be followed by one of somebody else, who repeats the node.
    """
    came = author == "caller" and run.here_before and not run.record.plan_state.revision
    return run.record.people.starter if came else str(run.approver)


def _met_alone(run: RunContext) -> Met:
    """Return which rules on the calls of any tool a person meets who writes a plan: models may add calls to it."""
    approvers, people = run.terms.policy.approvers, run.record.people
    if approvers == NO_APPROVERS:
        return {}
    cost = run.record.spending.budget.within(run.terms.policy.limits).cost_usd
    stake = AtStake(tuple(run.terms.tools.values()), cost_usd=cost)
    found = stake.met(approvers, [run.approver], [*people.askers, str(run.approver)], 0.0)
    return {tool: rules for tool, rules in found.items() if rules}


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
    # First: nothing else that was asked of a run counts once it is cancelled.
    if (cancel := cancel_in(messages)) is not None:
        return [Draft(cancelled(run.checkpoint, cancel.by))]
    drafts: list[Draft] = []
    constraints = run.record.assignment.constraints
    for message in messages:
        if is_stop(message):
            continue
        if (revocation := Revocation.read(message)) is not None:
            drafts.append(revocation.draft())
            continue
        amendment = Amendment.read(message)
        drafts.append(amendment.draft(constraints))
        constraints = amendment.applied(constraints)
    pause = pause_in(messages)
    return [*drafts, *([Draft(pause)] if pause is not None else [])]
