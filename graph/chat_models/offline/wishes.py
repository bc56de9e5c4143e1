"""Applying constraints and feedback to a parsed goal, or naming the one that the rules cannot satisfy."""

from collections.abc import Callable
from typing import TypeVar

from planner_executor.graph.chat_models.offline import prose
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument

Wanted = TypeVar("Wanted")


def wished(
    wanted: Wanted, prompt: PromptDocument, change: Callable[[Wanted, str], Wanted | None], known: str
) -> Wanted | str:
    """Return a parsed goal changed by every constraint and all feedback, or the refusal of one of them.

    Args:
        wanted: The parsed goal.
        prompt: The prompt with constraints and feedback.
        change: Applies a constraint or feedback to the goal; returns None if a part of it cannot be satisfied.
        known: The constraints that the rules know, in words.
    """
    explained: list[tuple[Callable[[str, str], str], str]] = [
        (prose.constraint_not_kept, wish) for wish in prompt.constraints
    ]
    # Constraints hold from the beginning; feedback comes later and may change what they made of the goal.
    explained += [(prose.feedback_not_understood, wish) for wish in prompt.feedback]
    for refusal, wish in explained:
        changed = change(wanted, wish)
        if changed is None:
            return refusal(wish, known)
        wanted = changed
    return wanted
