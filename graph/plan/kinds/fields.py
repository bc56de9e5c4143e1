"""Which fields go together in a step."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS
from planner_executor.graph.plan.kinds.spec import BATCH, FOR_EACH_FIELDS
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.step_kind import NAMING, kind_of, named_kinds
from planner_executor.graph.words.name_list import listed

ALWAYS = ("id", "objective", "success_criteria", "depends_on", "when", "run_if", "parent", "replaces", *ATTEMPT_FIELDS)


def field_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (field, fault) for fields that do not go together."""
    named = named_kinds(fields)
    # One fault and no more: of a step with two kinds no other field can be judged.
    if len(named) > 1:
        yield named[1], f"a step has one of {', '.join(NAMING)}; this one has {' and '.join(named)}"
        return
    if named == ["tool"] and fields.get("tools"):
        yield "tool", "a step has a tool or tools, not both"
        return
    spec = kind_spec(kind_of(fields))
    for name in fields:
        if name not in (*ALWAYS, *spec.fields, *NAMING, BATCH):
            yield name, spec.misplaced
    if "for_each" not in fields:
        for name in FOR_EACH_FIELDS[1:]:
            if name in fields:
                yield name, "is for steps with for_each"
    if BATCH in fields and (fault := _batch_fault(fields)):
        yield BATCH, fault
    yield from _literal_faults(fields)
    yield from _required_faults(fields)


def _batch_fault(fields: Mapping[str, Any]) -> str | None:
    """Return why several items of a step cannot be given to a model in one request."""
    if "for_each" not in fields or kind_of(fields) != "model":
        return "is for model steps with for_each"
    if fields.get("tools"):
        return "is for model steps without tools; leave out batch, or the tools"
    return (
        None if "output" in fields else "needs output, the form of each value of the list that the model answers with"
    )


def _literal_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    given, literal = fields.get("args"), fields.get("literal")
    args = given if isinstance(given, dict) else {}
    strange = (
        [name for name in literal if isinstance(name, str) and name not in args] if isinstance(literal, list) else []
    )
    if strange:
        words = "is not among its args" if len(strange) == 1 else "are not among its args"
        yield "literal", f"{listed([*map(repr, strange)])} {words}; it has {listed([*map(str, args)]) or 'none'}"


def _required_faults(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tools, required = fields.get("tools"), fields.get("required_tools")
    if isinstance(tools, list) and isinstance(required, list):
        for name in required:
            if name not in tools:
                yield "required_tools", f"{name!r} is not among its tools"
