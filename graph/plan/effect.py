"""What a step does with a tool, as its plan says it: the same in another plan, under another id or in another place."""

from collections.abc import Collection, Iterator, Mapping
from graphlib import TopologicalSorter

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.references import references_in
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.plan.when import of_when

Origins = Mapping[str, str]
"""Step id -> the digest of what its result is made of: what the step does, and what that rests on."""


def effect_digest(step: Step, tool: str) -> str:
    """Return the digest of what a step does with one of its tools.

    It covers the arguments as they are written, literals and references alike, the list that they are taken from, the
    condition of the step, and the values of its parameters.
    A model fills in the arguments that are left open, as its objective says, as often as it may, and within the
    constraints that it is told: all of that is covered.
    """
    # What a step does not have is left out, not null: digests of plans that were approved before must stay the same.
    how: list[JsonValue] = [dict(step.args), [*sorted(step.literal)], step.for_each, step.most_items]
    by_model: list[JsonValue] = [] if step.tool is not None else [step.objective, step.max_calls or 1]
    by_model += [] if step.constraints is None else [[*step.constraints]]
    more: list[JsonValue] = [] if step.when is None else [step.when]
    more += [{name: param.value for name, param in step.params.items()}] if step.params else []
    return digest([tool, how, by_model, *more])


def effect_key(step: Step, tool: str, origins: Origins) -> str:
    """Return the key under which a person decides about what this very step does with one of its tools."""
    return digest(["effect", step.id, effect_digest(step, tool), sources(step, origins)])


def sources(step: Step, origins: Origins, free: Collection[str] = ()) -> dict[str, JsonValue]:
    """Return what the results are made of that determine a step's calls; its `free` arguments may have any source."""
    return {name: origins.get(name) for name in reads(step, free)}


def reads(step: Step, free: Collection[str] = ()) -> list[str]:
    """Return the ids of the steps whose results determine what a step does: for a model all that it is shown."""
    if kind_spec(step.kind).done_by in ("model", "planner"):
        return [*step.waits]
    return [*dict.fromkeys(_named(step, free))]


def origins_of(steps: Collection[Step]) -> Origins:
    """Return the origins of the steps of a valid plan; what a person answers is the person's, whatever was asked."""
    by_id, found = {step.id: step for step in steps}, dict[str, str]()
    for name in TopologicalSorter({step.id: step.waits for step in steps}).static_order():
        if (step := by_id.get(name)) is not None:
            found[name] = digest([_made(step), sources(step, found)])
    return found


def _named(step: Step, free: Collection[str]) -> Iterator[str]:
    for name, references in step.argument_references.items():
        yield from (ref.step for ref in references if name not in free and ref.step != ITEM)
    yield from (ref.step for ref in references_in([step.for_each, step.gather, of_when(step.when)]))


def _made(step: Step) -> list[JsonValue]:
    if (done_by := kind_spec(step.kind).done_by) == "person":
        return [done_by]
    return [done_by, step.gather, *(effect_digest(step, name) for name in step.tool_names or ("",))]
