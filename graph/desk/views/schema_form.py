"""The form of an answer: fields from a JSON Schema, and the value from what a person filled in."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.record.values import to_text

Input = Literal["text", "long", "number", "choice", "json"]
MOST_FIELDS = 50
LONG_FROM = 120


@dataclass(frozen=True)
class FormField:
    """One field: `name` is empty if the form is a single value; `choices` are JSON texts with their words."""

    name: str
    label: str
    hint: str
    input: Input
    required: bool
    choices: Sequence[tuple[str, str]] = ()


def fields_of(schema: Any) -> list[FormField]:
    """Return the fields of a schema; one field for any value if it says too little.

    >>> [field.input for field in fields_of({"type": "object", "properties": {"n": {"type": "integer"}}})]
    ['number']
    """
    if isinstance(schema, Mapping) and schema.get("type") == "object" and 0 < len(_properties(schema)) <= MOST_FIELDS:
        required = schema.get("required", ())
        return [_field(str(name), part, name in required) for name, part in _properties(schema).items()]
    return [_field("", schema if isinstance(schema, Mapping) else {}, True)]


def value_in(fields: Sequence[FormField], texts: Mapping[str, str]) -> Any:
    """Return the value of a filled form; empty fields that may be left out are left out.

    >>> value_in(fields_of({"type": "object", "properties": {"n": {"type": "integer"}}}), {"n": "4"})
    {'n': 4}
    """
    if len(fields) == 1 and not fields[0].name:
        return _value(fields[0], texts.get("", ""))
    return {
        field.name: _value(field, texts.get(field.name, ""))
        for field in fields
        if field.required or texts.get(field.name, "")
    }


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties", {})
    return found if isinstance(found, Mapping) else {}


def _field(name: str, schema: Any, required: bool) -> FormField:
    schema = schema if isinstance(schema, Mapping) else {}
    label = str(schema.get("title") or name or "Answer")
    hint = str(schema.get("description") or "")
    kind = schema.get("type")
    if isinstance(schema.get("enum"), list):
        choices = [(json.dumps(one), one if isinstance(one, str) else to_text(one)) for one in schema["enum"]]
        return FormField(name, label, hint, "choice", required, choices)
    if kind == "boolean":
        return FormField(name, label, hint, "choice", required, [("true", "yes"), ("false", "no")])
    if kind in ("integer", "number"):
        return FormField(name, label, ", ".join(filter(None, [hint, _bounds(schema)])), "number", required)
    if kind == "string":
        most = schema.get("maxLength")
        short = name and (isinstance(most, int) and most <= LONG_FROM)
        return FormField(name, label, hint, "text" if short else "long", required)
    return FormField(name, label, hint, "long" if kind is None else "json", required)


def _bounds(schema: Mapping[str, Any]) -> str:
    return ", ".join(_each_bound(schema))


def _each_bound(schema: Mapping[str, Any]) -> Iterator[str]:
    if "minimum" in schema:
        yield f"at least {schema['minimum']}"
    if "maximum" in schema:
        yield f"at most {schema['maximum']}"


def _value(field: FormField, text: str) -> Any:
    if field.input in ("text", "long"):
        return text
    return parse_json_or_text(text)
