"""The outcomes of calls, each given in its turn; and whether anything moves at all."""

import asyncio
from collections.abc import Callable

from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.replay.playback import Playback
from planner_executor.graph.replay.recording import Recording

STILL_TURNS = 200
"""How many turns of the event loop may pass without an event before the process is taken to have died there."""
FEW_TURNS = 40
"""How many turns an outcome takes at most from its call to whoever writes it, or acts on it."""
LOOK_S = 0.05
"""How often to look whether work on other threads has come back, in seconds."""

NONE_LATE: frozenset[int] = frozenset()

CallTask = asyncio.Task[object]


class Scheduler:
    """Calls that have been begun and wait for their outcome; `given` are outcomes of calls made off the record.

    An outcome is given as soon as it is the next event, but those in `late` only once the graph does nothing else:
    the record does not say which of both it was. `early` are the outcomes that were given at once, by their place.
    """

    def __init__(self, recording: Recording, playback: Playback, late: frozenset[int] = NONE_LATE) -> None:
        self._recording, self._playback, self._late = recording, playback, late
        self.early: list[int] = []
        self.given: dict[str, Event] = {}
        self._let_none_wait()

    def _let_none_wait(self) -> None:
        """Forget those who waited in an invocation of the graph that is over."""
        self._waiting: dict[int, asyncio.Future[Event]] = {}
        self._limits: list[tuple[str, asyncio.Future[None]]] = []
        self._behind, self._heeding, self._held_up = (list[asyncio.Future[None]]() for _ in range(3))

    async def step_over(self, step: str, _seconds: float) -> None:
        """Return once the time limit of a step has passed on record: its work got no further, and yet it ended."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._limits.append((step, over))
        await over

    async def in_turn(self, last: Draft) -> None:
        """Return to who has written events, `last` at the end, once those that come before its next ones have arrived.

        These are outcomes that come next on record, see `docs/decisions/0090-turns-of-a-replay.md`. A step whose work
        came no further on record while others did waits until those have.
        """
        if self._playback.free:
            return
        if self._recording.front in self._waiting.keys() - self._late:
            await self._wait_in(self._behind)
        is_over = self._recording.is_cut_off(last.step) and self._is_limited(last.step)
        if is_over or self._recording.is_interrupted:
            await asyncio.get_running_loop().create_future()  # it is cancelled before it gets further
        if self._recording.breaks_off(last) and not self._recording.messages_ahead():
            await self._wait_in(self._held_up)

    async def after_others(self) -> None:
        """Return to who has to heed a message, once no other event of this pass over the plan comes before that."""
        if self._recording.is_mid_pass:
            await self._wait_in(self._heeding)

    async def outcome_of_call(self, key: str) -> Event:
        """Return a tool call's outcome once it is the next recorded event."""
        return self.given[key] if key in self.given else await self._outcome(self._playback.started.get(key))

    async def outcome_of_prompt(self, prompt_digest: str) -> Event:
        """Return the outcome of a model call with this prompt once it is the next recorded event."""
        if prompt_digest in self.given:
            return self.given[prompt_digest]
        # The same prompt may have been asked several times, and answered otherwise each time.
        places = self._playback.asked[prompt_digest]
        return await self._outcome(places.pop(0) if places else None)

    async def conduct(self, work: CallTask, is_busy: Callable[[], bool]) -> None:
        """Give each call its outcome in its turn, until the work is done or stands still.

        Args:
            work: The graph at work.
            is_busy: Whether something is waited for that is not on record.
        """
        self._let_none_wait()
        self._playback.asked.clear()
        while not work.done():
            # Before anything is given: what that changes is waited for below.
            self._playback.changed.clear()
            self._give(work)
            if not await self._moves(work, is_busy):
                self._playback.dead = True
                return

    def _give(self, work: CallTask) -> None:
        # Once: a second cancellation would cut off what the node writes at its own end.
        if self._recording.is_interrupted and not work.cancelling():
            work.cancel()
        for place in [*self._waiting] if self._playback.free else {self._recording.front} - self._late:
            if self._release(place):
                self.early.append(place)

    async def _moves(self, work: CallTask, is_busy: Callable[[], bool]) -> bool:
        """Wait until something happens; return whether it did."""
        change = asyncio.create_task(self._playback.changed.wait())
        try:
            while not await self._stirs({work, change}, is_busy):
                if not any(let_go() for let_go in self._in_order):
                    return False
            return True
        finally:
            change.cancel()

    async def _stirs(self, watched: set[asyncio.Task[object]], is_busy: Callable[[], bool]) -> bool:
        """Return whether something happens; by turns of the loop and not by a clock, which a slow machine would lose.

        Nothing of a replay waits outside of the loop but what `is_busy` knows of.
        """
        turns, most = 0, FEW_TURNS if self._behind else STILL_TURNS
        while turns < most:
            # Threads take their own time: turns of the loop say nothing while one is at work.
            if is_busy():
                await asyncio.wait(watched, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                turns = 0
            else:
                await asyncio.sleep(0)
                turns += 1
            if any(task.done() for task in watched):
                return True
        return False

    @property
    def _in_order(self) -> tuple[Callable[[], bool], ...]:
        """What may be let go if nothing else moves, in this order; each returns whether anything was."""
        return (
            lambda: _let_go(self._behind),
            lambda: _let_go(self._heeding, 1),
            self._expire_next,
            self._hurry,
            lambda: _let_go(self._held_up),
            self._expire,
        )

    def _hurry(self) -> bool:
        """Release the first pending outcome: events caused by it may precede it on record."""
        place = min(self._waiting, default=None)
        return place is not None and self._recording.is_near(place) and self._release(place)

    def _is_limited(self, step: str | None) -> bool:
        return any(limited == step and not over.done() for limited, over in self._limits)

    def _expire_next(self) -> bool:
        """Let the time limit pass of the step of which the next event on record says so."""
        event = self._recording.next
        return event is not None and self._recording.is_cut_off(event.step) and self._expire()

    def _expire(self) -> bool:
        """Let the time limit pass of the step whose next event on record comes first."""
        self._limits = [(step, over) for step, over in self._limits if not over.done()]
        places = [(self._recording.next_of(step), over) for step, over in self._limits]
        due = [(place, over) for place, over in places if place is not None]
        if not due or self._playback.free:
            return False
        min(due, key=lambda one: one[0])[1].set_result(None)
        return True

    def _release(self, place: int) -> bool:
        future = self._waiting.pop(place, None)
        if future is None or future.done():
            return False
        future.set_result(self._recording.events[place])
        return True

    async def _wait_in(self, waiting: list[asyncio.Future[None]]) -> None:
        waiting.append(asyncio.get_running_loop().create_future())
        await waiting[-1]

    async def _outcome(self, place: int | None) -> Event:
        """Wait for the turn of the outcome of a call that was begun at a place of the record."""
        at = self._recording.outcome_of(place) if place is not None else None
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        if at is not None:
            self._waiting[at] = future
        self._playback.changed.set()
        return await future


def _let_go(waiting: list[asyncio.Future[None]], most: int | None = None) -> bool:
    """Let those go on that wait, the first of them or all, and return whether any did."""
    found = [one for one in waiting[:most] if not one.done()]
    del waiting[:most]
    for one in found:
        one.set_result(None)
    return bool(found)
