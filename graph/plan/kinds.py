"""Which fields go together: each kind of step has its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from graph.errors import listed

ALWAYS = ("id", "objective", "success_criteria", "depends_on", "parent", "replaces")
EACH = ("for_each", "max_items", "max_failures")
FITTING: Mapping[str, tuple[str, ...]] = {
    "tool": ("args", "literal", "checks", *EACH),
    "ask": ("output",),
    "gate": (),
    "refine": ("tools", "checks"),
    "gather": ("checks",),
}
"""The field that makes a step what it is -> what may stand beside it; a step without any of them is a model's."""
MODEL = ("tools", "required_tools", "args", "literal", "max_calls", "output", "executor", "checks", *EACH)


def kind_issues(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (field, what is wrong) for fields that do not go together."""
    kinds = [kind for kind in FITTING if fields.get(kind) not in (None, False)]
    if len(kinds) > 1:
        yield kinds[1], f"a step has one of {', '.join(FITTING)}; this one has {' and '.join(kinds)}"
        return
    if kinds == ["tool"] and fields.get("tools"):
        yield "tool", "a step has a tool or tools, not both"
        return
    fitting = FITTING[kinds[0]] if kinds else MODEL
    for name in fields:
        if name not in (*ALWAYS, *fitting, *FITTING):
            yield name, _misplaced(kinds)
    if "for_each" not in fields:
        for name in EACH[1:]:
            if name in fields:
                yield name, "is for steps with for_each"
    yield from _literal_issues(fields)
    yield from _required_issues(fields)


def _literal_issues(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    given, literal = fields.get("args"), fields.get("literal")
    args = given if isinstance(given, dict) else {}
    strange = (
        [name for name in literal if isinstance(name, str) and name not in args] if isinstance(literal, list) else []
    )
    if strange:
        words = "is not among its args" if len(strange) == 1 else "are not among its args"
        yield "literal", f"{listed([*map(repr, strange)])} {words}; it has {listed([*map(str, args)]) or 'none'}"


def _misplaced(kinds: list[str]) -> str:
    if kinds == ["tool"]:
        return "is for steps with tools; this one makes exactly one call"
    return f"does not go with {kinds[0] if kinds else 'tools'}"


def _required_issues(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tools, required = fields.get("tools"), fields.get("required_tools")
    if isinstance(tools, list) and isinstance(required, list):
        for name in required:
            if name not in tools:
                yield "required_tools", f"{name!r} is not among its tools"
