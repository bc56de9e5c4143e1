"""Editing a plan, in panels or as text (decisions 80 and 158)."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, empty_step, in_order, new_steps
from planner_executor.graph.desk.views.schema_form import FormField, sent, value_in
from planner_executor.graph.desk.views.step_form import (
    ARGS,
    NO_TOOLS,
    Tools,
    argument_fields,
    done_by,
    kept_arguments,
    names_in,
)
from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import visible, visible_json
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml, plan_to_yaml

AFTER = "after:"
"""The beginning of the name of a box for a step that another one waits for."""


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
    # A new step may be waited for by others in the same form, under the id that it gets there.
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
    # As the browser sends it back: line breaks are changed on the way, which is no edit.
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


def _changed(
    step: Mapping[str, Any], fields: Mapping[str, str], tools: Tools, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return a step with the fields of its form; `names` are the ids of new steps by their keys."""
    changed = dict(step)
    asks = "gate" if "gate" in step else "ask"
    for name, field in (("objective", "objective"), ("success_criteria", "success_criteria"), (asks, "question")):
        # As a browser sends it: with other line breaks than the plan has, unchanged text would count as changed.
        if field in fields and fields[field] != sent(str(step.get(name) or "")):
            _set(changed, name, fields[field])
    if "depends_on" in fields:
        _set(changed, "depends_on", _waits(step, fields, names))
    does = fields.get("does", done_by(step))
    if does != done_by(step):
        _set(changed, *(("tool", does) if "tool" in step else ("tools", names_in(does))))
    texts = {name.removeprefix(ARGS): text for name, text in fields.items() if _is_argument(name)}
    if texts:
        kept, own = kept_arguments(step, does, tools), argument_fields(step, does, tools)
        _set(changed, ARGS, _args(str(step.get("id", "")), kept, own, texts))
    return changed


def _is_argument(name: str) -> bool:
    return name == ARGS or name.startswith(f"{ARGS}/")


def _waits(step: Mapping[str, Any], fields: Mapping[str, str], names: Mapping[str, str]) -> list[str]:
    """Return what a step waits for: the ticked steps, and the ids that stand in the field; in the order that it had."""
    keys = [name.removeprefix(AFTER) for name in fields if name.startswith(AFTER)]
    chosen = [names.get(key, key) for key in keys] + names_in(fields["depends_on"])
    before = [str(one) for one in step.get("depends_on") or ()]
    return [one for one in before if one in chosen] + [one for one in dict.fromkeys(chosen) if one not in before]


def _set(step: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, or leave it out if it is empty."""
    if value:
        step[name] = value
    else:
        step.pop(name, None)


def _args(step: str, before: Any, fields: Sequence[FormField], texts: Mapping[str, str]) -> Any:
    whole = texts.get("")
    if whole is None or (whole == fields[0].text and not fields[0].name):
        return value_in(fields, before, texts)
    if not whole:
        return {}
    try:
        return plan_from_yaml(whole).plan
    except YamlFault as fault:
        raise InputError(f"{step}.args", f"line {fault.line + 1}: {fault}") from fault
