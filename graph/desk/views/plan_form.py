"""Editing a plan, in a form or as text; the faults of either stand at their steps (decision 80)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.new_steps import FIRST, KIND_FORMS, NAMED, empty_step, in_order, new_steps
from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import visible, visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.revision import difference, read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml, plan_to_yaml


@dataclass(frozen=True)
class StepForm:
    """A step of a plan in the form; `extra` names fields that only the text of the plan can change.

    These are rare fields, and texts with characters that cannot be seen, which are None here. `asks`: a question or a
    gate, which has `question` instead of tools and arguments.
    """

    id: str
    objective: str | None
    does: str
    args: str
    depends_on: str
    success_criteria: str | None
    question: str | None
    asks: bool
    done: bool
    extra: tuple[str, ...]


EDITED = {"id", "objective", "tools", "args", "depends_on", "success_criteria"} | NAMED


def step_forms(plan: Mapping[str, Any], succeeded: frozenset[str]) -> list[StepForm]:
    """Return the steps of a plan as forms; one that has succeeded cannot change."""
    return [_form(step, succeeded) for step in plan.get("steps", ()) if isinstance(step, Mapping)]


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


def plan_of_form(plan: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return a plan with the fields of the form: changed, removed and new steps, in the order of the form.

    Args:
        plan: The plan shown.
        fields: `step:<id>:<field>`, `new:<number>:<field>`, `order` (keys of steps, separated by commas) and
            `plan-answer` -> text.

    Raises:
        InputError: The arguments of a step cannot be read, or a new step has no id.
    """
    steps: list[tuple[str, Any]] = []
    for step in plan.get("steps", ()):
        if not isinstance(step, Mapping):
            raise InputError("plan", "it holds something else than steps; edit it as text")
        name = str(step.get("id", ""))
        prefix = f"step:{name}:"
        if not fields.get(f"{prefix}remove"):
            given = {key: fields[prefix + key] for key in FIELDS if prefix + key in fields}
            steps.append((name, _changed(step, given)))
    for number, form in new_steps(fields).items():
        steps.append((f"new:{number}", _filled(empty_step(number, form), form)))
    changed = {**plan, "steps": in_order(steps, fields.get("order", ""))}
    if "plan-answer" in fields and fields["plan-answer"] != answer_text(plan.get("answer")):
        _set(changed, "answer", _answer(plan.get("answer"), fields["plan-answer"]))
    return changed


def answer_text(answer: Any) -> str | None:
    """Return the answer of a plan as the form has it; None if it can only be changed in the plan's text."""
    text = "" if answer is None else answer if isinstance(answer, str) else visible_json(answer)
    return text if visible(text) == text else None


def _answer(before: Any, text: str) -> Any:
    return text if before is None or isinstance(before, str) else parse_json_or_text(text)


def _filled(step: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """Return a new step without the fields that the form hides for its kind, which a browser sends all the same."""
    kind = KIND_FORMS.get(form.get("kind", FIRST), KIND_FORMS[FIRST])
    return _changed(step, {key: form[key] for key in FIELDS if key in form and key not in kind.without})


FIELDS = ("objective", "does", "args", "depends_on", "success_criteria", "question")


def read_edit(shown: ShownRun, plan: Any, tools: Mapping[str, ToolSpec]) -> ParsedPlan:
    """Read an edited plan with the validator of the review; steps that succeeded cannot change."""
    current, succeeded = shown.run.plan, shown.record.steps.succeeded
    if current is None or not succeeded:
        return read_plan(plan, tools)
    return read_revision(plan, current, succeeded, tools)


def changes_of(before: Plan | None, parsed: ParsedPlan) -> str:
    """Return what an edit changes, in a few words."""
    return str(difference(before, parsed.plan)) if parsed.plan is not None else ""


def by_step(issues: Sequence[Issue]) -> dict[str, list[Issue]]:
    """Return the faults of each step; those of the plan itself have the key ""."""
    found: dict[str, list[Issue]] = {}
    for issue in issues:
        found.setdefault(issue.step or "", []).append(issue)
    return found


def _form(step: Mapping[str, Any], succeeded: frozenset[str]) -> StepForm:
    tools = step.get("tools") or ()
    args = step.get("args") or {}
    texts = {name: str(step.get(name) or "") for name in ("objective", "success_criteria", "ask", "gate")}
    # A browser would show nothing of such characters, and send others back: whoever edits must see what is there.
    hidden = [name for name, text in texts.items() if visible(text) != text]
    shown = {name: None if name in hidden else text for name, text in texts.items()}
    return StepForm(
        id=str(step.get("id", "")),
        objective=shown["objective"],
        does=str(step["tool"]) if step.get("tool") else ", ".join(map(str, tools)),
        args=visible_json(args) if args else "",
        depends_on=", ".join(map(str, step.get("depends_on") or ())),
        success_criteria=shown["success_criteria"],
        question=shown["gate"] if "gate" in step else shown["ask"],
        asks="ask" in step or "gate" in step,
        done=step.get("id") in succeeded,
        extra=(*hidden, *(name for name in step if name not in EDITED)),
    )


def _changed(step: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    changed = dict(step)
    for name in ("objective", "success_criteria"):
        if name in fields:
            _set(changed, name, fields[name])
    if "question" in fields:
        changed["gate" if "gate" in step else "ask"] = fields["question"]
    if "depends_on" in fields:
        _set(changed, "depends_on", _words(fields["depends_on"]))
    if "does" in fields and "tool" in step:
        changed["tool"] = fields["does"]
    elif "does" in fields:
        _set(changed, "tools", _words(fields["does"]))
    if "args" in fields:
        _set(changed, "args", _args(str(step.get("id", "")), fields["args"]))
    return changed


def _set(step: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, or leave it out if it is empty."""
    if value:
        step[name] = value
    else:
        step.pop(name, None)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _args(step: str, text: str) -> Any:
    if not text:
        return {}
    try:
        return plan_from_yaml(text).plan
    except YamlFault as fault:
        raise InputError(f"{step}.args", f"line {fault.line + 1}: {fault}") from fault
