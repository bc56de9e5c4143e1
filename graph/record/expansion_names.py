"""The ids in the plan of the steps that one step is refined to (docs/decisions/0144-names-of-refined-steps.md)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count

from planner_executor.graph.plan.schema import Plan, Step, free_id

Naming = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps the ids that a planner gave to the ids of the steps in the plan."""

MOST_CHARACTERS = 80
"""Longer names are cut: each level of refinement adds to them."""
OWN_CHARACTERS = 40
"""How much of the planner's own part is left in any case."""


def names_in(plan: Plan, step: Step) -> Naming:
    """Return the naming that keeps the planner's names, after the step's own.

    >>> vague = Step(id="work", objective="o", refine=True)
    >>> dict(names_in(Plan(steps=(vague,)), vague)(["look", "work_mail", "mail"]))
    {'look': 'work_look', 'work_mail': 'work_mail', 'mail': 'work_mail_2'}
    """

    def named(given: Sequence[str]) -> Mapping[str, str]:
        taken, names = set(plan.by_id), dict[str, str]()
        for name in given:
            names[name] = _free(_under(step.id, name.removeprefix(f"{step.id}_")), taken)
            taken.add(names[name])
        return names

    return named


def places_in(plan: Plan, step: Step) -> Naming:
    """Return the naming of runs that an earlier release began: numbers, with underscores behind one that is taken."""

    def named(given: Sequence[str]) -> Mapping[str, str]:
        return {name: free_id(f"{step.id}_{place}", plan.by_id) for place, name in enumerate(given, 1)}

    return named


def _under(parent: str, own: str) -> str:
    if own in ("", parent):
        return parent
    own = own[: max(OWN_CHARACTERS, MOST_CHARACTERS - len(parent) - 1)]
    return f"{parent[: MOST_CHARACTERS - len(own) - 1]}_{own}"


def _free(name: str, taken: Collection[str]) -> str:
    ends = (f"_{number}" for number in count(2))
    numbered = (name[: MOST_CHARACTERS - len(end)] + end for end in ends)
    return name if name not in taken else next(one for one in numbered if one not in taken)
