"""The labels of a drawing: one line each, without invisible characters, shortened to the available room."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plain_text.sanitize import one_line, visible
from planner_executor.graph.plan.json_writer import json_writer
from planner_executor.graph.plan.references import Reference, pieces
from planner_executor.graph.plan.schema import Plan

_json = json_writer()


def plain(text: str) -> str:
    r"""Return untrusted text on one line, with invisible characters escaped (see `graph.plain_text.sanitize`).

    >>> print(plain("two\nlines \x1b[31mred"))
    two\u{a}lines \u{1b}[31mred
    """
    return one_line(text)


def arguments(args: Mapping[str, JsonValue], literal: Collection[str] = ()) -> str:
    """Return arguments on one line; a reference has no quotes unless its argument is `literal`.

    >>> arguments({"query": "wind", "limit": 5, "of": "{step_1_result.items}"})
    'query="wind" limit=5 of={step_1_result.items}'
    """
    texts = (_quoted(value) if name in literal else _value(value) for name, value in args.items())
    return " ".join(f"{plain(name)}={text}" for name, text in zip(args, texts, strict=True))


def waits_within(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return step id -> its dependencies in this plan, with keys in plan order."""
    known = plan.by_id
    return {step: tuple(before for before in befores if before in known) for step, befores in plan.waits.items()}


def answer_text(plan: Plan) -> str:
    """Return the plan's answer on one line, or a note if there is no answer."""
    return "none" if plan.answer is None else arguments({"": plan.answer}).removeprefix("=")


def some(names: Sequence[str], room: float) -> str:
    """Return the names that fit into `room` columns, at least one, and the number of the others.

    >>> some(["step_1", "step_2", "step_3"], 14)
    'step_1, +2'
    """
    shown, used = 1, columns(names[0])
    while shown < len(names):
        used += 2 + columns(names[shown])
        more = len(names) - shown - 1
        if used + (len(f", +{more}") if more else 0) > room:
            break
        shown += 1
    hidden = len(names) - shown
    return ", ".join([*names[:shown], *([f"+{hidden}"] if hidden else [])])


def _value(value: JsonValue) -> str:
    if isinstance(value, str):
        parts = pieces(value)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            return plain(value)
    return _quoted(value)


def _quoted(value: JsonValue) -> str:
    return " ".join(visible(_json(value)).split())
