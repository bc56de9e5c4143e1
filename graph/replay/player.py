"""Replay of a run from its record alone: the real graph, with every outside call answered from the record.

A call ends when its outcome is the next recorded event. If the graph stops before the record does, or does something
unrecorded, the recorded process may have died there: the run is resumed, and if that makes no progress, the replay
differs.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

from planner_executor.graph.builder.graph_builder import Graph
from planner_executor.graph.caller import Caller, Fork, invoked_by
from planner_executor.graph.calls.threads import counting_waits
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import InputError, RunPausedError
from planner_executor.graph.large_work import in_place
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.artifacts import with_values
from planner_executor.graph.record.events import (
    Configuration,
    Configured,
    Event,
    Executing,
    PlanRevised,
    ResponseGiven,
    ReviewExpired,
    ReviewRequested,
    RunReopened,
    RunStarted,
    Steered,
    ValueRedacted,
)
from planner_executor.graph.replay.by_others import is_by_others
from planner_executor.graph.replay.comparison import Divergence
from planner_executor.graph.replay.divergence import OffRecord, about_plans
from planner_executor.graph.replay.graph_factory import staged
from planner_executor.graph.replay.inputs import (
    NOT_ASKED,
    GraphInput,
    answer_on_record,
    first_input,
    inherited_on_record,
    plan_in_state,
    retry_on_record,
    state_of_fork,
)
from planner_executor.graph.replay.ledger import ReplayLedger
from planner_executor.graph.replay.overlapping import answers_before
from planner_executor.graph.replay.playback import Playback, ReplayStopped
from planner_executor.graph.replay.recorded import SubstituteModel
from planner_executor.graph.replay.recording import Recording
from planner_executor.graph.replay.replay_saver import ReplaySaver
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.replay.scheduler import NONE_LATE, Scheduler
from planner_executor.graph.route import headed, named_in_state

PLANNER = frozenset({"planner"})
APPROVE = GraphInput.answer({"decisions": [{"type": "approve"}]}, unseen=False)
LOOK_AHEAD = 4
MOST_LATE = 6
"""Outcomes before a difference that are tried one after the other."""
MOST_ANSWERS = 100
"""Events of answers given at once, and one more."""


async def replayed(transcript: Transcript, planner: RoleModel | None = None) -> Replay:
    """Replay a run, optionally with another planner, and return the first difference.

    Raises:
        InputError: The record's version is not supported.
    """
    with in_place():
        player = Player(transcript, planner)
        found = await player.play()
        # With another planner a difference is what was asked for.
        return found if found.is_same or planner is not None else await _in_other_turns(transcript, player, found)


async def _in_other_turns(transcript: Transcript, player: "Player", found: Replay) -> Replay:
    """Return the replay that comes furthest, with outcomes given later that were given at once before a difference.

    Whether the graph acted on one outcome before the next one came shows only in what it did; see
    `docs/decisions/0090-turns-of-a-replay.md`.
    """
    late = NONE_LATE
    left = iter(player.outcomes_given_at_once)
    while not found.is_same and (place := next(left, None)) is not None:
        other = Player(transcript, late=late | {place})
        again = await other.play()
        if again.played > found.played:
            found, late, left = again, late | {place}, iter(other.outcomes_given_at_once)
    return found


class Player:
    """One replay; the outcomes at the places in `late` are given late, see `graph.replay.scheduler.Scheduler`."""

    def __init__(
        self, transcript: Transcript, planner: RoleModel | None = None, late: frozenset[int] = NONE_LATE
    ) -> None:
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
        self._scheduler = Scheduler(self._recording, self._playback, late)
        self._ledger = ReplayLedger(self._playback, self._scheduler)
        self._playback.refusal = OffRecord(self._recording, self._scheduler.given).refusal
        self._saver = ReplaySaver(transcript.thread)
        self._config: Any = {"configurable": {"thread_id": transcript.thread}}
        self._fork = Fork(drafts=inherited_on_record(self._events))
        self._started = {name: getattr(started, name) for name in ("setup", "setup_by", "origin", "playbook")}
        self._budget = started.budget
        self._graph = self._staged(started.configured)

    @property
    def outcomes_given_at_once(self) -> list[int]:
        """The places of the last outcomes that were given at once, the latest first."""
        return self._scheduler.early[: -MOST_LATE - 1 : -1]

    async def play(self) -> Replay:
        """Play the run to its end, or to the first difference."""
        found, after = await self._played(), None
        if (first := self._playback.first) is not None:
            found, after = first._replace(why=about_plans(first)), await self._after()
        redacted = any(event.kind == ValueRedacted.kind for event in self._events)
        return Replay(self._transcript.run, len(self._recording.events), self._recording.count, found, after, redacted)

    async def _played(self) -> Divergence | None:
        given: GraphInput | None = await self._beginning()
        suspect, count, is_back = None, -1, False
        while self._recording.next is not None and given is not None:
            stopped = await self._invoke(given)
            if self._recording.next is None or self._playback.free:
                return None
            # A field that differs is no sign of a process that died: it would have written nothing.
            if stopped is not None and stopped.field and self._left_behind is None:
                return stopped
            # A process may have died anywhere: without an event more the graph is resumed once, then it differs.
            if self._recording.count > count:
                suspect, count, is_back = stopped, self._recording.count, False
                given = await self._next_input()
            else:
                suspect = suspect or stopped or Divergence(self._recording.next.seq, self._recording.next, None)
                given, is_back = None if is_back else await self._one_back(), True
        return suspect if self._recording.next is not None else None

    @property
    def _left_behind(self) -> str | None:
        """The checkpoint at which the next events were written, if the replay has come further than the process."""
        known = self._playback.checkpoints.get(self._recording.checkpoint_ahead or "")
        return known if known != self._saver.latest else None

    async def _one_back(self) -> GraphInput | None:
        """Return to where the last node began, or the executor: its process may have died before its checkpoint."""
        if self._recording.next is None or self._recording.next.kind != Executing.kind:
            last = self._playback.checkpoints.get(self._recording.checkpoint_behind or "")
        else:
            history = [state async for state in self._graph.aget_state_history(self._config)]
            begun = (state.config["configurable"]["checkpoint_id"] for state in history if "executor" in state.next)
            last = next(begun, None)
        if last is None:
            return None
        self._saver.go_back(last)
        return GraphInput()

    async def _beginning(self) -> GraphInput:
        fork = state_of_fork(self._events, self._transcript.artifacts)
        if fork is None:
            return GraphInput(first_input(self._events, self._transcript.artifacts))
        await self._graph.aupdate_state(self._config, fork, as_node="planner")
        return GraphInput()

    async def _next_input(self) -> GraphInput:
        """Return the graph's next input, after skipping events written by other processes."""
        has_expired = is_kept = False
        while (event := self._recording.next) is not None and (is_by_others(event) or has_expired):
            # The end of the run is written with the expiry, by the same process.
            has_expired = isinstance(event.data_if_known, ReviewExpired) and event.data_if_known.ends
            # The review takes a response on record up by itself: it must not be given a second time.
            is_kept = isinstance(event.data_if_known, ResponseGiven)
            self._restage(event)
            self._playback.skip()
        if event is None or is_kept:
            return GraphInput()
        self._restage(event)
        if isinstance(event.data_if_known, RunReopened):
            following = self._recording.ahead(LOOK_AHEAD)[1:]
            return retry_on_record(event.data_if_known, following, self._transcript.artifacts)
        if isinstance(event.data_if_known, Steered):
            return GraphInput.message(f"steer: {event.data_if_known.added[0]}")
        # The next events were written at an older checkpoint: their process died before it kept this one.
        if (left := self._left_behind) is not None:
            self._saver.go_back(left)
        # Terms may be noted between a request and its answer.
        coming = [event for event in self._recording.ahead(LOOK_AHEAD) if event.kind != Configured.kind]
        if not coming:
            return GraphInput()
        state = await self._graph.aget_state(self._config)
        plan = plan_in_state(coming[0])
        swapped = plan is not None and plan != state.values.get("plan")
        if swapped:
            await self._propose(plan, is_planned="run" in state.values)
            # The revision that the review writes of a proposed plan comes first, and is no answer.
            coming = coming[coming[0].kind == PlanRevised.kind :][:1]
        elif not state.interrupts:
            return GraphInput()
        self._playback.by_others = others = answers_before(self._recording.ahead(MOST_ANSWERS))
        coming = self._recording.ahead(others + LOOK_AHEAD)[others:] if others else coming
        request = state.interrupts[0].value if state.interrupts else NOT_ASKED
        answer = answer_on_record(coming, request, self._transcript.artifacts)
        is_shown_again = not swapped and coming[0].kind == ReviewRequested.kind
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
        caller = Caller(self._transcript.thread, self._started, given.unseen, given.changes, self._fork, by=given.by)
        # A task takes the context in which it is made: these need not last as long as it does.
        with counting_waits() as waits, invoked_by(caller):
            work: asyncio.Task[object] = asyncio.create_task(
                self._graph.ainvoke(given.value, self._config, durability="sync")
            )
        # None of them says how the run differs; `stopped` does.
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

    def _restage(self, event: Event) -> None:
        """Build the graph anew if the event changes the terms of the run."""
        if isinstance(data := event.data_if_known, Configured):
            self._budget = self._budget if data.budget is None else self._budget.within(data.budget)
            self._graph = self._staged(data.configuration)

    def _staged(self, configured: Configuration) -> Graph:
        more = (self._transcript, self._ledger, self._scheduler, self._saver, self._planner)
        return staged(configured, self._budget, *more)
