"""A step of a plan as a form: what does it, its arguments in fields, and what only the plan's text can change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.desk.views.new_steps import NAMED
from planner_executor.graph.desk.views.schema_form import FormField, fields_of
from planner_executor.graph.plain_text.sanitize import visible
from planner_executor.graph.plan.catalog import ToolSpec

Tools = Mapping[str, ToolSpec]
NO_TOOLS: Tools = {}
ARGS = "args"
"""The beginning of the name of an argument's field."""


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
    return [_form(step, succeeded, tools, given.get(f"step:{step.get('id')}:does", done_by(step))) for step in steps]


def argument_fields(step: Mapping[str, Any], does: str, tools: Tools) -> list[FormField]:
    """Return the fields for the arguments of a step if these tools do it, with commas between their names."""
    known = [tools[name].schema for name in names_in(does) if name in tools]
    schema: Any = None
    if len(known) == len(names_in(does)):
        # A model gives what is left empty, to whichever of its tools.
        schema = (
            known[0] if "tool" in step and len(known) == 1 else {name: _merged(known, name) for name in NAMED_PARTS}
        )
    return fields_of(schema, kept_arguments(step, does, tools) or None, "Arguments")


def _merged(schemas: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    return {key: part for schema in schemas for key, part in schema.get(name, {}).items()}


def kept_arguments(step: Mapping[str, Any], does: str, tools: Tools) -> Any:
    """Return the arguments of a step; if other tools do it, those that these take."""
    args = step.get(ARGS) or {}
    if does == done_by(step) or not isinstance(args, Mapping):
        return args
    known = [tools[name] for name in names_in(does) if name in tools]
    return {name: value for name, value in args.items() if any(spec.takes(name) for spec in known)}


NAMED_PARTS = ("properties", "$defs")


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
    texts = ((step, f"{step.get('id')} {step.get('objective')} {done_by(step)}".casefold()) for step in step_list(plan))
    return [step for step, text in texts if all(word in text for word in wanted)]


def _form(step: Mapping[str, Any], succeeded: frozenset[str], tools: Tools, does: str) -> StepForm:
    texts = {name: str(step.get(name) or "") for name in ("objective", "success_criteria", "ask", "gate")}
    # A browser would show nothing of such characters, and send others back: whoever edits must see what is there.
    hidden = [name for name, text in texts.items() if visible(text) != text]
    shown = {name: None if name in hidden else text for name, text in texts.items()}
    return StepForm(
        id=str(step.get("id", "")),
        objective=shown["objective"],
        does=done_by(step),
        args=argument_fields(step, does, tools),
        depends_on=tuple(map(str, step.get("depends_on") or ())),
        success_criteria=shown["success_criteria"],
        question=shown["gate"] if "gate" in step else shown["ask"],
        asks="ask" in step or "gate" in step,
        done=step.get("id") in succeeded,
        extra=(*hidden, *(name for name in step if name not in EDITED)),
    )


def done_by(step: Mapping[str, Any]) -> str:
    """Return the tools of a step, with commas between their names."""
    return str(step["tool"]) if step.get("tool") else ", ".join(map(str, step.get("tools") or ()))


def names_in(text: str) -> list[str]:
    """Return the names in a text with commas between them."""
    return [word.strip() for word in text.split(",") if word.strip()]
