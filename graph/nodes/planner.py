"""Planner: turn the goal into a plan, or answer it at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

from graph.approver import approver
from graph.calls.meter import BudgetReached
from graph.calls.model_gate import ModelCall
from graph.context import Services
from graph.errors import InputError
from graph.nodes.asking import SAY_FIRST, message_about, message_without_plan
from graph.plan.canonical import digest
from graph.plan.depth import json_or_text
from graph.plan.json_schema import plan_schema, revision_schema
from graph.plan.revision import read_revision
from graph.plan.schema import Plan
from graph.plan.shortening import joined_messages
from graph.plan.unique_keys import unique_keys
from graph.plan.validation import read_plan
from graph.planning import Proposal, propose
from graph.prompts.planner import planner_messages
from graph.prompts.replanner import replanner_messages
from graph.run.ending import Ending, ending_of
from graph.run.goal import Goal
from graph.run.steering import Steer
from graph.run.values import keep_anything
from graph.state import State, StateUpdate, goal_of, last_words, stated_goal
from graph.story import Story, begun_story, latest_story, open_story, thread_of

CONTINUE = ("continue", "resume")
STEER = "steer:"
"""What a chat message begins with that changes the constraints of the run under way."""


@dataclass(frozen=True)
class Planner:
    """Node `planner`; asks its model for a plan unless the caller brought one."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the plan to review, the answer, or why there is neither.

        Raises:
            InputError: There is no goal.
            ModelConfigError: A model's server cannot be reached, refuses the key, or has no such model.
        """
        story = await self._known(state, config)
        if story is not None and (words := _steering(state)):
            await story.write(Steer(add=(words,), by=approver()).draft(story.record.constraints))
        if story is not None:
            async with story.owned():
                return await self._goes_on(story, state)
        goal = _goal_to_begin(state, thread_of(state, config))
        if _brought(state, goal) is None:
            await self.services.models.check()
        async with begun_story(self.services, state, config, goal) as story:
            return await self._goes_on(story, state)

    async def _goes_on(self, story: Story, state: State) -> StateUpdate:
        """Plan, unless there is nothing to plan any more; the run is owned."""
        if story.record.ended:
            return story.ended()
        if _is_to_be_said(story, state):
            return story.update(status="waiting", reason=None)
        if not story.record.awaits_plan and not story.record.steered:
            return self._shown(story)
        try:
            return await self._plan(story, state)
        except BudgetReached as reached:
            return await self._short(story, reached.limit)

    async def _short(self, story: Story, limit: str) -> StateUpdate:
        """There is no plan to go on with, because the budget does not allow to ask for one: a person is asked."""
        plan = story.recorded_plan()
        await story.short_of(limit, "planner", plan)
        shown = {} if plan is not None else {"plan": None, "digest": None}
        said = message_without_plan(story)
        return story.update(goal=story.record.goal, status="waiting", reason=None, messages=[said], doubts=[], **shown)

    async def _known(self, state: State, config: RunnableConfig) -> Story | None:
        """Return the run to go on with: begun here before a crash, sent back with feedback, or to be resumed."""
        latest = await latest_story(self.services, thread_of(state, config), state.get("run"))
        if latest is not None and (latest.here_before or _is_begun(latest, state)):
            return latest
        named = await open_story(self.services, state, config)
        if named is not None and _is_sent_back(named, state):
            return named
        if not (_wants_to_go_on(state) or _steering(state)):
            return None
        return next((story for story in (named, latest) if story is not None and not story.record.ended), None)

    async def _plan(self, story: Story, state: State) -> StateUpdate:
        goal = Goal(story.record.goal, story.record.constraints)
        changed = story.record.feedback or story.record.steered
        brought = _brought(state, goal) if not changed else None
        proposal = self._read(story, brought) if brought is not None else await self._ask(story, goal)
        plan = proposal.plan
        if plan is None:
            return await self._refused(story, proposal, brought)
        if not plan.steps:
            return await self._answered(story, proposal, brought)
        author = "planner" if brought is None else "caller"
        await story.revise(plan, author, _why(story, brought), notes=proposal.notes, last=True)
        return self._shown(story, brought=digest([goal.goal, plan.digest]) if brought is not None else "")

    async def _answered(self, story: Story, proposal: Proposal, brought: Any) -> StateUpdate:
        """End the run with an answer that needs no step; where steps have failed before, it says so."""
        plan = proposal.plan or Plan()
        lost = [one.step for one in story.replaced_in(plan) if not one.is_made_up_for]
        ending = ending_of(plan, story.record.results, {}, list(dict.fromkeys(lost)))
        author = "planner" if brought is None else "caller"
        planned = brought is not None or story.record.plan is not None
        came = [story.revision(plan, author, _why(story, brought))] if planned else []
        return await story.end(
            ending,
            *came,
            notes=proposal.notes,
            goal=story.record.goal,
            issues=[],
            plan=plan.to_json(),
            digest=plan.digest,
            results={},
            brought="",
        )

    async def _refused(self, story: Story, proposal: Proposal, brought: Any) -> StateUpdate:
        """End the run without a plan, and leave on record why."""
        kept = keep_anything(brought)
        refused = proposal.refusal("planner" if brought is None else "caller")
        if brought is not None:
            refused = replace(refused, payload={**refused.payload, "brought": kept.fields()})
        return await story.end(
            Ending("failed", proposal.reason),
            refused,
            artifacts=[kept],
            goal=story.record.goal,
            issues=refused.payload["issues"],
            plan=None,
            digest=None,
            results={},
            brought="",
        )

    def _read(self, story: Story, brought: Any) -> Proposal:
        reading = story.allowed(read_plan(brought, self.services.toolbox.specs, self.services.settings.max_steps))
        reason = "the plan that was brought is refused: " + joined_messages([str(issue) for issue in reading.issues])
        return Proposal(reading.plan, reason, reading.issues, reading.notes)

    async def _ask(self, story: Story, goal: Goal) -> Proposal:
        record, specs = story.record, self.services.toolbox.specs
        most, current = self.services.settings.max_steps, story.recorded_plan()
        label = f"{record.revision}:{len(record.feedback)}"
        offered, outlook, limits = story.offered(), story.outlook, story.told_limits
        names = tuple(tool["name"] for tool in offered)
        if current is not None and record.succeeded:
            why = record.steered or "the user wants another plan"
            messages = replanner_messages(goal, offered, current, record, why, limits, outlook.horizon)
            read = partial(read_revision, current=current, succeeded=record.succeeded, tools=specs, max_steps=most)
            schema = revision_schema(names)
        else:
            messages = planner_messages(goal, offered, record, limits, outlook.horizon)
            read = partial(read_plan, tools=specs, max_steps=most)
            schema = plan_schema(names)
        call = ModelCall("planner", label, messages, schema=schema)
        most = self.services.settings.max_repairs
        return await propose(
            story.gate().models, self.services.models.planner, call, lambda raw: story.planned(read(raw)), most
        )

    def _shown(self, story: Story, **keys: Any) -> StateUpdate:
        plan = story.recorded_plan()
        assert plan is not None
        return story.show_plan(plan, "waiting", messages=[message_about(story, plan)], **keys)


def _is_begun(story: Story, state: State) -> bool:
    """Whether the run was begun for just this input, by a process that died before the checkpoint was kept.

    Once something of it was asked or decided, the same input is a fork, or the wish to begin anew.
    """
    record = story.record
    if record.ended or record.requests or record.last_decision_seq:
        return False
    try:
        goal = goal_of(state)
    except InputError:
        return False
    is_same = (goal.goal, goal.constraints) == (record.goal, record.constraints)
    return is_same and (record.plan is None or _brought(state, goal) is None)


def _goal_to_begin(state: State, thread: str) -> Goal:
    """Return the goal of a run that begins; a copied thread that is asked to go on has the goal it was copied with."""
    run, copied = state.get("run"), stated_goal(state)
    is_copy = isinstance(run, dict) and run.get("thread") not in (None, thread)
    return copied if is_copy and copied.goal and _wants_to_go_on(state) else goal_of(state)


def _wants_to_go_on(state: State) -> bool:
    return (last_words(state.get("messages") or ()) or "").lower() in CONTINUE


def _steering(state: State) -> str | None:
    """Return the constraint that the user's last message adds to the run under way."""
    words = last_words(state.get("messages") or ()) or ""
    return words[len(STEER) :].strip() or None if words.lower().startswith(STEER) else None


def _is_sent_back(story: Story, state: State) -> bool:
    """Whether review sent the run here: after a decision that wants a plan, or on its way round to itself.

    It may have been cancelled by another process since, and is then shown as it ended.
    """
    if state.get("status") != "planning" or last_words(state.get("messages") or ()) is not None:
        return False
    told = bool(story.record.steered) or (story.record.last_decision_seq > 0 and story.record.awaits_plan)
    return (
        stated_goal(state).goal in ("", story.record.goal)
        and not story.is_fork(state)
        and (told or _is_to_be_said(story, state))
    )


def _is_to_be_said(story: Story, state: State) -> bool:
    """Whether review comes by only because what it asks of this run had to be said first."""
    run = state.get("run")
    is_this = isinstance(run, dict) and (run.get("thread"), run.get("n")) == (story.key.thread, story.key.n)
    return is_this and state.get("status") == "planning" and state.get("reason") == SAY_FIRST


def _brought(state: Mapping[str, Any], goal: Goal) -> Any:
    """Return the plan that the input brings, None where the state only holds the last run's plan."""
    raw = _from_form(state.get("plan"))
    if raw is None or state.get("digest") is None:
        return raw
    try:
        same = digest(raw) == state["digest"]
    except (ValueError, TypeError, RecursionError):
        return raw
    return raw if not same or state.get("brought") == digest([goal.goal, state["digest"]]) else None


def _from_form(plan: Any) -> Any:
    """Return a plan that came through a form: a field left blank is none, and text that is JSON is read."""
    if not isinstance(plan, str):
        return plan
    return json_or_text(plan, strict=False, object_pairs_hook=unique_keys) if plan.strip() else None


def _why(story: Story, brought: Any) -> str:
    if brought is not None:
        return "brought by the caller"
    if story.record.steered:
        return story.record.steered
    return f"feedback: {story.record.feedback[-1]}" if story.record.feedback else "planned for the goal"
