"""Editing a plan, in panels or as text; the faults of either stand at their fields (decisions 80 and 158)."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.graph.data_class import dataclass
from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, NAMED, empty_step, in_order, new_steps
from planner_executor.graph.desk.views.schema_form import FormField, field_at, fields_of, sent, value_in
from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import visible, visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.revision import difference, read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml, plan_to_yaml

Tools = Mapping[str, ToolSpec]
NO_TOOLS: Tools = {}
ARGS, AFTER = "args", "after:"
"""Beginnings of names of fields: an argument, and a box for a step that another one waits for."""


@dataclass(frozen=True)
class StepForm:
    """A step of a plan in its panel; `extra` names fields that only the text of the plan can change.

    These are rare fields, and texts with characters that cannot be seen, which are None here. `asks`: a question or a
    gate, which has `question` instead of tools and arguments.
    """

    id: str
    objective: str | None
    does: str
    args: Sequence[FormField]
    depends_on: Sequence[str]
    success_criteria: str | None
    question: str | None
    asks: bool
    done: bool
    extra: tuple[str, ...]


EDITED = {"id", "objective", "tools", "args", "depends_on", "success_criteria"} | NAMED


def step_forms(
    steps: Sequence[Mapping[str, Any]], succeeded: frozenset[str], tools: Tools, given: Mapping[str, str]
) -> list[StepForm]:
    """Return steps as forms; one that has succeeded cannot change. `given` is what was filled in before."""
    return [_form(step, succeeded, tools, given.get(f"step:{step.get('id')}:does", _does(step))) for step in steps]


def argument_fields(step: Mapping[str, Any], does: str, tools: Tools) -> list[FormField]:
    """Return the fields for the arguments of a step if these tools do it, with commas between their names."""
    known = [tools[name].schema for name in _words(does) if name in tools]
    schema: Any = None
    if known and len(known) == len(_words(does)):
        # A model gives what is left empty, to whichever of its tools.
        schema = (
            known[0] if "tool" in step and len(known) == 1 else {name: _merged(known, name) for name in NAMED_PARTS}
        )
    return fields_of(schema, _kept(step, does, tools) or None, "Arguments")


def _merged(schemas: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    return {key: part for schema in schemas for key, part in schema.get(name, {}).items()}


def _kept(step: Mapping[str, Any], does: str, tools: Tools) -> Any:
    """Return the arguments of a step; if other tools do it, those that these take."""
    args = step.get(ARGS) or {}
    if does == _does(step) or not isinstance(args, Mapping):
        return args
    known = [tools[name] for name in _words(does) if name in tools]
    return {name: value for name, value in args.items() if any(spec.takes(name) for spec in known)}


NAMED_PARTS = ("properties", "$defs")


def plan_as_text(shown: ShownRun, plan: Mapping[str, Any]) -> str:
    """Return a plan as the text that a person edits."""
    statuses = shown.run.step_status if shown.run.results else {}
    return plan_to_yaml(plan, shown.run.id, shown.run.revision, shown.run.goal, statuses)


def plan_of_text(text: str) -> Any:
    """Return the plan of an edited text.

    Raises:
        InputError: It cannot be read; names the line.
    """
    try:
        plan = plan_from_yaml(text).plan
    except YamlFault as fault:
        raise InputError("plan", f"line {fault.line + 1}: {fault}") from fault
    if not isinstance(plan, dict | list) or not plan:
        raise InputError("plan", "the text holds no plan; a plan begins with steps:")
    return plan


def plan_of_form(plan: Mapping[str, Any], fields: Mapping[str, str], tools: Tools = NO_TOOLS) -> dict[str, Any]:
    """Return a plan with the fields of the form: changed, removed and new steps, in the order of the form.

    Args:
        plan: The plan shown.
        fields: `step:<id>:<field>`, `new:<number>:<field>`, `order` (keys of steps, separated by commas) and
            `plan-answer` -> text. A key is the id of a step, or `new:<number>`.
        tools: Those of the run, by name.

    Raises:
        InputError: The arguments of a step cannot be read, or a new step has no id.
    """
    steps: list[tuple[str, Any]] = []
    given, added = _by_step(fields), new_steps(fields)
    names = {f"new:{number}": form.get("id", "") for number, form in added.items()}
    for step in plan.get("steps", ()):
        if not isinstance(step, Mapping):
            raise InputError("plan", "it holds something else than steps; edit it as text")
        name = str(step.get("id", ""))
        if not given.get(name, {}).get("remove"):
            steps.append((name, _changed(step, given.get(name, {}), tools, names)))
    for number, form in added.items():
        steps.append((f"new:{number}", _filled(empty_step(number, form), form, tools, names)))
    changed = {**plan, "steps": in_order(steps, fields.get("order", ""))}
    if "plan-answer" in fields and fields["plan-answer"] != sent(answer_text(plan.get("answer")) or ""):
        _set(changed, "answer", _answer(plan.get("answer"), fields["plan-answer"]))
    return changed


def _by_step(fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, text in fields.items():
        if name.startswith("step:"):
            step, _, rest = name.removeprefix("step:").partition(":")
            found.setdefault(step, {})[rest] = text
    return found


def answer_text(answer: Any) -> str | None:
    """Return the answer of a plan as the form has it; None if it can only be changed in the plan's text."""
    text = "" if answer is None else answer if isinstance(answer, str) else visible_json(answer)
    return text if visible(text) == text else None


def _answer(before: Any, text: str) -> Any:
    return text if before is None or isinstance(before, str) else parse_json_or_text(text)


def _filled(step: Mapping[str, Any], form: Mapping[str, str], tools: Tools, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a new step without the fields that the form hides for its kind, which a browser sends all the same."""
    kind = KIND_FORMS.get(form.get("kind", FIRST), KIND_FORMS[FIRST])
    kept = {name: text for name, text in form.items() if name.partition("/")[0] not in kind.without}
    return _changed(step, kept, tools, names)


def read_edit(shown: ShownRun, plan: Any, tools: Tools) -> ParsedPlan:
    """Read an edited plan with the validator of the review; steps that succeeded cannot change."""
    current, succeeded = shown.run.plan, shown.record.steps.succeeded
    if current is None or not succeeded:
        return read_plan(plan, tools)
    return read_revision(plan, current, succeeded, tools)


def changes_of(before: Plan | None, parsed: ParsedPlan) -> str:
    """Return what an edit changes, in a few words."""
    return str(difference(before, parsed.plan)) if parsed.plan is not None else ""


@dataclass(frozen=True)
class FormFault:
    """A fault of an edited plan; `name` is that of its field in the form, empty if it has none."""

    step: str
    name: str
    words: str
    message: str


def by_step(issues: Sequence[Issue], plan: Any, tools: Tools, keys: Mapping[str, str]) -> dict[str, list[FormFault]]:
    """Return the faults of each step; those of the plan itself have the key "".

    Args:
        issues: The faults.
        plan: The plan as it was edited.
        tools: Those of the run, by name.
        keys: What names of fields begin with, by step; left out for those of the plan before.
    """
    steps = {step.get("id"): step for step in step_list(plan)}
    found: dict[str, list[FormFault]] = {}
    for issue in issues:
        name = issue.step or ""
        key = keys.get(name, f"step:{name}:") if name in steps else ""
        at = f"{key}{_field_name(issue.field, steps[name], tools)}" if key else ""
        found.setdefault(name, []).append(FormFault(name, at, issue.field, issue.message))
    return found


def step_list(plan: Any) -> list[Mapping[str, Any]]:
    """Return what of a plan that may have faults are steps."""
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    return [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []


def found_steps(plan: Any, words: str) -> list[Mapping[str, Any]]:
    """Return the steps of a plan with all of these words in id, objective or tools.

    >>> [step["id"] for step in found_steps({"steps": [{"id": "a", "objective": "Pay Ann"}, {"id": "b"}]}, "ann PAY")]
    ['a']
    """
    wanted = words.casefold().split()
    texts = ((step, f"{step.get('id')} {step.get('objective')} {_does(step)}".casefold()) for step in step_list(plan))
    return [step for step, text in texts if all(word in text for word in wanted)]


FIELD_NAMES = {"tool": "does", "tools": "does", "ask": "question", "gate": "question"}


def _field_name(field: str, step: Mapping[str, Any], tools: Tools) -> str:
    name = field.partition(".")[0].partition("[")[0]
    at = field_at(argument_fields(step, _does(step), tools), field) if name == ARGS else None
    return FIELD_NAMES.get(name, name) if at is None else ARGS + at.name


def _form(step: Mapping[str, Any], succeeded: frozenset[str], tools: Tools, does: str) -> StepForm:
    texts = {name: str(step.get(name) or "") for name in ("objective", "success_criteria", "ask", "gate")}
    # A browser would show nothing of such characters, and send others back: whoever edits must see what is there.
    hidden = [name for name, text in texts.items() if visible(text) != text]
    shown = {name: None if name in hidden else text for name, text in texts.items()}
    return StepForm(
        id=str(step.get("id", "")),
        objective=shown["objective"],
        does=_does(step),
        args=argument_fields(step, does, tools),
        depends_on=tuple(map(str, step.get("depends_on") or ())),
        success_criteria=shown["success_criteria"],
        question=shown["gate"] if "gate" in step else shown["ask"],
        asks="ask" in step or "gate" in step,
        done=step.get("id") in succeeded,
        extra=(*hidden, *(name for name in step if name not in EDITED)),
    )


def _does(step: Mapping[str, Any]) -> str:
    return str(step["tool"]) if step.get("tool") else ", ".join(map(str, step.get("tools") or ()))


def _changed(
    step: Mapping[str, Any], fields: Mapping[str, str], tools: Tools, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return a step with the fields of its form; `names` are the ids of new steps by their keys."""
    changed = dict(step)
    asks = "gate" if "gate" in step else "ask"
    for name, field in (("objective", "objective"), ("success_criteria", "success_criteria"), (asks, "question")):
        if field in fields and fields[field] != sent(str(step.get(name) or "")):
            _set(changed, name, fields[field])
    if "depends_on" in fields:
        _set(changed, "depends_on", _waits(step, fields, names))
    does = fields.get("does", _does(step))
    if does != _does(step):
        _set(changed, *(("tool", does) if "tool" in step else ("tools", _words(does))))
    texts = {name.removeprefix(ARGS): text for name, text in fields.items() if _is_argument(name)}
    if texts:
        kept, own = _kept(step, does, tools), argument_fields(step, does, tools)
        _set(changed, ARGS, _args(str(step.get("id", "")), kept, own, texts))
    return changed


def _is_argument(name: str) -> bool:
    return name == ARGS or name.startswith(f"{ARGS}/")


def _waits(step: Mapping[str, Any], fields: Mapping[str, str], names: Mapping[str, str]) -> list[str]:
    """Return what a step waits for: the ticked steps, and the ids that stand in the field; in the order that it had."""
    keys = [name.removeprefix(AFTER) for name in fields if name.startswith(AFTER)]
    chosen = [names.get(key, key) for key in keys] + _words(fields["depends_on"])
    before = [str(one) for one in step.get("depends_on") or ()]
    return [one for one in before if one in chosen] + [
        one for one in dict.fromkeys(chosen) if one and one not in before
    ]


def _set(step: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, or leave it out if it is empty."""
    if value:
        step[name] = value
    else:
        step.pop(name, None)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _args(step: str, before: Any, fields: Sequence[FormField], texts: Mapping[str, str]) -> Any:
    whole = texts.get("")
    if whole is None or (fields and whole == fields[0].text and not fields[0].name):
        return value_in(fields, before, texts)
    if not whole:
        return {}
    try:
        return plan_from_yaml(whole).plan
    except YamlFault as fault:
        raise InputError(f"{step}.args", f"line {fault.line + 1}: {fault}") from fault
