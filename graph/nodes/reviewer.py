"""Review: the only node that interrupts; one request covers everything that needs a person now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from planner_executor.graph.caller import caller_on, invoked_by
from planner_executor.graph.context import Services
from planner_executor.graph.errors import StandingSpentError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.refusals import check_control_seq
from planner_executor.graph.ledger.values import content_value
from planner_executor.graph.nodes.review.chat_comments import with_comments_of_chat
from planner_executor.graph.nodes.review.decision import carried_out, decide, plan_again
from planner_executor.graph.nodes.review.events import passed, requested
from planner_executor.graph.nodes.review.late import answered_late, with_expiry
from planner_executor.graph.nodes.review.message import is_announced, message_of, with_decision
from planner_executor.graph.nodes.review.outcome import Outcome, outcome_of
from planner_executor.graph.nodes.review.people import is_open
from planner_executor.graph.nodes.review.reasons import check_reasons
from planner_executor.graph.nodes.review.request import cause_of_asking_anew, leave_request, request_of
from planner_executor.graph.nodes.review.standing import approved_ahead, passed_ahead
from planner_executor.graph.nodes.review.step_changes import take_changes
from planner_executor.graph.nodes.review.subject import Subject, plan_in, subject_of
from planner_executor.graph.nodes.review.votes import Ballot, ballot_of, check_decider
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import open_run, start_run
from planner_executor.graph.nodes.run.fork_detection import is_after_the_end, is_fork
from planner_executor.graph.nodes.run.review_clock import bring_up
from planner_executor.graph.nodes.run.state_view import (
    is_shown_by,
    state_at_end,
    state_to_execute,
    state_update,
    state_while_waiting,
)
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.scope import in_force, within_approved
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.events import Draft, ResponseGiven
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.projection import apply_events
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.review.decision import InvalidResponse, RefusedDecision, read_answer
from planner_executor.graph.review.request import ReviewRequest
from planner_executor.graph.review.verdict import verdict_of
from planner_executor.graph.route import Route, route_of
from planner_executor.graph.state import State, StateUpdate, stated_goal


@dataclass(frozen=True)
class Review:
    """Node `review`; plans allowed by policy pass and are recorded, for anything else a person is asked."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the consequence of the decision; until there is a decision, the graph is interrupted here."""
        run = await open_run(self.services, state, config)
        if run is None or is_fork(run, state) or is_after_the_end(run, state):
            services = self.services if run is None else run.services  # a fork is under the terms of its source
            run = await start_run(services, state, config, stated_goal(state))
        # First of all: an answer to a request that has expired must find it closed (decision 82).
        before = run.record.review_state.request
        await bring_up(run.ledger, run.key, run.record)
        is_late = await answered_late(run)
        update = await self._reviewed(run, state)
        is_new = before is not None and run.record.review_state.last_expired is not None
        return with_expiry(run, update, is_late=is_late) if is_late or is_new else update

    async def _reviewed(self, run: RunContext, state: State) -> StateUpdate:
        """Return the consequence of the decision."""
        if run.record.ended:
            return with_decision(run, await state_at_end(run))
        await take_changes(run, state)
        # A process may die between a decision and the checkpoint after it: the repeated node carries it out.
        if decision := run.record.review_state.decided_at.get(run.checkpoint):
            return with_decision(run, await carried_out(run, decision))
        if run.record.plan_state.steered and not run.record.lacks_plan:
            return plan_again(run, run.record.plan_state.steered)
        writer = RunWriter(run)
        if plan_in(run, state) is None and run.record.spending.shortage is None:
            await writer.end(Ending("failed", "there is no plan to review"))
            return await state_at_end(run)
        subject = await subject_of(writer, state)
        request = await _request(run, subject)
        if not request.actions:
            return await self._passed(writer, subject)
        if await self._passed_ahead(writer, subject, request):
            return await state_to_execute(run, run.recorded_plan() or Plan())
        return await self._asked(writer, state, subject, request)

    async def _passed(self, writer: RunWriter, subject: Subject) -> StateUpdate:
        """Record the rule that allowed the plan, once, and go on."""
        run, plan = writer.run, subject.plan
        assert plan is not None
        if not in_force(run.record, plan, run.terms):
            within = within_approved(run.record, plan, run.terms)
            rule = "within what was approved" if within else f"approval={run.services.settings.approval}"
            await writer.write(passed(run, plan, rule))
        return await state_to_execute(run, plan)

    async def _passed_ahead(self, writer: RunWriter, subject: Subject, request: ReviewRequest) -> bool:
        """Let a playbook's plan pass that people have approved ahead, and return whether one was (decision 162).

        What else is asked comes up where it is due: in the executor, which returns here.
        """
        run, plan = writer.run, subject.plan
        approval = await approved_ahead(run, request, plan)
        if approval is None or plan is None:
            return False
        events, use = passed_ahead(run, approval, plan)
        try:
            await writer.write(*events, uses=[use])
        except StandingSpentError:  # another run took the last one meanwhile, or it was revoked
            return False
        return True

    async def _asked(self, writer: RunWriter, state: State, subject: Subject, request: ReviewRequest) -> StateUpdate:
        """Ask until there is a decision; a response counts only at the checkpoint at which the request was last shown.

        A resumed node starts again, and `interrupt` then returns the response, possibly to an older request
        (docs/decisions/0004-old-answers.md).
        """
        run, made = writer.run, request
        request = with_comments_of_chat(run, request, state)
        if (given := run.record.review_state.response) is not None:
            return await self._taken_up(writer, subject, request, given)
        shown = _shown_here(run, request)
        try:
            answer = interrupt(request.to_json())
        except GraphInterrupt:
            plan = subject.plan or run.recorded_plan()
            stands = partial(_stands_in, state, run, request, plan)
            if not await done_aside(_steps(subject), stands):
                # Round by the planner, unless another node has just gone there: a client's `goto` lets two nodes run
                # at once. One of them waits here, or they would take turns for ever.
                leave_request(run, subject, made)
                way: Route = "review" if route_of(state) == "announce" else "announce"
                return await _announced(run, request, subject, way)
            if shown is None:
                event, values = await done_aside(_steps(subject), partial(requested, run, request))
                await writer.write(event, artifacts=values)
            raise
        # LangGraph keeps each answer at its checkpoint: those that were refused there come again first (decision 4).
        if shown is not None and shown.shown.skip:
            return await _announced(run, request, subject)
        caller_on(run.key.thread).note_reading()
        if shown is None:  # another process, which came here at the same time, may have shown it since
            async with _as_it_stands(run):
                shown = _shown_here(run, request)
        return await self._answered(writer, subject, request, answer, is_shown=shown is not None)

    async def _taken_up(
        self, writer: RunWriter, subject: Subject, request: ReviewRequest, given: ResponseGiven
    ) -> StateUpdate:
        """Carry out the response that the ledger keeps, as its author's (docs/decisions/0091-kept-responses.md)."""
        run = writer.run
        answer = await content_value(run.ledger, given.response)
        author = Approver.of_label(given.approver, given.roles)
        # By its number too: an equal request that was asked since is another one (decision 100).
        is_shown = is_open(run, request) and given.request == run.record.review_state.requests
        with invoked_by(replace(caller_on(run.key.thread), by=author, unseen=False)):
            return await self._answered(writer, subject, request, answer, is_shown=is_shown, is_kept=True)

    async def _answered(
        self,
        writer: RunWriter,
        subject: Subject,
        request: ReviewRequest,
        answer: Any,
        *,
        is_shown: bool,
        is_kept: bool = False,
    ) -> StateUpdate:
        """Carry out a response; an invalid one is recorded with its error, and the request is announced again.

        `is_kept`: the response is in the ledger, and none of those that are stored at the checkpoint.
        """
        run, unseen = writer.run, caller_on(writer.run.key.thread).unseen
        try:
            if not is_shown:
                raise InvalidResponse(cause_of_asking_anew(run, request))
            # Nobody looked, so a plan that goes in circles would do so without end.
            if unseen and run.record.plan_state.stalled is not None:
                raise InvalidResponse("the plan makes no progress; a person has to review it")
            if unseen and run.record.plan_state.unchanged is not None:
                raise InvalidResponse("the plan leaves out what was asked for; a person has to review it")
            verdict = verdict_of(request, read_answer(answer, request), run.terms, unseen=unseen)
            check_decider(run, request, verdict)
            outcome = outcome_of(run, subject, verdict)
            check_reasons(run, request, outcome)
            ballot = ballot_of(run, request, outcome)
            # Counted again in the transaction of the vote: of the last two voters one has to see the other.
            if ballot.vote is not None:
                accepted = replace(request, error=None, issues=subject.issues)  # what was refused before is over
                ballot = await self._voted(run, accepted, outcome, is_kept=is_kept)
            if ballot.vote is not None:
                return await _announced(run, await _request(run, subject), subject)
            return with_decision(run, await decide(writer, subject, outcome, ballot))
        except InvalidResponse as fault:
            if isinstance(fault, RefusedDecision) and not is_kept:
                caller_on(run.key.thread).note_refusal(str(fault))
            again = request.again(escaped(str(fault)), fault.issues)
            event, values = requested(run, again, skip=not is_kept, answer=answer, unseen=unseen)
            await writer.write(event, artifacts=values)
            return await _announced(run, again, subject)

    async def _voted(self, run: RunContext, request: ReviewRequest, outcome: Outcome, *, is_kept: bool) -> Ballot:
        """Record a vote unless others have voted meanwhile and it decides; return what the answer comes to then.

        Raises:
            StaleRunError: The request was decided meanwhile.
        """
        async with _as_it_stands(run) as lease:
            ballot = ballot_of(run, request, outcome)
            if ballot.vote is not None:
                event, values = requested(run, request, skip=not is_kept)
                await RunWriter(run, lease).write(Draft(ballot.vote), event, artifacts=values)
        return ballot


@asynccontextmanager
async def _as_it_stands(run: RunContext) -> AsyncIterator[Lease]:
    """Own the run within the block, with its record up to date.

    Raises:
        StaleRunError: The request was decided meanwhile.
    """
    seen = run.record.control_seq
    async with run.ledger.owned_and_read(run.key, run.record.seq) as owned:
        apply_events(run.record, owned.news.events)
        check_control_seq(run.ledger.name, run.key, seen, run.record.control_seq)
        yield owned.lease


def _stands_in(state: State, run: RunContext, request: ReviewRequest, plan: Plan | None) -> bool:
    """Whether a state shows a request, and the run as it waits for it."""
    return is_announced(state, request) and is_shown_by(run, state, plan)


def _shown_here(run: RunContext, request: ReviewRequest) -> RecordedRequest | None:
    """Return the request on record if it was shown at this checkpoint."""
    shown = run.record.review_state.request if is_open(run, request) else None
    return shown if shown is not None and (shown.shown.checkpoint or "") == run.checkpoint else None


async def _request(run: RunContext, subject: Subject) -> ReviewRequest:
    return await done_aside(_steps(subject), partial(request_of, run, subject))


def _steps(subject: Subject) -> int:
    return 0 if subject.plan is None else len(subject.plan.steps)


async def _announced(
    run: RunContext, request: ReviewRequest, subject: Subject, route: Route = "announce"
) -> StateUpdate:
    """Write the request to the chat as its last message, and the run's record to the state.

    An interrupted node can write neither (see `graph.nodes.review.message`).
    """

    def announced() -> StateUpdate:
        shown = state_while_waiting(run, subject.plan or run.recorded_plan())
        plan = {"plan": subject.raw} if subject.raw is not None else {}
        return state_update(run, route, **shown, **plan, messages=[message_of(run, request)])

    return await done_aside(_steps(subject), announced)
