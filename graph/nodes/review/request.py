"""Building the review request: one request for everything that needs a decision now."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_executor.graph.nodes.review.people import is_open, with_people
from planner_executor.graph.nodes.review.planned_calls import planned_calls
from planner_executor.graph.nodes.review.previews import preview_of, previews_of
from planner_executor.graph.nodes.review.reasons import with_reasons
from planner_executor.graph.nodes.review.subject import Subject
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.estimate import expectation_of
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.new_effects import is_undecided
from planner_executor.graph.policy.scope import needs_person, repeats
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.plan_marks import plan_marks
from planner_executor.graph.record.plan_state import NewEffect
from planner_executor.graph.record.remaining import skipped_in, steps_left
from planner_executor.graph.record.replacement import replaced_in_words
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.spending import BudgetExhausted
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.call_form import form_of
from planner_executor.graph.review.content import (
    ActionContent,
    BudgetContent,
    GateContent,
    PlanContent,
    QuestionContent,
    Through,
    shown,
)
from planner_executor.graph.review.estimate import estimate
from planner_executor.graph.review.human_steps import open_questions
from planner_executor.graph.review.plan_review import PlanReview, reason_of
from planner_executor.graph.review.request import ANEW, UNCHANGED, ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import GATE, ActionName
from planner_executor.graph.text.event_text.values import changed_playbook
from planner_executor.graph.text.review.content import (
    calls_through,
    held_content,
    new_content,
    plan_content,
    uncertain_content,
)
from planner_executor.graph.text.review.description import description
from planner_executor.graph.text.review.drawing import settled
from planner_executor.graph.text.review.plan import plan_description
from planner_executor.graph.text.review.values import cut
from planner_executor.graph.words.name_list import listed

GIVEN_CHARACTERS = 400
"""How much of a result that a person gave is shown with the plan that rests on it."""


def request_of(run: RunContext, subject: Subject) -> ReviewRequest:
    """Return the request that the node before has announced if it would be the same now, else a new one.

    An answer is always compared with a new one: nothing is left across an interrupt.
    """
    left: ReviewRequest | None = run.request.take(*_rests_on(run, subject))
    return request_about(run, subject) if left is None else left


def leave_request(run: RunContext, subject: Subject, request: ReviewRequest) -> None:
    """Leave a request that was made of this for the next node."""
    run.request.leave(request, *_rests_on(run, subject))


def _rests_on(run: RunContext, subject: Subject) -> tuple[Any, ...]:
    """Return all that a request rests on: the record up to its last event, and what stands in no event."""
    asked = subject.plan, subject.digest, subject.issues, subject.uncertain, subject.planned
    return run.record.seq, run.services, run.terms_here, *asked


def request_about(run: RunContext, subject: Subject) -> ReviewRequest:
    """Return the request, without actions if nothing needs a person, with the last error if it is repeated."""
    record, plan, terms = run.record, subject.plan, run.terms
    limits = run.services.settings.attempt_limits
    left = estimate(plan, record, terms.bounds, terms.tools, limits) if plan is not None else {}
    if plan is not None and (takes := expectation_of(run, plan)) is not None:
        left["takes"] = takes
    # Decisions name their actions by place, so the order follows from the record alone.
    actions = [_about_plan(run, subject, left)] if _plan_needs_person(run, subject) else []
    actions += [_about_new(run, effect) for effect in _new_effects(run, subject)] if actions else []
    due = open_questions(plan, record) if plan is not None else []
    actions += [_about_gate(run, step) for step in due if step.kind == "gate"]
    actions += [_about_held(run, held) for held in record.waiting_calls]
    actions += [_about_question(run, step) for step in due if step.kind == "ask"]
    actions += [_about_asked(call) for call in record.asking_calls]
    actions += [_about_uncertain(run, call) for call in subject.uncertain]
    actions += [_about_budget(run, record.spending.shortage)] if record.spending.shortage is not None else []
    request = ReviewRequest(
        run=record.id,
        revision=record.plan_state.revision,
        digest=subject.digest,
        binding=terms.binding(plan) if plan is not None else "",
        actions=tuple(actions),
        diff=difference(run.plan_before(plan).plan, plan).to_json() if plan is not None else {},
        issues=tuple(subject.issues),
        estimate=left if actions else {},
        goal=record.assignment.started.goal,
    )
    before, names = record.review_state.asked_before, tuple(action.name for action in actions)
    request = replace(request, asked_before=before(subject.digest, names, is_open=is_open(run, request)))
    request = with_reasons(run, with_people(run, request)) if actions else request
    shown = record.review_state.request.shown if record.review_state.request is not None else None
    if is_open(run, request) and shown is not None and shown.error:
        return request.again(shown.error, shown.issues)
    if record.plan_state.unchanged is not None:
        return request.again(escaped(f"{UNCHANGED}: {record.plan_state.unchanged}"), record.plan_state.issues)
    return request


def cause_of_asking_anew(run: RunContext, request: ReviewRequest) -> str:
    """Return why an answer is not one to this request, which takes the place of the one that was answered."""
    before = run.record.review_state.request
    if before is None:
        why = "what the response is about is no longer asked"
    elif before.shown.subject == request.subject:
        why = "the response came before this request was shown"
    elif before.shown.digest != request.digest:
        why = "the plan has changed since the request that was answered"
    elif run.terms_here is not None and run.terms_here.stricter:
        why = f"since the request that was answered the terms are stricter: {run.terms_here.stricter}"
    elif before.shown.asked != tuple(action.name for action in request.actions):
        why = "something else is asked than in the request that was answered"
    else:
        why = "the terms or the calls in question have changed since the request that was answered"
    return f"{why}{ANEW}"


def _plan_needs_person(run: RunContext, subject: Subject) -> bool:
    if subject.plan is None:
        return subject.planned
    return needs_person(run.record, subject.plan, run.terms)


def _action(name: ActionName, args: Mapping[str, Any], content: ActionContent, **more: Any) -> ReviewAction:
    return ReviewAction(name, args, description(content, args), content=content, **more)


def _about_plan(run: RunContext, subject: Subject, left: Mapping[str, Any]) -> ReviewAction:
    record, plan = run.record, subject.plan
    if plan is None:
        raw: Mapping[str, Any] = subject.raw if isinstance(subject.raw, dict) else {"steps": subject.raw}
        invalid = PlanContent(
            name="run_plan",
            revision=record.plan_state.revision,
            digest=subject.digest,
            cannot_run=True,
            faults=tuple(map(str, subject.issues)),
        )
        return _action("run_plan", {"plan": raw}, invalid, cannot_run=True, tools=_tools_in(raw))
    review = _plan_review(run, plan, left, _new_effects(run, subject))
    # A resumed node builds its request anew, and a large plan takes long to describe: both are kept (decision 48).
    kept, text = run.services.reviews.get(_told, review)
    content = PlanContent.model_validate(json.loads(kept))
    return ReviewAction("run_plan", {"plan": plan.to_json()}, text, content=content, tools=_tools_of(plan))


def _tools_in(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tools of a plan with faults; of one that cannot be read none, since it cannot be approved."""
    try:
        return _tools_of(Plan.model_validate(raw))
    except ValueError:
        return ()


def _tools_of(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for step in plan.steps for name in step.tool_names))


def _told(review: PlanReview) -> tuple[str, str]:
    content = plan_content(review)
    return json.dumps(content.model_dump(mode="json", exclude_defaults=True)), plan_description(
        content, review.plan, review.goal
    )


def _plan_review(run: RunContext, plan: Plan, left: Mapping[str, Any], new: Sequence[NewEffect]) -> PlanReview:
    record, before, revised = run.record, run.plan_before(plan), run.record.plan_state.revised
    previews, unpreviewed = previews_of(record, plan)
    warnings = [
        *changed_playbook(record.assignment.started.playbook),
        *repeats(record, plan),
        *(f"{step} is not executed: {left.error}." for step, left in skipped_in(plan, record.steps.results).items()),
        *_given(run, plan),
        *_looked_at(run, plan),
        *replaced_in_words(record.plan_state.replaced, plan),
        *(revised.would_replace if revised is not None and plan.digest == revised.digest else ()),
        *(f"{one.step.id} adds {one.tool}, which is decided by itself." for one in new),
    ]
    return PlanReview(
        plan=plan,
        revision=record.plan_state.revision,
        terms=run.terms,
        goal=record.assignment.started.goal,
        why=reason_of(record.plan_state, _failed_before(run), run.terms.shown_for(plan)),
        before=before.plan,
        before_revision=before.revision,
        was_seen=before.was_seen,
        done=settled(plan, record.steps.results),
        warnings=tuple(warnings),
        estimate=left,
        has_judge=run.services.models.judge is not None,
        comments=record.plan_state.comments,
        on_comments=revised.on_comments if revised is not None else {},
        calls=tuple(planned_calls(run, plan)),
        previews=previews,
        unpreviewed=unpreviewed,
        left_out={step.id: found for step in plan.steps if (found := record.assignment.left_out_of(step))},
    )


def _given(run: RunContext, plan: Plan) -> Iterator[str]:
    """Yield the results that people gave: they stand for the work of their steps, and enter what is approved."""
    steps = run.record.steps
    for step in plan.steps:
        if step.id in steps.givers and step.id in steps.supplied & steps.succeeded:
            value = cut(_preview(steps.results[step.id]), GIVEN_CHARACTERS)
            yield f"{step.id} is not executed: {steps.givers[step.id]} gave its result, {value}."
    if run.terms.policy.approvers != NO_APPROVERS:
        yield from _answered(run, plan)


def _preview(result: StepResult) -> str:
    return str(result.artifact["preview"]) if result.artifact else to_text(result.value)


def _looked_at(run: RunContext, plan: Plan) -> Iterator[str]:
    """Yield what was looked at before the plan was proposed, and what of it neither people nor approved plans said."""
    specs = run.services.toolbox.specs
    for name, call in run.record.calls.named_looks.items():
        given, result = cut(to_text(dict(call.args)), GIVEN_CHARACTERS), call.result
        told = "no outcome is on record" if result is None else result.error or _preview(result)
        # A tool that is gone vouches for nothing.
        trust = specs[call.tool].trust if call.tool in specs else "untrusted"
        yield f"Looked at before planning ({name}): {call.tool} {given} ({trust}): {cut(told, GIVEN_CHARACTERS)}."
    # Of a plan that no look preceded nothing can have been written after one.
    for step in plan.steps if run.record.plan_state.is_by_look else ():
        acts = any(specs[name].acts for name in step.tool_names if name in specs)
        if names := [*plan_marks(run.record, step)] if acts else []:
            yield f"{step.id}: {listed(names)} was written after an untrusted look; your words do not have it."


def _answered(run: RunContext, plan: Plan) -> Iterator[str]:
    """Yield what people answered or edited since people approved a plan, which this approval covers (decision 115)."""
    approval = run.record.review_state.approval
    since = approval.people_seq if approval is not None else 0
    for value in run.record.people.values.values():
        if value.kind in ("answer", "edit") and value.seq > since and value.step in plan.by_id:
            told = cut(to_text(value.value), GIVEN_CHARACTERS)
            yield f"{value.step} rests on what {' and '.join(value.by)} gave: {told}."


def _failed_before(run: RunContext) -> tuple[tuple[str, str], ...]:
    """Return the steps that failed under the revision before the one in force, with their errors."""
    record = run.record
    before = record.plan_state.pass_of(record.plan_state.revision - 1)
    results = record.steps.ran.items()
    return tuple((step, str(result.error)) for step, result in results if record.steps.failed_in(step, before))


def _new_effects(run: RunContext, subject: Subject) -> list[NewEffect]:
    """Return what the plan adds that nobody has decided about yet (decision 121)."""
    plan, state = subject.plan, run.record.plan_state
    if plan is None or not state.new_effects or plan.digest != state.digest:
        return []
    left = {step.id for step in steps_left(plan, run.record.steps.results)}
    return [one for one in state.effects_of(left) if is_undecided(run.record, one.step, one.tool)]


def _about_new(run: RunContext, effect: NewEffect) -> ReviewAction:
    step, record = effect.step, run.record
    spec = run.services.toolbox.specs.get(effect.tool)
    args = {"step": step.id, "tool": effect.tool, "args": dict(step.args)}
    own = digest([record.id, record.plan_state.digest, effect.key])
    return _action("run_step", args, new_content(step, spec, own), key=effect.key, digest=own)


def _about_gate(run: RunContext, step: Step) -> ReviewAction:
    after, through = tuple(_waiting_for(run, step)), tuple(_behind(run, step))
    content = GateContent(
        name="run_step", kind="gate", step=step.id, words=str(step.told(step.gate)), steps=after, through=through
    )
    return _action("run_step", {"step": step.id, "tool": GATE, "args": run.seen_by(step)}, content)


def _behind(run: RunContext, gate: Step) -> Iterator[Through]:
    """Yield the calls with effects that a gate lets through, with their arguments as far as they are known."""
    plan, specs = run.recorded_plan(), run.services.toolbox.specs
    if plan is None:
        return
    results = run.record.steps.results
    values = {name: found.value for name, found in results.items() if found.artifact is None and name in plan.by_id}
    behind = {gate.id}
    for name in plan.order:
        if behind.isdisjoint(plan.waits[name]) or run.record.steps.is_settled(name):
            continue
        behind.add(name)
        yield from calls_through(plan.by_id[name], specs, values)


def _about_question(run: RunContext, step: Step) -> ReviewAction:
    asked = {"step": step.id, "question": step.told(step.ask), "answer": None}
    schema: Any = step.output
    content = QuestionContent(
        name="answer_question",
        step=step.id,
        steps=tuple(_waiting_for(run, step)),
        results={name: shown(value) for name, value in run.seen_by(step).items()},
        answer=schema,
    )
    return _action("answer_question", asked, content, answer_schema=step.output)


def _waiting_for(run: RunContext, step: Step) -> list[str]:
    """Return the steps that wait for this one alone, or among others."""
    plan = run.recorded_plan()
    waits = plan.waits.items() if plan is not None else ()
    return [name for name, before in waits if step.id in before]


def _about_held(run: RunContext, held: HeldCall) -> ReviewAction:
    plan, tool = run.recorded_plan(), run.services.toolbox.specs.get(held.event.tool)
    step = plan.by_id.get(held.step) if plan is not None else None
    has_judge, preview = run.services.models.judge is not None, preview_of(run.record, held.event.key)
    content = held_content(held, tool, step, preview, has_judge=has_judge)
    args = {"step": held.step, "tool": held.event.tool, "args": dict(held.args)}
    return _action("run_step", args, content, key=held.event.key)


def _about_asked(call: Call) -> ReviewAction:
    assert call.asked is not None
    form = form_of(call.asked.questions)
    args = {"step": call.place, "tool": call.tool, "question": form.text, "answer": None}
    content = QuestionContent(name="answer_question", step=call.place, tool=call.tool, answer=dict(form.schema))
    return _action("answer_question", args, content, key=call.key, answer_schema=form.schema)


def _about_uncertain(run: RunContext, call: Call) -> ReviewAction:
    asked = {"step": call.step, "tool": call.tool, "args": dict(call.args), "happened": None, "result": None}
    steps = [step for step, calls in run.record.uncertain_calls.items() if call in calls]
    content = uncertain_content(call, run.services.toolbox.specs.get(call.tool), steps)
    return _action("settle_effect", asked, content, key=call.key)


def _about_budget(run: RunContext, shortage: BudgetExhausted) -> ReviewAction:
    args = {"budget": run.terms.bounds.to_json(), "spent": run.usage.to_json()}
    hard = run.terms.policy.limits.to_json()
    content = BudgetContent(name="raise_budget", limit=shortage.limit, left=tuple(shortage.left), hard=hard)
    return _action("raise_budget", args, content, key=shortage.limit)
