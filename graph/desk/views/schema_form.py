"""Fields for a JSON Schema and a value, and the value that a person made of them (decision 158).

A field that was left alone leaves its value as it is. What cannot be read as its type stays text, such as a reference
in the place of a number; whether it may stand there is for the schema's own check to say.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import one_line, visible, visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.plan.schema_shape import LocalReferences, subschemas
from planner_executor.graph.record.values import to_text

Input = Literal["text", "long", "number", "choice", "date", "lines", "json"]
MOST_FIELDS, DEEPEST = 50, 4
"""Fields of a form, and objects within objects that have fields; what has more is JSON text."""
LONG_FROM, MOST_WORDS, MOST_CHOICES = 120, 80, 200
BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "default": "{} if empty",
}
EMPTY: Mapping[Input, JsonValue] = {"text": "", "long": "", "lines": []}
"""What a required value becomes that is emptied; any other value is left out."""


@dataclass(frozen=True)
class FormField:
    """A field: `name` is the JSON Pointer of its value, empty for the whole; `text` is what stands in it at first.

    `choices` are JSON texts with their words, `item` is the input of each line.
    """

    name: str
    label: str
    hint: str
    input: Input
    required: bool
    choices: Sequence[tuple[str, str]] = ()
    text: str = ""
    item: Input = "text"

    @property
    def keys(self) -> list[str]:
        """The keys that lead to its value."""
        return [part.replace("~1", "/").replace("~0", "~") for part in self.name.split("/")[1:]]

    @property
    def place(self) -> str:
        """Its value as a fault of arguments names it, such as `args.address.city`."""
        return "args" + "".join(f".{key}" for key in self.keys)

    def read(self, text: str) -> JsonValue:
        """Return the value of a text."""
        return _read(self.input, text, self.item)


Faults = Sequence[tuple[FormField | None, str]]
"""What is wrong, each with its field, None for the whole."""


def fields_of(schema: Any, value: JsonValue = None, label: str = "Answer") -> list[FormField]:
    """Return the fields of a schema for a value; one field for all of it if the schema says too little, or too much.

    `label` is that of a field for all.

    >>> [(field.name, field.text) for field in fields_of({"properties": {"n": {"type": "integer"}}}, {"n": 4})]
    [('/n', '4')]
    """
    known = LocalReferences(schema, subschemas(schema))
    found: list[FormField] = []
    for field in _fields(FormField("", "", "", "json", True), schema, value, known):
        found.append(field)
        if len(found) > MOST_FIELDS:
            return [_filled(FormField("", label, "", "json", True), value)]
    return [replace(field, label=field.label or label) for field in found]


def value_in(fields: Sequence[FormField], value: JsonValue, texts: Mapping[str, str]) -> Any:
    """Return the value with the fields that were changed; one that is empty and may be left out is left out.

    Args:
        fields: Those of the value, see `fields_of`.
        value: The value before, None if there was none.
        texts: Names of fields -> what stands in them now.

    >>> value_in(fields_of({"properties": {"n": {"type": "integer"}}}), None, {"/n": "4"})
    {'n': 4}
    """
    if "" in texts and all(field.name for field in fields):
        return _read("json", texts[""])
    made = deepcopy(value)
    for field in fields:
        text = sent(texts.get(field.name, field.text))
        if text == sent(field.text):
            continue
        made = _put(made, field.keys, field.read(text)) if text else _emptied(made, field)
    return made


def faults_in(schema: Any, value: Any, fields: Sequence[FormField]) -> Faults:
    """Return the faults of an object that does not match a schema."""
    if not isinstance(schema, Mapping) or not isinstance(value, Mapping):
        return []
    found = ToolSpec("the form", "", schema).argument_faults(value)
    return [(field_at(fields, place), why) for place, why in found]


def field_at(fields: Sequence[FormField], place: str) -> FormField | None:
    """Return the field that a fault at a place is about: the value's own, one around it, or the first one within it."""
    around = [one for one in fields if place == one.place or place.startswith((f"{one.place}.", f"{one.place}["))]
    within = [one for one in fields if one.place.startswith(f"{place}.")]
    return max(around, key=lambda one: len(one.name), default=None) or next(iter(within), None)


def _fields(made: FormField, schema: Any, value: Any, known: LocalReferences) -> Iterator[FormField]:
    """Yield the fields of a part of a schema; `made` is what is known of it."""
    schema = _plain(schema, known)
    named = schema.get("properties")
    labelled = replace(made, label=": ".join(filter(None, (made.label, str(schema.get("title") or _last(made))))))
    if not isinstance(named, Mapping) or not named or len(made.keys) >= DEEPEST or not _may_hold(value, schema):
        labelled = replace(labelled, hint=str(schema.get("description") or ""))
        yield _filled(_typed(labelled, schema, value, known), value)
        return
    within = value if isinstance(value, Mapping) else {}
    required = schema.get("required", ())
    for name in dict.fromkeys((*named, *within)):
        # A JSON Pointer (RFC 6901): `~` first, or the one of `~1` would be written again.
        pointer = f"{made.name}/{str(name).replace('~', '~0').replace('/', '~1')}"
        inner = replace(made, name=pointer, label=labelled.label if made.name else "", required=name in required)
        yield from _fields(inner, named.get(name, {}), within.get(name), known)


def _last(made: FormField) -> str:
    return made.keys[-1] if made.name else ""


def _may_hold(value: Any, schema: Mapping[str, Any]) -> bool:
    return (value is None or isinstance(value, Mapping)) and schema.get("type", "object") == "object"


def _plain(schema: Any, known: LocalReferences) -> Mapping[str, Any]:
    """Return a schema without a reference at its root, and without null as another choice: that is an empty field."""
    # Bounded: a reference may lead back to itself.
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        some = [one for one in schema.get("anyOf", ()) if not isinstance(one, Mapping) or one.get("type") != "null"]
        kinds = [kind for kind in schema["type"] if kind != "null"] if isinstance(schema.get("type"), list) else []
        if len(kinds) == 1:
            schema = {**schema, "type": kinds[0]}
        elif len(some) == 1 and isinstance(some[0], Mapping):
            schema = {**{name: part for name, part in schema.items() if name != "anyOf"}, **some[0]}
        elif "$ref" in schema and isinstance(target := known.at(schema["$ref"]), Mapping):
            schema = {**target, **{name: part for name, part in schema.items() if name != "$ref"}}
        else:
            return schema
    return {}


def _typed(made: FormField, schema: Mapping[str, Any], value: Any, known: LocalReferences) -> FormField:
    kind, bounds = schema.get("type"), _bounds(schema)
    made = replace(made, hint=", ".join(filter(None, (made.hint, bounds))))
    # A longer list does not fit a menu; its values are typed.
    if isinstance(schema.get("enum"), list) and len(schema["enum"]) <= MOST_CHOICES:
        choices = [(json.dumps(one), one if isinstance(one, str) else to_text(one)) for one in schema["enum"]]
        return replace(made, input="choice", choices=_with(value, choices))
    match kind:
        case "boolean":
            return replace(made, input="choice", choices=_with(value, [("true", "yes"), ("false", "no")]))
        case "integer" | "number":
            return replace(made, input="number")
        # A browser shows a date field empty if its value is no date, and would send it back so.
        case "string" if schema.get("format") == "date" and (value is None or _is_date(value)):
            return replace(made, input="date")
        case "string":
            most = schema.get("maxLength")
            # Long or of several lines: a field of one line would join them when it is sent back.
            is_short = made.name and isinstance(most, int) and most <= LONG_FROM and "\n" not in str(value)
            return replace(made, input="text" if is_short else "long")
        case "array" if (item := _plain(schema.get("items"), known).get("type")) in ("string", "integer", "number"):
            hint = ", ".join(filter(None, ("one a line", made.hint)))
            return replace(made, input="lines", item="text" if item == "string" else "number", hint=hint)
        case None:
            return made
        case _:
            return replace(made, hint=", ".join(filter(None, ("JSON", made.hint))))


def _with(value: Any, choices: list[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Return the choices with the value that stands there now, such as a reference."""
    now = json.dumps(value)
    return choices if value is None or now in dict(choices) else [*choices, (now, visible_json(value))]


def _bounds(schema: Mapping[str, Any]) -> str:
    given = {name: to_text(schema[name]) for name in BOUNDS if schema.get(name) is not None}
    return ", ".join(BOUNDS[name].format(one_line(text, MOST_WORDS)) for name, text in given.items())


def _is_date(value: Any) -> bool:
    try:
        return bool(date.fromisoformat(value).isoformat() == value)
    except (TypeError, ValueError):
        return False


def _filled(field: FormField, value: Any) -> FormField:
    """Return a field with the text of a value: as JSON if it would be read as another value, or not be seen."""
    if value is None:
        return field
    text = _text(field, value)
    if _is_same(field.read(sent(text)), value) and visible(text) == text:
        return replace(field, text=text)
    return replace(field, text=visible_json(value), input="json")


def _text(field: FormField, value: Any) -> str:
    if field.input == "choice":
        return json.dumps(value)
    if isinstance(value, list):
        return "\n".join(one if isinstance(one, str) else visible_json(one) for one in value)
    return value if isinstance(value, str) else visible_json(value)


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def _read(kind: Input, text: str, item: Input = "text") -> JsonValue:
    match kind:
        case "text" | "long" | "date":
            return text
        case "lines":
            return [_read(item, line) for line in map(str.strip, text.split("\n")) if line]
        case "number":
            found = _json_or_text(text)
            return found if isinstance(found, int | float) and not isinstance(found, bool) else text
        case _:
            return _json_or_text(text)


def _json_or_text(text: str) -> JsonValue:
    found: JsonValue = parse_json_or_text(text)
    return found


def sent(text: str) -> str:
    """Return a text as a form hands it on."""
    return text.replace("\r\n", "\n").strip()


def _put(whole: Any, keys: Sequence[str], value: JsonValue) -> Any:
    if not keys:
        return value
    within = whole if isinstance(whole, dict) else {}
    return {**within, keys[0]: _put(within.get(keys[0]), keys[1:], value)}


def _emptied(whole: Any, field: FormField) -> Any:
    if field.required and field.input in EMPTY:
        return _put(whole, field.keys, deepcopy(EMPTY[field.input]))
    return _without(whole, field.keys)


def _without(whole: Any, keys: Sequence[str]) -> Any:
    """Return an object without a value, and without an object within it that has nothing left."""
    if not keys or not isinstance(whole, dict):
        return None
    inner = _without(whole.get(keys[0]), keys[1:])
    rest = {name: part for name, part in whole.items() if name != keys[0]}
    return {**rest, keys[0]: inner} if inner else rest
