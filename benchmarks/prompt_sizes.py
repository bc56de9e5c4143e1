"""Characters of a planner's request by the number of tools, and how many of them begin the request before it as well.

`python -m benchmarks.prompt_sizes` writes the tables to the documentation.
"""

import json
from collections.abc import Sequence
from itertools import islice, product, takewhile

from langchain_core.messages import BaseMessage

from benchmarks.page import PAGE, write_between_marks
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.policy import NO_POLICY
from planner_executor.graph.prompts.offer import MOST_WHOLE, Offer
from planner_executor.graph.prompts.planner import planner_messages
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.run_state import RunState

TOOLS = (1, 5, 20, 60)
FIRST, SECOND = Goal("Who buys most by sales.csv?"), Goal("Write to the three best customers", ("in German",))
NAME, NAME_OF_MANY = "prompts", "many tools"
MANY = (MOST_WHOLE, MOST_WHOLE + 1, 60, 200)
VERBS = ("list", "find", "read", "create", "update", "delete", "export", "count", "share", "archive")
NOUNS = ("invoice", "customer", "order", "payment", "contract", "ticket", "product", "supplier", "delivery", "refund")
OF_WHAT = ("", "_drafts")
WANTED = Goal("List the invoices of March that were not paid, and write to each customer")
LIMIT = {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
ARGUMENTS = {"properties": {"query": {"type": "string"}, "limit": LIMIT}, "required": ["query"]}
DESCRIBED = {
    name: {"type": kind, "description": f"{name} as the service writes it, for instance as another tool gave it"}
    for name, kind in {"id": "string", "query": "string", "since": "string", "limit": "integer"}.items()
}
HEAD = """\
| Tools | Request of the planner | Schema beside it | Begins that for another goal | Begins the replanner's |
|--:|--:|--:|--:|--:|"""
HEAD_OF_MANY = """\
| Tools | All whole: request | schema | Chosen by words: request | schema | of these whole |
|--:|--:|--:|--:|--:|--:|"""


def table() -> str:
    """Return the characters of requests, for tools with two arguments and descriptions of 120 characters."""
    return "\n".join([HEAD, *(f"| {' | '.join(f'{cell:,}' for cell in _row(tools))} |" for tools in TOOLS)])


def table_of_many() -> str:
    """Return the characters with all tools whole, and with those chosen that fit a goal, of tools with long lines."""
    return "\n".join(
        [HEAD_OF_MANY, *(f"| {' | '.join(f'{cell:,}' for cell in _row_of_many(tools))} |" for tools in MANY)]
    )


def _row(tools: int) -> tuple[int, ...]:
    specs = [ToolSpec(f"tool_{number}", "d" * 120, ARGUMENTS, effect="read") for number in range(tools)]
    every = Offer.of({spec.name: spec for spec in specs}, NO_POLICY)
    offer, second = _about(every, FIRST), _about(every, SECOND)
    asked = _text(planner_messages(FIRST, offer.text, RunState(), {}, lines=offer.lines))
    other = _text(planner_messages(SECOND, second.text, RunState(), {}, lines=second.lines))
    revised = _text(replanner_messages(FIRST, offer.text, Plan(), RunState(), "steps failed", {}, lines=offer.lines))
    return tools, len(asked), len(json.dumps(offer.plan_schema)), _equal(asked, other), _equal(asked, revised)


def _row_of_many(tools: int) -> tuple[int, ...]:
    kinds = islice(product(NOUNS, OF_WHAT, VERBS), tools)
    specs = [
        ToolSpec(f"{verb}_{noun}{of}", _description(verb, noun), {"properties": DESCRIBED}) for noun, of, verb in kinds
    ]
    every = Offer.of({spec.name: spec for spec in specs}, NO_POLICY)
    offer = _about(every, WANTED)
    return tools, *_sizes(every), *_sizes(offer), tools if offer.whole is None else len(offer.whole)


def _description(verb: str, noun: str) -> str:
    return f"{verb.capitalize()} {noun}s of the company. ".ljust(300, "d")


def _sizes(offer: Offer) -> tuple[int, int]:
    asked = _text(planner_messages(WANTED, offer.text, RunState(), {}, lines=offer.lines))
    return len(asked), len(json.dumps(offer.plan_schema))


def _about(offer: Offer, goal: Goal) -> Offer:
    return offer.about([goal.goal, *goal.constraints], ())


def _equal(one: str, other: str) -> int:
    """Return how many characters two requests have in common at their beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _text(messages: Sequence[BaseMessage]) -> str:
    return "".join(str(message.content) for message in messages)


if __name__ == "__main__":
    write_between_marks(PAGE, table(), NAME)
    write_between_marks(PAGE, table_of_many(), NAME_OF_MANY)
