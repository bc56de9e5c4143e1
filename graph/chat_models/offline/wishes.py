"""Constraints and feedback -> what is to be planned, or the one that the rules cannot keep to."""

from collections.abc import Callable
from typing import TypeVar

from graph.chat_models.offline import prose
from graph.chat_models.offline.prompt_document import PromptDocument

Wanted = TypeVar("Wanted")


def wished(
    wanted: Wanted, prompt: PromptDocument, change: Callable[[Wanted, str], Wanted | None], known: str
) -> Wanted | str:
    """Return what is wanted, changed by every constraint and all feedback, or why it is refused.

    Args:
        wanted: What the goal asks for.
        prompt: With the constraints and the feedback.
        change: Returns what is wanted by a wish, None if a part of the wish cannot be met.
        known: The wishes that can be met, in words.
    """
    explained: list[tuple[Callable[[str, str], str], str]] = [
        (prose.constraint_not_kept, wish) for wish in prompt.constraints
    ]
    explained += [(prose.feedback_not_understood, wish) for wish in prompt.feedback]
    for refusal, wish in explained:
        changed = change(wanted, wish)
        if changed is None:
            return refusal(wish, known)
        wanted = changed
    return wanted
