"""Review: the only node that asks; it asks once for everything that needs a person now."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from graph.approver import approver
from graph.caller import caller_on
from graph.context import Services
from graph.nodes.asking import SAY_FIRST, Subject, is_open, is_said, message_of, request_about, uncertain_calls
from graph.plan.canonical import digest
from graph.plan.revision import read_revision
from graph.plan.schema import Plan
from graph.plan.validation import Reading, read_plan
from graph.run.decision import Decision, UnreadableAnswer, read_answer
from graph.run.ending import Ending
from graph.run.events import Draft
from graph.run.record import RunRecord
from graph.run.request import ReviewRequest
from graph.run.scope import in_force, rebound, within_approved
from graph.run.values import keep, keep_anything
from graph.run.verdict import NOTHING, Verdict, verdict_of
from graph.sanitize import escaped
from graph.state import State, StateUpdate, stated_goal
from graph.story import Story, open_story, start_story

STALE = "the answer came before this was shown; look at what is asked now"


@dataclass(frozen=True)
class Review:
    """Node `review`; what policy allows passes through and is recorded, the rest is asked."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the decision's consequence; until there is one, the graph is interrupted here."""
        story = await open_story(self.services, state, config)
        if story is None or story.is_fork(state) or _is_after_the_end(story, state):
            story = await self._run_of_its_own(state, config)
        if story.record.ended:
            return story.ended()
        if decided := story.record.decided_at.get(story.checkpoint):
            return self._carried_out(story, decided)
        if story.record.steered:
            return story.update(status="planning", reason=f"planning again: {story.record.steered}", doubts=[])
        if _plan_in(story, state) is None and story.record.shortage is None:
            return await story.end(Ending("failed", "there is no plan to review"))
        subject = await self._subject(story, state)
        request = request_about(story, subject)
        if not request.actions:
            return await self._passed(story, subject)
        unseen = caller_on(story.key.thread).unseen
        return await self._asked(story, state, subject, request, unseen)

    async def _run_of_its_own(self, state: State, config: RunnableConfig) -> Story:
        """A state from before a closed decision goes on as the thread's next run; it inherits neither nor results."""
        return await start_story(self.services, state, config, stated_goal(state))

    async def _subject(self, story: Story, state: State) -> Subject:
        """Read the plan in the state; one that the ledger does not know becomes a revision."""
        raw = _plan_in(story, state)
        if raw is None or story.record.lacks_plan:
            return Subject(None, None, planned=False)
        reading = self._known(story, raw) or self._read(story, raw)
        if reading.plan is not None and reading.plan.digest != story.record.digest:
            await story.revise(reading.plan, "state", "the plan stood in the state", notes=reading.notes)
        return Subject(raw, reading.plan, reading.issues, uncertain_calls(story.record, state.get("doubts")))

    def _known(self, story: Story, raw: Any) -> Reading | None:
        """Return the latest revision where the state holds just that, with tools as they were when it was read."""
        plan = story.recorded_plan()
        try:
            same = plan is not None and digest(raw) == story.record.digest
        except (ValueError, TypeError, RecursionError):
            return None
        if plan is None or not same or story.record.binding != story.terms.binding(plan):
            return None
        return Reading(plan)

    def _read(self, story: Story, raw: Any) -> Reading:
        """Read a plan from outside: what succeeded stays as it is."""
        specs, most = self.services.toolbox.specs, self.services.settings.max_steps
        current = story.recorded_plan()
        if current is None or not story.record.succeeded:
            return story.allowed(read_plan(raw, specs, most))
        return story.allowed(read_revision(raw, current, story.record.succeeded, specs, most))

    async def _passed(self, story: Story, subject: Subject) -> StateUpdate:
        """Nothing needs a person: record what allowed it, once."""
        plan = subject.plan
        assert plan is not None
        if not in_force(story.record, plan, story.terms):
            within = within_approved(story.record, plan, story.terms)
            mode = "within what was approved" if within else f"approval={self.services.settings.approval}"
            passed = {**self._about(story, plan, NOTHING, approves=True), **_by("approve", "policy", mode)}
            await story.write(Draft("decided", passed, safe=False))
        return story.show_plan(plan, "running", doubts=[])

    async def _asked(
        self, story: Story, state: State, subject: Subject, request: ReviewRequest, unseen: bool
    ) -> StateUpdate:
        """Ask until there is a decision; an answer counts only at the checkpoint where this was shown last."""
        shown = story.record.request if is_open(story, request) else None
        if shown is not None and shown.checkpoint != story.checkpoint:
            shown = None
        try:
            answer = interrupt(request.to_json())
        except GraphInterrupt:
            if not (is_said(state, request) and story.is_shown_by(state, subject.plan or story.recorded_plan())):
                return self._said_first(story, request, subject)
            if shown is None:
                await self._note_request(story, request)
            raise
        if shown is not None and shown.skip:
            return self._said_first(story, request, subject)
        try:
            if shown is None:
                raise UnreadableAnswer(STALE)
            if unseen and story.record.stalled is not None:
                raise UnreadableAnswer("the plan makes no progress; somebody has to look at it")
            verdict = verdict_of(request, read_answer(answer, request), story.terms, unseen=unseen)
            return await self._decide(story, subject, verdict)
        except UnreadableAnswer as fault:
            again = request.again(escaped(str(fault)), [issue.to_json() for issue in fault.issues])
            await self._note_request(story, again, skip=1, answer=answer, unseen=unseen)
            return self._said_first(story, again, subject)

    def _said_first(self, story: Story, request: ReviewRequest, subject: Subject) -> StateUpdate:
        """Leave what is asked as the chat's last message, and what the ledger has of the run in the state.

        An interrupted node could do neither (see `graph.nodes.asking`).
        """
        shown = {**story.standing(subject.plan or story.recorded_plan()), "status": "planning", "reason": SAY_FIRST}
        plan = {"plan": subject.raw} if subject.raw is not None else {}
        return story.update(**shown, **plan, messages=[message_of(story, request)])

    async def _note_request(
        self, story: Story, request: ReviewRequest, skip: int = 0, answer: Any = None, unseen: bool = False
    ) -> None:
        """Write down what is shown; `skip` is 1 where `answer`, given at this checkpoint, was turned down."""
        shown, given = (
            keep([action["description"] for action in request.to_json()["action_requests"]]),
            keep_anything(answer),
        )
        payload = {
            "request": story.record.requests + (not is_open(story, request)),
            "digest": request.digest,
            "subject": request.subject,
            "revision": request.revision,
            "asked": [action.name for action in request.actions],
            "actions": [
                action.to_json() for action in request.actions if action.name != "run_plan" or not request.binding
            ],
            "shown": shown.fields(),
            **({"answer": given.fields(), "unseen": unseen} if skip else {}),
            "error": request.error,
            "issues": [dict(issue) for issue in request.issues],
            "skip": skip,
        }
        await story.write(Draft("review_requested", payload, safe=False), artifacts=[shown, given])

    async def _decide(self, story: Story, subject: Subject, verdict: Verdict) -> StateUpdate:
        """Write the decisions down, all at once, and return what follows.

        Raises:
            UnreadableAnswer: One of them cannot be carried out; none is.
        """
        if verdict.stop is not None:
            return await self._stop(story, subject, verdict, verdict.stop)
        if verdict.feedback is not None:
            return await self._send_back(story, subject, verdict)
        plan, revision = subject.plan, None
        if verdict.plan is not None and verdict.plan.type == "edit":
            plan, revision = self._edited(story, verdict.plan)
        if verdict.plan is not None and plan is None:
            raise UnreadableAnswer("this plan cannot be approved; edit it or reject it")
        if verdict.plan is None:
            decided = self._decided(story, plan, "settle", verdict)
        else:
            decided = self._decided(story, plan, "approve", verdict, message=verdict.plan.type)
        await story.write(*([revision] if revision else []), decided)
        return self._on(story, plan)

    def _on(self, story: Story, plan: Plan | None) -> StateUpdate:
        """Go on with the plan; without one, where the budget for making it was raised, plan."""
        if plan is None:
            return story.update(status="planning", reason="planning on", doubts=[])
        return story.show_plan(plan, "running", doubts=[])

    async def _stop(self, story: Story, subject: Subject, verdict: Verdict, stop: Decision) -> StateUpdate:
        told = Verdict(decisions=verdict.decisions)
        word = "finish" if stop.finishes else "reject"
        decided = self._decided(story, subject.plan, word, told, message=stop.message)
        plan = story.recorded_plan() or Plan()
        kept = await story.ending(plan)
        answer = kept.answer if story.record.succeeded else None
        if stop.finishes:
            spent = f"the budget's limit of {story.record.shortage.limit} was reached" if story.record.shortage else ""
            missing = kept.reason if plan.steps else "there is no plan yet"
            return await story.end(Ending("budget_exhausted", f"{spent}; {missing}", answer), decided)
        reason = f"rejected: {stop.message}" if stop.message else "rejected"
        return await story.end(Ending("rejected", reason, answer), decided)

    async def _send_back(self, story: Story, subject: Subject, verdict: Verdict) -> StateUpdate:
        """Feedback: the planner plans again, as often as the settings allow."""
        most, words = self.services.settings.max_feedback, verdict.feedback
        if len(story.record.feedback) >= most:
            stop = Decision("reject", message=f"no agreement after {most} rounds")
            return await self._stop(story, subject, verdict, stop)
        await story.write(self._decided(story, subject.plan, "feedback", verdict, message=words))
        return story.update(status="planning", reason=f"planning again: {words}", doubts=[])

    def _edited(self, story: Story, edit: Decision) -> tuple[Plan, Draft | None]:
        assert edit.args is not None
        raw = edit.args.get("plan")
        if not isinstance(raw, dict | list):
            raise UnreadableAnswer('an edit of the plan has args: {"plan": {"steps": [...]}}')
        reading = self._read(story, raw)
        if reading.plan is None:
            faults = "; ".join(map(str, reading.issues))
            raise UnreadableAnswer(f"the edited plan cannot run: {faults}", reading.issues)
        if reading.plan.digest == story.record.digest:
            return reading.plan, None
        return reading.plan, story.revision(reading.plan, "person", "edited in review", notes=reading.notes)

    def _decided(
        self, story: Story, plan: Plan | None, decision: str, verdict: Verdict = NOTHING, *, message: str | None = None
    ) -> Draft:
        """Return a decision that was given as an event: by whom, about what, under which terms."""
        about = self._about(story, plan, verdict, decision == "approve")
        by = "unseen" if verdict.unseen else "person"
        return Draft("decided", {**about, **_by(decision, by, message)}, safe=False)

    def _about(self, story: Story, plan: Plan | None, verdict: Verdict, approves: bool) -> dict[str, Any]:
        terms = story.terms if verdict.budget is None else replace(story.terms, budget=verdict.budget)
        binding = terms.binding(plan) if plan and approves else rebound(story.record, story.terms, terms)
        return {
            "request": story.record.requests,
            "digest": plan.digest if plan else None,
            "binding": binding,
            "settled": [_settled(story.record, entry) for entry in verdict.settled],
            "decisions": [decision.to_json() for decision in verdict.decisions],
            "given": dict(verdict.given),
            "steps": [held.key for held in story.record.waiting_calls] if verdict.steps else [],
            "budget": verdict.budget.to_json() if verdict.budget is not None else None,
        }

    def _carried_out(self, story: Story, decided: Mapping[str, Any]) -> StateUpdate:
        """The decision of this checkpoint is on record: what follows from it follows again."""
        if decided["decision"] == "feedback":
            return story.update(status="planning", reason=f"planning again: {decided['message']}", doubts=[])
        return self._on(story, None if story.record.awaits_plan else story.recorded_plan())


def _is_after_the_end(story: Story, state: State) -> bool:
    """Whether somebody put another plan into a finished thread; the finished run stays as it is.

    A direct answer leaves a plan without steps, which is no other.
    """
    record, plan = story.record, state.get("plan")
    is_answer = isinstance(plan, dict) and not plan.get("steps")
    return record.ended is not None and not story.here_before and not is_answer and plan not in (None, record.plan)


def _plan_in(story: Story, state: State) -> Any:
    """Return the plan in the state, or the ledger's where somebody took it out."""
    plan = state.get("plan")
    return plan if plan is not None else story.record.plan


def _settled(record: RunRecord, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of an uncertain call, with the run that it was made in where that is another one."""
    call = record.call(entry["key"])
    return {**entry, **({"run": call.run} if call is not None and call.run else {})}


def _by(decision: str, by: str, message: str | None) -> dict[str, Any]:
    who = "policy" if by == "policy" else approver()
    return {"decision": decision, "by": by, "approver": who, "message": message}
