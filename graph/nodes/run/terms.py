"""The one place where a run on record meets the terms of this process (decision 119)."""

from dataclasses import replace

from planner_executor.graph.context import Services
from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.recorded_terms import terms_of
from planner_executor.graph.policy.terms import Comparison, compare
from planner_executor.graph.record.assignment import Assignment, lowered
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import NO_CONFIGURATION, Configuration
from planner_executor.graph.settings.settings import RANKS


async def compared(services: Services, ledger: Ledger, run: Assignment) -> Comparison:
    """Return how the terms here differ from those that a run is under; not at all if none are on record.

    Raises:
        PolicyError: The policy on record cannot be read.
    """
    if run.configuration == NO_CONFIGURATION:
        return Comparison(services.terms, is_first=True)
    if _are_equal(services, run):
        return Comparison(replace(services.terms, budget=run.budget))
    recorded = await terms_of(ledger, run)
    here = services.terms_beside(recorded)
    here = replace(here, budget=lowered(here.budget, run.started.playbook))
    found = compare(here, recorded, RANKS)
    return found if services.judges_terms else found.accepted(here)


async def held_to_terms(services: Services, ledger: Ledger, run: Assignment) -> tuple[Services, Comparison]:
    """Return the services held to the terms that a run is under as far as these are stricter, and the comparison."""

    async def held(configuration: Configuration, budget: Budget) -> tuple[Services, Comparison]:
        asked = Assignment(configuration=configuration, budget=budget, started=run.started)
        found = await compared(services, ledger, asked)
        return services.held_to(found.terms), found

    # What is kept is found by configuration and budget alone, and a playbook's limits are in neither.
    if run.started.playbook.get("limits") or _are_equal(services, run):
        return await held(run.configuration, run.budget)
    return await services.held.aget(held, run.configuration, run.budget)


def _are_equal(services: Services, run: Assignment) -> bool:
    budget = lowered(services.terms.budget, run.started.playbook)
    return (run.configuration, run.budget) == (services.configuration[0], budget)


async def services_of_fork(services: Services, ledger: Ledger, source: Assignment) -> Services:
    """Return the services held to the terms of the run that is forked.

    Raises:
        OtherTermsError: It was begun under other terms.
    """
    held, found = await held_to_terms(services, ledger, source)
    if found.other:
        raise OtherTermsError(source.key.id, found.other)
    return held
