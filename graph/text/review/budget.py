"""The review of a budget: a limit that is reached."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.record.budget import Budget, Usage, limit_in_words
from planner_executor.graph.review.content import BudgetContent
from planner_executor.graph.text.review.frame import Block, Prose, limit_name, name
from planner_executor.graph.text.review.layout import ITEM
from planner_executor.graph.words.name_list import listed

ENDS = (
    "Reject without a message to finish with what there is, with `stop` to end the run as rejected, or with a reason "
    "to plan again."
)


def budget_blocks(content: BudgetContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the question about a reached limit, with the usage and the remaining steps."""
    limit, budget = content.limit, Budget.from_json(asked["budget"])
    usage, hard = Usage.from_json(asked["spent"]), Budget.from_json(content.hard)
    now = budget.of(limit) or 0  # a limit that is reached is set; mypy does not know
    is_left = usage.of(limit) < now
    rest = " The next call may take more than what is left." if is_left else ""
    yield Prose(f"The budget's limit of {limit_name(limit)} is reached.{rest} Spent so far:")
    yield from (Prose(ITEM + limit_name(limit_in_words(one, budget, usage))) for one in budget.names)
    yield Prose(
        f"Left to do: {listed([name(step) for step in content.left])}." if content.left else "Nothing is planned yet."
    )
    most = hard.of(limit)
    is_hard = most is not None and most <= now
    can = (
        "It is a hard limit of the policy and cannot be raised."
        if is_hard
        else "Raise it by editing budget, and the run goes on."
    )
    yield Prose(f"{can} {ENDS}")
