"""Owning a run: claimed, taken over from the dead, watched, and given back whatever happens."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from planner_executor.graph.errors import LedgerError, RunOwnedError
from planner_executor.graph.ledger.lease import Holder, Pace
from planner_executor.graph.ledger.owner import is_gone, new_owner, retire
from planner_executor.graph.ledger.ownership import Held, Ownership
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.record.run_key import RunKey

RUN = RunKey("t", 1)
LEASE = Lease(RUN, 1, 7)
ELSEWHERE = "another machine|boot|1|2|3"
QUICK = Pace(lease_s=0.05, look_s=0.02)


class Table:
    """One run's row, the owners who asked for it, and what was given back."""

    run = RUN

    def __init__(self, holder: Holder | None = None, seen_later: Sequence[Holder | None] = (), fails: bool = False):
        self.holder, self.seen_later, self.fails = holder, list(seen_later), fails
        self.owners: list[str] = []
        self.taken_from: list[Holder] = []
        self.looks = 0
        self.released: list[Lease] = []
        self.disowned: list[str] = []
        self.held: Held = {}

    async def claim(self, owner: str) -> tuple[Lease, str] | Holder:
        self.owners.append(owner)
        return self.holder if self.holder is not None else (LEASE, "claimed")

    async def take_over(self, owner: str, seen: Holder) -> tuple[Lease, str] | None:
        self.taken_from.append(seen)
        return None if self.fails else (LEASE, "taken over")

    async def look(self) -> Holder | None:
        self.looks += 1
        return self.seen_later.pop(0) if self.seen_later else self.holder

    async def release(self, lease: Lease) -> None:
        self.released.append(lease)
        if self.fails:
            raise LedgerError("db", "locked")

    async def disown(self, owner: str) -> None:
        self.disowned.append(owner)
        raise LedgerError("db", "locked")


def own(table: Table, inside: Callable[[], Awaitable[Any]] | None = None, pace: Pace = QUICK) -> str:
    """Own the run for a block, and return how it was taken."""

    async def main() -> str:
        async with Ownership("db", table, table.held, pace).acquire(table) as (lease, how):
            assert lease == LEASE and lease in table.held and not is_gone(table.owners[0])
            if inside is not None:
                await inside()
        return how

    return asyncio.run(main())


def test_a_free_run_is_claimed_and_given_back_and_its_owner_is_gone() -> None:
    table = Table()

    assert own(table) == "claimed"
    assert (table.released, table.held, table.looks) == ([LEASE], {}, 0)
    assert is_gone(table.owners[0])


def test_a_run_that_cannot_be_given_back_is_left_to_expire() -> None:
    table = Table(fails=True)

    assert own(table) == "claimed"
    assert (table.released, table.held) == ([LEASE], {})


def test_a_run_that_was_let_go_with_its_last_event_is_not_given_back_again() -> None:
    table = Table()

    async def let_go() -> None:
        del table.held[LEASE]

    own(table, let_go)

    assert table.released == []


def test_a_block_that_raises_gives_the_run_back() -> None:
    table = Table()

    async def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        own(table, fail)
    assert table.released == [LEASE]


def test_a_run_of_a_dead_owner_is_taken_over_at_once() -> None:
    dead = new_owner()
    retire(dead)
    table = Table(Holder(dead, 6))

    assert own(table) == "taken over"
    assert (table.taken_from, table.looks) == ([Holder(dead, 6)], 0)


def test_a_run_is_watched_for_the_time_of_a_lease_before_it_is_taken_over() -> None:
    table = Table(Holder(ELSEWHERE, 6))

    assert own(table) == "taken over"
    assert 1 < table.looks <= 4, "it looks now and then, and not all the time"
    assert table.taken_from == [Holder(ELSEWHERE, 6)]


def test_a_run_that_is_given_back_while_it_is_watched_is_taken_as_it_is_then() -> None:
    table = Table(Holder(ELSEWHERE, 6), [Holder(ELSEWHERE, 6), Holder("", 6, 3)])

    assert own(table, pace=Pace(lease_s=3_600, look_s=0)) == "taken over"
    assert (table.looks, table.taken_from) == (2, [Holder("", 6, 3)])


@pytest.mark.parametrize(
    "table",
    [
        Table(Holder(ELSEWHERE, 6), [Holder(ELSEWHERE, 6, 1)]),
        Table(Holder(ELSEWHERE, 6), [Holder("", 6)], fails=True),
    ],
    ids=["its heart beats", "another challenger won"],
)
def test_a_run_of_a_living_owner_is_refused(table: Table) -> None:
    with pytest.raises(RunOwnedError):
        own(table, pace=Pace(lease_s=3_600, look_s=0))
    assert (table.released, table.held) == ([], {})
    assert is_gone(table.owners[0])


async def test_a_claim_that_is_cancelled_is_taken_back_in_case_it_is_committed_all_the_same() -> None:
    table = Table()

    async def hangs(owner: str) -> Any:
        table.owners.append(owner)
        await asyncio.Event().wait()

    async def hold() -> None:
        async with Ownership("db", table, table.held, QUICK).hold(hangs):
            raise AssertionError("nothing was taken")

    task = asyncio.create_task(hold())
    while not table.owners:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert table.disowned == table.owners
    assert table.held == {}


class Sleeper:
    """A clock, and a look at a lease that takes as long as `takes_s` says, one entry a look."""

    def __init__(self, *takes_s: float) -> None:
        self.now_s, self.takes_s, self.looks = 100.0, list(takes_s), 0

    def __call__(self) -> float:
        return self.now_s

    async def look(self) -> None:
        self.looks += 1
        self.now_s += self.takes_s.pop(0) if self.takes_s else 0.0


def looks(sleeper: Sleeper, proved_s: float | None, *, has_clock: bool = True) -> int:
    """Return how often a lease of 10 seconds is read before an effect."""
    held: Held = {LEASE: proved_s}
    owner = Ownership("db", Table(), held, Pace(lease_s=10.0), sleeper if has_clock else None)
    asyncio.run(owner.prove(LEASE, sleeper.look))
    return sleeper.looks


@pytest.mark.parametrize(("age_s", "expected"), [(0.0, 0), (4.9, 0), (5.0, 1), (3600.0, 1)])
def test_a_lease_is_read_before_an_effect_if_half_of_its_time_has_passed_since_its_proof(
    age_s: float, expected: int
) -> None:
    assert looks(Sleeper(), 100.0 - age_s) == expected


def test_a_lease_without_a_noted_proof_or_a_clock_is_read_each_time() -> None:
    assert looks(Sleeper(), None) == 1
    assert looks(Sleeper(), 100.0, has_clock=False) == 1


def test_a_lease_is_read_once_more_if_the_process_slept_while_it_was_read() -> None:
    assert looks(Sleeper(60.0, 60.0), None) == 3


def test_the_proof_of_a_lease_that_was_given_back_is_forgotten() -> None:
    held: Held = {}
    Ownership("db", Table(), held, QUICK, Sleeper()).note_proof(LEASE, 100.0)
    assert not held


def test_a_proof_without_a_clock_counts() -> None:
    owner = Ownership("db", Table(), {LEASE: None}, Pace(lease_s=10.0), None)

    assert asyncio.run(owner.prove(LEASE, Sleeper().look))()
