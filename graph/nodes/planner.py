"""Planner: turn the goal into a plan, or answer it directly."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.context import Services
from planner_executor.graph.errors import InputError, StaleRunError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.values import content_value
from planner_executor.graph.nodes.fork_source import fork_source
from planner_executor.graph.nodes.planner_input import (
    brought_plan,
    goal_stated,
    goal_to_begin,
    steering,
    steps_in,
    wants_to_go_on,
    wants_to_retry,
)
from planner_executor.graph.nodes.planning import Proposal, propose, propose_revision
from planner_executor.graph.nodes.retry import reopen, retry_hint
from planner_executor.graph.nodes.review.chat_comments import take_comments, with_collected
from planner_executor.graph.nodes.review.message import message_about, message_without_plan, with_refusal
from planner_executor.graph.nodes.review.step_changes import take_changes
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import begin_run, thread_of
from planner_executor.graph.nodes.run.events import budget_reached, revision
from planner_executor.graph.nodes.run.review_clock import bring_up
from planner_executor.graph.nodes.run.state_view import state_at_end, state_update, state_while_waiting, state_with_plan
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.nodes.run_to_continue import (
    is_announced,
    run_to_continue,
    tells_end,
    waiting_in_chat,
    was_here,
)
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.on_comments import with_on_comments
from planner_executor.graph.plan.params import NO_PARAMS
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.shortening import joined_messages
from planner_executor.graph.prompts.pictures import pictures_of
from planner_executor.graph.prompts.planner import planner_messages
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.ending import Ending, ending_of
from planner_executor.graph.record.events import Content, Draft
from planner_executor.graph.record.values import keep_anything
from planner_executor.graph.state import State, StateUpdate


@dataclass(frozen=True)
class Planner:
    """Node `planner`; asks its model for a plan unless the caller provided one."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the plan to review, the answer, or the reason that there is neither.

        If words of a chat are refused while a request is open, the request is shown again after the reason.

        Raises:
            InputError: There is no goal, or a change of a step is refused, and no request is open in a chat.
            ModelConfigError: A model's server cannot be reached, refuses the key, or has no such model.
        """
        try:
            return await self._taken_in(state, config)
        except InputError as refused:
            # An error would leave the chat without its open request, and so without the buttons.
            run = await waiting_in_chat(self.services, state, config)
            if run is None:
                raise
            writer = RunWriter(run)
            async with writer.owned():
                return with_refusal(run, refused, await self._continue(writer, state))

    async def _taken_in(self, state: State, config: RunnableConfig) -> StateUpdate:
        thread = thread_of(state, config)
        fork = await fork_source(self.services, state, thread)
        # A fork has the plan of its source, unless the input brings another.
        if fork.goal is not None and brought_plan(state, fork.goal) is None:
            state = {**state, "plan": fork.plan, "digest": None}
        run = await run_to_continue(self.services, state, config)
        if run is not None and (run.record.ended is None or wants_to_retry(state)):
            run.require_terms()
        if run is not None and (words := steering(state)):
            await RunWriter(run).write(
                Amendment(add=(words,), by=str(run.approver)).draft(run.record.assignment.constraints)
            )
        if run is not None:
            await bring_up(run.ledger, run.key, run.record)
            await take_changes(run, state, words=True)
            comments = take_comments(run, state)
            writer = RunWriter(run)
            async with writer.owned():
                # A node that is repeated after a crash finds the run that it has reopened (decision 58).
                if wants_to_retry(state) and run.record.ended and not was_here(run, state):
                    await reopen(writer, brings_plan=_brings_plan(run, state))
                return with_collected(run, comments, await self._continue(writer, state))
        goal = fork.goal or goal_to_begin(state, thread)
        if brought_plan(state, goal) is None:  # a model is needed: better refused now than in a run on record
            self._check_pictures(state)
            await self.services.models.check()
        async with begin_run(self.services, state, config, goal, fork) as writer:
            return await self._continue(writer, state)

    def _check_pictures(self, state: State) -> None:
        """Refuse pictures beside the goal if the planner's model takes none.

        Raises:
            InputError: It takes none, or there is another medium, or a picture that cannot be kept.
        """
        model = self.services.models.planner
        if pictures_of(state.get("messages") or ()) and not model.may_take_pictures:
            why = "takes no pictures; say in words what they show, or name another model"
            raise InputError("goal", f"the planner's model {model.name} {why}")

    async def _continue(self, writer: RunWriter, state: State) -> StateUpdate:
        """Plan if the run still needs a plan; the run is owned."""
        run = writer.run
        if run.record.ended:
            is_told = tells_end(run, state)
            return await state_at_end(run, **(retry_hint(run) if wants_to_go_on(state) and is_told else {}))
        if is_announced(run, state):
            return state_update(run, "review", reason=None)
        if not run.record.plan_state.awaits_plan and not run.record.plan_state.steered:
            is_proposed = wants_to_retry(state) and _brings_plan(run, state)
            return await _proposed(run) if is_proposed else await self._shown(run)
        if run.record.lacks_plan:
            return self._short(run)
        stated = goal_stated(state, run.record) if not run.record.plan_state.revision else []
        try:
            update = await self._plan(writer, state)
        except LimitReached as reached:
            update = await self._ask_for_budget(writer, reached.limit)
        except StaleRunError:  # a person steered, paused or cancelled the run before the next request
            await writer.read_messages()
            return await self._continue(writer, state)
        return {**update, "messages": [*stated, *update["messages"]]}

    async def _ask_for_budget(self, writer: RunWriter, limit: str) -> StateUpdate:
        """Ask a person to raise the budget, since it prevents a request for a plan."""
        await writer.write(budget_reached(writer.run, limit, "planner", writer.run.recorded_plan()))
        return self._short(writer.run)

    def _short(self, run: RunContext) -> StateUpdate:
        """Return the state of a run that lacks a plan until its budget is raised."""
        shown = {} if run.recorded_plan() is not None else {"plan": None, "digest": None}
        message = message_without_plan(run)
        update = {"goal": run.record.assignment.started.goal, "reason": None, "messages": [message], "doubts": []}
        return state_update(run, "review", **update, **shown)

    async def _plan(self, writer: RunWriter, state: State) -> StateUpdate:
        run = writer.run
        goal = run.record.assignment.goal
        # The plan of the input was the first proposal: after feedback it would be proposed again and again.
        changed = run.record.plan_state.feedback or run.record.plan_state.steered
        brought = brought_plan(state, goal) if not changed else None
        proposal = await self._read(run, brought) if brought is not None else await self._ask(writer)
        plan = proposal.plan
        if plan is None:
            return await self._refused(writer, proposal, brought)
        if not plan.steps:
            return await self._answered(writer, proposal, brought)
        author = "planner" if brought is None else "caller"
        why, said = _why(run, brought), proposal.on_comments
        used = proposal.playbooks
        await writer.revise(plan, author, why, notes=proposal.notes, on_comments=said, playbooks=used, last=True)
        return await self._shown(run, brought=digest([goal.goal, plan.digest]) if brought is not None else "")

    async def _answered(self, writer: RunWriter, proposal: Proposal, brought: Any) -> StateUpdate:
        """End the run with an answer that needs no step; earlier failures of steps are part of the ending."""
        run, plan = writer.run, proposal.plan or Plan()
        lost = [one.step for one in run.replaced_in(plan) if not one.is_made_up_for]
        ending = ending_of(plan, run.record.steps.results, {}, list(dict.fromkeys(lost)))
        author = "planner" if brought is None else "caller"
        planned = brought is not None or run.record.plan_state.plan is not None
        said = proposal.on_comments
        came = [Draft(revision(run, plan, author, _why(run, brought), on_comments=said))] if planned else []
        await writer.end(ending, *came, notes=proposal.notes)
        shown = {"plan": plan.to_json(), "digest": plan.digest, "results": {}, "issues": [], "brought": ""}
        return await state_at_end(run, **shown)

    async def _refused(self, writer: RunWriter, proposal: Proposal, brought: Any) -> StateUpdate:
        """End the run without a new plan, and record the reason; a plan that was waiting waits again instead."""
        is_planned = writer.run.recorded_plan() is not None
        # In approval mode `never` nobody would be asked about the plan that waits: the run has to end.
        if brought is None and is_planned and writer.run.terms.mode != "never":
            await writer.write(Draft(proposal.refusal("planner", stays=True)), last=True)
            return await self._shown(writer.run)
        kept = keep_anything(brought)
        refused = proposal.refusal("planner" if brought is None else "caller")
        if brought is not None:
            refused = replace(refused, brought=Content.of(kept))
        await writer.end(Ending("failed", proposal.reason), Draft(refused), artifacts=[kept])
        without: dict[str, Any] = {} if is_planned else {"plan": None, "digest": None, "results": {}}
        return await state_at_end(writer.run, **without, issues=refused.to_json()["issues"], brought="")

    async def _read(self, run: RunContext, brought: Any) -> Proposal:
        reading = await done_aside(steps_in(brought), lambda: run.allowed(run.read(brought)))
        reason = "the given plan is refused: " + joined_messages([str(issue) for issue in reading.issues])
        return Proposal(**vars(reading), reason=reason)

    async def _ask(self, writer: RunWriter) -> Proposal:
        run, record, current = writer.run, writer.run.record, writer.run.recorded_plan()
        # The label is part of the request's key: after a crash the recorded answer serves, after feedback it must not.
        asked = f"{record.plan_state.feedback_rounds}{record.plan_state.after_retries}"
        label = f"{record.plan_state.revision}:{asked}"
        offered, model, commented = run.offered(), run.services.models.planner, record.plan_state.commented
        if current is not None and record.steps.succeeded:
            why = record.plan_state.steered or "the user wants another plan"
            return await propose_revision(writer, model, "planner", label, current, why, offered, commented)
        goal, pictures = record.assignment.goal, await content_value(run.ledger, record.assignment.attached) or []
        horizon, limits, lines = run.replan_policy.horizon, run.planner_limits, offered.lines
        messages = planner_messages(goal, offered.text, record, limits, horizon, pictures, lines, offered.playbooks)
        read = partial(run.read, params=current.params if current is not None else NO_PARAMS, by_model=True)
        call = ModelCall("planner", label, messages, schema=with_on_comments(offered.plan_schema, commented))
        return await propose(writer, writer.gate(), model, call, offered, lambda raw: run.planned(read(raw)), commented)

    async def _shown(self, run: RunContext, **keys: Any) -> StateUpdate:
        plan = run.recorded_plan()
        assert plan is not None
        return await done_aside(
            len(plan.steps),
            lambda: state_with_plan(run, plan, "review", messages=[message_about(run, plan)], **keys),
        )


def _brings_plan(run: RunContext, state: State) -> bool:
    """Whether the input brings a plan that is not the run's."""
    return brought_plan(state, run.record.assignment.goal) is not None


async def _proposed(run: RunContext) -> StateUpdate:
    """Return the state of a retried run whose caller brings another plan: review reads that from the state."""
    return await done_aside(
        run.record.size,
        lambda: state_update(run, "review", **state_while_waiting(run, run.recorded_plan()), doubts=[]),
    )


def _why(run: RunContext, brought: Any) -> str:
    if brought is not None and run.record.assignment.forked_from is not None:
        return f"forked from {run.record.assignment.forked_from}"
    if brought is not None:
        return "brought by the caller"
    if run.record.plan_state.steered:
        return run.record.plan_state.steered
    return (
        f"feedback: {run.record.plan_state.feedback[-1]}" if run.record.plan_state.feedback else "planned for the goal"
    )
