"""The content of a review request, of which its description is made (`graph.text.review.description`)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pydantic import JsonValue

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.call_words import call_words
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.when import describe_when
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_preview import PolicyPreview
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.content import (
    Argument,
    CallContent,
    CommentContent,
    Given,
    Judge,
    ParameterContent,
    PlanContent,
    PreviewContent,
    StepContent,
    Through,
    Tool,
    UncertainContent,
    Why,
    shown,
)
from planner_executor.graph.review.plan_changes import changes_between
from planner_executor.graph.review.plan_review import PlanReview
from planner_executor.graph.review.planned_call import PlannedCall


def plan_content(review: PlanReview) -> PlanContent:
    """Return the content of a plan."""
    plan, left = review.plan, [step for step in review.plan.steps if step.id not in review.done]
    # The policy is asked about the whole plan: trust of an argument follows from the steps before it.
    preview, is_revision = PolicyPreview.of(plan, review.terms.tools), review.revision > 1
    asked: defaultdict[str, list[PlannedCall]] = defaultdict(list)
    for call in review.calls:
        asked[call.step].append(call)
    named = sorted({name for step in left for name in step.tool_names})
    return PlanContent(
        name="run_plan",
        revision=review.revision,
        digest=plan.digest,
        why=_why(review),
        tools=tuple(tool_content(review.terms.tools[name], left) for name in named),
        params={name: ParameterContent(value=shown(one.value), trust=one.label) for name, one in plan.params.items()},
        steps=tuple(_step(step, review, preview, asked[step.id]) for step in plan.steps),
        since=review.before_revision if is_revision and review.before is not None else None,
        was_seen=review.was_seen or not is_revision,
        changes=changes_between(review.before, plan) if is_revision else (),
        comments=tuple(_comment(one, review) for one in (review.comments if is_revision else ())),
        notes=tuple(review.warnings),
        work=dict(review.estimate or {}),
        previews=review.previews,
        unpreviewed=review.unpreviewed,
    )


def _comment(comment: Comment, review: PlanReview) -> CommentContent:
    became, says = comment.became(review.before or Plan(), review.plan), review.on_comments.get(comment.step)
    return CommentContent(step=comment.step, text=comment.text, became=became, says=says)


def tool_content(tool: ToolSpec, steps: Sequence[Step] = ()) -> Tool:
    """Return what a person is told of a tool, with those of the steps that may call it."""
    return Tool(
        name=tool.name,
        effect=tool.effect,
        declared=tool.declared,
        trust=tool.trust,
        reversible=tool.reversible,
        folder=tool.folder,
        steps=tuple(step.id for step in steps if tool.name in step.tool_names) if tool.acts else (),
    )


def held_content(
    held: HeldCall,
    tool: ToolSpec | None,
    step: Step | None = None,
    preview: PreviewContent | None = None,
    *,
    has_judge: bool = False,
) -> CallContent:
    """Return the content of a call that is held until a person has seen it."""
    return CallContent(
        name="run_step",
        kind="call",
        step=held.step,
        tool=tool_content(tool) if tool is not None else None,
        does=summary_of_call(tool, held.args),
        why=held.event.asked,
        args={
            name: Argument(origin="result", trust=label.trust, sources=label.sources)
            for name, label in held.labels.items()
        },
        given=tuple(Given(what=one.what, by=one.by, step=one.step, value=one.value) for one in held.event.values),
        before=held.before,
        preview=preview,
        by_model=step is not None and step.tool is None,
        criteria=step.success_criteria if step is not None else None,
        # The step may be gone by a revision while its call is still held.
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
        does=_summary(step, spec) if spec is not None else None,
        new=True,
        by_model=step.tool is None,
        objective=step.objective if step.tool is None else None,
        most_calls=step.max_calls,
        most_items=step.most_items if step.for_each is not None else None,
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
        # The step itself is not due again: it waits for this very answer.
        due_in=tuple(step for step in steps if call.run or step != call.step),
    )


def calls_through(step: Step, specs: Mapping[str, ToolSpec], values: Mapping[str, JsonValue]) -> Iterator[Through]:
    """Yield a step's calls with effects, with their arguments as far as `values`, the results of steps, are known."""
    args: dict[str, JsonValue] = {name: _known(step, value, values) for name, value in step.args.items()}
    # A list that is not known yet leaves open how often the call is made.
    items = _known(step, step.for_each, values)
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


def _summary(step: Step, tool: ToolSpec) -> str | None:
    """Return what a step's call of a tool does, in the words of the tool's declaration; None if it has none."""
    if tool.summary is None:
        return None
    by_model, args = kind_spec(step.kind).done_by != "tool", {name: step.told_arg(name) for name in step.args}
    return call_words(tool.summary, args, tool.schema, by_model=by_model)


def _known(step: Step, value: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """Return a value of a step with its references filled in if all of them are known."""
    try:
        return step.resolved(value, values)
    except UnresolvedReferenceError:
        return step.told(value)


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


def _step(step: Step, review: PlanReview, preview: PolicyPreview, asked: Sequence[PlannedCall]) -> StepContent:
    spec, tools = kind_spec(step.kind), [review.terms.tools[name] for name in step.tool_names]
    acts, status = any(tool.acts for tool in tools), review.done.get(step.id)
    # Nothing more is told of a step that is done: approving changes nothing about it.
    if status is not None:
        return StepContent(id=step.id, status=cast("Any", status), done_by=spec.done_by, acts=acts)
    args = {tool.name: _args(step, tool, review.terms, preview) for tool in tools if spec.calls_tools}
    settled = [one for one in asked if one.later is None]
    return StepContent(
        id=step.id,
        status="pending",
        done_by=spec.done_by,
        acts=acts,
        does={tool.name: words for tool in tools if (words := _summary(step, tool)) is not None},
        args={name: found for name, found in args.items() if found},
        most_items=step.most_items if step.for_each is not None else None,
        when=describe_when(step.when) if step.when is not None else None,
        decided_by=preview.decided_by[step.id].unvouched,
        checks=_checks(step),
        judged_by=_judge(step, review.has_judge),
        left_out=tuple(review.left_out.get(step.id, ())),
        unchecked=tuple(sorted({name for tool in tools for name in _unchecked(tool, args, review.terms)})),
        asks={one.tool: one.why for one in asked},
        settled=bool(settled),
        # The key of a step without items is its id, whose arguments stand with its effect already.
        settles={place: args for one in settled for place, args in one.args.items() if place != step.id},
        settled_by=tuple(rule.to_json() for one in settled for rule in one.rules),
        asked_later=next((one.later for one in asked if one.later is not None), None),
    )


def _unchecked(tool: ToolSpec, args: Mapping[str, Mapping[str, Argument]], terms: ExecutionTerms) -> Iterator[str]:
    """Yield the tools without declared trust whose results a call with an effect gets, and nobody sees."""
    found = args.get(tool.name, {}).values()
    # Where one argument is asked about, a person sees the whole call before it is made.
    if tool.acts and not any(one.asked for one in found):
        named = (name for one in found for name in one.sources if name in terms.tools)
        yield from (name for name in named if terms.tools[name].trusted is None)


def _args(step: Step, tool: ToolSpec, terms: ExecutionTerms, preview: PolicyPreview) -> dict[str, Argument]:
    labels = preview.of_call(step, tool.name)
    # Under `never` nobody is asked, whatever the policy would have reviewed.
    asked = terms.policy.arguments_to_review(tool, labels) if terms.mode != "never" else {}
    found = {}
    for name, label in labels.items():
        references = step.argument_references.get(name, ())
        named = tuple(dict.fromkeys(one.step for one in references if one.step in preview.labels))
        # Where a model calls the tool, an argument with references is open: the model writes its value.
        by_model = name not in step.args or (step.tool is None and bool(references))
        origin: Any = "model" if by_model else "result" if named else "item" if references else "plan"
        found[name] = Argument(
            origin=origin,
            steps=named,
            params=tuple(dict.fromkeys(one.name for one in step.parameters_of(name))),
            trust=label.trust,
            sources=label.sources,
            asked=name in asked,
        )
    return found


def _checks(step: Step) -> tuple[str, ...]:
    return tuple(describe_check(check) for check in step.checks)


def _judge(step: Step, has_judge: bool) -> Judge | None:
    if step.success_criteria:
        return "model" if has_judge and kind_spec(step.kind).is_judged else "nobody"
    return "code" if step.checks else None
