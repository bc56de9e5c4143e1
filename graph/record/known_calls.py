"""The calls of a plan whose arguments are known before any step has run, with their keys."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.known_args import known_args
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.call import call_key, place_of


@dataclass(frozen=True)
class KnownCall:
    """A call of a step; `place` is the step with the index of the item."""

    key: str
    step: str
    place: str
    tool: str
    args: Mapping[str, JsonValue]


def known_calls(run: str, steps: Iterable[Step]) -> Iterator[KnownCall]:
    """Yield the calls of steps that are one call of a tool each, or one for each item of a list in the plan."""
    for step in steps:
        for item, args in (known_args(step) or {}).items():
            tool, place = str(step.tool), place_of(step.id, item)
            yield KnownCall(call_key(run, step.id, item, 0, tool, digest(dict(args))), step.id, place, tool, args)
