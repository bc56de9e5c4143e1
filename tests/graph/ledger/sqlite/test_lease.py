"""One owner per run: claims, take-overs, heartbeats, the inbox, and who is known to be gone."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graph.errors import (
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    LedgerUnavailableError,
    MessageWaitingError,
    RunOwnedError,
    StaleRunError,
)
from graph.ledger.lease import BEAT_S, LEASE_S, Pace
from graph.ledger.lease import Holder as Seen
from graph.ledger.owner import is_gone, new_owner, retire
from graph.ledger.protocol import Lease, News, RunKey
from graph.ledger.sqlite import busy_timeout
from graph.ledger.sqlite.lease import SCHEMA, beat, claim, disown, look, release, take_over
from graph.ledger.sqlite.ledger import SqliteLedger
from graph.record.events import Draft
from graph.record.values import keep

Result = TypeVar("Result")
RUN, OTHER = RunKey("t", 1), RunKey("t", 2)
STARTED = Draft("run_started", {"goal": "g"})
NOTE = Draft("paused", {})
NEVER_S = 3600.0

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="start times are read from /proc")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        yield connection


@pytest.fixture
def pace(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set how often owners beat, and for how long and how often challengers look."""

    def set_to(beat_s: float = NEVER_S, lease_s: float = NEVER_S, look_s: float = 0.005) -> None:
        defaults = SqliteLedger.__init__.__defaults__
        monkeypatch.setattr(SqliteLedger.__init__, "__defaults__", (defaults[0], Pace(beat_s, lease_s, look_s)))

    return set_to


@asynccontextmanager
async def opened(path: Path | str, count: int = 1) -> AsyncIterator[list[SqliteLedger]]:
    ledgers = [SqliteLedger(path) for _ in range(count)]
    try:
        yield ledgers
    finally:
        for ledger in ledgers:
            await ledger.close()


def use(path: Path | str, work: Callable[..., Awaitable[Result]], count: int = 1) -> Result:
    """Do work with a new run and so many ledgers on one file; nothing in it takes half a minute."""

    async def main() -> Result:
        async with opened(path, count) as ledgers, asyncio.timeout(30):
            return await work(await ledgers[0].open_run("t", [STARTED]), *ledgers)

    return asyncio.run(main())


def change(path: Path, assignments: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        assert other.execute(f"UPDATE ledger_leases SET {assignments}", values).rowcount == 1


def departed() -> str:
    """Return the name of an owner that is no more: this process's number, given to another before."""
    return altered(start="0")


def altered(**parts: str) -> str:
    host, boot, pid, start, name = new_owner().split("|")
    return "|".join({"host": host, "boot": boot, "pid": pid, "start": start, "name": name, **parts}.values())


async def kinds(ledger: SqliteLedger, run: RunKey) -> list[str]:
    return [event.kind for event in await ledger.events(run)]


# The row


def test_a_run_that_nobody_had_is_claimed(db: sqlite3.Connection) -> None:
    assert look(db, 1) is None
    assert claim(db, RUN, 1, "me") == Lease(RUN, 1, token=1)
    assert look(db, 1) == Seen("me", 1, 0)


def test_a_run_that_somebody_has_is_left_as_it_is(db: sqlite3.Connection) -> None:
    beat(db, Lease(RUN, 1, 1))
    claim(db, RUN, 1, "me")

    assert claim(db, RUN, 1, "you") == Seen("me", 1, 0) == look(db, 1)


def test_a_run_that_was_let_go_is_claimed_under_the_next_token(db: sqlite3.Connection) -> None:
    for token in (1, 2, 3):
        lease = claim(db, RUN, 1, "me")
        assert lease == Lease(RUN, 1, token)
        beat(db, lease)
        release(db, lease)

    assert look(db, 1) == Seen("", 3, 1)


def test_of_two_challengers_who_saw_the_same_one_wins(db: sqlite3.Connection) -> None:
    claim(db, RUN, 1, "old")
    seen = claim(db, RUN, 1, "one")
    assert isinstance(seen, Seen)

    assert [take_over(db, RUN, 1, name, seen) for name in ("one", "two")] == [Lease(RUN, 1, 2), None]
    assert look(db, 1) == Seen("one", 2, 0)


@pytest.mark.parametrize("token", [1, 2])
def test_an_owner_that_beat_since_it_was_seen_is_not_taken_over(db: sqlite3.Connection, token: int) -> None:
    lease = claim(db, RUN, 1, "old")
    if token == 2:
        release(db, Lease(RUN, 1, 1))
        lease = claim(db, RUN, 1, "old")
    seen = look(db, 1)
    assert isinstance(lease, Lease) and seen is not None
    beat(db, lease)

    assert take_over(db, RUN, 1, "new", seen) is None
    assert look(db, 1) == Seen("old", token, 1)


def test_an_owner_that_was_taken_over_neither_beats_nor_lets_go_for_its_heir(db: sqlite3.Connection) -> None:
    old = claim(db, RUN, 1, "old")
    assert isinstance(old, Lease)
    take_over(db, RUN, 1, "new", Seen("old", 1, 0))

    beat(db, old)
    release(db, old)
    disown(db, "old")

    assert look(db, 1) == Seen("new", 2, 0)


def test_each_run_has_an_owner_and_a_token_of_its_own(db: sqlite3.Connection) -> None:
    first, second = claim(db, RUN, 1, "me"), claim(db, OTHER, 2, "you")
    assert isinstance(first, Lease) and isinstance(second, Lease)
    beat(db, second)
    release(db, first)

    assert (look(db, 1), look(db, 2)) == (Seen("", 1, 0), Seen("you", 1, 1))


def test_an_owner_that_never_learned_its_token_can_let_go(db: sqlite3.Connection) -> None:
    claim(db, RUN, 1, "me")
    claim(db, OTHER, 2, "you")
    disown(db, "me")

    assert (look(db, 1), look(db, 2)) == (Seen("", 1, 0), Seen("you", 1, 0))


# Who is gone


def test_every_holder_has_a_name_of_its_own() -> None:
    assert len({new_owner() for _ in range(100)}) == 100


def test_a_process_that_lives_is_not_gone() -> None:
    assert not is_gone(new_owner())


@pytest.fixture
def child() -> Iterator[Any]:
    """Start a process that tells its owner's name and waits to be killed; what it runs first can be given."""
    started: list[subprocess.Popen[str]] = []

    def start(first: str = "") -> tuple[subprocess.Popen[str], str]:
        code = f"{first}\nfrom graph.ledger.owner import new_owner\nprint(new_owner(), flush=True)\ninput()"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[4],
        )
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


@needs_proc
def test_another_process_is_gone_once_it_was_killed_be_it_a_zombie_still_or_not(child: Any) -> None:
    process, owner = child()
    assert not is_gone(owner)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{process.pid}/stat").exists() and is_gone(owner)

    process.wait()
    assert is_gone(owner)


@needs_proc
def test_an_owner_of_this_process_is_gone_once_it_is_done() -> None:
    owner, other = new_owner(), new_owner()

    retire(owner)

    assert is_gone(owner) and not is_gone(other)


@needs_proc
def test_a_number_that_another_process_has_by_now_is_gone() -> None:
    assert is_gone(departed())


@needs_proc
@pytest.mark.parametrize("name", ["a) R 1 (b", "two words", "x\\n", "caf\\xc3", "\\xff|"])
def test_a_process_may_call_itself_anything(child: Any, name: str) -> None:
    process, owner = child(f"open('/proc/self/comm', 'wb').write(b'{name}')")

    assert owner.count("|") == 4 and owner.split("|")[3].isdigit()
    assert not is_gone(owner)
    process.kill()
    process.wait()
    assert is_gone(owner)


@pytest.mark.parametrize("part", [{"host": "elsewhere"}, {"boot": "before"}, {"boot": ""}, {"start": ""}])
@pytest.mark.parametrize("pid", [str(os.getpid()), "4194305"], ids=["taken", "free"])
def test_an_owner_about_which_nothing_is_known_for_sure_is_not_gone(part: dict[str, str], pid: str) -> None:
    assert not is_gone(altered(**{"start": "0", **part, "pid": pid}))


# Owning


def test_a_run_is_worked_on_while_it_is_owned() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[bool]:
        said = [await ledger.is_worked_on(run)]
        async with ledger.owned(run):
            said.append(await ledger.is_worked_on(run))
        said.append(await ledger.is_worked_on(run))
        with pytest.raises(KeyError):
            async with ledger.owned(run):
                raise KeyError
        return [*said, await ledger.is_worked_on(run)]

    assert use(":memory:", work) == [False, True, False, False]


def test_every_owner_gets_a_later_token_also_on_another_connection(path: Path) -> None:
    async def work(run: RunKey, *ledgers: SqliteLedger) -> list[int]:
        tokens = []
        for ledger in ledgers:
            async with ledger.owned(run) as lease:
                tokens.append(lease.token)
        return tokens

    assert use(path, work, count=3) == [1, 2, 3]


def test_runs_are_owned_side_by_side() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[int]:
        other = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as one, ledger.owned(other) as two:
            return [await ledger.append(one, [NOTE]), await ledger.append(two, [NOTE, NOTE])]

    assert use(":memory:", work) == [2, 3]


def test_an_outdated_token_writes_nothing(path: Path) -> None:
    kept = keep("x" * 9000)
    assert kept.artifact is not None
    artifact = kept.artifact

    async def work(run: RunKey, ledger: SqliteLedger, another: SqliteLedger) -> None:
        async with ledger.owned(run) as old:
            await ledger.append(old, [NOTE])
        async with another.owned(run) as new:
            for more in ({}, {"artifacts": [kept]}, {"control_seq": 0}, {"control_seq": 9}, {"heed": True}):
                with pytest.raises(LeaseLostError) as caught:
                    await ledger.append(old, [NOTE, NOTE], **more)
                assert caught.value.run == "t.1"
            with pytest.raises(LeaseLostError):
                await ledger.append(old, [])
            with pytest.raises(LedgerError):
                await ledger.artifact(artifact.id)
            assert await another.append(new, [NOTE]) == 3

    use(path, work, count=2)


def test_an_outdated_append_does_not_disturb_those_it_shares_a_commit_with() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> Any:
        async with ledger.owned(run) as old:
            pass
        async with ledger.owned(run) as new:
            leases = [old if place % 3 == 0 else new for place in range(12)]
            appends = [ledger.append(lease, [NOTE]) for lease in leases]
            return await asyncio.gather(*appends, return_exceptions=True), await kinds(ledger, run)

    outcomes, written = use(":memory:", work)

    assert [isinstance(outcome, LeaseLostError) for outcome in outcomes] == [place % 3 == 0 for place in range(12)]
    assert written == ["run_started", *["paused"] * 8]


def test_a_token_that_was_never_given_out_writes_nothing() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[str]:
        for token in (0, 1):
            with pytest.raises(LeaseLostError):
                await ledger.append(Lease(run, 1, token), [NOTE])
        async with ledger.owned(run) as lease:
            with pytest.raises(LeaseLostError):
                await ledger.append(Lease(run, lease.run_id, lease.token + 1), [NOTE])
        return await kinds(ledger, run)

    assert use(":memory:", work) == ["run_started"]


def test_a_caller_that_is_cancelled_while_it_claims_a_run_does_not_keep_it(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[bool]:
        async def own() -> None:
            async with ledger.owned(run):
                await asyncio.Event().wait()

        said = []
        for yields in range(60):
            owner = asyncio.create_task(own())
            for _ in range(yields):
                await asyncio.sleep(0)
            owner.cancel()
            await asyncio.gather(owner, return_exceptions=True)
            said.append(await ledger.is_worked_on(run))
        return said

    assert not any(use(path, work))


def test_a_run_that_is_begun_is_owned_from_its_first_event_on(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> None:
        async with ledger.begun("t", [STARTED]) as owned:
            assert owned.lease.run == RunKey("t", 2)
            assert [(event.kind, event.payload["n"]) for event in owned.news.events] == [("run_started", 2)]
            assert not owned.news.has_messages
            assert [await other.is_worked_on(owned.lease.run), await other.is_worked_on(run)] == [True, False]
            assert await ledger.append(owned.lease, [NOTE]) == 2
        assert not await other.is_worked_on(owned.lease.run)

    use(path, work, count=2)


def test_who_takes_a_run_reads_what_came_since_in_the_same_transaction(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> None:
        await other.write(run, [NOTE, NOTE], after=1)
        await other.post(run, "pause")
        async with ledger.owned_and_read(run, after=2) as owned:
            assert [event.seq for event in owned.news.events] == [3]
            assert owned.news.has_messages
            assert await ledger.news(owned.lease, 3) == News([], has_messages=True)
            await ledger.take_messages(owned.lease)
            assert await ledger.news(owned.lease, 2) == News(owned.news.events, has_messages=False)
        async with other.owned(run):
            with pytest.raises(LeaseLostError):
                await ledger.news(owned.lease, 3)

    use(path, work, count=2)


def test_a_run_is_opened_with_events_only_if_it_is_as_it_was_read(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> None:
        async with ledger.owned_and_read(run, 1, [NOTE]) as owned:
            assert owned.opened and [event.kind for event in owned.news.events] == ["paused"]
        async with ledger.owned_and_read(run, 1, [NOTE]) as owned:
            assert not owned.opened and [event.seq for event in owned.news.events] == [2]
        await other.post(run, "pause")
        async with ledger.owned_and_read(run, 2, [NOTE]) as owned:
            assert not owned.opened and owned.news == News([], has_messages=True)
        assert await kinds(other, run) == ["run_started", "paused"]

    use(path, work, count=2)


def test_a_run_that_lost_its_last_events_is_not_opened(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> None:
        await ledger.write(run, [NOTE], after=1)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("DELETE FROM ledger_events WHERE seq = 2")
        for after in (1, 2):
            with pytest.raises(LedgerCorruptError):
                async with ledger.owned_and_read(run, after, [NOTE]):
                    pytest.fail("it was opened")

    use(path, work)


@pytest.mark.parametrize("take", ["owned_and_read", "latest", "write"])
def test_what_is_read_with_something_else_is_checked_as_well(path: Path, take: str) -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> None:
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE ledger_events SET payload = '{}'")
        with pytest.raises(LedgerCorruptError):
            if take == "owned_and_read":
                async with ledger.owned_and_read(run):
                    pytest.fail("it was taken")
            elif take == "latest":
                await ledger.latest("t")
            else:
                await ledger.write(run, [NOTE], after=0)
        assert not await ledger.is_worked_on(run)

    use(path, work)


def test_a_run_that_is_given_back_with_events_is_free_at_once_and_the_lease_writes_nothing_more(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> list[str]:
        async with ledger.owned(run) as old:
            await ledger.write(old, [NOTE], after=1, lets_go=True)
            assert not await other.is_worked_on(run)
            with pytest.raises(LeaseLostError):
                await ledger.append(old, [NOTE])
            async with other.owned(run) as new:
                assert new.token == 2
                await other.append(new, [NOTE])
        return await kinds(ledger, run)

    assert use(path, work, count=2) == ["run_started", "paused", "paused"]


def test_a_run_stays_owned_when_the_events_it_is_to_be_given_back_with_are_refused(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> None:
        async with ledger.owned(run) as lease:
            with pytest.raises(StaleRunError):
                await ledger.write(lease, [NOTE], after=1, control_seq=9, lets_go=True)
            assert await other.is_worked_on(run)
            assert [event.seq for event in await ledger.write(lease, [NOTE], after=1)] == [2]
        assert not await other.is_worked_on(run)

    use(path, work, count=2)


def test_a_caller_that_is_cancelled_while_it_gives_a_run_back_does_not_keep_it(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[bool]:
        async def own() -> None:
            async with ledger.begun("t", [STARTED]) as owned:
                await ledger.write(owned.lease, [NOTE], after=1, lets_go=True)

        said = []
        for yields in range(60):
            owner = asyncio.create_task(own())
            for _ in range(yields):
                await asyncio.sleep(0)
            owner.cancel()
            await asyncio.gather(owner, return_exceptions=True)
            last = await ledger.last_run("t")
            said.append(last is not None and await ledger.is_worked_on(last))
        return said

    assert not any(use(path, work))


# Owners that are gone


@needs_proc
def test_an_owner_that_is_gone_is_replaced_at_once(path: Path, pace: Callable[..., None]) -> None:
    pace(look_s=NEVER_S)

    async def work(run: RunKey, ledger: SqliteLedger, heir: SqliteLedger) -> list[str]:
        async with AsyncExitStack() as owner:
            old = await owner.enter_async_context(ledger.owned(run))
            change(path, "owner = ?", departed())
            assert not await heir.is_worked_on(run)
            assert (await heir.health()).dead == ("t.1",)
            async with heir.owned(run) as new:
                with pytest.raises(LeaseLostError):
                    await ledger.append(old, [NOTE])
                await owner.aclose()
                assert await heir.is_worked_on(run) and (await heir.health()).dead == ()
                await heir.append(new, [NOTE])
        return await kinds(heir, run)

    assert use(path, work, count=2) == ["run_started", "paused"]


@needs_proc
def test_of_many_who_challenge_an_owner_that_is_gone_one_wins(path: Path, pace: Callable[..., None]) -> None:
    pace(beat_s=0.01)

    async def work(run: RunKey, *ledgers: SqliteLedger) -> list[str]:
        async with ledgers[0].owned(run):
            pass
        change(path, "owner = ?", departed())
        owners = [ledger.owned(run) for ledger in ledgers]
        outcomes = await asyncio.gather(*(owner.__aenter__() for owner in owners), return_exceptions=True)
        for owner, outcome in zip(owners, outcomes, strict=True):
            if isinstance(outcome, Lease):
                assert outcome.token == 2
                await owner.__aexit__(None, None, None)
        return sorted(type(outcome).__name__ for outcome in outcomes)

    assert use(path, work, count=3) == ["Lease", "RunOwnedError", "RunOwnedError"]


# Owners that show no sign of life


def test_an_owner_whose_heart_beats_is_not_taken_over(path: Path, pace: Callable[..., None]) -> None:
    pace(beat_s=0.01)

    async def work(run: RunKey, ledger: SqliteLedger, another: SqliteLedger) -> int:
        async with ledger.owned(run) as lease:
            for challenger in (ledger, another):
                with pytest.raises(RunOwnedError) as caught:
                    async with challenger.owned(run):
                        pass
                assert caught.value.run == "t.1"
            return await ledger.append(lease, [NOTE])

    assert use(path, work, count=2) == 2


@pytest.mark.parametrize("known", [{}, {"host": "elsewhere"}, {"start": ""}], ids=["here", "elsewhere", "unsure"])
def test_an_owner_whose_heart_stands_still_is_taken_over_by_one_of_its_challengers(
    path: Path, pace: Callable[..., None], known: dict[str, str]
) -> None:
    pace(lease_s=0.1)

    async def work(run: RunKey, ledger: SqliteLedger, *others: SqliteLedger) -> list[str]:
        async with ledger.owned(run) as old:
            change(path, "owner = ?", altered(**known))
            challengers = [other.owned(run) for other in others]
            outcomes = await asyncio.gather(*(one.__aenter__() for one in challengers), return_exceptions=True)
            with pytest.raises(LeaseLostError):
                await ledger.append(old, [NOTE])
            for one, outcome in zip(challengers, outcomes, strict=True):
                if isinstance(outcome, Lease):
                    assert await ledger.append(outcome, [NOTE]) == 2
                    await one.__aexit__(None, None, None)
        return sorted(type(outcome).__name__ for outcome in outcomes)

    assert use(path, work, count=3) == ["Lease", "RunOwnedError"]


@pytest.mark.parametrize("assignments", ["owner = ''", "owner = '', beat = beat + 1"])
def test_a_challenger_gets_a_run_that_is_let_go_while_it_looks(
    path: Path, pace: Callable[..., None], assignments: str
) -> None:
    pace()

    async def work(run: RunKey, ledger: SqliteLedger, challenger: SqliteLedger) -> int:
        async def challenge() -> int:
            async with challenger.owned(run) as lease:
                return await challenger.append(lease, [NOTE])

        async with ledger.owned(run):
            waiting = asyncio.create_task(challenge())
            await asyncio.sleep(0)
            assert await challenger.is_worked_on(run)  # answered after the claim that finds the run owned
            change(path, assignments)
            return await waiting

    assert use(path, work, count=2) == 2


def test_a_challenger_who_gives_up_leaves_the_owner_alone(path: Path, pace: Callable[..., None]) -> None:
    pace()

    async def work(run: RunKey, ledger: SqliteLedger, challenger: SqliteLedger) -> int:
        async with ledger.owned(run) as lease:
            waiting = asyncio.create_task(challenger.owned(run).__aenter__())
            await asyncio.sleep(0)
            assert await challenger.is_worked_on(run)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await challenger.is_worked_on(run)
            return await ledger.append(lease, [NOTE])

    assert use(path, work, count=2) == 2


@pytest.mark.slow
def test_a_challenger_is_told_after_a_heartbeat_that_the_owner_lives(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, challenger: SqliteLedger) -> float:
        async with ledger.owned(run):
            begun_at = time.monotonic()
            with pytest.raises(RunOwnedError):
                async with challenger.owned(run):
                    pass
            return time.monotonic() - begun_at

    assert use(path, work, count=2) < LEASE_S / 2


def test_an_owner_beats_several_times_before_it_can_be_taken_over() -> None:
    assert 3 * BEAT_S < LEASE_S < 15


# The heartbeat


def beats(db: sqlite3.Connection, run_id: int = 1) -> int:
    seen = look(db, run_id)
    assert seen is not None
    return seen.beat


def block_until(true: Callable[[], bool]) -> None:
    """Keep this thread, and with it the event loop, from doing anything else."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it did not come about in time"


def test_the_heart_beats_while_the_event_loop_is_blocked(path: Path, pace: Callable[..., None]) -> None:
    pace(beat_s=0.01)

    async def work(run: RunKey, ledger: SqliteLedger) -> int:
        async with ledger.owned(run) as lease:
            with closing(sqlite3.connect(path)) as db:
                block_until(lambda: beats(db) >= 3)
            return await ledger.append(lease, [NOTE])

    assert use(path, work) == 2


def test_the_heart_beats_again_after_the_file_was_locked(
    path: Path, pace: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pace(beat_s=0.01)
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)

    async def work(run: RunKey, ledger: SqliteLedger) -> int:
        async with ledger.owned(run) as lease:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("BEGIN IMMEDIATE")
                with pytest.raises(LedgerUnavailableError):
                    await ledger.append(lease, [NOTE])
                before = beats(db)
                db.execute("ROLLBACK")
                block_until(lambda: beats(db) >= before + 3)
            return await ledger.append(lease, [NOTE])

    assert use(path, work) == 2


@needs_proc
def test_a_lease_that_could_not_be_given_back_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_timeout, "BUSY_S", 0.05)

    async def work(run: RunKey, ledger: SqliteLedger, other: SqliteLedger) -> int:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            async with ledger.owned(run):
                db.execute("BEGIN IMMEDIATE")
            assert db.execute("SELECT owner FROM ledger_leases").fetchone() != ("",)
            assert not await other.is_worked_on(run)
        async with asyncio.timeout(LEASE_S / 2), other.owned(run) as lease:
            return lease.token

    assert use(path, work, 2) == 2


def test_the_heart_beats_for_the_runs_that_are_owned_and_no_others(path: Path, pace: Callable[..., None]) -> None:
    pace(beat_s=0.01)

    async def work(run: RunKey, ledger: SqliteLedger) -> None:
        others = [await ledger.open_run("t", [STARTED]) for _ in range(2)]
        with closing(sqlite3.connect(path)) as db:
            async with ledger.owned(others[0]), ledger.owned(others[1]):
                async with ledger.owned(run):
                    block_until(lambda: min(beats(db, run_id) for run_id in (1, 2, 3)) >= 1)
                left_at = [beats(db, run_id) for run_id in (1, 2, 3)]
                block_until(lambda: beats(db, 2) >= left_at[1] + 3 and beats(db, 3) >= left_at[2] + 3)
                assert beats(db, 1) == left_at[0]

    use(path, work)


# The inbox


def test_messages_are_taken_in_the_order_in_which_they_came_and_once() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[list[str]]:
        await ledger.post(run, "pause")
        async with ledger.owned(run) as lease:
            await ledger.post(run, "cancel")
            await ledger.post(run, "pause")
            taken = [await ledger.take_messages(lease), await ledger.take_messages(lease)]
            await ledger.post(run, "cancel")
            return [list(messages) for messages in (*taken, await ledger.take_messages(lease))]

    assert use(":memory:", work) == [["pause", "cancel", "pause"], [], ["cancel"]]


def test_a_message_waits_for_its_own_run_whoever_opens_the_file(path: Path) -> None:
    async def leave(run: RunKey, ledger: SqliteLedger) -> RunKey:
        other = await ledger.open_run("t", [STARTED])
        await ledger.post(other, "cancel")
        return other

    async def find(_: RunKey, ledger: SqliteLedger) -> list[list[str]]:
        found = []
        for run in (RUN, OTHER):
            async with ledger.owned(run) as lease:
                found.append(list(await ledger.take_messages(lease)))
        return found

    assert use(path, leave) == OTHER
    assert use(path, find) == [[], ["cancel"]]


def test_a_message_holds_up_only_those_who_heed_it(path: Path) -> None:
    async def work(run: RunKey, ledger: SqliteLedger, poster: SqliteLedger) -> list[str]:
        other = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease, ledger.owned(other) as elsewhere:
            await ledger.append(lease, [NOTE], heed=True)
            await poster.post(run, "pause")
            with pytest.raises(MessageWaitingError) as caught:
                await ledger.append(lease, [NOTE, NOTE], heed=True)
            assert caught.value.run == "t.1" and isinstance(caught.value, StaleRunError)
            await ledger.append(elsewhere, [NOTE], heed=True)
            await ledger.append(lease, [Draft("executing", {})])
            await ledger.take_messages(lease)
            await ledger.append(lease, [NOTE], heed=True)
        return await kinds(ledger, run)

    assert use(path, work, count=2) == ["run_started", "paused", "executing", "paused"]


def test_an_outdated_owner_leaves_the_messages_to_its_heir() -> None:
    async def work(run: RunKey, ledger: SqliteLedger) -> list[str]:
        async with ledger.owned(run) as old:
            pass
        async with ledger.owned(run) as new:
            await ledger.post(run, "cancel")
            with pytest.raises(LeaseLostError):
                await ledger.take_messages(old)
            return list(await ledger.take_messages(new))

    assert use(":memory:", work) == ["cancel"]
