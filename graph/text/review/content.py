"""The content of a review request, made of the same parts as its description."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.call_words import call_words
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.checks import describe_check
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.references import resolve
from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_preview import PolicyPreview
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.review.content import (
    Argument,
    CallContent,
    Change,
    CommentContent,
    FieldChange,
    Given,
    Judge,
    PlanContent,
    StepContent,
    Through,
    Tool,
    UncertainContent,
    Why,
    shown,
)
from planner_executor.graph.review.planned_call import PlannedCall
from planner_executor.graph.text.review.changes import differing, fields_of
from planner_executor.graph.text.review.effects import acting_tools, summary_of
from planner_executor.graph.text.review.plan import PlanReview


def plan_content(review: PlanReview) -> PlanContent:
    """Return the content of a plan."""
    plan, left = review.plan, [step for step in review.plan.steps if step.id not in review.done]
    preview, is_revision = PolicyPreview.of(plan, review.terms.tools), review.revision > 1
    asked = {call.step: call for call in review.calls}
    return PlanContent(
        name="run_plan",
        revision=review.revision,
        digest=plan.digest,
        why=_why(review),
        tools=tuple(tool_content(tool, left) for tool in acting_tools(left, review.terms.tools)),
        steps=tuple(_step(step, review, preview, asked.get(step.id)) for step in plan.steps),
        since=review.before_revision if is_revision and review.before is not None else None,
        was_seen=review.was_seen or not is_revision,
        changes=tuple(_changes(review.before, plan)) if is_revision else (),
        comments=tuple(
            CommentContent(step=one.step, text=one.text, became=one.became(review.before or Plan(), plan))
            for one in review.comments
        ),
        notes=tuple(review.warnings),
        work=dict(review.estimate or {}),
    )


def tool_content(tool: ToolSpec, steps: Sequence[Step] = ()) -> Tool:
    """Return what a person is told of a tool, with those of the steps that may call it."""
    return Tool(
        name=tool.name,
        effect=tool.effect,
        declared=tool.declared,
        reversible=tool.reversible,
        folder=tool.folder,
        steps=tuple(step.id for step in steps if tool.name in step.tool_names),
    )


def held_content(
    held: HeldCall, tool: ToolSpec | None, step: Step | None = None, *, has_judge: bool = False
) -> CallContent:
    """Return the content of a call that is held until a person has seen it."""
    return CallContent(
        name="run_step",
        kind="call",
        step=held.step,
        tool=tool_content(tool) if tool is not None else None,
        does=summary_of_call(tool, held.args),
        why=held.asked,
        args={
            name: Argument(origin="result", trust=label.trust, sources=label.sources)
            for name, label in held.labels.items()
        },
        given=tuple(Given(what=one.what, by=one.by, step=one.step, value=one.value) for one in held.values),
        before=held.before,
        checks=_checks(step) if step is not None else (),
        judged_by=_judge(step, has_judge) if step is not None else None,
    )


def new_content(step: Step, spec: ToolSpec | None, digest: str) -> CallContent:
    """Return the content of a call that a revision adds."""
    return CallContent(
        name="run_step",
        kind="call",
        step=step.id,
        digest=digest,
        tool=tool_content(spec) if spec is not None else None,
        does=summary_of(step, spec) if spec is not None and spec.summary is not None else None,
        new=True,
    )


def uncertain_content(call: Call, tool: ToolSpec | None, steps: Sequence[str]) -> UncertainContent:
    """Return the content of a call that may have happened; `steps` wait for the answer."""
    return UncertainContent(
        name="settle_effect",
        step=call.place,
        tool=tool_content(tool) if tool is not None else None,
        does=summary_of_call(tool, call.args),
        failure=call.unmet or call.failure,
        took_effect=call.unmet is not None,
        may_live=call.maker_may_live,
        run=call.run or None,
        due_in=tuple(step for step in steps if call.run or step != call.step),
    )


def calls_through(step: Step, specs: Mapping[str, ToolSpec], values: Mapping[str, JsonValue]) -> Iterator[Through]:
    """Yield a step's calls with effects, with their arguments as far as `values`, the results of steps, are known."""
    args: dict[str, JsonValue] = {name: _known(value, values) for name, value in step.args.items()}
    items = _known(step.for_each, values)
    for tool in (specs[name] for name in step.tool_names if name in specs):
        if tool.acts:
            by_model = kind_spec(step.kind).done_by != "tool"
            yield Through(
                step=step.id,
                tool=tool_content(tool),
                does=call_words(tool.summary, args, tool.schema, by_model=by_model) if tool.summary else None,
                args={name: shown(value) for name, value in args.items()},
                items=len(items) if isinstance(items, list) else None,
            )


def _known(value: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """Return a value with its references filled in if all of them are known."""
    try:
        return resolve(value, values)
    except UnresolvedReferenceError:
        return value


def summary_of_call(tool: ToolSpec | None, args: Mapping[str, JsonValue]) -> str | None:
    """Return what a call with these values does, in the words of its tool; None if it has none."""
    if tool is None or tool.summary is None:
        return None
    return call_words(tool.summary, args, tool.schema, known=True)


def _why(review: PlanReview) -> Why:
    why = review.why
    return Why(
        author=why.author,
        cause=why.cause if why.author == "replanner" or why.cause == "refined" else "",
        reason=why.reason,
        failed=dict(why.failed),
        stalled=why.stalled,
        rule=why.shown_for.rule,
        tools=tuple(why.shown_for.tools),
    )


def _step(step: Step, review: PlanReview, preview: PolicyPreview, asked: PlannedCall | None) -> StepContent:
    spec, tools = kind_spec(step.kind), [review.terms.tools[name] for name in step.tool_names]
    is_done = step.id in review.done
    status: Any = review.done.get(step.id, "pending")
    return StepContent(
        id=step.id,
        status=status,
        done_by=spec.done_by,
        acts=any(tool.acts for tool in tools),
        does={} if is_done else {tool.name: summary_of(step, tool) for tool in tools if tool.summary is not None},
        args={}
        if is_done or not spec.calls_tools
        else {tool.name: found for tool in tools if (found := _args(step, tool, review.terms, preview))},
        most_items=step.most_items if step.for_each is not None else None,
        checks=() if is_done else _checks(step),
        judged_by=None if is_done else _judge(step, review.has_judge),
        left_out=() if is_done else tuple(review.left_out.get(step.id, ())),
        settled=asked is not None and asked.later is None,
        settled_by=tuple(rule.to_json() for rule in asked.rules) if asked is not None else (),
        asked_later=asked.later if asked is not None else None,
    )


def _args(step: Step, tool: ToolSpec, terms: ExecutionTerms, preview: PolicyPreview) -> dict[str, Argument]:
    labels = preview.of_call(step, tool.name)
    asked = terms.policy.arguments_to_review(tool, labels) if terms.mode != "never" else {}
    found = {}
    for name, label in labels.items():
        references = step.argument_references.get(name, ())
        named = tuple(dict.fromkeys(one.step for one in references if one.step in preview.labels))
        by_model = name not in step.args or (step.tool is None and bool(references))
        origin: Any = "model" if by_model else "result" if named else "item" if references else "plan"
        found[name] = Argument(
            origin=origin, steps=named, trust=label.trust, sources=label.sources, asked=name in asked
        )
    return found


def _checks(step: Step) -> tuple[str, ...]:
    return tuple(describe_check(check) for check in step.checks)


def _judge(step: Step, has_judge: bool) -> Judge | None:
    if step.success_criteria:
        return "model" if has_judge and kind_spec(step.kind).is_judged else "nobody"
    return "code" if step.checks else None


def _changes(before: Plan | None, after: Plan) -> Iterator[Change]:
    diff, was = difference(before, after), before.by_id if before is not None else {}
    yield from (Change(step=step, change="added") for step in diff.added)
    yield from (_change(step, was[step].to_json(), after.by_id[step].to_json()) for step in diff.changed)
    yield from (Change(step=step, change="removed") for step in diff.removed)
    if diff.answer:
        yield _change("answer", {"answer": before.answer if before is not None else None}, {"answer": after.answer})


def _change(step: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Change:
    was, now = fields_of(before), fields_of(after)
    fields = tuple(
        FieldChange(
            field=field,
            was=shown(was[field]) if field in was else None,
            now=shown(now[field]) if field in now else None,
        )
        for field in differing(before, after)
    )
    return Change(step=step, change="changed", fields=fields)
