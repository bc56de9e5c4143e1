"""Threads that are no longer needed are exported and removed; each is removed whole or stays whole."""

import asyncio
import errno
import os
import signal
import sqlite3
import stat
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.cli.commands.doctor import faults
from planner_executor.graph.errors import InputError, LedgerUnavailableError, PrunedRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.tables.schema import OF_A_RUN
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.retention import KeptThread, Retention
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import Kept as Stored
from planner_executor.graph.record.values import keep
from planner_executor.graph.runs import retention
from planner_executor.graph.runs.approvals import standing_approvals
from planner_executor.graph.runs.policy_trial import tried_on_runs
from planner_executor.graph.runs.record_service import verified_file
from planner_executor.graph.runs.retention import Pruned, missing, prune
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import ScriptedModel, drafted

ALL = Retention(before=float("inf"))
KEY = SealKey(b"a secret of many letters")
STARTED = drafted("run_started", {"goal": "g", "constraints": []})
ENDED = drafted("run_ended", {"status": "succeeded", "reason": "r", "value": 1})
ASKED = drafted("review_requested", {"asked": ["run_plan"], "error": None, "request": 1})
LARGE = keep("x" * 20_000)


def ended_with(kept: Stored) -> Any:
    return drafted("run_ended", {"status": "succeeded", "reason": "r", **kept.fields()})


def called(repeatable: bool = False) -> Any:
    call = {"tool": "pay", "args": {"value": {}}, "key": "k", "call": 0, "attempt": 1, "revision": 1}
    return drafted("call_started", {**call, "repeatable": repeatable}, "a")


def forked(source: str) -> Any:
    return drafted("run_forked", {"source": source, "again": ["a"]})


def use(
    path: Path,
    work: Callable[[RunStore], Awaitable[Any]],
    key: SealKey | None = None,
    kind: type[SqliteLedger] = SqliteLedger,
) -> Any:
    async def main() -> Any:
        ledger = kind(path, key)
        try:
            return await work(ledger)
        finally:
            await ledger.close()

    return asyncio.run(main())


def pruned(path: Path, wanted: Retention = ALL, **more: Any) -> Pruned:
    found: Pruned = use(path, lambda ledger: prune(ledger, wanted, "os:ada", **more))
    return found


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A thread of each sort: what keeps it is its name."""

    async def fill(ledger: RunStore) -> None:
        await ledger.open_run("ended", [STARTED, ENDED])
        await ledger.open_run("waiting", [STARTED, ASKED])
        await ledger.open_run("unfinished", [STARTED])
        await ledger.open_run("uncertain", [STARTED, called(), ENDED])
        await ledger.open_run("harmless", [STARTED, called(repeatable=True), ENDED])
        await ledger.open_run("source", [STARTED, ENDED])
        await ledger.open_run("fork", [STARTED, forked("source.1")])
        await ledger.open_run("again", [STARTED, ENDED])
        await ledger.open_run("again", [STARTED])

    use(tmp_path / "runs.db", fill)
    return tmp_path / "runs.db"


def test_what_is_needed_stays_and_each_reason_is_named(database: Path) -> None:
    done = pruned(database)

    assert done.threads == {"harmless": ("harmless.1",), "ended": ("ended.1",)} and done.runs == 2
    assert set(done.kept) == {
        KeptThread("waiting.1", "waiting"),
        KeptThread("unfinished.1", "unfinished"),
        KeptThread("uncertain.1", "uncertain", "a"),
        KeptThread("source.1", "forked", "fork.1"),
        KeptThread("fork.1", "unfinished"),
        KeptThread("again.2", "unfinished"),
    }
    assert use(database, missing)[1] == []


def test_a_dry_run_names_the_same_and_changes_nothing(database: Path, tmp_path: Path) -> None:
    before = dump(database)
    ahead = pruned(database, dry_run=True, export=tmp_path / "out")

    assert dump(database) == before and not (tmp_path / "out").exists()
    assert pruned(database) == ahead


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_fork_goes_before_the_run_that_it_reads_in_one_go(dry_run: bool, tmp_path: Path) -> None:
    async def fill(ledger: RunStore) -> None:
        await ledger.open_run("a", [STARTED, ENDED])
        await ledger.open_run("b", [STARTED, forked("a.1"), ENDED])
        await ledger.open_run("c", [STARTED, forked("b.1"), ENDED])
        await ledger.open_run("a", [STARTED, forked("a.1"), ENDED])

    use(tmp_path / "runs.db", fill)

    assert list(pruned(tmp_path / "runs.db", dry_run=dry_run).threads) == ["c", "b", "a"]


@pytest.mark.parametrize("count", [3, 4])
def test_more_threads_than_are_read_at_once_are_all_removed(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PAGE", 2)

    async def fill(ledger: RunStore) -> None:
        for n in range(count):
            await ledger.open_run(f"t{n}", [STARTED, ENDED])

    use(tmp_path / "runs.db", fill)

    assert pruned(tmp_path / "runs.db").runs == count


def test_a_dry_run_says_which_threads_are_executing_and_gives_no_space_back(tmp_path: Path) -> None:
    async def look(ledger: RunStore) -> Pruned:
        first, _ = await ledger.open_run("t", [STARTED, ENDED]), await ledger.open_run("t", [STARTED, ENDED])
        async with ledger.owned(first):
            return await prune(ledger, ALL, "os:ada", dry_run=True)

    class Unchanged(SqliteLedger):
        """A ledger that refuses to make its file smaller."""

        async def give_back(self) -> bool:
            raise AssertionError("a dry run gives space back")

    async def main() -> Pruned:
        ledger = Unchanged(tmp_path / "runs.db")
        try:
            return await look(ledger)
        finally:
            await ledger.close()

    assert asyncio.run(main()) == Pruned({}, (KeptThread("t.2", "executing"),))


def test_only_old_threads_that_ended_as_named_are_removed(tmp_path: Path) -> None:
    failed = drafted("run_ended", {"status": "failed", "reason": "r", "value": None})
    path = tmp_path / "runs.db"

    async def fill(ledger: RunStore) -> float:
        for thread, ends in {"good": [ENDED], "bad": [failed], "both": [ENDED, failed]}.items():
            for end in ends:
                await ledger.open_run(thread, [STARTED, end])
        return (await Runs(ledger).page(RunFilter(text="bad")))[0].updated_at

    at = use(path, fill)
    assert pruned(path, Retention(before=at - 60)) == Pruned({}, ())
    assert list(pruned(path, Retention(ALL.before, frozenset({"succeeded"}))).threads) == ["good"]
    assert list(pruned(path, Retention(ALL.before, frozenset({"succeeded", "failed"}))).threads) == ["both", "bad"]


def test_each_run_is_exported_with_its_seal_before_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_LEDGER_KEY", KEY.secret.decode())
    path, folder = tmp_path / "runs.db", tmp_path / "out" / "2026"

    async def fill(ledger: RunStore) -> None:
        for thread in ("t", "t", "../up\0"):
            await ledger.open_run(thread, [STARTED, ended_with(LARGE)], [LARGE])

    use(path, fill, KEY)
    done: Pruned = use(path, lambda ledger: prune(ledger, ALL, "os:ada", export=folder), KEY)

    files = sorted(folder.iterdir())
    assert done.runs == len(files) == 3 and [file.name for file in tmp_path.iterdir() if file.is_file()] == ["runs.db"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    found, faults = use(path, missing, KEY)
    heads = {head for row in found.rows for head in row.heads}
    assert faults == [] and heads == {verified_file(file, key=KEY).head for file in files}
    assert all(verified_file(file, key=KEY).seal == "whole" for file in files)


def test_what_is_exported_is_on_disk_before_it_is_removed_and_only_its_owner_reads_it(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, synced = tmp_path / "out", list[os.stat_result]()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd)))
    for _ in range(2):  # the folder may be there
        pruned(database, export=folder)

    on_disk = {(one.st_ino, one.st_size) for one in synced}
    assert {(file.stat().st_ino, file.stat().st_size) for file in folder.iterdir()} <= on_disk
    assert folder.stat().st_ino in {inode for inode, _ in on_disk} and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder not in [one.resolve() for one in Path("/proc/self/fd").iterdir()]


def test_what_cannot_be_exported_is_not_removed(database: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")

    with pytest.raises(InputError, match="out"):
        pruned(database, export=tmp_path / "out")
    with pytest.raises(InputError, match="out"):  # also if there would be nothing to export
        pruned(database, Retention(before=0), export=tmp_path / "out")
    assert pruned(database, dry_run=True).runs == 2


def test_an_export_to_a_full_disk_removes_nothing_and_leaves_no_part_of_a_record(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        pruned(database, export=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == [] and pruned(database, dry_run=True).runs == 2


def test_a_damaged_thread_stays(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("UPDATE ledger_events SET at = 1.0 WHERE run = 1 AND seq = 2")

    assert KeptThread("ended.1", "damaged") in pruned(database).kept


def test_a_thread_stays_if_one_of_its_runs_is_damaged(tmp_path: Path) -> None:
    async def fill(ledger: RunStore) -> None:
        for _ in range(2):
            await ledger.open_run("t", [STARTED, ENDED])

    use(tmp_path / "runs.db", fill)
    with closing(sqlite3.connect(tmp_path / "runs.db")) as db, db:
        db.execute("UPDATE ledger_events SET at = 1.0 WHERE run = 2 AND seq = 2")

    assert pruned(tmp_path / "runs.db") == Pruned({}, (KeptThread("t.2", "damaged"),))


@pytest.mark.parametrize(("key", "kept"), [(KEY, True), (SealKey(b"another secret of many letters"), False)])
def test_a_seal_is_checked_with_the_key_of_the_environment_if_it_is_of_that_key(
    key: SealKey, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    use(path, lambda ledger: ledger.open_run("t", [STARTED, ENDED]), KEY)
    use(path, lambda ledger: ledger.open_run("unsealed", [STARTED, ENDED]))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE ledger_runs SET seal = ? WHERE thread = 't'", (b"forged",))
    monkeypatch.setenv("PLANNER_EXECUTOR_LEDGER_KEY", key.secret.decode())

    assert set(pruned(path, dry_run=True).threads) == {"unsealed"} | (set() if kept else {"t"})


def test_tombstones_are_checked_with_the_key_that_is_given_or_else_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "runs.db", SealKey(b"another secret of many letters")
    use(path, lambda ledger: ledger.open_run("t", [STARTED, ENDED]), KEY)
    use(path, lambda ledger: prune(ledger, ALL, "os:ada"), KEY)

    def faults(key: SealKey | None) -> bool:
        return bool(use(path, lambda ledger: missing(ledger, key))[1])

    assert (faults(None), faults(KEY), faults(other)) == (False, False, True)
    monkeypatch.setenv("PLANNER_EXECUTOR_LEDGER_KEY", other.secret.decode())
    assert (faults(None), faults(KEY)) == (True, False)


def test_a_removal_that_fails_in_the_middle_leaves_the_thread_whole(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        db.execute(
            "CREATE TRIGGER no BEFORE INSERT ON ledger_tombstones BEGIN SELECT raise(ABORT, 'disk is full'); END"
        )
    before = dump(database)

    with pytest.raises(LedgerUnavailableError, match="disk is full"):
        pruned(database)
    assert dump(database) == before


def test_kill_9_leaves_each_thread_whole_or_gone_and_the_next_removal_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "TOGETHER", 8)
    path = tmp_path / "runs.db"

    async def fill(ledger: RunStore) -> None:
        for n in range(40):
            await ledger.open_run(f"t{n}", [STARTED, ended_with(LARGE)], [LARGE])

    use(path, fill)
    child = os.fork()
    if child == 0:

        class Killed(SqliteLedger):
            """A ledger whose process is killed within the third transaction, of four threads."""

            def _remove_checkpoints(self, tx: Any, thread: str) -> None:
                super()._remove_checkpoints(tx, thread)
                if thread == "t30":
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            asyncio.run(prune(Killed(path), ALL, "os:ada"))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    async def look(ledger: RunStore) -> int:
        found, faults = await missing(ledger)
        left = await ledger.runs()
        assert faults == [] and len(left) + found.runs == 40
        assert len([await ledger.events(run) for run in left]) == len(left)
        return len(left)

    assert use(path, look) == 32 and pruned(path).runs == 32 and use(path, look) == 0


def test_others_write_between_the_transactions_of_a_removal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "TOGETHER", 8)

    class Seen(SqliteLedger):
        """A ledger in which a run is begun after each transaction of a removal."""

        removed: list[int]

        async def remove(self, threads: Any, by: str) -> Any:
            found = await super().remove(threads, by)
            self.removed.append(len(found))
            await self.open_run(f"new{len(self.removed)}", [STARTED])
            return found

    async def main() -> tuple[Pruned, list[int], list[str]]:
        ledger = Seen(tmp_path / "runs.db")
        ledger.removed = []
        for n in range(9):
            await ledger.open_run(f"t{n}", [STARTED, ENDED] if n else [STARTED, *[called()] * 20, ENDED])
        try:
            return await prune(ledger, ALL, "os:ada"), ledger.removed, [run.thread for run in await ledger.runs()]
        finally:
            await ledger.close()

    done, together, left = asyncio.run(main())
    assert (done.runs, together, left) == (8, [4, 4], ["new2", "new1", "t0"])


def begun_and_pruned(threads: int) -> Callable[[RunStore], Awaitable[Pruned]]:
    """Return what begins some threads, and prunes them."""

    async def work(ledger: RunStore) -> Pruned:
        for n in range(threads):
            await ledger.open_run(f"t{n}", [STARTED, ENDED])
        return await prune(ledger, ALL, "os:ada")

    return work


def test_of_two_prunes_at_once_each_removes_what_the_other_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "TOGETHER", 8)

    class Beside(SqliteLedger):
        """A ledger in which another prune removes everything after the first transaction of one."""

        async def remove(self, threads: Any, by: str) -> Any:
            found = await super().remove(threads, by)
            other = SqliteLedger(tmp_path / "runs.db")
            others.append(await prune(other, ALL, "os:ben"))
            await other.close()
            return found

    others: list[Pruned] = []

    done = use(tmp_path / "runs.db", begun_and_pruned(9), kind=Beside)
    assert [one.runs for one in others] == [5] and done.runs == 4
    assert done.kept == tuple(KeptThread(f"t{n}.1", "changed") for n in (4, 3, 2, 1, 0))


def test_what_begins_or_changes_in_the_middle_of_a_prune_stays(tmp_path: Path) -> None:
    class Between(SqliteLedger):
        """A ledger in which a run is continued, and another one changed, before the transaction of a removal."""

        async def remove(self, threads: Any, by: str) -> Any:
            async with self.owned(RunKey("t0", 1)):
                async with self.owned(RunKey("t1", 1)) as lease:
                    await self.append(lease, [drafted("late_answer")])
                return await super().remove(threads, by)

    done = use(tmp_path / "runs.db", begun_and_pruned(3), kind=Between)
    assert done.threads == {"t2": ("t2.1",)}
    assert {one.run: one.obstacle for one in done.kept} == {"t0.1": "executing", "t1.1": "changed"}


async def _tried(runs: Runs) -> list[str]:
    return [name async for name, _ in tried_on_runs(runs, Policy(), None)]


async def _approvals(runs: Runs) -> object:
    page = await standing_approvals(runs)
    return [*page.uses, *page.unread]


@pytest.mark.parametrize("reader", [faults, _tried, _approvals])
def test_a_run_that_is_removed_once_it_was_listed_is_no_damage(
    reader: Callable[[Runs], Awaitable[Any]], tmp_path: Path
) -> None:
    class Removing(SqliteLedger):
        """A ledger whose run is removed as soon as it was listed."""

        async def runs(self) -> Any:
            return await self._listed(await super().runs())

        async def page(self, wanted: RunFilter) -> Any:
            return await self._listed(await super().page(wanted))

        async def with_approvals(self, limit: int, after: RunKey | None = None) -> Any:
            return await self._listed([RunKey("t", 1)])

        async def _listed(self, found: Any) -> Any:
            await self.remove([[await self.transcript(RunKey("t", 1))]], "os:ben")
            return found

    async def read(ledger: Any) -> Any:
        await ledger.open_run("t", [STARTED, ENDED])
        return await reader(Runs(ledger))

    assert use(tmp_path / "runs.db", read, kind=Removing) == []


def test_a_pruned_run_says_so_and_its_thread_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    plan = {"steps": [], "answer": "42"}
    with Agent.open(path, planner=ScriptedModel([])) as agent:
        agent.start("a goal", plan=plan, thread="t")
    pruned(path)

    with closing(sqlite3.connect(path)) as db:
        for table in ("checkpoints", "writes", "ledger_runs", "ledger_artifacts", *OF_A_RUN):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    with Agent.open(path, planner=ScriptedModel([])) as agent:
        for name in ("t", "t.1"):
            with pytest.raises(PrunedRunError, match=r"pruned on .* by os:ada") as caught:
                agent.show(name)
        assert (caught.value.run, caught.value.by) == ("t.1", "os:ada")
        assert agent.start("a goal", plan=plan, thread="t").id == "t.2"


def test_every_table_of_runs_is_emptied(database: Path) -> None:
    with closing(sqlite3.connect(database)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        of_runs = {name for name in tables if any(row[1] == "run" for row in db.execute(f"PRAGMA table_info({name})"))}
    assert of_runs == set(OF_A_RUN)


def test_the_file_becomes_smaller_while_others_have_it_open(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    async def work(ledger: RunStore) -> None:
        for n in range(20):
            large = keep(os.urandom(30_000).hex())
            await ledger.open_run(f"t{n}", [STARTED, ended_with(large)], [large])
        await ledger.open_run("here", [STARTED])
        async with ledger.owned(next(iter(await ledger.runs()))):
            with closing(sqlite3.connect(path)) as reader:
                assert reader.execute("SELECT count(*) FROM ledger_runs").fetchone() == (21,)
                assert (await prune(ledger, ALL, "os:ada")).is_smaller
        assert path.stat().st_size < 500_000

    use(path, work)
