"""Review: the only node that asks; it asks once for everything that needs a person now."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from graph.caller import caller_on
from graph.context import Services
from graph.identity import approver
from graph.nodes.asking import SAY_FIRST, Subject, is_open, is_said, message_of, request_about, uncertain_calls
from graph.plan.canonical import digest
from graph.plan.revision import read_revision
from graph.plan.schema import Plan
from graph.plan.validation import Reading, read_plan
from graph.policy.scope import in_force, rebound, within_approved
from graph.record.ending import Ending
from graph.record.events import Draft
from graph.record.run_state import RunState
from graph.record.values import keep, keep_anything
from graph.review.decision import Decision, UnreadableAnswer, read_answer
from graph.review.request import ReviewRequest
from graph.review.verdict import NOTHING, Verdict, verdict_of
from graph.run_context import RunContext, open_run_context, start_run_context
from graph.sanitize import escaped
from graph.state import State, StateUpdate, stated_goal

STALE = "the answer came before this was shown; look at what is asked now"


@dataclass(frozen=True)
class Review:
    """Node `review`; what policy allows passes through and is recorded, the rest is asked."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the decision's consequence; until there is one, the graph is interrupted here."""
        run = await open_run_context(self.services, state, config)
        if run is None or run.is_fork(state) or _is_after_the_end(run, state):
            run = await self._run_of_its_own(state, config)
        if run.record.ended:
            return run.ended()
        if decided := run.record.decided_at.get(run.checkpoint):
            return self._carried_out(run, decided)
        if run.record.steered:
            return run.update(status="planning", reason=f"planning again: {run.record.steered}", doubts=[])
        if _plan_in(run, state) is None and run.record.shortage is None:
            return await run.end(Ending("failed", "there is no plan to review"))
        subject = await self._subject(run, state)
        request = request_about(run, subject)
        if not request.actions:
            return await self._passed(run, subject)
        unseen = caller_on(run.key.thread).unseen
        return await self._asked(run, state, subject, request, unseen)

    async def _run_of_its_own(self, state: State, config: RunnableConfig) -> RunContext:
        """A state from before a closed decision goes on as the thread's next run; it inherits neither nor results."""
        return await start_run_context(self.services, state, config, stated_goal(state))

    async def _subject(self, run: RunContext, state: State) -> Subject:
        """Read the plan in the state; one that the ledger does not know becomes a revision."""
        raw = _plan_in(run, state)
        if raw is None or run.record.lacks_plan:
            return Subject(None, None, planned=False)
        reading = self._known(run, raw) or self._read(run, raw)
        if reading.plan is not None and reading.plan.digest != run.record.digest:
            await run.revise(reading.plan, "state", "the plan stood in the state", notes=reading.notes)
        return Subject(raw, reading.plan, reading.issues, uncertain_calls(run.record, state.get("doubts")))

    def _known(self, run: RunContext, raw: Any) -> Reading | None:
        """Return the latest revision where the state holds just that, with tools as they were when it was read."""
        plan = run.recorded_plan()
        try:
            same = plan is not None and digest(raw) == run.record.digest
        except (ValueError, TypeError, RecursionError):
            return None
        if plan is None or not same or run.record.binding != run.terms.binding(plan):
            return None
        return Reading(plan)

    def _read(self, run: RunContext, raw: Any) -> Reading:
        """Read a plan from outside: what succeeded stays as it is."""
        specs, most = self.services.toolbox.specs, self.services.settings.max_steps
        current = run.recorded_plan()
        if current is None or not run.record.succeeded:
            return run.allowed(read_plan(raw, specs, most))
        return run.allowed(read_revision(raw, current, run.record.succeeded, specs, most))

    async def _passed(self, run: RunContext, subject: Subject) -> StateUpdate:
        """Nothing needs a person: record what allowed it, once."""
        plan = subject.plan
        assert plan is not None
        if not in_force(run.record, plan, run.terms):
            within = within_approved(run.record, plan, run.terms)
            mode = "within what was approved" if within else f"approval={self.services.settings.approval}"
            passed = {**self._about(run, plan, NOTHING, approves=True), **_by("approve", "policy", mode)}
            await run.write(Draft("decided", passed, safe=False))
        return run.show_plan(plan, "running", doubts=[])

    async def _asked(
        self, run: RunContext, state: State, subject: Subject, request: ReviewRequest, unseen: bool
    ) -> StateUpdate:
        """Ask until there is a decision; an answer counts only at the checkpoint where this was shown last."""
        shown = run.record.request if is_open(run, request) else None
        if shown is not None and shown.checkpoint != run.checkpoint:
            shown = None
        try:
            answer = interrupt(request.to_json())
        except GraphInterrupt:
            if not (is_said(state, request) and run.is_shown_by(state, subject.plan or run.recorded_plan())):
                return self._said_first(run, request, subject)
            if shown is None:
                await self._note_request(run, request)
            raise
        if shown is not None and shown.skip:
            return self._said_first(run, request, subject)
        try:
            if shown is None:
                raise UnreadableAnswer(STALE)
            if unseen and run.record.stalled is not None:
                raise UnreadableAnswer("the plan makes no progress; somebody has to look at it")
            verdict = verdict_of(request, read_answer(answer, request), run.terms, unseen=unseen)
            return await self._decide(run, subject, verdict)
        except UnreadableAnswer as fault:
            again = request.again(escaped(str(fault)), [issue.to_json() for issue in fault.issues])
            await self._note_request(run, again, skip=1, answer=answer, unseen=unseen)
            return self._said_first(run, again, subject)

    def _said_first(self, run: RunContext, request: ReviewRequest, subject: Subject) -> StateUpdate:
        """Leave what is asked as the chat's last message, and what the ledger has of the run in the state.

        An interrupted node could do neither (see `graph.nodes.asking`).
        """
        shown = {**run.standing(subject.plan or run.recorded_plan()), "status": "planning", "reason": SAY_FIRST}
        plan = {"plan": subject.raw} if subject.raw is not None else {}
        return run.update(**shown, **plan, messages=[message_of(run, request)])

    async def _note_request(
        self, run: RunContext, request: ReviewRequest, skip: int = 0, answer: Any = None, unseen: bool = False
    ) -> None:
        """Write down what is shown; `skip` is 1 where `answer`, given at this checkpoint, was turned down."""
        shown, given = (
            keep([action["description"] for action in request.to_json()["action_requests"]]),
            keep_anything(answer),
        )
        payload = {
            "request": run.record.requests + (not is_open(run, request)),
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
        await run.write(Draft("review_requested", payload, safe=False), artifacts=[shown, given])

    async def _decide(self, run: RunContext, subject: Subject, verdict: Verdict) -> StateUpdate:
        """Write the decisions down, all at once, and return what follows.

        Raises:
            UnreadableAnswer: One of them cannot be carried out; none is.
        """
        if verdict.stop is not None:
            return await self._stop(run, subject, verdict, verdict.stop)
        if verdict.feedback is not None:
            return await self._send_back(run, subject, verdict)
        plan, revision = subject.plan, None
        if verdict.plan is not None and verdict.plan.type == "edit":
            plan, revision = self._edited(run, verdict.plan)
        if verdict.plan is not None and plan is None:
            raise UnreadableAnswer("this plan cannot be approved; edit it or reject it")
        if verdict.plan is None:
            decided = self._decided(run, plan, "settle", verdict)
        else:
            decided = self._decided(run, plan, "approve", verdict, message=verdict.plan.type)
        await run.write(*([revision] if revision else []), decided)
        return self._on(run, plan)

    def _on(self, run: RunContext, plan: Plan | None) -> StateUpdate:
        """Go on with the plan; without one, where the budget for making it was raised, plan."""
        if plan is None:
            return run.update(status="planning", reason="planning on", doubts=[])
        return run.show_plan(plan, "running", doubts=[])

    async def _stop(self, run: RunContext, subject: Subject, verdict: Verdict, stop: Decision) -> StateUpdate:
        told = Verdict(decisions=verdict.decisions)
        word = "finish" if stop.finishes else "reject"
        decided = self._decided(run, subject.plan, word, told, message=stop.message)
        plan = run.recorded_plan() or Plan()
        kept = await run.ending(plan)
        answer = kept.answer if run.record.succeeded else None
        if stop.finishes:
            spent = f"the budget's limit of {run.record.shortage.limit} was reached" if run.record.shortage else ""
            missing = kept.reason if plan.steps else "there is no plan yet"
            return await run.end(Ending("budget_exhausted", f"{spent}; {missing}", answer), decided)
        reason = f"rejected: {stop.message}" if stop.message else "rejected"
        return await run.end(Ending("rejected", reason, answer), decided)

    async def _send_back(self, run: RunContext, subject: Subject, verdict: Verdict) -> StateUpdate:
        """Feedback: the planner plans again, as often as the settings allow."""
        most, words = self.services.settings.max_feedback, verdict.feedback
        if len(run.record.feedback) >= most:
            stop = Decision("reject", message=f"no agreement after {most} rounds")
            return await self._stop(run, subject, verdict, stop)
        await run.write(self._decided(run, subject.plan, "feedback", verdict, message=words))
        return run.update(status="planning", reason=f"planning again: {words}", doubts=[])

    def _edited(self, run: RunContext, edit: Decision) -> tuple[Plan, Draft | None]:
        assert edit.args is not None
        raw = edit.args.get("plan")
        if not isinstance(raw, dict | list):
            raise UnreadableAnswer('an edit of the plan has args: {"plan": {"steps": [...]}}')
        reading = self._read(run, raw)
        if reading.plan is None:
            faults = "; ".join(map(str, reading.issues))
            raise UnreadableAnswer(f"the edited plan cannot run: {faults}", reading.issues)
        if reading.plan.digest == run.record.digest:
            return reading.plan, None
        return reading.plan, run.revision(reading.plan, "person", "edited in review", notes=reading.notes)

    def _decided(
        self,
        run: RunContext,
        plan: Plan | None,
        decision: str,
        verdict: Verdict = NOTHING,
        *,
        message: str | None = None,
    ) -> Draft:
        """Return a decision that was given as an event: by whom, about what, under which terms."""
        about = self._about(run, plan, verdict, decision == "approve")
        by = "unseen" if verdict.unseen else "person"
        return Draft("decided", {**about, **_by(decision, by, message)}, safe=False)

    def _about(self, run: RunContext, plan: Plan | None, verdict: Verdict, approves: bool) -> dict[str, Any]:
        terms = run.terms if verdict.budget is None else replace(run.terms, budget=verdict.budget)
        binding = terms.binding(plan) if plan and approves else rebound(run.record, run.terms, terms)
        return {
            "request": run.record.requests,
            "digest": plan.digest if plan else None,
            "binding": binding,
            "settled": [_settled(run.record, entry) for entry in verdict.settled],
            "decisions": [decision.to_json() for decision in verdict.decisions],
            "given": dict(verdict.given),
            "steps": [held.key for held in run.record.waiting_calls] if verdict.steps else [],
            "budget": verdict.budget.to_json() if verdict.budget is not None else None,
        }

    def _carried_out(self, run: RunContext, decided: Mapping[str, Any]) -> StateUpdate:
        """The decision of this checkpoint is on record: what follows from it follows again."""
        if decided["decision"] == "feedback":
            return run.update(status="planning", reason=f"planning again: {decided['message']}", doubts=[])
        return self._on(run, None if run.record.awaits_plan else run.recorded_plan())


def _is_after_the_end(run: RunContext, state: State) -> bool:
    """Whether somebody put another plan into a finished thread; the finished run stays as it is.

    A direct answer leaves a plan without steps, which is no other.
    """
    record, plan = run.record, state.get("plan")
    is_answer = isinstance(plan, dict) and not plan.get("steps")
    return record.ended is not None and not run.here_before and not is_answer and plan not in (None, record.plan)


def _plan_in(run: RunContext, state: State) -> Any:
    """Return the plan in the state, or the ledger's where somebody took it out."""
    plan = state.get("plan")
    return plan if plan is not None else run.record.plan


def _settled(record: RunState, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of an uncertain call, with the run that it was made in where that is another one."""
    call = record.call(entry["key"])
    return {**entry, **({"run": call.run} if call is not None and call.run else {})}


def _by(decision: str, by: str, message: str | None) -> dict[str, Any]:
    who = "policy" if by == "policy" else approver()
    return {"decision": decision, "by": by, "approver": who, "message": message}
