"""A playbook made of a plan that ran: values in it become parameters, and no other place of a value is overlooked."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import json_kind
from planner_executor.graph.plan.references import references_in
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks.playbook import Playbook, face_of
from planner_executor.graph.words.name_list import listed

Place = tuple[str | int, ...]
FILLED = ("args", "objective", "success_criteria", "ask", "gate", "for_each", "gather", "when")
"""The fields of a step in which parameters are filled in, of `when` its `of`."""
TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}
_LETTER = r"[^\W_]"


def kept_plan(
    plan: Plan,
    tools: Mapping[str, ToolSpec],
    head: Mapping[str, Any],
    parameters: Sequence[tuple[str, str]],
    keep: Collection[str] = (),
) -> Playbook:
    """Return the playbook of a plan.

    Args:
        plan: The plan.
        tools: The tools as the run had them.
        head: Name, version, description and source.
        parameters: (name, place) such as `("customer", "step_1.args.query")`; one name may have several places, of
            which the first has the value.
        keep: Places in which a value of a parameter stays as it is.

    Raises:
        InputError: There is no such place, values under one name differ, or a value stands in other places too.
    """
    raw: dict[str, Any] = {"answer": plan.answer, "description": head.get("description", "")}
    # A new run has no earlier revision, of which a step could make up for a failure.
    raw["steps"] = {step.id: step.model_copy(update={"replaces": None}).to_json() for step in plan.steps}
    values: dict[str, JsonValue] = {name: param.value for name, param in plan.params.items()}
    for name, written in parameters:
        _check_place(raw, _parsed(written))
        if name not in values:
            values[name] = _at(raw, _parsed(written))
    for name, written in parameters:
        # Only when all values are read: a place that is replaced has none left for the next name.
        _replace(raw, _parsed(written), name, values[name])
    left = {
        written: name
        for name in dict.fromkeys(name for name, _ in parameters)
        for place in _places_of(values[name], raw)
        if (written := _written(place)) not in keep
    }
    if left:
        told = listed([f"that of {name} in {place}" for place, name in left.items()])
        why = "make each a parameter by --param NAME=PLACE, or leave it by --keep PLACE"
        raise InputError("param", f"values stand in other places too: {told}; {why}")
    named = {name for step in plan.steps for name in step.tool_names}
    schemas = {name: {**_typed(value), "examples": [value]} for name, value in values.items()}
    faces = {name: face_of(tools[name]) for name in sorted(named) if name in tools}
    return Playbook.of({**head, **raw, "parameters": schemas, "steps": list(raw["steps"].values()), "tools": faces})


def _check_place(raw: Mapping[str, Any], place: Place) -> None:
    """Refuse a place in which a parameter would be text: a value put into an expression could change its meaning.

    Raises:
        InputError: Nothing is filled in there.
    """
    if place[:1] != ("steps",):
        return
    _, step, field, *inner = (*place, "", "")
    is_literal = field == "args" and inner[0] in raw["steps"].get(step, {}).get("literal", ())
    if field not in FILLED or (field == "when" and inner[0] != "of") or is_literal:
        raise InputError("param", f"{_written(place)} takes no parameter; there are {', '.join(FILLED)}, or --keep it")


def _parsed(written: str) -> Place:
    """Return a place such as `step_1.args.to[0]` as keys and indexes.

    >>> _parsed("step_1.args.to[0]")
    ('steps', 'step_1', 'args', 'to', 0)
    """
    parts = [int(part[1:-1]) if part.startswith("[") else part for part in re.findall(r"\[[0-9]+\]|[^.\[\]]+", written)]
    return (*(() if parts[:1] in (["answer"], ["description"]) else ("steps",)), *parts)


def _written(place: Place) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".steps").removeprefix(".")


def _at(raw: Any, place: Place) -> JsonValue:
    found = raw
    for part in place:
        try:
            found = found[part]
        except (LookupError, TypeError) as error:
            raise InputError("param", f"there is no place {_written(place)}; one is step_1.args.query") from error
    if not isinstance(found, str | int | float | list | dict):
        raise InputError("param", f"{_written(place)} holds {json_kind(found)}, which is no value for a parameter")
    value: JsonValue = json.loads(json.dumps(found))
    if references_in(value):
        raise InputError("param", f"{_written(place)} holds a reference; name a place with a value of its own")
    return value


def _replace(raw: Any, place: Place, name: str, value: JsonValue) -> None:
    """Put a parameter in the place of a value, or of its text within a text."""
    parameter, target = f"{{param.{name}}}", raw
    for part in place[:-1]:
        target = target[part]
    there = target[place[-1]]
    # A text may hold the value among other words, which stay.
    if isinstance(there, str) and isinstance(value, str | int | float) and there != value:
        if not _stands_in(value, there):
            raise InputError("param", f"{_written(place)} does not hold the value of {name}")
        target[place[-1]] = _pattern(value).sub(lambda _: parameter, there)
        return
    if json.dumps(there, sort_keys=True) != json.dumps(value, sort_keys=True):
        raise InputError("param", f"{_written(place)} holds another value than {name} has")
    target[place[-1]] = parameter


def _places_of(value: JsonValue, raw: Any, place: Place = ()) -> Iterator[Place]:
    """Yield each place in which a value stands: as a whole, or as a text within a text."""
    # By the type too: 1 is equal to true.
    if type(raw) is type(value) and raw == value:
        yield place
    elif isinstance(raw, str):
        if isinstance(value, str | int | float) and not isinstance(value, bool) and _stands_in(value, raw):
            yield place
    elif isinstance(raw, dict | list):
        for key, item in raw.items() if isinstance(raw, dict) else enumerate(raw):
            # These name steps and tools, in which a value would stand by chance.
            if len(place) != 2 or key not in ("id", "tool", "tools", "depends_on", "parent"):
                yield from _places_of(value, item, (*place, key))


def _stands_in(value: str | float, text: str) -> bool:
    return bool(str(value).strip()) and _pattern(value).search(text) is not None


def _pattern(value: str | float) -> re.Pattern[str]:
    """Return a pattern for a value as whole words of a text."""
    return re.compile(rf"(?<!{_LETTER}){re.escape(str(value))}(?!{_LETTER})", re.IGNORECASE)


def _typed(value: JsonValue) -> dict[str, str]:
    return {"type": TYPES[type(value)]} if type(value) in TYPES else {}
