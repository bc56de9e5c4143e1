"""The tools in a planner's prompt, one a line: `name(arg: type, bounds): what it does`, in short `name(…): a sentence`.

Names and descriptions may come from a server. Each stands on its line, so that none can pass for a part of the prompt.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.prompts.data import cut, result_shown

DESCRIPTION_CHARACTERS = 2_000
"""Most characters of a description, of a tool or of an argument."""
SHORT_CHARACTERS = 100
"""Most characters of the first sentence of a description, of a tool in short."""
IN_SHORT = "…"
"""Stands for the arguments of a tool in short."""
BY_WORDS = """\
Tools by name. Under "tools", after the goal, those that fit it stand whole. You may call the others too: if their args
are wrong, you are told what they take."""
NESTING = 3
"""How deep the type of an argument is described."""
ENDS: Mapping[str, str] = {"minimum": "from {}", "maximum": "to {}"}
BOUNDS: Mapping[str, str] = {
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
    "format": "a {}",
    "default": "default {}",
}
"""Keyword of JSON Schema -> words for it, behind the type."""
_SENTENCE = re.compile(r".*?[.!?](?= |$)|.+")


def tools_text(tools: Iterable[ToolSpec], policy: Policy = NO_POLICY) -> str:
    """Return the lines of tools, with the policy's bounds on their arguments."""
    return "\n".join(["Tools:", *(tool_line(tool, policy) for tool in tools)])


def tools_in_short(tools: Iterable[ToolSpec], whole: Collection[str], policy: Policy = NO_POLICY) -> str:
    """Return the lines of tools that are too many to be shown whole, except those named in `whole`."""
    lines = [tool_line(tool, policy) if tool.name in whole else _short_line(tool) for tool in tools]
    return "\n".join([BY_WORDS, *lines])


def tool_line(tool: ToolSpec, policy: Policy = NO_POLICY) -> str:
    """Return the line of a tool; an argument with a question mark may be left out.

    >>> schema = {"properties": {"n": {"type": "integer", "minimum": 1}, "to": {}}, "required": ["n"]}
    >>> tool_line(ToolSpec("send", "Send it.", schema))
    'send(n: integer from 1; to?: any): Send it. Effect: external.'
    """
    rule = policy.tools.get(tool.name)
    bounds = rule.args if rule is not None else {}
    named = dict.fromkeys((*tool.parameters, *bounds))
    found = {name: tool.schema.get("properties", {}).get(name, {}) for name in named}
    takes = [_argument(tool, name, schema, bounds.get(name)) for name, schema in found.items()]
    takes += ["…: any"] if tool.schema.get("additionalProperties", False) is not False else []
    told = {name: text for name, schema in found.items() if (text := _described(schema))}
    does = [f"{tool.name}({'; '.join(takes)}): {_cut(tool.description)}"]
    does += [f"It takes {'; '.join(f'{name}: {text}' for name, text in told.items())}."] if told else []
    does += [f"Effect: {tool.effect}."] if tool.acts else []
    # No line break of a server's words is left: they stay on the tool's line.
    return " ".join(" ".join(does).split())


def _short_line(tool: ToolSpec) -> str:
    sentence = _SENTENCE.match(" ".join(tool.description.split()))
    does = cut(sentence[0], SHORT_CHARACTERS) if sentence else ""
    return " ".join(f"{tool.name}({IN_SHORT}): {does}".split())


def _argument(tool: ToolSpec, name: str, schema: Any, bound: Constraint | None) -> str:
    mark = "" if name in tool.schema.get("required", ()) else "?"
    allowed = [f"only {json.dumps(bound.to_json(), ensure_ascii=False)}"] if bound is not None else []
    return f"{name}{mark}: {', '.join([*_type(schema, tool.schema), *allowed])}"


def _type(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """Yield the name of a type, then its bounds."""
    if not isinstance(schema, Mapping) or depth > NESTING:
        yield "any"
        return
    if isinstance(name := schema.get("$ref"), str):
        yield from _type(root.get("$defs", {}).get(name.removeprefix("#/$defs/")), root, depth + 1)
        return
    ends = [words.format(schema[end]) for end, words in ENDS.items() if end in schema]
    yield " ".join([_type_name(schema, root, depth), *ends])
    for keyword, words in BOUNDS.items():
        if schema.get(keyword) is not None:
            yield words.format(_shown(schema[keyword]))


def _type_name(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if "const" in schema or "enum" in schema:
        return " | ".join(_shown(value) for value in schema.get("enum", [schema.get("const")]))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        # A null among the options says that the argument may be left out, as its question mark does.
        named = dict.fromkeys(" ".join(_type(option, root, depth + 1)) for option in options)
        return " | ".join(name for name in named if name != "null")
    kinds = schema.get("type", "any")
    named = dict.fromkeys(
        _of_type(kind, schema, root, depth) for kind in (kinds if isinstance(kinds, list) else [kinds])
    )
    return " | ".join(name for name in named if name != "null")


def _of_type(kind: Any, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if kind == "array" and schema.get("items"):
        return f"list of {' '.join(_type(schema['items'], root, depth + 1))}"
    properties = schema.get("properties")
    if kind == "object" and isinstance(properties, Mapping) and depth < NESTING:
        required = schema.get("required", ())
        parts = [
            f"{name}{'' if name in required else '?'}: {' '.join(_type(part, root, depth + 1))}"
            for name, part in properties.items()
        ]
        return f"{{{', '.join(parts)}}}"
    return str(kind)


def _described(schema: Any) -> str:
    return _cut(str(schema.get("description") or "")).rstrip(".") if isinstance(schema, Mapping) else ""


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return result_shown(" ".join(text.split()), DESCRIPTION_CHARACTERS)
