"""Replay of a run from its record alone: the real graph, with every outside call answered from the record.

A call ends when its outcome is the next recorded event. If the graph stops before the record does, or does something
unrecorded, the recorded process may have died there: the run is resumed, and if that makes no progress, the replay
differs.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import Graph
from graph.caller import Caller, invoked_by
from graph.calls.threads import counting_waits
from graph.chat_models.role_model import RoleModel
from graph.errors import InputError, RunPausedError
from graph.ledger.transcript import Transcript
from graph.plan.revision import difference
from graph.plan.schema import Plan
from graph.record.artifacts import with_values
from graph.record.events import (
    Configuration,
    Configured,
    Event,
    LateAnswer,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    RunEnded,
    RunReopened,
    RunStarted,
    StandingRevoked,
    Steered,
    StepSkipped,
    ValueRedacted,
)
from graph.replay.comparison import Divergence
from graph.replay.divergence import OffRecord
from graph.replay.graph_factory import staged
from graph.replay.inputs import (
    NOT_ASKED,
    GraphInput,
    answer_on_record,
    first_input,
    inherited_on_record,
    plan_in_state,
    retry_on_record,
    state_of_fork,
)
from graph.replay.ledger import ReplayLedger
from graph.replay.overlapping import votes_before
from graph.replay.playback import Playback, ReplayStopped
from graph.replay.recorded import SubstituteModel
from graph.replay.recording import Recording
from graph.replay.report import Replay
from graph.replay.scheduler import Scheduler
from graph.route import headed, named_in_state
from graph.saver import strict_serializer

PLANNER = frozenset({"planner"})
APPROVE = GraphInput.answer({"decisions": [{"type": "approve"}]}, unseen=False)
LOOK_AHEAD = 4
MOST_VOTES = 100
"""Events of votes given at once, and one more."""


async def replayed(transcript: Transcript, planner: RoleModel | None = None) -> Replay:
    """Replay a run, optionally with another planner, and return the first difference.

    Raises:
        InputError: The record's version is not supported.
    """
    return await Player(transcript, planner).play()


class Player:
    """One replay."""

    def __init__(self, transcript: Transcript, planner: RoleModel | None = None) -> None:
        self._transcript = transcript
        self._events = [
            replace(event, payload=with_values(event.payload, transcript.artifacts)) for event in transcript.events()
        ]
        started = self._events[0].data_if_known if self._events else None
        if not isinstance(started, RunStarted) or started.configured is None:
            raise InputError("run", f"{transcript.run} was not recorded by a graph, so it cannot be replayed")
        self._planner = SubstituteModel((), other=planner) if planner is not None else None
        self._recording = Recording(self._events, PLANNER if planner is not None else frozenset())
        self._playback = Playback(transcript, self._recording, may_differ=planner is not None)
        self._ledger = ReplayLedger(self._playback)
        self._scheduler = Scheduler(self._recording, self._playback)
        self._playback.refusal = OffRecord(self._recording, self._scheduler.given).refusal
        self._saver = InMemorySaver(serde=strict_serializer())
        self._config: Any = {"configurable": {"thread_id": transcript.thread}}
        self._inherited = inherited_on_record(self._events)
        self._started = {"setup": started.setup, "setup_by": started.setup_by, "origin": started.origin}
        self._graph = self._staged(started.configured)

    async def play(self) -> Replay:
        """Play the run to its end, or to the first difference."""
        found, after = await self._played(), None
        if (first := self._playback.first) is not None:
            found, after = replace(first, why=_about_plans(first)), await self._after()
        redacted = any(event.kind == "redacted" for event in self._events)
        return Replay(self._transcript.run, len(self._recording.events), self._recording.count, found, after, redacted)

    async def _played(self) -> Divergence | None:
        given: GraphInput | None = await self._beginning()
        suspect, count = None, -1
        while self._recording.next is not None and given is not None:
            stopped = await self._invoke(given)
            if self._recording.next is None or self._playback.free:
                return None
            if stopped is not None and stopped.field:
                return stopped
            # A process may have died anywhere: without an event more the graph is resumed once, then it differs.
            if self._recording.count > count:
                suspect, count = stopped, self._recording.count
                given = await self._next_input()
            else:
                suspect = suspect or stopped or Divergence(self._recording.next.seq, self._recording.next, None)
                given = await self._one_back() if given.checkpoint is None else None
        return suspect if self._recording.next is not None else None

    async def _one_back(self) -> GraphInput | None:
        """Return to the executor's start: its process may have died before the checkpoint of its end."""
        if self._recording.next is None or self._recording.next.kind != "executing":
            return None
        async for state in self._graph.aget_state_history(self._config):
            if "executor" in state.next:
                return GraphInput(checkpoint=state.config["configurable"]["checkpoint_id"])
        return None

    async def _beginning(self) -> GraphInput:
        fork = state_of_fork(self._events, self._transcript.artifacts)
        if fork is None:
            return GraphInput(first_input(self._events, self._transcript.artifacts))
        await self._graph.aupdate_state(self._config, fork, as_node="planner")
        return GraphInput()

    async def _next_input(self) -> GraphInput:
        """Return the graph's next input, after skipping events written by other processes."""
        has_expired = is_kept = False
        while (event := self._recording.next) is not None and (_is_by_others(event) or has_expired):
            has_expired = isinstance(event.data_if_known, ReviewExpired) and event.data_if_known.ends
            is_kept = isinstance(event.data_if_known, ResponseGiven)
            self._playback.skip()
        if event is None or is_kept:
            return GraphInput()
        if isinstance(event.data_if_known, Configured):
            self._graph = self._staged(event.data_if_known.configuration)
        if isinstance(event.data_if_known, RunReopened):
            following = self._recording.ahead(LOOK_AHEAD)[1:]
            return retry_on_record(event.data_if_known, following, self._transcript.artifacts)
        if isinstance(event.data_if_known, Steered):
            return GraphInput.message(f"steer: {event.data_if_known.added[0]}")
        coming = [event for event in self._recording.ahead(LOOK_AHEAD) if event.kind != "configured"]
        state = await self._graph.aget_state(self._config)
        plan = plan_in_state(coming[0])
        swapped = plan is not None and plan != state.values.get("plan")
        if swapped:
            await self._propose(plan, is_planned="run" in state.values)
            coming = coming[coming[0].kind == "plan_revised" :][:1]
        elif not state.interrupts:
            return GraphInput()
        self._playback.by_others = votes = votes_before(self._recording.ahead(MOST_VOTES))
        coming = self._recording.ahead(votes + LOOK_AHEAD)[votes:] if votes else coming
        request = state.interrupts[0].value if state.interrupts else NOT_ASKED
        answer = answer_on_record(coming, request, self._transcript.artifacts)
        is_shown_again = not swapped and coming[0].kind == "review_requested"
        return answer or (GraphInput.message("continue") if is_shown_again else GraphInput())

    async def _propose(self, plan: Any, *, is_planned: bool) -> None:
        """Put a plan into the state; a run that was interrupted before its state named it goes to the review."""
        if is_planned:
            await self._graph.aupdate_state(self._config, {"plan": plan})
            return
        state = {"run": named_in_state(self._playback.run, self._recording.count), **headed("review"), "plan": plan}
        await self._graph.aupdate_state(self._config, state, as_node="planner")

    async def _invoke(self, given: GraphInput) -> Divergence | None:
        """Run the graph until it stops; return the difference that stopped it, or None if it stopped by itself."""
        self._playback.dead, self._playback.stopped = False, None
        at = {"checkpoint_id": given.checkpoint} if given.checkpoint is not None else {}
        config: Any = {"configurable": {**self._config["configurable"], **at}}
        caller = Caller(
            self._transcript.thread, self._started, given.unseen, given.changes, self._inherited, by=given.by
        )
        with counting_waits() as waits, invoked_by(caller):
            work: asyncio.Task[object] = asyncio.create_task(
                self._graph.ainvoke(given.value, config, durability="sync")
            )
        with suppress(RunPausedError, ReplayStopped, asyncio.CancelledError):
            try:
                await self._scheduler.conduct(work, lambda: bool(waits.count) or self._planner_is_busy)
            finally:
                work.cancel()
                await work
        return self._playback.stopped

    async def _after(self) -> str:
        """Go on beyond the record, approving every plan, and describe the end."""
        while self._playback.halt is None:
            state = await self._graph.aget_state(self._config)
            if not state.interrupts:
                return f"with every plan approved it ends as {state.values.get('status')}: {state.values.get('reason')}"
            asked = [action["name"] for action in state.interrupts[0].value["action_requests"]]
            if set(asked) != {"run_plan"}:
                return f"a person would be asked: {', '.join(asked)}"
            await self._invoke(APPROVE)
        return self._playback.halt

    @property
    def _planner_is_busy(self) -> bool:
        return self._planner is not None and bool(self._planner.busy)

    def _staged(self, configured: Configuration) -> Graph:
        return staged(configured, self._transcript, self._ledger, self._scheduler, self._saver, self._planner)


def _is_by_others(event: Event) -> bool:
    """Whether another process wrote the event while the run had no owner: owners record their checkpoint."""
    data = event.data_if_known
    if isinstance(data, RunEnded) and not data.is_cancelled:
        return False
    by_anybody = isinstance(data, Steered | RunEnded) and data.checkpoint is None
    by_time = isinstance(data, ReviewReminded | ReviewEscalated | ReviewExpired | LateAnswer)
    by_person = isinstance(data, StepSkipped | ResultSupplied | StandingRevoked | ResponseGiven)
    return by_anybody or by_time or by_person or isinstance(data, ValueRedacted)


def _about_plans(found: Divergence) -> str | None:
    """Return the difference of two plans if the first divergence is a plan."""
    recorded = found.recorded.data_if_known if found.recorded is not None else None
    replayed = found.replayed.data if found.replayed is not None else None
    if not isinstance(recorded, PlanRevised) or not isinstance(replayed, PlanRevised):
        return None
    before, after = Plan.model_validate(recorded.plan), Plan.model_validate(replayed.plan)
    return f"the other plan against that on record: {difference(before, after)}"
