"""One connection on a thread of its own: shared commits, separate fates."""

import asyncio
import queue
import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.ledger.sqlite.transactions import Work, begin_at_once
from planner_executor.graph.ledger.sqlite.writer import WriterThread, _Rest, _Serving


def connect_to(path: Path | str) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("CREATE TABLE IF NOT EXISTS t (n)")
        return db

    return connect


def insert(number: int, fails: bool = False) -> Callable[[sqlite3.Connection], int]:
    def do(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO t VALUES (?)", (number,))
        if fails:
            raise KeyError(number)
        return number

    return do


def rows(db: sqlite3.Connection) -> list[int]:
    return [number for (number,) in db.execute("SELECT n FROM t ORDER BY rowid")]


async def test_work_is_done_on_one_thread_which_is_not_the_loops() -> None:
    writer = WriterThread(connect_to(":memory:"))
    idents = {await writer.run(lambda _: threading.get_ident()) for _ in range(5)}
    await writer.close()
    idents = idents

    assert len(idents) == 1
    assert threading.get_ident() not in idents


async def test_a_function_that_raises_leaves_nothing_behind_and_its_neighbours_alone() -> None:
    writer = WriterThread(connect_to(":memory:"))
    work = [writer.run(insert(number, fails=number % 2 == 0)) for number in range(10)]
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    found = await writer.run(rows)
    await writer.close()
    outcomes, found = (outcomes, found)

    assert found == [1, 3, 5, 7, 9]
    assert [type(outcome) for outcome in outcomes] == [KeyError, int] * 5


async def test_what_waits_meanwhile_shares_one_commit(tmp_path: Path) -> None:
    commits = []
    blocked, go = threading.Event(), threading.Event()

    def connect() -> sqlite3.Connection:
        db = connect_to(tmp_path / "x.db")()
        db.set_trace_callback(lambda statement: commits.append(statement) if statement == "COMMIT" else None)
        return db

    def wait(_: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)

    writer = WriterThread(connect)
    first = asyncio.create_task(writer.run(wait))
    await asyncio.to_thread(blocked.wait, 10)
    others = [asyncio.create_task(writer.run(insert(number))) for number in range(20)]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, *others)
    await writer.close()

    assert len(commits) == 2


async def test_what_must_survive_a_power_cut_is_committed_so_whatever_came_before() -> None:
    asked = [True, True, False, False, True, False]

    writer = WriterThread(connect_to(":memory:"))
    modes = [await writer.run(lambda db: int(db.execute("PRAGMA synchronous").fetchone()[0]), full=f) for f in asked]
    await writer.close()
    assert modes == [2 if full else 1 for full in asked]


async def test_answers_are_given_after_the_commit(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    writer = WriterThread(connect_to(path))
    await writer.run(insert(7))
    other = sqlite3.connect(path)
    found = rows(other)
    other.close()
    await writer.close()
    assert found == [7]


def test_a_disk_that_is_full_undoes_the_work_and_lets_the_next_one_through() -> None:
    def connect() -> sqlite3.Connection:
        db = connect_to(":memory:")()
        db.execute("PRAGMA max_page_count = 20")
        return db

    async def main() -> list[int]:
        writer = WriterThread(connect)
        await writer.run(insert(1))
        with pytest.raises(sqlite3.Error):
            await writer.run(lambda db: db.execute("INSERT INTO t VALUES (zeroblob(1000000))"))
        await writer.run(insert(2))
        found = await writer.run(rows)
        await writer.close()
        return found

    assert asyncio.run(main()) == [1, 2]


async def test_a_connection_that_cannot_be_made_is_told_to_everyone_who_waits_and_tried_again() -> None:
    attempts = []

    def connect() -> sqlite3.Connection:
        attempts.append(1)
        if len(attempts) == 1:
            raise sqlite3.OperationalError("not yet")
        return connect_to(":memory:")()

    writer = WriterThread(connect)
    with pytest.raises(sqlite3.OperationalError):
        await writer.run(insert(1))
    found = [await writer.run(insert(2)), await writer.run(rows)]
    await writer.close()
    assert found == [2, [2]]


async def test_closing_finishes_what_was_asked(tmp_path: Path) -> None:
    writer = WriterThread(connect_to(tmp_path / "x.db"))
    work = [asyncio.create_task(writer.run(insert(number))) for number in range(10)]
    await asyncio.sleep(0)
    await writer.close()
    assert await asyncio.gather(*work) == list(range(10))


async def test_closing_what_was_never_used_is_nothing() -> None:
    await WriterThread(connect_to(":memory:")).close()


async def test_the_event_loop_goes_on_while_a_function_works() -> None:
    go = threading.Event()

    writer = WriterThread(connect_to(":memory:"))
    work = asyncio.create_task(writer.run(lambda _: go.wait(10)))
    await asyncio.sleep(0)
    go.set()  # reached only because the loop does not wait
    assert await work
    await writer.close()
    assert "done" == "done"


async def test_the_pulse_goes_on_while_the_event_loop_is_blocked() -> None:
    thrice, idents = threading.Event(), []

    def pulse() -> list[Callable[[sqlite3.Connection], None]]:
        idents.append(threading.get_ident())
        if len(idents) == 3:
            thrice.set()
        return []

    writer = WriterThread(connect_to(":memory:"), pulse, pulse_s=0.01)
    await writer.run(insert(1))
    went_on = thrice.wait(30)
    await writer.close()
    assert went_on
    assert threading.get_ident() not in idents


async def test_what_the_pulse_asks_for_is_committed_and_a_failure_of_it_disturbs_nobody(tmp_path: Path) -> None:
    path, asked = tmp_path / "x.db", iter(range(2, 100_000))

    def pulse() -> list[Callable[[sqlite3.Connection], Any]]:
        return [insert(next(asked)), insert(0, fails=True)]

    writer = WriterThread(connect_to(path), pulse, pulse_s=0.005)
    await writer.run(insert(1))
    while len(await writer.run(rows)) < 4:
        pass
    found = await writer.run(rows)
    await writer.close()
    found = found

    assert sorted(found) == list(range(1, len(found) + 1))


def test_a_caller_whose_event_loop_is_closed_meanwhile_disturbs_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked, go = threading.Event(), threading.Event()
    writer = WriterThread(connect_to(tmp_path / "x.db"))

    def insert_late(db: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)
        insert(1)(db)

    async def leave() -> None:
        task = asyncio.create_task(writer.run(insert_late))
        await asyncio.to_thread(blocked.wait, 10)
        task.cancel()

    async def come_later() -> list[int]:
        go.set()
        found = await writer.run(rows)
        await writer.close()
        return found

    asyncio.run(leave())

    assert asyncio.run(come_later()) == [1] and not caplog.records


async def test_a_caller_who_gave_up_before_its_turn_is_passed_over() -> None:
    blocked, go = threading.Event(), threading.Event()

    def wait(_: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)

    writer = WriterThread(connect_to(":memory:"))
    first = asyncio.create_task(writer.run(wait))
    await asyncio.to_thread(blocked.wait, 10)
    second = asyncio.create_task(writer.run(insert(1)))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    go.set()
    await first
    found = await writer.run(rows)
    await writer.close()
    assert found == []


@pytest.mark.parametrize(("writes", "statement"), [(True, "BEGIN IMMEDIATE"), (False, "BEGIN")])
def test_a_transaction_that_writes_takes_the_lock_at_once_and_one_that_reads_takes_none(
    writes: bool, statement: str
) -> None:
    said: list[str] = []
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.set_trace_callback(said.append)

    begin_at_once(db, writes)
    db.close()

    assert said == [statement]


async def test_work_writes_unless_it_is_said_otherwise_and_one_that_writes_decides_for_all_that_share_its_commit() -> (
    None
):
    asked: list[bool] = []
    blocked, go = threading.Event(), threading.Event()

    def begin(db: sqlite3.Connection, writes: bool) -> None:
        asked.append(writes)
        begin_at_once(db, writes)

    def wait(_: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)

    writer = WriterThread(connect_to(":memory:"), begin=begin)
    first = asyncio.create_task(writer.run(wait, writes=False))
    await asyncio.to_thread(blocked.wait, 10)
    others = [asyncio.create_task(writer.run(rows, writes=False)), asyncio.create_task(writer.run(insert(1)))]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, *others)
    await writer.close()

    assert asked == [False, True]


async def test_one_that_must_survive_a_power_cut_decides_for_all_that_share_its_commit() -> None:
    blocked, go = threading.Event(), threading.Event()

    def mode(db: sqlite3.Connection) -> int:
        return int(db.execute("PRAGMA synchronous").fetchone()[0])

    def wait(_: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)

    writer = WriterThread(connect_to(":memory:"))
    first = asyncio.create_task(writer.run(wait))
    await asyncio.to_thread(blocked.wait, 10)
    others = [asyncio.create_task(writer.run(mode, full=full)) for full in (False, True, False)]
    await asyncio.sleep(0)
    go.set()
    await first
    modes = [*await asyncio.gather(*others), await writer.run(mode)]
    await writer.close()
    assert modes == [2, 2, 2, 1]


async def test_what_the_pulse_asks_for_does_not_wait_for_the_disk() -> None:
    modes: list[int] = []
    seen = threading.Event()

    def look(db: sqlite3.Connection) -> None:
        modes.append(int(db.execute("PRAGMA synchronous").fetchone()[0]))
        seen.set()

    writer = WriterThread(connect_to(":memory:"), lambda: [look], pulse_s=0.01)
    await writer.run(lambda _: None)
    await asyncio.to_thread(seen.wait, 10)
    await writer.close()

    assert set(modes) == {1}


async def test_a_caller_who_gave_up_in_the_middle_of_its_work_is_told_nothing() -> None:
    blocked, go, faults = threading.Event(), threading.Event(), []

    def wait(_: sqlite3.Connection) -> None:
        blocked.set()
        go.wait(10)

    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: faults.append(context))
    writer = WriterThread(connect_to(":memory:"))
    task = asyncio.create_task(writer.run(wait))
    await asyncio.to_thread(blocked.wait, 10)
    task.cancel()
    await asyncio.wait([task])
    go.set()
    await writer.run(rows)
    await writer.close()

    assert faults == []


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ledger-writer" and thread.is_alive()]


async def test_the_thread_holds_up_no_exit_and_ends_as_the_writer_is_closed() -> None:
    before = len(threads())

    writer = WriterThread(connect_to(":memory:"))
    await writer.run(rows)
    assert len(threads()) == before + 1 and all(thread.daemon for thread in threads())
    await writer.close()

    assert len(threads()) == before


async def test_a_process_that_forks_has_no_connection_open_until_the_fork_is_over(tmp_path: Path) -> None:
    opened: list[sqlite3.Connection] = []

    def connect() -> sqlite3.Connection:
        opened.append(sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False))
        return opened[-1]

    writer = WriterThread(connect)
    await writer.run(lambda db: db.execute("CREATE TABLE t (n)"))
    over = writer.rest()
    with pytest.raises(sqlite3.ProgrammingError):
        opened[0].execute("SELECT 1")
    waiting = asyncio.create_task(writer.run(rows))
    await asyncio.sleep(0)
    assert len(opened) == 1
    over()
    found = await waiting
    await writer.close()
    assert found == []
    assert len(opened) == 2


def test_a_writer_that_was_never_used_lets_a_fork_go_on_at_once() -> None:
    WriterThread(connect_to(":memory:")).rest()()


async def test_the_first_pulse_comes_after_its_time() -> None:
    pulses: list[int] = []

    def pulse() -> list[Callable[[sqlite3.Connection], None]]:
        pulses.append(1)
        return []

    writer = WriterThread(connect_to(":memory:"), pulse, pulse_s=3_600)
    await writer.run(rows)
    await writer.run(rows)
    await writer.close()

    assert pulses == []


IN_MEMORY = connect_to(":memory:")


class Turns:
    """A queue that gives the thread one thing at each turn, and the end after the last; waiting moves its clock on."""

    def __init__(self, *items: Any) -> None:
        self.items, self.now, self.waits = [*items, None], 100.0, list[float]()

    def get(self, timeout: float) -> Any:
        self.waits.append(timeout)
        item = self.items.pop(0)
        if item is queue.Empty:
            self.now += timeout
            raise queue.Empty
        return item() if callable(item) else item

    def get_nowait(self) -> Any:
        raise queue.Empty

    def monotonic(self) -> float:
        return self.now


def served(asked: Turns, connect: Callable[[], Any] = IN_MEMORY, **options: Any) -> None:
    """Serve the turns on this thread."""
    serving: Any = _Serving(connect, options.get("pulse", list), options.get("pulse_s", 60.0), begin_at_once)
    serving.serve(asked)


def test_a_pulse_follows_another_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, pulses = Turns(queue.Empty, queue.Empty), []
    monkeypatch.setattr("planner_executor.graph.ledger.sqlite.writer.time", asked)

    served(asked, pulse=lambda: pulses.append(asked.now) or [], pulse_s=10.0)

    assert (pulses, asked.waits) == ([110.0, 120.0], [10.0, 10.0, 10.0])


def test_a_thread_that_was_asked_for_nothing_ends_without_a_connection() -> None:
    def connect() -> sqlite3.Connection:
        raise AssertionError

    served(Turns(), connect)


def test_a_connection_is_closed_when_a_rest_begins_and_until_it_is_over() -> None:
    opened: list[sqlite3.Connection] = []

    def connect() -> sqlite3.Connection:
        opened.append(connect_to(":memory:")())
        return opened[-1]

    class Fork(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert rest.begun.is_set() and len(opened) == 1
            with pytest.raises(sqlite3.ProgrammingError):
                opened[0].execute("SELECT 1")
            return not self.set()  # type: ignore[func-returns-value]

    rest = _Rest(over=Fork())
    served(Turns(Work(rows), rest, Work(rows)), connect)

    assert rest.over.is_set() and len(opened) == 2


def test_an_idle_thread_keeps_nothing_alive_that_was_asked_for() -> None:
    class Wanted:
        def __call__(self, db: sqlite3.Connection) -> None: ...

    def work() -> Any:
        wanted = Wanted()
        found.append(weakref.ref(wanted))
        return Work(wanted)

    def look() -> None:
        found.append(found[0]())

    found: list[Any] = []
    served(Turns(work, look))

    assert found[1] is None


def test_work_that_fails_alone_is_undone_and_the_next_has_a_transaction_of_its_own() -> None:
    failing, reading = Work(insert(1, fails=True)), Work(rows)

    served(Turns(failing, reading))

    assert isinstance(failing.failure, KeyError) and (reading.result, reading.failure) == ([], None)
