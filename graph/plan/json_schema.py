"""The plan format as a JSON Schema, for model servers that enforce an output schema; validation does not rely on it.

A step has one of several forms: one for each kind, and one for each tool, with each argument of its own type or a
reference. So a server that keeps to the schema can name neither an unknown tool nor an unknown argument.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.kinds.fields import ALWAYS
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.normalization import CANNOT, LOOK, MOST_LOOKS, PLAYBOOK
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.step_kind import KINDS, StepKind

MAX_TOOLS = 60
"""With more tools than this that would have a form of their own, one form stands for the calls of all: servers limit
the size of a schema."""
MAX_NAMES = 200
"""With more tools than this, their names are left out too."""
MOST_STEPS = 100
MOST_ITEMS = 50
"""Most steps of a plan, and most items of a list in a step, that a model may write: small ones repeat themselves."""
SHORT = 40
"""Characters of a field's schema that is repeated in each form; a longer one is referred to."""
BY_OTHERS = frozenset({"parent", *ATTEMPT_FIELDS})
"""Fields that prompts do not name: people set them, or the expansion of a `refine` step."""

KEYWORDS: Mapping[str, str] = {"gt": "exclusiveMinimum", "ge": "minimum", "const": "enum", "oneOf": "anyOf"}
"""Keywords that are written otherwise here: pydantic's own, and those that some servers do not know."""
OF_VALUES = frozenset(
    {"type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength"}
    | {"maxLength", "minItems", "maxItems", "pattern", "format"}
)
"""Keywords of an argument's schema that are taken over as they are."""
OF_ANY_SHAPE = frozenset({"allOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "prefixItems"})
"""Keywords with which a schema of an argument is not copied: any value fits then, and validation says what does not."""
REFERENCE: Mapping[str, Any] = {"type": "string", "pattern": r"^[^{]*\{.+\}[^}]*$"}
ANY_JSON = "#/$defs/JsonValue"
NOTES = ("title", "description", "default")


def plan_schema(
    tools: Sequence[ToolSpec],
    looks: Sequence[ToolSpec] = (),
    in_short: Collection[str] = (),
    playbooks: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the schema of a plan that may call these tools, or of a look by means of some.

    One form stands for the calls of those that the prompt shows `in_short`. The plan may be one of the playbooks, or
    have some as steps.
    """
    schema = _Schema(tools, looks, in_short).whole("plan", "A plan to review.", {})
    if playbooks:
        named, params = _one_of(list(playbooks)), {"type": "object"}
        step = {"id": {"type": "string"}, "objective": {"type": "string"}, PLAYBOOK: named, "params": params}
        step["depends_on"] = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_ITEMS}
        schema["properties"]["steps"]["items"]["anyOf"].append(_closed(step, ["id", "objective", PLAYBOOK]))
        schema["properties"] |= {PLAYBOOK: named, "params": params}
        schema["required"] = []
    return schema


def revision_schema(
    tools: Sequence[ToolSpec], looks: Sequence[ToolSpec] = (), in_short: Collection[str] = ()
) -> dict[str, Any]:
    """Return the schema of a revision, see `plan_schema`."""
    keep = {"type": "array", "items": {"type": "string"}}
    return _Schema(tools, looks, in_short).whole("revision", "A revision of what is left of a plan.", {"keep": keep})


@dataclass
class _Schema:
    """A schema while it is put together; `defs` are its parts that others refer to, `names` those of tools' parts."""

    tools: Sequence[ToolSpec]
    looks: Sequence[ToolSpec]
    in_short: Collection[str]
    defs: dict[str, Any] = field(default_factory=dict)
    names: dict[tuple[str, str, bool], str] = field(default_factory=dict)

    def whole(self, title: str, description: str, more: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of an answer; `more` are its properties besides those of a plan."""
        plan = json.loads(_plan_format())
        fields = {name: part for name, part in plan["$defs"]["Step"]["properties"].items() if name not in BY_OTHERS}
        properties = {
            **more,
            **{name: part for name, part in plan["properties"].items() if name != "params"},
            CANNOT: {"type": "string"},
            "steps": {"type": "array", "maxItems": MOST_STEPS},
        }
        properties["steps"]["items"] = {"anyOf": self._steps(fields)}
        if self.looks:
            calls = {"anyOf": [self._look(tool) for tool in self.looks]}
            properties[LOOK] = {"type": "array", "minItems": 1, "maxItems": MOST_LOOKS, "items": calls}
        return {
            "title": title,
            "description": description,
            "type": "object",
            "properties": properties,
            "required": [] if self.looks else ["steps"],
            "additionalProperties": False,
            "$defs": self.defs,
        }

    def _steps(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the forms of a step: one for each kind, but several for calls of tools."""
        listed = _one_of([tool.name for tool in self.tools])
        granted = {"type": "array", "items": listed, "maxItems": MOST_ITEMS}
        fields = {**fields, "tool": listed, "tools": granted, "required_tools": granted, "args": {"type": "object"}}
        return [
            form for kind in KINDS for form in (self._calls(fields) if kind == "tool" else [self._form(kind, fields)])
        ]

    def _calls(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the forms of a call: one for each tool that is shown whole, and one for all others."""
        own = [tool for tool in self.tools if tool.name not in self.in_short]
        others = [tool.name for tool in self.tools if tool.name in self.in_short]
        if len(own) > MAX_TOOLS:
            own, others = [], [tool.name for tool in self.tools]
        forms = [self._form("tool", {**fields, **self._call(tool)}) for tool in own]
        return [*forms, self._form("tool", {**fields, "tool": _one_of(others)})] if others else forms

    def _form(self, kind: StepKind, fields: Mapping[str, Any]) -> dict[str, Any]:
        own = () if kind == "model" else (kind,)
        takes = ("id", "objective", *own, *kind_spec(kind).fields, *ALWAYS)
        properties = {name: self._placed(name, fields[name]) for name in takes if name in fields}
        if kind == "refine":
            properties[kind] = {"enum": [True]}
        return _closed(properties, ["id", "objective", *own])

    def _placed(self, name: str, schema: Any) -> Any:
        """Return a field's schema, or a reference to it if it is long."""
        if name in ("args", "tool") or len(json.dumps(schema)) < SHORT:
            return schema
        self.defs[name] = schema
        return {"$ref": f"#/$defs/{name}"}

    def _call(self, tool: ToolSpec) -> dict[str, Any]:
        return {"tool": {"enum": [tool.name]}, "args": self._args(tool, with_references=True)}

    def _look(self, tool: ToolSpec) -> dict[str, Any]:
        args = self._args(tool, with_references=False)
        return _closed({"tool": {"enum": [tool.name]}, "args": args}, ["tool", "args"])

    def _args(self, tool: ToolSpec, *, with_references: bool) -> dict[str, Any]:
        schema, own = tool.schema, _Argument(self, tool, with_references)
        if not OF_ANY_SHAPE.isdisjoint(schema) or not {"anyOf", "oneOf", "$ref"}.isdisjoint(schema):
            return {"type": "object"}
        properties = {name: own.read(part) for name, part in schema.get("properties", {}).items()}
        extras = schema.get("additionalProperties", False) is not False
        return {
            **_closed(properties, [*schema.get("required", ())]),
            **({"additionalProperties": True} if extras else {}),
        }


class _Argument(NamedTuple):
    """Copies the schemas of one tool's arguments, with a reference beside every value that is not plain text."""

    whole: _Schema
    tool: ToolSpec
    with_references: bool

    def read(self, schema: Any) -> dict[str, Any]:
        """Return the copy of a part of the tool's schema."""
        if not isinstance(schema, Mapping) or not OF_ANY_SHAPE.isdisjoint(schema):
            return {}
        if isinstance(target := schema.get("$ref"), str):
            return self._referred(target)
        kept: dict[str, Any] = {KEYWORDS.get(name, name): value for name, value in schema.items()}
        kept |= {"enum": [schema["const"]]} if "const" in schema else {}
        # If any value fits one of the options, any value fits.
        options = [self.read(option) for option in kept.get("anyOf", ())]
        if options:
            return {} if {} in options else {"anyOf": _distinct([each for one in options for each in _options(one)])}
        found = {name: value for name, value in kept.items() if name in OF_VALUES}
        if "items" in kept:
            found["items"] = self.read(kept["items"])
        if isinstance(parts := kept.get("properties"), Mapping):
            found |= {"properties": {name: self.read(part) for name, part in parts.items()}}
            found |= {
                "required": [*kept.get("required", ())],
                "additionalProperties": kept.get("additionalProperties", True) is not False,
            }
        return self._open(found)

    def _referred(self, target: str) -> dict[str, Any]:
        """Return a reference to the copy of a definition of the tool."""
        schema, places = self.tool.schema, ("$defs", "definitions")
        known = {f"#/{place}/{name}": part for place in places for name, part in schema.get(place, {}).items()}
        if target not in known:
            return {}
        key = self.tool.name, target, self.with_references
        name = self.whole.names.setdefault(key, f"part_{len(self.whole.names)}")
        if name not in self.whole.defs:
            self.whole.defs[name] = {}  # first of all: a definition may refer to itself
            self.whole.defs[name] = self.read(known[target])
        return {"$ref": f"#/$defs/{name}"}

    def _open(self, found: dict[str, Any]) -> dict[str, Any]:
        if not self.with_references or not found or found == {"type": "string"}:
            return found
        self.whole.defs["reference"] = dict(REFERENCE)
        return {"anyOf": [found, {"$ref": "#/$defs/reference"}]}


@cache  # as text, so that no reader of a schema changes it for the next
def _plan_format() -> str:
    return json.dumps(_compact(Plan.model_json_schema()))


def _one_of(names: Sequence[str]) -> dict[str, Any]:
    return {"enum": list(names)} if 0 < len(names) <= MAX_NAMES else {"type": "string"}


def _closed(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _options(schema: Mapping[str, Any]) -> Sequence[Any]:
    return schema["anyOf"] if set(schema) == {"anyOf"} else [schema]


def _distinct(options: Sequence[Any]) -> list[Any]:
    return [option for place, option in enumerate(options) if option not in options[:place]]


def _compact(node: Any) -> Any:
    """Return a schema of pydantic without titles, descriptions and defaults, and without null: an absent key."""
    if isinstance(node, list):
        return [_compact(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") == ANY_JSON:
        return {}
    kept = {KEYWORDS.get(name, name): _compact(value) for name, value in node.items() if name not in NOTES}
    if "const" in node:
        kept["enum"] = [node["const"]]
    # In a plan an absent key says what null says here, and models write it more surely.
    options = [option for option in kept.pop("anyOf", ()) if option != {"type": "null"}]
    kept |= (options[0] if len(options) == 1 else {"anyOf": options}) if options else {}
    return {**kept, "maxItems": MOST_ITEMS} if kept.get("type") == "array" else kept
