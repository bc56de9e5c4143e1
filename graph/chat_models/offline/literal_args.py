"""Arguments made of a user's words: what looks like a reference in them is text."""

from collections.abc import Collection
from typing import Any

from graph.plan.lookalikes import lookalike_faults
from graph.plan.references import references_in, resolve

JsonObject = dict[str, Any]


def with_literal(answer: JsonObject, others: Collection[str]) -> JsonObject:
    """Return a plan or a revision whose arguments are named in `literal` if words in them would be a fault.

    Args:
        answer: What the rules made.
        others: Ids of steps that are in the plan beside those in `answer`.
    """
    steps = answer.get("steps", [])
    known = {*others, *(step["id"] for step in steps)}
    return {**answer, "steps": [_marked(step, known) for step in steps]} if steps else answer


def _marked(step: JsonObject, known: Collection[str]) -> JsonObject:
    args, literal = step.get("args", {}), step.get("literal", [])
    wordy = [
        name
        for name, value in args.items()
        if name not in literal and not references_in(value) and any(lookalike_faults(value, known))
    ]
    if not wordy:
        return step
    plain = {name: resolve(args[name], {}) for name in wordy}
    return {**step, "args": {**args, **plain}, "literal": [*literal, *wordy]}
