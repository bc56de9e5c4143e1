"""Reading comments on steps of a plan: beside a rejection, and in the lines of a chat."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.graph.plan.issues import storable
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.words.name_list import right_name

SHAPE = '[{"step": "step_2", "text": "only last year"}]'
LINE = re.compile(r"comment\s+(?P<step>[A-Za-z][A-Za-z0-9_]*)\s*:(?P<text>.*)", re.IGNORECASE)
"""A comment in a chat, one on a line."""


def step_ids(plan: Any) -> list[str]:
    """Return the ids of the steps of a plan as JSON, which may be one that cannot run."""
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    listed = steps if isinstance(steps, list) else []
    return [step["id"] for step in listed if isinstance(step, Mapping) and isinstance(step.get("id"), str)]


def read_comments(raw: Any, steps: Sequence[str]) -> tuple[Comment, ...]:
    """Return the comments of a rejection.

    Args:
        raw: What a client wrote, None for no comments.
        steps: The ids of the steps that were shown.

    Raises:
        ValueError: They have another shape, or name a step that the plan does not have.
    """
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise ValueError(f"comments must be a list such as {SHAPE}")
    return tuple(_read(one, steps) for one in raw)


def _read(raw: Any, steps: Sequence[str]) -> Comment:
    # A further key would be a wish that nobody reads, and would look granted.
    if not isinstance(raw, Mapping) or set(raw) != {"step", "text"} or not isinstance(raw["text"], str):
        raise ValueError(f"comments must be a list such as {SHAPE}")
    step, text = raw["step"], storable(raw["text"].strip())
    if step not in steps:
        near = right_name(str(step), list(steps)) if steps else "it has none"
        # The refusal goes back into the request, and a client's name may be of any length.
        raise ValueError(f"comments: the plan has no step {str(step)[:80]!r}; {near}")
    if not text:
        raise ValueError(f"comments: the comment on {step} is empty; say what to change")
    return Comment(step, text)


def split_comments(words: str) -> tuple[str, list[dict[str, str]]]:
    """Return the message of a chat without its lines `comment STEP: TEXT`, and these as comments.

    >>> split_comments("comment step_2: only last year\\nand shorter")
    ('and shorter', [{'step': 'step_2', 'text': 'only last year'}])
    """
    rest, comments = [], []
    for line in words.splitlines():
        if said := LINE.fullmatch(line.strip()):
            comments.append({"step": said["step"], "text": said["text"].strip()})
        else:
            rest.append(line)
    return ("\n".join(rest).strip() if comments else words), comments
