"""How long a challenger watches, on a clock that passes at once."""

import asyncio
import selectors
from dataclasses import dataclass
from typing import Any

import pytest

from planner_executor.graph.errors import RunOwnedError
from planner_executor.graph.ledger.lease import PACE, Holder
from planner_executor.graph.ledger.ownership import Ownership
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.record.run_key import RunKey

PROMISED_S = 15.0
RUN = RunKey("t", 1)
SEEN = Holder("elsewhere|boot|1|1|name", token=1)


class PassingLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers fire at once: waiting for one moves its clock.

    A timer beyond the promised time is none of ours: the loop's end waits for its threads, for five minutes at most.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return self.now_s


class _Skipping(selectors.DefaultSelector):
    def __init__(self, loop: PassingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout < PROMISED_S:
            self._loop.now_s += timeout
            timeout = 0.0
        return super().select(timeout)


@dataclass
class Attempt:
    """A run whose owner shows the `signs` of life one look after another, and the last of them for ever."""

    signs: list[Holder]
    run: RunKey = RUN
    looks: int = 0

    async def claim(self, owner: str) -> Holder:
        return SEEN

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, str]:
        return Lease(RUN, 1, seen.token + 1), "taken"

    async def look(self) -> Holder:
        self.looks += 1
        return self.signs[min(self.looks, len(self.signs)) - 1]


class Table:
    async def release(self, lease: Lease) -> None: ...

    async def disown(self, owner: str) -> None: ...


def challenge(attempt: Attempt) -> float:
    """Return after how many seconds the run was taken over."""

    async def work() -> float:
        async with Ownership("runs.db", Table(), {}, PACE).acquire(attempt) as (lease, _):
            assert lease.token == 2
            return asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=PassingLoop) as runner:
        return runner.run(work())


def test_an_owner_that_shows_no_sign_of_life_is_replaced_within_the_promised_time() -> None:
    attempt = Attempt([SEEN])

    taken_s = challenge(attempt)

    assert PACE.lease_s <= taken_s <= PACE.lease_s + PACE.look_s < PROMISED_S
    assert attempt.looks <= PACE.lease_s / PACE.look_s + 1


def test_a_run_that_is_let_go_is_taken_at_the_next_look() -> None:
    attempt = Attempt([SEEN, SEEN, Holder("", token=1)])

    assert challenge(attempt) == pytest.approx(3 * PACE.look_s)


def test_a_challenger_is_refused_at_the_first_heartbeat() -> None:
    attempt = Attempt([SEEN, Holder(SEEN.owner, token=1, beat=1)])

    with pytest.raises(RunOwnedError):
        challenge(attempt)
    assert attempt.looks == 2
