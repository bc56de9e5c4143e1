"""The calls of a plan that the policy asks about: those that its approval settles, and those asked about later."""

from collections.abc import Iterator, Mapping

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.known_args import known_args
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.review.content import PlanContent, StepContent
from planner_executor.graph.review.planned_call import Later
from planner_executor.graph.text.review.frame import Block, Data, Prose, more
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import value_lines

SETTLED = "Approving the plan also approves these calls, which the policy asks about:"
LEFT_OUT = "You can leave the calls of a step out of the approval (`ask_later`); you are then asked when they are due."
ASKED_LATER = "You are asked about these calls when they are due, if the policy still asks then:"
LATER: Mapping[Later, str] = {
    "unknown": "its arguments are not known yet",
    "untrusted": "a model wrote it after untrusted data was read",
    "new": "no approved plan had it",
    "uncertain": "a call of this tool may have happened",
    "long": "its arguments are too long to be shown in full",
}
MAX_CALLS = 60
"""Number of calls that are listed which are asked about later."""


def asked_blocks(content: PlanContent, plan: Plan) -> Iterator[Block]:
    """Yield what an approval settles beside the plan, each call of it, and what it leaves for later and why.

    The arguments of effects stand with these; those of other calls, and of items, are shown here.
    """
    if settled := [step for step in content.left if step.settled]:
        yield Prose(SETTLED)
        yield Data(tuple(line for step in settled for line in _settled(step, plan.by_id[step.id])))
        yield Prose(LEFT_OUT)
    # By tool, as the policy asks: a step may have several, each for a reason of its own.
    later = [(step.id, tool, step.asked_later) for step in content.left for tool in step.asks if step.asked_later]
    if later:
        told = [f"{ITEM}{step}: {escaped(tool)}, since {LATER[why]}" for step, tool, why in later]
        yield Prose(ASKED_LATER)
        lines = more(told, MAX_CALLS, "call")
        yield Data(tuple(part for line in lines for part in entry(line.removeprefix(ITEM))))


def _settled(content: StepContent, step: Step) -> Iterator[str]:
    # The one call of a step without items has no key of an item (`None`).
    calls = content.settles or {content.id: (known_args(step) or {}).get(None, {})}
    rules = [str(ApproverRule.from_json(rule)) for rule in content.settled_by]
    for tool, why in content.asks.items():
        for place, args in calls.items():
            yield from entry(f"{place}: {escaped(tool)}, since {escaped(why)}")
            if content.settles or not content.acts:
                yield from value_lines(args)
            if rules:
                people = escaped(", and also ".join(rules))
                yield from entry(f"if approved by {people}; else you are asked when it is due", lead="    ")
