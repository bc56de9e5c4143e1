"""The calls of a plan that the policy asks about: those that its approval settles, and those asked about later."""

from collections.abc import Iterator, Mapping, Sequence

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.review.planned_call import Later, PlannedCall
from planner_executor.graph.text.review.frame import Block, Data, Prose, more
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import value_lines

SETTLED = "Approving the plan also approves these calls, which the policy asks about:"
ASKED_LATER = "These calls are asked about when they are due, as far as the policy asks about them then:"
LATER: Mapping[Later, str] = {
    "unknown": "its arguments are not known yet",
    "untrusted": "a model wrote it after untrusted data was read",
    "new": "no approved plan had it",
    "uncertain": "a call of this tool may have happened",
    "long": "its arguments are too long to be shown in full",
}
MAX_CALLS = 60
"""Number of calls that are listed which are asked about later."""


def asked_blocks(calls: Sequence[PlannedCall], tools: Mapping[str, ToolSpec]) -> Iterator[Block]:
    """Yield what an approval settles beside the plan, each call of it, and what it leaves for later and why.

    The arguments of effects stand with these; those of other calls, and of items, are shown here.
    """
    if settled := [one for one in calls if one.later is None]:
        yield Prose(SETTLED)
        yield Data(tuple(line for one in settled for line in _settled(one, tools)))
    if later := [one for one in calls if one.later is not None]:
        told = [f"{ITEM}{one.step}: {escaped(one.tool)}, since {_later(one)}" for one in later]
        yield Prose(ASKED_LATER)
        lines = more(told, MAX_CALLS, "calls")
        yield Data(tuple(part for line in lines for part in entry(line.removeprefix(ITEM))))


def _later(call: PlannedCall) -> str:
    return LATER[call.later] if call.later is not None else ""


def _settled(call: PlannedCall, tools: Mapping[str, ToolSpec]) -> Iterator[str]:
    for place, args in call.args.items():
        yield from entry(f"{place}: {escaped(call.tool)}, since {escaped(call.why)}")
        if place != call.step or not tools[call.tool].acts:
            yield from value_lines(args)
        if call.rules:
            people = escaped(", and also ".join(map(str, call.rules)))
            yield from entry(f"if approved by {people}; else it is asked about when it is due", lead="    ")
