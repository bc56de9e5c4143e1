"""The names in common use for our fields, brought to ours; nothing is judged here but what cannot be read."""

from collections.abc import Mapping
from typing import Any

from graph.plan.catalog import ToolSpec
from graph.plan.issues import Issue
from graph.plan.schema import Step

ALIASES = {
    "description": "objective",
    "input": "args",
    "dependencies": "depends_on",
    "subgoal_id": "id",
}
FIELDS = tuple(Step.model_fields)


def unwrap(raw: Any) -> Any:
    """Return the object that holds `steps`, null keys left out: a bare list and `{"plan": ...}` are opened."""
    raw = _without_nulls(raw)
    if isinstance(raw, dict) and set(raw) == {"plan"}:
        raw = _without_nulls(raw["plan"])
    return {"steps": raw} if isinstance(raw, list) else raw


def _without_nulls(raw: Any) -> Any:
    return {key: value for key, value in raw.items() if value is not None} if isinstance(raw, dict) else raw


def read_fields(raw: Mapping[Any, Any], tools: Mapping[str, ToolSpec]) -> tuple[dict[str, Any], list[Issue]]:
    """Return a step's fields under our names, null ones left out, and what could not be read."""
    fields: dict[str, Any] = {}
    issues: list[Issue] = []
    step = name_of(raw)
    for key, value in raw.items():
        name = ALIASES.get(key, key) if isinstance(key, str) else key
        if value is None:
            continue
        if name not in FIELDS:
            issues.append(Issue(step, str(key), f"unknown key {key!r}; a step has {', '.join(FIELDS)}"))
        elif name in fields:
            issues.append(Issue(step, name, f"given twice, the second time as {key!r}; keep one"))
        else:
            fields[name] = value
    if "required_tools" in fields:  # a step that has to call tools may call them
        fields.setdefault("tools", fields["required_tools"])
    _read_ids(fields)
    if isinstance(fields.get("checks"), list):
        fields["checks"] = [_without_nulls(check) for check in fields["checks"]]
    if isinstance(fields.get("tool"), str) and fields["tool"].strip().lower() == "none":
        del fields["tool"]
    if isinstance(fields.get("args"), str):
        _read_plain_input(fields, tools, step, issues)
    return fields, issues


def name_of(raw: Mapping[Any, Any]) -> str | None:
    """Return the id to name a raw step by in an issue."""
    given = raw.get("id") if raw.get("id") is not None else raw.get("subgoal_id")
    given = _id(given)
    return given if isinstance(given, str) else None


def _read_ids(fields: dict[str, Any]) -> None:
    if "id" in fields:
        fields["id"] = _id(fields["id"])
    if isinstance(fields.get("depends_on"), list):
        fields["depends_on"] = [_id(before) for before in fields["depends_on"]]
    if "replaces" in fields:
        fields["replaces"] = _id(fields["replaces"])
        if fields["replaces"] == fields.get("id"):  # a step of the same id replaces it without saying so
            del fields["replaces"]


def _id(given: Any) -> Any:
    """Integer ids count steps: 1 is `step_1`."""
    is_count = isinstance(given, int) and not isinstance(given, bool) and given >= 0
    return f"step_{given}" if is_count else given


def _read_plain_input(
    fields: dict[str, Any], tools: Mapping[str, ToolSpec], step: str | None, issues: list[Issue]
) -> None:
    """A plain string goes to the tool's only or first required parameter; without a tool, to the model."""
    granted = fields.get("tools")
    names = [fields["tool"]] if "tool" in fields else granted if isinstance(granted, list) else []
    text = fields.pop("args")
    if not names:
        fields["args"] = {"input": text}
        return
    spec = tools.get(names[0]) if len(names) == 1 and isinstance(names[0], str) else None
    if len(names) == 1 and spec is None:
        return  # an unknown tool is said elsewhere
    parameter = spec.first_parameter if spec else None
    if parameter is None:
        issues.append(Issue(step, "args", "a plain text fits no single argument here; name the arguments"))
    else:
        fields["args"] = {parameter: text}
