"""Normalization of plans: common names of fields and common wrappers are translated to the plan format.

Nothing is validated here except unreadable input. Each change is described by a note, which is recorded with the plan.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import MAX_ITEMS, Step, is_step_id
from planner_executor.graph.plan.shortening import short_repr
from planner_executor.graph.plan.step_kind import kind_of
from planner_executor.graph.plan.unique_keys import read_json
from planner_executor.graph.words.name_list import listed

ALIASES = {
    "description": "objective",
    "input": "args",
    "arguments": "args",
    "parameters": "args",
    "tool_input": "args",
    "dependencies": "depends_on",
    "subgoal_id": "id",
}
STEP = "step"
"""A spelling of `id` if its value can be one, else of `objective`."""
FIELDS = tuple(Step.model_fields)
CANNOT = "cannot"
LOOK = "look"
MOST_LOOKS = 8
"""Most calls of one proposal to look."""
PLAYBOOK = "playbook"
NO_PLAYBOOK = "only a whole new plan uses playbooks; give the steps themselves here"
ON_COMMENTS = "on_comments"
PLAN_KEYS = ("steps", "keep", "plan", "answer", CANNOT, LOOK, ON_COMMENTS, PLAYBOOK)
"""Keys that identify a plan or a revision among other JSON."""
ANSWERS = ("answer", CANNOT)
"""Keys that may stand without steps."""
COMMENTARY = ("goal", "thought", "reasoning")
"""Keys that models add beside the steps; ignored."""

MAX_WRAPPERS = 4
MAX_NOTES = 20
CALL_KEYS = frozenset(("name", "arguments", "parameters", "args", "input", "id", "type"))
ARGUMENTS = ("arguments", "parameters", "args", "input")
PLAN_CALLS = ("plan", "revision")
"""Names of calls whose arguments are a plan even without steps; for any other name there must be steps."""
STEP_KEYS = frozenset(
    (PLAYBOOK, "objective", "tool", "tools", "required_tools", "depends_on", "dependencies", "subgoal_id")
)


@dataclass
class Fields:
    """A step's fields under their canonical names, issues of unreadable ones, and notes on changes."""

    values: dict[str, Any] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def looks_like_plan(raw: Any) -> bool:
    """Whether a JSON value found in a response is a plan or a revision, valid or not."""
    # An answer may quote other lists of objects, such as results: each has to look like a step.
    if isinstance(raw, list):
        return bool(raw) and all(isinstance(item, dict) and _looks_like_step(item) for item in raw)
    if not isinstance(raw, dict):
        return False
    if any(isinstance(raw.get(name), list) for name in ("steps", "keep", "plan")) or isinstance(raw.get("plan"), dict):
        return True
    if isinstance(raw.get(PLAYBOOK), str) and set(raw) <= {PLAYBOOK, "params", *COMMENTARY}:
        return True
    # `answer` is a key of much other JSON, so nothing else may stand beside it.
    says = isinstance(raw.get(LOOK), list) or not raw.keys().isdisjoint(ANSWERS)
    return (says and set(raw) <= {*PLAN_KEYS, *COMMENTARY}) or _called_with(raw, ()) is not None


def unwrap(raw: Any, tools: Collection[str] = ()) -> tuple[Any, list[str]]:
    """Return the object that contains `steps`, without null keys, and notes on what was removed.

    Wrappers are a bare list, `{"plan": ...}`, and a call whose arguments are the plan, unless it names one of `tools`.
    """
    notes: list[str] = []
    for _ in range(MAX_WRAPPERS):
        raw = _without_commentary(_without_nulls(raw), notes)
        if isinstance(raw, dict) and set(raw) == {"plan"}:
            raw = raw["plan"]
            notes.append("the value of plan was read as the plan")
        elif isinstance(raw, dict) and (inner := _called_with(raw, tools)) is not None:
            raw = inner
            notes.append("the arguments of a call were read as the plan")
        else:
            break
    if isinstance(raw, list):
        notes.append("a bare list was read as the steps")
        return {"steps": raw}, notes
    return raw, notes


def called_tool(raw: Any, tools: Collection[str]) -> str | None:
    """Return the name of the tool that a JSON value calls, None if the value is not a call of one of the tools.

    >>> called_tool({"name": "add", "arguments": {"a": 1}}, ["add"]), called_tool({"steps": []}, ["add"])
    ('add', None)
    """
    one = raw[0] if isinstance(raw, list) and len(raw) == 1 else raw
    if not isinstance(one, dict):
        return None
    call = _call_in(one)
    if one is raw and set(one) == {"tool", "args"}:  # in a list it is a step
        name = one["tool"]
    else:
        name = call.get("name") if set(call) <= CALL_KEYS and not call.keys().isdisjoint(ARGUMENTS) else None
    return name if isinstance(name, str) and name in tools else None


def unknown_key(key: Any, known: str) -> str:
    """Return what is wrong with a key of a plan or a step; a playbook is expanded before either is read, or not at all.

    >>> unknown_key("depend", "a step has id"), unknown_key("playbook", "a step has id")
    ("unknown key 'depend'; a step has id", 'only a whole new plan uses playbooks; give the steps themselves here')
    """
    return NO_PLAYBOOK if key == PLAYBOOK else f"unknown key {short_repr(key)}; {known}"


def read_fields(raw: Mapping[Any, Any], tools: Mapping[str, ToolSpec], step: str) -> Fields:
    """Return a step's fields without null values; issues call the step by the name `step`."""
    found = Fields()
    fields = found.values
    for key, value in raw.items():
        name = _canonical(key, value)
        if value is None:
            continue
        if name not in FIELDS:
            found.issues.append(Issue(step, str(key), unknown_key(key, f"a step has {', '.join(FIELDS)}")))
        elif name in fields:
            found.issues.append(Issue(step, name, f"given twice, the second time as {short_repr(key)}; keep one"))
        else:
            fields[name] = value
            found.notes += [f"{key} was read as {name}"] if key != name else []
    if "required_tools" in fields:  # a tool that must be called is granted too
        fields.setdefault("tools", fields["required_tools"])
    _read_ids(found)
    if isinstance(fields.get("checks"), list):
        fields["checks"] = [_without_nulls(check) for check in fields["checks"]]
    if isinstance(fields.get("tool"), str) and fields["tool"].strip().lower() == "none":
        found.notes.append(f"the tool {fields.pop('tool').strip()} was read as no tool")
    if isinstance(fields.get("args"), str):
        _read_text_args(found, tools, step, is_json="arguments" in raw)
    _leave_out_defaults(fields)
    return found


def read_ids(given: Any) -> Any:
    """Return a list of normalized step ids; a single id becomes a list of one."""
    ids = [given] if (isinstance(given, str) and given) or _is_count(given) else given
    return [read_id(one) for one in ids] if isinstance(ids, list) else ids


def read_id(given: Any) -> Any:
    """Return a normalized step id: 1 and "1" become `step_1`."""
    is_text = isinstance(given, str) and given.isascii() and given.isdigit() and (given == "0" or given[0] != "0")
    return f"step_{given}" if is_text or _is_count(given) else given


def name_of(raw: Mapping[Any, Any]) -> str | None:
    """Return the id of a raw step, for issues."""
    given = (value for key, value in raw.items() if value is not None and _canonical(key, value) == "id")
    name = read_id(next(given, None))
    return name if isinstance(name, str) else None


def group_notes(notes: Iterable[tuple[str | None, str]]) -> tuple[str, ...]:
    """Return notes, given as (step, sentence), each once with its steps.

    >>> group_notes([(None, "a"), ("step_1", "b"), ("step_2", "b")])
    ('a', 'b, in step_1, step_2')
    """
    steps: dict[str, list[str]] = defaultdict(list)
    for step, note in notes:
        steps[note] += [step[:80]] if step is not None else []
    grouped = [f"{note}, in {listed(ids, 3)}" if ids else note for note, ids in steps.items()]
    more = len(grouped) - MAX_NOTES
    return tuple(grouped if more <= 0 else [*grouped[:MAX_NOTES], f"and {more} more"])


def _canonical(key: Any, value: Any) -> Any:
    """Return the name of a step's field, given a spelling of it and its value."""
    if key == STEP:
        return "id" if is_step_id(read_id(value)) else "objective"
    return ALIASES.get(key, key)


def _without_nulls(raw: Any) -> Any:
    return {key: value for key, value in raw.items() if value is not None} if isinstance(raw, dict) else raw


def _without_commentary(raw: Any, notes: list[str]) -> Any:
    if not isinstance(raw, dict) or not any(key in raw for key in PLAN_KEYS):
        return raw
    notes += [f"{key} beside the plan was left out" for key in COMMENTARY if key in raw]
    return {key: value for key, value in raw.items() if key not in COMMENTARY}


def _looks_like_step(item: Mapping[str, Any]) -> bool:
    return not STEP_KEYS.isdisjoint(item) or ("description" in item and not {"id", STEP}.isdisjoint(item))


def _called_with(raw: Mapping[Any, Any], tools: Collection[str]) -> Any:
    """Return the plan in the arguments of a call, None if this is not such a call."""
    call = _call_in(raw)
    given = [name for name in ARGUMENTS if name in call]
    name = call.get("name")
    if not isinstance(name, str) or name in tools or len(given) != 1 or set(call) - CALL_KEYS:
        return None
    inner = _object_in(call[given[0]])
    if not isinstance(inner, dict):
        return None
    has_steps = isinstance(inner.get("steps", inner.get("plan", inner.get("keep"))), dict | list)
    return inner if has_steps or (name in PLAN_CALLS and not inner.keys().isdisjoint(ANSWERS)) else None


def _call_in(raw: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the call in the forms in which servers wrap it, or the object itself."""
    calls = raw.get("tool_calls")
    if set(raw) == {"tool_calls"} and isinstance(calls, list) and len(calls) == 1 and isinstance(calls[0], dict):
        raw = calls[0]
    function = raw.get("function")
    return function if isinstance(function, dict) and set(raw) <= {"type", "id", "function"} else raw


def _object_in(value: Any) -> Any:
    """Return the value of a JSON text, as in the arguments of a call; other values are returned unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except (ValueError, RecursionError):
        return value


def _read_ids(found: Fields) -> None:
    fields = found.values
    if "id" in fields and (name := read_id(fields["id"])) != fields["id"]:
        fields["id"] = name
        found.notes.append("a number as id was read as step_<number>")
    if "depends_on" in fields:
        given, fields["depends_on"] = fields["depends_on"], read_ids(fields["depends_on"])
        if not isinstance(given, list) and isinstance(fields["depends_on"], list):
            found.notes.append("one id in depends_on was read as a list of it")
        elif given != fields["depends_on"]:
            found.notes.append("numbers in depends_on were read as step_<number>")
    if "replaces" in fields:
        fields["replaces"] = read_id(fields["replaces"])
        if fields["replaces"] == fields.get("id"):  # a step replaces one of the same id anyway
            del fields["replaces"]


def _leave_out_defaults(fields: dict[str, Any]) -> None:
    """Leave out limits that state what holds without them: plans that mean the same share a digest."""
    stated = {"max_calls": 1} if kind_of(fields) == "model" else {}
    if "for_each" in fields:
        stated |= {"max_items": MAX_ITEMS, "max_failures": 0}
    for name, default in stated.items():
        if type(fields.get(name)) is int and fields[name] == default:
            del fields[name]


def _is_count(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


def _read_text_args(found: Fields, tools: Mapping[str, ToolSpec], step: str, is_json: bool) -> None:
    """Pass a plain string to the tool's only or first required parameter; without a tool, to the model.

    Args:
        found: The step's fields.
        tools: The tools by name.
        step: What issues call the step.
        is_json: Whether the key was `arguments`, which is JSON text in tool calls.
    """
    fields = found.values
    granted = fields.get("tools")
    names = [fields["tool"]] if "tool" in fields else granted if isinstance(granted, list) else []
    text = fields.pop("args")
    if is_json and isinstance(inner := _object_in(text), dict):
        fields["args"] = inner
        found.notes.append("the JSON text in arguments was read as the arguments")
        return
    if not names:
        fields["args"] = {"input": text}
        found.notes.append("a plain text was read as the argument input")
        return
    spec = tools.get(names[0]) if len(names) == 1 and isinstance(names[0], str) else None
    if len(names) == 1 and spec is None:
        return  # validation reports the unknown tool
    parameter = spec.first_parameter if spec else None
    if parameter is None:
        found.issues.append(Issue(step, "args", "args is text, but matches no single argument; name the arguments"))
    else:
        fields["args"] = {parameter: text}
        found.notes.append(f"a plain text was read as the argument {parameter}")
