"""An answer that says that something cannot be done: the words of a planner in place of a plan, or of an executor."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.issues import Issue, storable
from planner_executor.graph.plan.normalization import CANNOT, unwrap
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.shortening import shortened

WORDS_CHARACTERS = 1_000


def read_or_cannot(raw: Any, tools: Collection[str], read: Callable[[Any], ParsedPlan]) -> ParsedPlan:
    """Return what a model says in place of a plan, or what `read` makes of a plan that it gave.

    Only models say it: a plan that a caller or a person gives has no such key.
    """
    found, _ = unwrap(raw, tools)
    if not isinstance(found, dict) or CANNOT not in found:
        return read(raw)
    # With a plan beside it, nobody could tell which of the two is meant.
    if beside := [key for key, value in found.items() if key != CANNOT and value != []]:
        message = f"it stands beside {', '.join(beside)}; give a plan, or say alone why there can be none"
        return ParsedPlan(None, (Issue(None, CANNOT, message),))
    if (words := words_of(found[CANNOT])) is None:
        return ParsedPlan(None, (Issue(None, CANNOT, "it must be text: say why, and what would help"),))
    return ParsedPlan(None, cannot=words)


def words_of(value: Any) -> str | None:
    """Return the words of a model that cannot do something, bounded, None if there are none."""
    return shortened(storable(value.strip()), WORDS_CHARACTERS) if isinstance(value, str) and value.strip() else None


def admits_cannot(output: Literal["json"] | Mapping[str, Any] | None) -> bool:
    """Whether a result of this form may have the key, so that an object with it may be a result."""
    if not isinstance(output, Mapping):
        return False
    named = output.get("properties")
    return (isinstance(named, Mapping) and CANNOT in named) or not schema_errors(output, {CANNOT: "why"})
