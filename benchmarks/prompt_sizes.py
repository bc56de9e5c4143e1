"""Characters of a planner's request by the number of tools, and how many of them begin the request before it as well.

`python -m benchmarks.prompt_sizes` writes the table to the documentation.
"""

import json
from collections.abc import Sequence
from itertools import takewhile

from langchain_core.messages import BaseMessage

from benchmarks.page import PAGE, write_between_marks
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.policy import NO_POLICY
from planner_executor.graph.prompts.offer import Offer
from planner_executor.graph.prompts.planner import planner_messages
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.run_state import RunState

TOOLS = (1, 5, 20, 60)
FIRST, SECOND = Goal("Who buys most by sales.csv?"), Goal("Write to the three best customers", ("in German",))
NAME = "prompts"
LIMIT = {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
ARGUMENTS = {"properties": {"query": {"type": "string"}, "limit": LIMIT}, "required": ["query"]}
HEAD = """\
| Tools | Request of the planner | Schema beside it | Begins that for another goal | Begins the replanner's |
|--:|--:|--:|--:|--:|"""


def table() -> str:
    """Return the characters of requests, for tools with two arguments and descriptions of 120 characters."""
    return "\n".join([HEAD, *(f"| {' | '.join(f'{cell:,}' for cell in _row(tools))} |" for tools in TOOLS)])


def _row(tools: int) -> tuple[int, ...]:
    specs = [ToolSpec(f"tool_{number}", "d" * 120, ARGUMENTS, effect="read") for number in range(tools)]
    offer = Offer.of({spec.name: spec for spec in specs}, NO_POLICY)
    asked = _text(planner_messages(FIRST, offer.text, RunState(), {}))
    other = _text(planner_messages(SECOND, offer.text, RunState(), {}))
    revised = _text(replanner_messages(FIRST, offer.text, Plan(), RunState(), "steps failed", {}))
    return tools, len(asked), len(json.dumps(offer.plan_schema)), _equal(asked, other), _equal(asked, revised)


def _equal(one: str, other: str) -> int:
    """Return how many characters two requests have in common at their beginning."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _text(messages: Sequence[BaseMessage]) -> str:
    return "".join(str(message.content) for message in messages)


if __name__ == "__main__":
    write_between_marks(PAGE, table(), NAME)
