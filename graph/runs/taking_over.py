"""Taking a run over under the terms here: a request of its own, decided under the rules on record (decision 120)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_executor.graph.context import Services
from planner_executor.graph.errors import InputError, OtherTermsError
from planner_executor.graph.ledger.recorded_terms import policy_of
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.nodes.run.terms import compared
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import missing
from planner_executor.graph.policy.at_stake import AtStake, under_four_eyes
from planner_executor.graph.policy.terms import Comparison
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import Configured, Draft, TakeOverAsked
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs


async def require_terms(runs: Runs, run: Assignment, services: Services) -> Comparison:
    """Return how the terms here differ from those of a run, which can go on under them.

    Raises:
        OtherTermsError: It was begun under other terms.
    """
    found = await compared(services, runs.ledger, run)
    if found.other:
        raise OtherTermsError(run.key.id, found.other)
    return found


async def take_over(
    runs: Runs, name: str, services: Services, by: Approver, setup: Mapping[str, Any] | None = None
) -> Run:
    """Put a run under the terms here, if those who may decide about every tool left in its plan have all asked for it.

    Its budget stays, and approvals hold as far as they cover the same tools and rules. `setup` takes the
    place of what a facade recorded to take the run up elsewhere, None if that stays. Whoever reaches this has the
    database, so that without rules on record everyone who does may take a run over.

    Raises:
        UnknownRunError: There is no such run.
        InputError: It is executing; or others have to ask for the same, and that this one did is on record.
    """
    key = await runs.find(name)
    if await runs.ledger.is_worked_on(key):
        raise InputError("run", f"{key.id} is executing; pause it first")
    async with runs.ledger.owned(key) as lease:
        record = await state_of(runs.ledger, key)
        found = await compared(services, runs.ledger, record.assignment)
        # Stricter terms need no consent: they hold as soon as the run goes on here.
        if not (found.other or found.weaker):
            return await runs.show(key)
        configured, stored = services.configuration
        asked = _asked(record.assignment, digest(configured.to_json()), found.other or found.weaker, by)
        voters = [Approver.of_label(one.approver, one.roles) for one in asked]
        left = await _missing(runs, record, services, voters, asked[0].approver)
        if left is None:
            budget = found.terms.budget if found.terms.budget != record.assignment.budget else None
            taken = Configured(configuration=configured, budget=budget, approver=str(by), roles=by.roles, setup=setup)
            await runs.ledger.append(lease, [Draft(taken)], artifacts=stored)
            return await runs.show(key)
        # Who asks twice is on record once, so that asking again does not make the record grow.
        if asked[-1] not in record.assignment.take_overs:
            await runs.ledger.append(lease, [Draft(replace(asked[-1], missing=left))])
    how = "they ask for the same, with the same command under the same terms"
    raise InputError("take_over", f"{by} asked to take {record.id} over, which takes {left}; {how}")


def _asked(run: Assignment, terms: str, differs: str, by: Approver) -> list[TakeOverAsked]:
    """Return who asked to take the run over under these terms, this person among them, each once."""
    before = [one for one in run.take_overs if one.terms == terms]
    if any(Approver.of_label(one.approver).person == by.person for one in before):
        return before
    return [*before, TakeOverAsked(terms=terms, differs=differs, missing="", approver=str(by), roles=by.roles)]


async def _missing(
    runs: Runs, record: RunState, services: Services, voters: Sequence[Approver], first: str
) -> str | None:
    """Return which approvals are missing by the rules on record, None if they are met; `first` asked first.

    At stake are the tools left in the plan, as they are on record and as they are here, each as a part of the plan and
    as a call by itself, and what the run may cost under the terms here.
    """
    approvers = (await policy_of(runs.ledger, record.assignment.configuration)).approvers
    plan = Plan.model_validate(record.plan_state.plan) if record.plan_state.plan is not None else Plan()
    steps = [step.id for step in steps_left(plan, record.steps.results)]
    lifted = record.spending.budget.within(services.settings.policy.limits)
    stake, askers = AtStake(), set(record.people.askers)
    # Twice: a tool may be another one here, and either may be what the rules are about.
    for tools, bounds in ((await tools_of(runs.ledger, record), record.bounds), (services.toolbox.specs, lifted)):
        found = AtStake.of_steps(plan, steps, tools, bounds.cost_usd)
        stake = AtStake(*((*stake.tools, *found.tools),) * 2, (stake | found).cost_usd)
        eyes = under_four_eyes(plan, steps, tools, approvers, bounds.cost_usd)
        askers.update(record.people.askers_of(plan, eyes))
    return missing(stake.rules(approvers), voters, (*askers, first))
