"""Retry of an ended run: the planner node reopens it, and the run goes on."""

from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from planner_executor.graph.caller import caller_on
from planner_executor.graph.errors import InputError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.policy.approver_rule import alone_fault
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.raised_budget import read_raised
from planner_executor.graph.policy.scope import rebind
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import Draft, Met, RunReopened
from planner_executor.graph.record.reopening import is_retryable, retry_fault, steps_to_retry


async def reopen(writer: RunWriter, *, brings_plan: bool) -> None:
    """Reopen the run, which is owned, with the changes that its caller makes.

    Args:
        writer: The run's writer.
        brings_plan: Whether the caller brings another plan.

    Raises:
        InputError: The run cannot be retried, a changed limit is invalid, or the policy has others decide about it.
    """
    run = writer.run
    record, changes, approver = run.record, caller_on(run.key.thread).changes, run.approver
    if fault := retry_fault(record, changed=brings_plan or bool(changes)):
        raise InputError("run", f"{record.id} {fault}")
    budget = _raised(run, changes.limits)
    bound = None if budget is None else rebind(record, run.terms, replace(run.terms, budget=budget))
    met = None if budget is None else _met(run, budget)
    again = steps_to_retry(record)
    reopened = RunReopened(
        again=again,
        approver=str(approver),
        roles=approver.roles,
        budget=budget,
        binding=bound,
        met=met,
        invocation=run.invocation,
    )
    said = Amendment(feedback=changes.feedback, by=str(approver)).draft(record.assignment.constraints)
    await writer.write(Draft(reopened), *([said] if changes.feedback else []))


def retry_hint(run: RunContext) -> dict[str, Any]:
    """Return the message to somebody who asks to continue a run that has ended but can be retried."""
    ended = run.record.ended
    if ended is None or not is_retryable(run.record):
        return {}
    words = f"{run.record.id} ended as {ended.status}. Write `retry` to try again what failed, or write a new goal."
    return {"messages": [AIMessage(words)]}


def _raised(run: RunContext, limits: Any) -> Budget | None:
    """Return the budget with the changed limits, None if no limit changes."""
    if not limits:
        return None
    before = run.record.spending.budget
    calls = {**before.calls, **(limits.get("calls") or {})}
    whole = {**before.to_json(), **limits, **({"calls": calls} if calls else {})}
    budget, fault = read_raised(whole, before, run.terms)
    if fault is not None:
        raise InputError("budget", fault)
    # What stays within a limit of before needs nobody who may decide about it.
    if budget.beyond(before):
        _check_who_raises(run, budget)
    return budget


def _met(run: RunContext, budget: Budget) -> Met | None:
    """Return the rules on the calls of the plan that the person meets who raises a limit, None without such rules."""
    plan, terms = run.recorded_plan(), run.terms
    if plan is None or terms.policy.approvers == NO_APPROVERS:
        return None
    stake = AtStake.of_steps(plan, plan.by_id, terms.tools, budget.within(terms.policy.limits).cost_usd)
    askers = run.record.people.askers_of(plan, plan.by_id)
    return stake.met(terms.policy.approvers, [run.approver], askers, 0.0)


def _check_who_raises(run: RunContext, budget: Budget) -> None:
    """Refuse a raised limit from a person whom the policy does not let decide about it alone.

    Raises:
        InputError: Others decide.
    """
    policy = run.terms.policy
    rules = policy.approvers.rules((), budget.within(policy.limits).cost_usd)
    if fault := alone_fault(rules, run.approver, run.record.people.askers):
        raise InputError("by", f"{fault}; retry it as it is, and the run asks for the limit once it is reached")
