"""An open request, action by action, with the form of each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.schema_form import FormField, fields_of
from planner_executor.graph.plain_text.sanitize import visible, visible_json
from planner_executor.graph.record.budget import Usage, read_budget
from planner_executor.graph.review.call_form import form_of
from planner_executor.graph.review.human_steps import GATE
from planner_executor.graph.review.request import asked_again, digest_of_all
from planner_executor.graph.review.response import call_names, can_approve, is_new, reason_for, settled_steps
from planner_executor.graph.text.review.budget import ENDS
from planner_executor.graph.text.review.frame import Data, is_plan, to_blocks
from planner_executor.graph.text.review.layout import ITEM

INLINE = MarkdownIt("zero", {"html": False}).enable(["backticks", "escape", "entity"])
"""Descriptions quote words from outside as code; nothing else of Markdown is drawn."""


WITHOUT_A_FORM = ("Set happened to ", "Fill in answer,", "Raise it, by ", "It is a hard limit ")
"""Beginnings of paragraphs that explain how to answer in a client without forms."""
ON_A_FORM = (
    ("Set happened to true", "Say that it happened"),
    (" or to false", " or that it did not"),
    ("Fill in answer,", "Answer it,"),
    ("Raise it, by an edit of budget,", "Raise it,"),
    (ENDS, "Or finish with what there is; or reject the run, or write what to change to have it planned again."),
)
"""Their words, and those for a page with a form and buttons."""


@dataclass(frozen=True)
class Part:
    """A part of a description: `text` is safe markup of a paragraph, `data` the text of a block.

    `is_schema`: the block is the JSON Schema of an answer, which the form has as fields.
    """

    text: Markup | None = None
    data: str | None = None
    is_item: bool = False
    is_schema: bool = False


@dataclass(frozen=True)
class ActionView:
    """One thing to decide; `number` counts the uncertain calls, `limits` are (name, amount).

    `call` names a held call, see `graph.review.response.call_names`; `args` are its arguments as JSON,
    `arg_names` their names. `is_new`: the plan adds it, and it has to be decided by itself.
    """

    name: str
    step: str
    tool: str
    parts: Sequence[Part]
    number: int = 0
    fields: Sequence[FormField] = ()
    limits: Sequence[tuple[str, str]] = ()
    call: str = ""
    args: str = ""
    arg_names: Sequence[str] = ()
    is_new: bool = False

    @property
    def is_gate(self) -> bool:
        """Whether it is a gate of the plan."""
        return self.tool == GATE


@dataclass(frozen=True)
class RequestView:
    """A request; `digest` binds a decision to all of it."""

    digest: str
    revision: int
    error: str | None
    issues: Sequence[Mapping[str, Any]]
    actions: Sequence[ActionView]
    plan: Mapping[str, Any] | None
    names: frozenset[str]
    can_approve: bool
    reason_for: Sequence[str] = ()
    settled: Sequence[str] = ()

    @property
    def must_answer(self) -> bool:
        """Whether an approval needs answers beside it."""
        return bool(self.names - {"run_plan", "run_step"})


def request_view(shown: ShownRun) -> RequestView | None:
    """Return the open request of a run, None if there is none."""
    request = shown.run.request
    if request is None:
        return None
    actions, uncertain = [], 0
    for action, call in zip(request["action_requests"], call_names(request["action_requests"]), strict=True):
        actions.append(_action(shown, action, request["error"], uncertain, call or ""))
        uncertain += action["name"] == "settle_effect"
    plan = next((one["args"].get("plan") for one in request["action_requests"] if one["name"] == "run_plan"), None)
    return RequestView(
        digest=digest_of_all(request),
        revision=int(request["revision"]),
        error=request["error"],
        issues=request["issues"],
        actions=actions,
        plan=plan if isinstance(plan, Mapping) else None,
        names=frozenset(one.name for one in actions),
        can_approve=can_approve(request),
        reason_for=reason_for(request),
        settled=settled_steps(request),
    )


def parts_of(description: str) -> list[Part]:
    """Return a description in parts, without the drawing of the plan, which stands beside it."""
    found = []
    for block in to_blocks(description):
        if is_plan(block):
            continue
        if isinstance(block, Data):
            is_schema = [line.strip() for line in block.lines[:1]] == ["schema:"]
            found.append(Part(data=visible("\n".join(block.lines)), is_schema=is_schema))
            continue
        is_item = block.text.startswith(ITEM)
        words = block.text.removeprefix(ITEM) if is_item else block.text
        if words.startswith(WITHOUT_A_FORM):
            for said, on_a_form in ON_A_FORM:
                words = words.replace(said, on_a_form)
        text = INLINE.renderInline(visible(words))
        found.append(Part(text=Markup(text), is_item=is_item))
    return found


def _action(shown: ShownRun, action: Mapping[str, Any], error: str | None, number: int, call: str) -> ActionView:
    args, name = action["args"], str(action["name"])
    description = str(action["description"])
    if error:
        description = description.removeprefix(f"{asked_again(error)}\n\n")
    # The page shows error and digest once, beside the buttons.
    description = re.sub(r"\n\nDigest: [0-9a-f]{64}(?=\n\n|$)", "", description)
    return ActionView(
        name=name,
        step=str(args.get("step", "")),
        tool=str(args.get("tool", "")),
        parts=parts_of(description),
        number=number,
        fields=fields_of(answer_schema(shown, action)) if name == "answer_question" else (),
        limits=_limits(args) if name == "raise_budget" else (),
        call=call,
        args=visible_json(args.get("args") or {}) if call else "",
        arg_names=tuple(args.get("args") or ()) if call else (),
        is_new=is_new(action),
    )


def answer_schema(shown: ShownRun, action: Mapping[str, Any]) -> Any:
    """Return the JSON Schema of the answer to a question, None if it may be any text."""
    name = action["args"].get("step")
    for call in shown.record.asking_calls:
        if call.step == name and call.asked is not None:
            return form_of(call.asked.questions).schema
    step = shown.run.plan.by_id.get(str(name)) if shown.run.plan is not None else None
    return step.output if step is not None and isinstance(step.output, Mapping) else None


def _limits(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (name, present limit) of the limits that are reached, or of all if none is."""
    budget, usage = read_budget(args["budget"])[0], Usage.from_json(args["spent"])
    reached = [name for name in budget.names if usage.of(name) >= (budget.of(name) or 0)]
    return [(name, visible_json(budget.of(name))) for name in reached or budget.names]
