"""What an approval of a plan covers besides what a review shows, by name."""

from collections.abc import Mapping

from planner_executor.graph.words.name_list import listed

NOT_SHOWN: Mapping[str, str] = {
    "tools": "the definitions of its tools",
    "policy": "the policy",
    "budget": "the budget",
    "approval": "the mode of approval",
    "references": "the way references are read",
}
"""Part of what is bound (`ExecutionTerms.bound`) -> its name in a review."""
BOUND = (
    f"An approval also covers what is not shown here, as it is now: {listed(list(NOT_SHOWN.values()))}. "
    "If one of these changes, it no longer holds."
)
