"""Arguments of a step's calls that are known before any step has run."""

from collections.abc import Mapping

from pydantic import JsonValue

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.schema import ITEM, Step


def known_args(step: Step) -> dict[int | None, Mapping[str, JsonValue]] | None:
    """Return item -> the arguments of its call, all of them literals; None if they are not known before the step runs.

    A step without items has one call, of no item.
    """
    own = () if step.for_each is None else (ITEM,)
    named = [one for found in step.argument_references.values() for one in found if one.step not in own]
    if step.tool is None or named or any(step.references_of_items()):
        return None
    if step.for_each is None:
        return {None: step.fixed_args()}
    try:
        items = step.resolved(step.for_each, {})
        if not isinstance(items, list) or len(items) > step.most_items:
            return None
        # The list is in the plan, so each item is known; it may still lack a field that the arguments name.
        return {at: step.filled_args({ITEM: item}) for at, item in enumerate(items)}
    except UnresolvedReferenceError:
        return None
