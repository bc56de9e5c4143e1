"""What a step does with a tool, as its plan says it: the same in another plan, under another id or in another place."""

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Step


def effect_digest(step: Step, tool: str) -> str:
    """Return the digest of what a step does with one of its tools.

    It covers the arguments as they are written, literals and references alike, and the list that they are taken from.
    A model fills in the arguments that are left open, as its objective says and as often as it may: both are covered.
    """
    how: list[JsonValue] = [dict(step.args), [*sorted(step.literal)], step.for_each, step.most_items]
    by_model: list[JsonValue] = [] if step.tool is not None else [step.objective, step.max_calls or 1]
    return digest([tool, how, by_model])


def effect_key(step: Step, tool: str) -> str:
    """Return the key under which a person decides about what this very step does with one of its tools."""
    return digest(["effect", step.id, effect_digest(step, tool)])
