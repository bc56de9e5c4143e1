"""An open request, action by action, with the form of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.head import Answer, Head, answers_of, head_of
from planner_executor.graph.desk.views.review_content import (
    Table,
    action_tables,
    origin_in_words,
    people_table,
    review_of,
)
from planner_executor.graph.desk.views.schema_form import FormField, fields_of
from planner_executor.graph.desk.views.step_form import NO_TOOLS, Tools
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.record.budget import Usage, read_budget
from planner_executor.graph.review.call_form import form_of
from planner_executor.graph.review.content import ActionContent, Argument, CallContent, PlanContent
from planner_executor.graph.review.request_json import GATE, digest_of_all
from planner_executor.graph.review.response import call_names, can_approve, is_new, reason_for, settled_steps
from planner_executor.graph.text.review.frame import plain_description


@dataclass(frozen=True)
class ActionView:
    """One thing to decide; `number` counts the uncertain calls, `limits` are (name, amount).

    `call` names a held call, see `graph.review.response.call_names`; `args` are the fields of its arguments,
    `arg_names` their names, `origins` where each comes from. `is_new`: the plan adds it, and it has to be decided by
    itself.
    """

    name: str
    step: str
    tool: str
    tables: Sequence[Table]
    number: int
    fields: Sequence[FormField]
    limits: Sequence[tuple[str, str]]
    call: str
    args: Sequence[FormField]
    arg_names: Sequence[str]
    origins: Mapping[str, str]
    is_new: bool

    @property
    def is_gate(self) -> bool:
        """Whether it is a gate of the plan."""
        return self.tool == GATE


@dataclass(frozen=True)
class RequestView:
    """A request; `digest` binds a decision to all of it, `people` has who decides.

    `origins` says where the arguments of the plan come from, by step and name.
    """

    digest: str
    revision: int
    error: str | None
    issues: Sequence[Mapping[str, Any]]
    actions: Sequence[ActionView]
    plan: Mapping[str, Any] | None
    names: frozenset[str]
    can_approve: bool
    head: Head | None
    people: Table | None
    reason_for: Sequence[str]
    settled: Sequence[str]
    origins: Mapping[str, Mapping[str, str]]

    @property
    def answers(self) -> Sequence[Answer]:
        """The buttons, each of which is one answer."""
        one = self.actions[0] if len(self.actions) == 1 else None
        is_gate = one is not None and one.is_gate
        is_call = one is not None and bool(one.call)
        names = [action.name for action in self.actions]
        return answers_of(names, is_gate=is_gate, is_call=is_call, can_approve=self.can_approve)


def request_view(shown: ShownRun, tools: Tools = NO_TOOLS) -> RequestView | None:
    """Return the open request of a run, None if there is none; fields of arguments are made of the run's `tools`."""
    request = shown.run.request
    if request is None:
        return None
    actions, uncertain, review = [], 0, review_of(request)
    # Of an earlier release, or after a redaction, there is no content: the words of the request are shown.
    contents = review.actions if review is not None else [None] * len(request["action_requests"])
    calls = call_names(request["action_requests"])
    for action, call, content in zip(request["action_requests"], calls, contents, strict=True):
        actions.append(_action(shown, action, content, uncertain, call or "", tools))
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
        head=head_of(review, request["action_requests"]) if review is not None else None,
        people=people_table(review) if review is not None else None,
        reason_for=reason_for(request),
        settled=settled_steps(request),
        origins=dict(_origins(contents)),
    )


def _origins(contents: Sequence[ActionContent | None]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for content in contents:
        for step in content.steps if isinstance(content, PlanContent) else ():
            yield step.id, {name: words for args in step.args.values() for name, words in _in_words(args).items()}


def _in_words(args: Mapping[str, Argument]) -> Mapping[str, str]:
    return {name: ", ".join(filter(None, origin_in_words(argument))) for name, argument in args.items()}


def _action(
    shown: ShownRun, action: Mapping[str, Any], content: ActionContent | None, number: int, call: str, tools: Tools
) -> ActionView:
    args, name = action["args"], str(action["name"])
    if content is not None:
        tables = action_tables(content, args)
    else:  # asked by an earlier release, or redacted
        tables = [Table("In words", ("",), [(plain_description(str(action["description"])),)])]
    return ActionView(
        name=name,
        step=str(args.get("step", "")),
        tool=str(args.get("tool", "")),
        tables=tables,
        number=number,
        fields=fields_of(answer_schema(shown, action)) if name == "answer_question" else (),
        limits=_limits(args) if name == "raise_budget" else (),
        call=call,
        args=call_fields(args, tools) if call else (),
        arg_names=tuple(args.get("args") or ()) if call else (),
        origins=_in_words(content.args) if isinstance(content, CallContent) else {},
        is_new=is_new(action),
    )


def call_fields(call: Mapping[str, Any], tools: Tools) -> list[FormField]:
    """Return the fields for the arguments of a call that is asked about."""
    schema = tools[call["tool"]].schema if call["tool"] in tools else None
    return fields_of(schema, call.get("args") or None, "Arguments")


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
