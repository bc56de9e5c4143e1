"""Review: the only node that asks; it asks once for everything that needs a person now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from graph.context import Services
from graph.nodes.asking import SAY_FIRST, Subject, is_open, is_said, message_of, request_about
from graph.plan.canonical import digest
from graph.plan.revision import read_revision
from graph.plan.schema import Plan
from graph.plan.validation import Reading, read_plan
from graph.run.decision import Decision, UnreadableAnswer, read_answer
from graph.run.ending import Ending, ending_of
from graph.run.events import Draft
from graph.run.goal import Goal
from graph.run.policy import binding_of
from graph.run.record import Call
from graph.run.request import ReviewRequest
from graph.run.scope import in_force, within_approved
from graph.state import State, StateUpdate
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
        if state.get("plan") is None:
            return await story.end(Ending("failed", "there is no plan to review"))
        subject = await self._subject(story, state)
        request = request_about(story, subject)
        if not request.actions:
            return await self._passed(story, subject)
        return await self._asked(story, state, subject, request)

    async def _run_of_its_own(self, state: State, config: RunnableConfig) -> Story:
        """A state from before a closed decision goes on as the thread's next run; it inherits neither nor results."""
        goal = Goal(str(state.get("goal") or ""), tuple(map(str, state.get("constraints") or ())))
        return await start_story(self.services, state, config, goal)

    async def _subject(self, story: Story, state: State) -> Subject:
        """Read the plan in the state; one that the ledger does not know becomes a revision."""
        raw = state.get("plan")
        reading = self._known(story, raw) or self._read(story, raw)
        if reading.plan is not None and reading.plan.digest != story.record.digest:
            await story.revise(reading.plan, "state", "the plan stood in the state")
        named = state.get("doubts") or ()
        calls = (story.record.calls.get(key) for key in named)
        doubts = tuple(call for call in calls if call is not None and call.doubtful)
        return Subject(raw, reading.plan, reading.issues, doubts)

    def _known(self, story: Story, raw: Any) -> Reading | None:
        """Return the latest revision where the state holds just that, with tools as they were when it was read."""
        plan = story.recorded_plan()
        try:
            same = plan is not None and digest(raw) == story.record.digest
        except (ValueError, TypeError, RecursionError):
            return None
        if plan is None or not same or story.record.binding != binding_of(plan, self.services.toolbox.specs):
            return None
        return Reading(plan)

    def _read(self, story: Story, raw: Any) -> Reading:
        """Read a plan from outside: what succeeded stays as it is."""
        specs, most = self.services.toolbox.specs, self.services.settings.max_steps
        current = story.recorded_plan()
        if current is None or not story.record.succeeded:
            return read_plan(raw, specs, most)
        return read_revision(raw, current, story.record.succeeded, specs, most)

    async def _passed(self, story: Story, subject: Subject) -> StateUpdate:
        """Nothing needs a person: record what allowed it, once."""
        plan = subject.plan
        assert plan is not None
        specs = self.services.toolbox.specs
        if not in_force(story.record, plan, specs):
            within = within_approved(story.record, plan, specs)
            mode = "within what was approved" if within else f"approval={self.services.settings.approval}"
            await story.write(self._decided(story, plan, "approve", by="policy", message=mode))
        return story.show_plan(plan, "running", doubts=[])

    async def _asked(self, story: Story, state: State, subject: Subject, request: ReviewRequest) -> StateUpdate:
        """Ask until there is a decision; an answer counts only at the checkpoint where this was shown last."""
        shown = story.record.request if is_open(story, request) else None
        if shown is not None and shown.checkpoint != story.checkpoint:
            shown = None
        try:
            answer = interrupt(request.to_json())
        except GraphInterrupt:
            if not is_said(state, request):
                return self._said_first(story, request)
            if shown is None:
                await self._note_request(story, request)
            raise
        if shown is not None and shown.skip:
            return self._said_first(story, request)
        try:
            if shown is None:
                raise UnreadableAnswer(STALE)
            return await self._decide(story, subject, read_answer(answer, request))
        except UnreadableAnswer as fault:
            again = request.again(str(fault), [issue.to_json() for issue in fault.issues])
            await self._note_request(story, again, skip=1)
            return self._said_first(story, again)

    def _said_first(self, story: Story, request: ReviewRequest) -> StateUpdate:
        """Leave what is asked as the chat's last message; an interrupted node could not (see `graph.nodes.asking`)."""
        return story.update(status="planning", reason=SAY_FIRST, messages=[message_of(story, request)])

    async def _note_request(self, story: Story, request: ReviewRequest, skip: int = 0) -> None:
        """Write down what is shown; `skip` is 1 where the answer at this checkpoint was turned down."""
        payload = {
            "request": story.record.requests + (not is_open(story, request)),
            "digest": request.digest,
            "subject": request.subject,
            "revision": request.revision,
            "asked": [action.name for action in request.actions],
            "error": request.error,
            "issues": [dict(issue) for issue in request.issues],
            "skip": skip,
        }
        await story.write(Draft("review_requested", payload, safe=False))

    async def _decide(self, story: Story, subject: Subject, decisions: Sequence[Decision]) -> StateUpdate:
        """Write the decisions down, all at once, and return what follows.

        Raises:
            UnreadableAnswer: One of them cannot be carried out; none is.
        """
        about_plan = decisions[0] if len(decisions) > len(subject.doubts) else None
        about_doubts = decisions[1:] if about_plan else decisions
        stop = next((d for d in decisions if d.type == "reject" and (d.final or d is not about_plan)), None)
        if stop is not None:
            return await self._stop(story, subject, stop)
        settled = [_settled(call, d) for call, d in zip(subject.doubts, about_doubts, strict=True)]
        plan, revision = subject.plan, None
        if about_plan is None:
            return await self._go_on(story, subject, [self._decided(story, subject.plan, "settle", settled=settled)])
        if about_plan.type == "reject":
            return await self._send_back(story, subject, about_plan, settled)
        if about_plan.type == "edit":
            plan, revision = self._edited(story, about_plan)
        if plan is None:
            raise UnreadableAnswer("this plan cannot be approved; edit it or reject it")
        after = replace(subject, plan=plan)
        decided = self._decided(story, plan, "approve", settled=settled, message=about_plan.type)
        return await self._go_on(story, after, [*([revision] if revision else []), decided])

    async def _go_on(self, story: Story, subject: Subject, drafts: Sequence[Draft]) -> StateUpdate:
        await story.write(*drafts)
        assert subject.plan is not None
        return story.show_plan(subject.plan, "running", doubts=[])

    async def _stop(self, story: Story, subject: Subject, stop: Decision) -> StateUpdate:
        decided = self._decided(story, subject.plan, "reject", message=stop.message)
        plan = story.recorded_plan() or Plan()
        results = story.record.results
        reason = f"rejected: {stop.message}" if stop.message else "rejected"
        kept = ending_of(plan, results, await story.values(plan)).answer if story.record.succeeded else None
        return await story.end(Ending("rejected", reason, kept), decided)

    async def _send_back(
        self, story: Story, subject: Subject, rejection: Decision, settled: Sequence[Mapping[str, Any]]
    ) -> StateUpdate:
        """Feedback: the planner plans again, as often as the settings allow."""
        most = self.services.settings.max_feedback
        if len(story.record.feedback) >= most:
            return await self._stop(story, subject, replace(rejection, message=f"no agreement after {most} rounds"))
        await story.write(self._decided(story, subject.plan, "feedback", settled=settled, message=rejection.message))
        return story.update(status="planning", reason=f"planning again: {rejection.message}", doubts=[])

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
        return reading.plan, story.revision(reading.plan, "person", "edited in review")

    def _decided(self, story: Story, plan: Plan | None, decision: str, *, by: str = "person", **more: Any) -> Draft:
        payload = {
            "request": story.record.requests,
            "decision": decision,
            "by": by,
            "approver": "policy" if by == "policy" else "unverified",
            "digest": plan.digest if plan else None,
            "binding": binding_of(plan, self.services.toolbox.specs) if plan else None,
            "message": None,
            "settled": [],
            **more,
        }
        return Draft("decided", payload, safe=False)

    def _carried_out(self, story: Story, decided: Mapping[str, Any]) -> StateUpdate:
        """The decision of this checkpoint is on record: what follows from it follows again."""
        if decided["decision"] == "feedback":
            return story.update(status="planning", reason=f"planning again: {decided['message']}", doubts=[])
        plan = story.recorded_plan()
        assert plan is not None
        return story.show_plan(plan, "running", doubts=[])


def _is_after_the_end(story: Story, state: State) -> bool:
    """Whether somebody put another plan into a finished thread; the finished run stays as it is."""
    record = story.record
    return record.ended is not None and not story.here_before and state.get("plan") != record.plan


def _settled(call: Call, decision: Decision) -> Mapping[str, Any]:
    args = decision.args or {}
    happened = args.get("happened")
    if not isinstance(happened, bool):
        raise UnreadableAnswer(f"say of {call.step} whether {call.tool} happened: true or false")
    return {"key": call.key, "happened": happened, "result": args.get("result")}
