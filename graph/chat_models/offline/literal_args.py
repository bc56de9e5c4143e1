"""Marks arguments with user text as `literal` if the text looks like a reference (decision 0028)."""

from collections.abc import Collection
from typing import Any

from planner_executor.graph.plan.lookalikes import lookalike_faults
from planner_executor.graph.plan.references import references_in, resolve

JsonObject = dict[str, Any]


def with_literal(answer: JsonObject, others: Collection[str]) -> JsonObject:
    """Return a plan or revision in which arguments that contain invalid look-alikes of references are `literal`.

    Args:
        answer: The plan or revision.
        others: Ids of plan steps that are not in `answer`.
    """
    steps = answer.get("steps", [])
    known = {*others, *(step["id"] for step in steps)}
    return {**answer, "steps": [_mark_literal(step, known) for step in steps]} if steps else answer


def _mark_literal(step: JsonObject, known: Collection[str]) -> JsonObject:
    args, literal = step.get("args", {}), step.get("literal", [])
    wordy = [
        name
        for name, value in args.items()
        if name not in literal and not references_in(value) and any(lookalike_faults(value, known))
    ]
    if not wordy:
        return step
    # A literal argument is kept as written, so that what was escaped in it has to be as it was meant.
    plain = {name: resolve(args[name], {}) for name in wordy}
    return {**step, "args": {**args, **plain}, "literal": [*literal, *wordy]}
