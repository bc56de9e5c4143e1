"""Planner: turn the goal into a plan, or answer it at once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig

from graph.calls.gate import ModelCall
from graph.context import Services
from graph.nodes.asking import SAY_FIRST, message_about
from graph.plan.canonical import digest
from graph.plan.revision import read_revision
from graph.plan.validation import read_plan
from graph.planning import Proposal, propose
from graph.prompts.planner import planner_messages
from graph.prompts.replanner import replanner_messages
from graph.run.ending import Ending, ending_of
from graph.run.goal import Goal
from graph.state import State, StateUpdate, goal_of, last_words, said_before
from graph.story import Story, load_story, open_story, start_story, thread_of

CONTINUE = ("continue", "resume")


@dataclass(frozen=True)
class Planner:
    """Node `planner`; asks its model for a plan unless the caller brought one."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the plan to review, the answer, or why there is neither.

        Raises:
            InputError: There is no goal.
        """
        story = await self._known(state, config)
        if story is None:
            story = await start_story(self.services, state, config, goal_of(state))
        async with story.owned():
            if story.record.ended:
                return story.ended(goal=story.record.goal)
            if _is_to_be_said(state):
                return story.update(status="waiting", reason=None)
            if not story.record.awaits_plan:
                return self._shown(story)
            return await self._plan(story, state)

    async def _known(self, state: State, config: RunnableConfig) -> Story | None:
        """Return the run to go on with: begun here before a crash, sent back with feedback, or to be resumed."""
        ledger = await self.services.ledger()
        last = await ledger.last_run(thread_of(state, config))
        if last is not None:
            story = await load_story(self.services, ledger, last)
            if story.here_before:
                return story
        named = await open_story(self.services, state, config)
        if named is None or named.record.ended:
            return None
        if (last_words(state.get("messages") or ()) or "").lower() in CONTINUE:
            return named
        return named if _is_sent_back(named, state) else None

    async def _plan(self, story: Story, state: State) -> StateUpdate:
        goal = Goal(story.record.goal, story.record.constraints)
        brought = _brought(state, goal) if not story.record.feedback else None
        proposal = self._read(brought) if brought is not None else await self._ask(story, goal, state)
        plan = proposal.plan
        if plan is None:
            ending = Ending("failed", proposal.reason)
            issues = [issue.to_json() for issue in proposal.issues]
            return await story.end(
                ending, goal=goal.goal, issues=issues, plan=None, digest=None, results={}, brought=""
            )
        if not plan.steps:
            ending = ending_of(plan, {}, {})
            return await story.end(
                ending, goal=goal.goal, issues=[], plan=plan.to_json(), digest=plan.digest, results={}, brought=""
            )
        await story.revise(plan, "planner" if brought is None else "caller", _why(story, brought))
        return self._shown(story, brought=digest([goal.goal, plan.digest]) if brought is not None else "")

    def _read(self, brought: Any) -> Proposal:
        reading = read_plan(brought, self.services.toolbox.specs, self.services.settings.max_steps)
        reason = "the plan that was brought is refused: " + "; ".join(map(str, reading.issues))
        return Proposal(reading.plan, reason, reading.issues)

    async def _ask(self, story: Story, goal: Goal, state: State) -> Proposal:
        record, specs = story.record, self.services.toolbox.specs
        most, current = self.services.settings.max_steps, story.recorded_plan()
        label = f"{record.revision}:{len(record.feedback)}"
        if current is not None and record.succeeded:
            left = self.services.settings.max_replans - record.replans
            messages = replanner_messages(goal, specs.values(), current, record.results, left, record.feedback)
            read = partial(read_revision, current=current, succeeded=record.succeeded, tools=specs, max_steps=most)
        else:
            history = said_before(state.get("messages") or (), goal.goal)
            messages = planner_messages(goal, specs.values(), record.plan, record.feedback, history)
            read = partial(read_plan, tools=specs, max_steps=most)
        call = ModelCall("planner", label, messages)
        return await propose(story.gate(), self.services.planner, call, read, self.services.settings.max_repairs)

    def _shown(self, story: Story, **keys: Any) -> StateUpdate:
        plan = story.recorded_plan()
        assert plan is not None
        record = story.record
        results = story.results_shown(plan) if record.results else {}
        said = message_about(story, plan)
        shown = {"goal": record.goal, "constraints": list(record.constraints), "results": results, "messages": [said]}
        return story.show_plan(plan, "waiting", **shown, **keys)


def _is_sent_back(story: Story, state: State) -> bool:
    """Whether review sent the run here: with a person's feedback, or on its way round to itself."""
    if state.get("status") != "planning" or last_words(state.get("messages") or ()) is not None:
        return False
    told = bool(story.record.feedback) and story.record.awaits_plan
    return state.get("goal") == story.record.goal and not story.is_fork(state) and (told or _is_to_be_said(state))


def _is_to_be_said(state: State) -> bool:
    """Whether review comes by only because what it asks had to be said first."""
    return state.get("status") == "planning" and state.get("reason") == SAY_FIRST


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
    try:
        return json.loads(plan) if plan.strip() else None
    except (ValueError, RecursionError):
        return plan


def _why(story: Story, brought: Any) -> str:
    if brought is not None:
        return "brought by the caller"
    return f"feedback: {story.record.feedback[-1]}" if story.record.feedback else "planned for the goal"
