"""A thread is removed with all that is stored of it; a tombstone remains, and shows what was removed without one."""

import asyncio
from collections.abc import Sequence

import pytest
from ledger_drivers import NOTE, STARTED, Driver, departed, opened, use, write

from planner_executor.graph.errors import InputError, LedgerCorruptError, LedgerSealError, RunOwnedError, StaleRunError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import Tombstone, chain_faults, gaps
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

KEY = SealKey(b"a secret of many letters")
OWN, SHARED = keep("own" * 9_000), keep("shared" * 9_000)
ENDED = drafted("run_ended", {"status": "succeeded", "reason": "r", "value": 1})


def finished(kept: object) -> object:
    return drafted("call_finished", kept.fields(), "a")  # type: ignore[attr-defined]


async def begun(ledger: RunStore, thread: str, *, forked: str | None = None) -> RunKey:
    more = [drafted("run_forked", {"source": forked, "again": ["a"]})] if forked else []
    return await ledger.open_run(thread, [STARTED, *more])


async def thread_of(ledger: RunStore, thread: str) -> list[Transcript]:
    runs = sorted((run for run in await ledger.runs() if run.thread == thread), key=lambda run: run.n)
    return [await ledger.transcript(run) for run in runs]


async def removed(ledger: RunStore, thread: str) -> Tombstone:
    [found] = await ledger.remove([await thread_of(ledger, thread)], "os:ada")
    assert isinstance(found, Tombstone), found
    return found


async def findings(ledger: RunStore, key: SealKey | None = None) -> list[str]:
    found = await ledger.tombstones()
    started = int((await ledger.counters()).value("runs_total"))
    runs = [(run.thread, run.n) for run in await ledger.runs()]
    return [*chain_faults(found, key), *gaps(runs, found, started)]


async def test_all_of_a_thread_is_gone_and_what_others_name_stays(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for _ in range(2):
            await write(
                ledger, await begun(ledger, "t"), [finished(OWN), finished(SHARED), ENDED], artifacts=[OWN, SHARED]
            )
        other = await begun(ledger, "other")
        await write(ledger, other, [finished(SHARED)], artifacts=[SHARED])
        await ledger.post(RunKey("t", 1), "pause")
        before, counted = await thread_of(ledger, "t"), await ledger.counters()

        made = await removed(ledger, "t")

        assert (made.number, made.first, made.last, made.by) == (1, 1, 2, "os:ada")
        assert (
            made.heads == tuple(run.head.hex() for run in before) and (await ledger.tombstones()).named("t.2") == made
        )
        assert await ledger.runs() == [other] and [run.id for run in await ledger.page(RunFilter())] == ["other.1"]
        assert await ledger.last_run("t") is None and await ledger.latest("t") is None and await ledger.named("t") == []
        assert await ledger.artifact(str(SHARED.named["id"])) == SHARED.text
        with pytest.raises(LedgerCorruptError):
            await ledger.artifact(str(OWN.named["id"]))
        assert (await ledger.health()).tables["ledger_events"][0] == 2
        assert (await ledger.counters()).counts == counted.counts and await findings(ledger) == []
        assert await ledger.reindex() == 1 and (await ledger.counters()).counts == counted.counts


async def test_a_new_run_on_the_thread_takes_no_name_of_a_removed_one(driver: Driver) -> None:
    async with opened(driver, count=2) as (ledger, other):
        for _ in range(2):
            await begun(ledger, "t")
        await removed(ledger, "t")
        third = await begun(other, "t")
        assert third == RunKey("t", 3) == await ledger.last_run("t")
        assert await write(ledger, third, [NOTE]) == 2 and await ledger.named("t.1") == []
        assert await ledger.named("t.3") == [third] and (await ledger.latest("t") or [None])[0] == third
        assert await findings(ledger) == []
        assert ((await removed(ledger, "t")).first, await findings(ledger)) == (3, [])
        assert await begun(ledger, "t") == RunKey("t", 4) and await findings(ledger) == []


async def test_a_name_is_looked_up_without_reading_every_tombstone(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in ("t", "other", "t.2", "t"):
            await begun(ledger, thread)
            await removed(ledger, thread)

        async def numbers(name: str) -> list[int]:
            return [row.number for row in (await ledger.tombstones(name)).rows]

        assert [await numbers(name) for name in ("t", "t.1", "t.2", "u")] == [[1, 4], [1, 4], [1, 3, 4], []]
        found = (await ledger.tombstones("t.2")).named("t.2")
        assert found is not None and found.number == 4


async def test_a_lease_on_a_removed_run_fits_no_later_run(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        async with ledger.owned(await begun(ledger, "t")) as old:
            pass
        await removed(ledger, "t")
        async with ledger.owned(await begun(ledger, "u")) as lease:
            assert lease.run_id != old.run_id


async def test_a_thread_that_changed_since_it_was_read_stays(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await begun(ledger, "t")
        read = await thread_of(ledger, "t")
        await write(ledger, run, [NOTE])
        await refused(ledger, read, StaleRunError)
        read = await thread_of(ledger, "t")
        await begun(ledger, "t")
        await refused(ledger, read, StaleRunError)
        read = await thread_of(ledger, "t")
        fork = await begun(ledger, "fork", forked="t.2")
        await begun(ledger, "other")
        assert [await ledger.forks(thread) for thread in ("t", "fork", "other")] == 2 * [[(fork, "t.2")]] + [[]]
        await refused(ledger, read, StaleRunError)
        await removed(ledger, "fork")
        assert [type(found) for found in await ledger.remove([read], "os:ada")] == [Tombstone]


async def refused(ledger: RunStore, read: Sequence[Transcript], error: type[Exception]) -> None:
    before = await ledger.runs(), await ledger.tombstones()
    found = await ledger.remove([read], "os:ada")
    assert [type(one) for one in found] == [error]
    assert (await ledger.runs(), await ledger.tombstones()) == before


async def test_of_several_threads_those_that_stay_are_left_as_they_are(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread, forked in {"a": None, "owned": None, "b": "a.1", "c": "owned.1", "d": None}.items():
            await write(ledger, await begun(ledger, thread, forked=forked), [finished(SHARED)], artifacts=[SHARED])
        read = [await thread_of(ledger, thread) for thread in ("b", "a", "owned", "c", "d")]
        async with ledger.owned(RunKey("owned", 1)):
            made = await ledger.remove(read, "os:ada")
        assert [type(one) for one in made] == [Tombstone, Tombstone, RunOwnedError, Tombstone, Tombstone]
        assert [one for one in made if isinstance(one, Tombstone)] == list((await ledger.tombstones()).rows)
        assert await ledger.runs() == [RunKey("owned", 1)] and await findings(ledger) == []
        assert await ledger.artifact(str(SHARED.named["id"])) == SHARED.text


async def test_a_thread_stays_if_its_fork_in_the_same_removal_does(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        await begun(ledger, "t")
        fork = await begun(ledger, "fork", forked="t.1")
        read = [await thread_of(ledger, thread) for thread in ("fork", "t")]
        async with ledger.owned(fork):
            made = await ledger.remove(read, "os:ada")
        assert [type(one) for one in made] == [RunOwnedError, StaleRunError]
        assert [type(one) for one in await ledger.remove(read[::-1], "os:ada")] == [StaleRunError, Tombstone]
        assert await ledger.runs() == [RunKey("t", 1)] and await findings(ledger) == []


async def test_a_thread_that_somebody_works_on_stays(driver: Driver) -> None:
    async with opened(driver, count=2) as (ledger, other):
        run = await begun(ledger, "t")
        async with other.owned(run):
            await refused(ledger, await thread_of(ledger, "t"), RunOwnedError)
            driver.own(run, departed())
            await removed(ledger, "t")


async def test_a_removed_thread_does_not_come_back_as_a_copy(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        await begun(ledger, "t")
        read = await thread_of(ledger, "t")
        await removed(ledger, "t")
        with pytest.raises(InputError):
            await ledger.adopt(read)


async def test_several_removals_at_once_make_one_chain(driver: Driver) -> None:
    async with opened(driver, count=2) as ledgers:
        for n in range(8):
            await begun(ledgers[0], f"t{n}")
        await asyncio.gather(*(removed(ledgers[n % 2], f"t{n}") for n in range(8)))
        assert [row.number for row in (await ledgers[0].tombstones()).rows] == [*range(1, 9)]
        assert await findings(ledgers[1]) == []


@pytest.mark.parametrize(
    ("column", "value"), [("by", "os:eve"), ("at", 1.0), ("first", 2), ("thread", bytes(32)), ("heads", b"")]
)
async def test_a_tombstone_that_was_changed_is_named(column: str, value: object, driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in "ab":
            await begun(ledger, thread)
            await removed(ledger, thread)
        driver.change_tombstone(2, column, value)
        assert "tombstone 2 was changed" in await findings(ledger)


@pytest.mark.parametrize(
    ("number", "found"),
    [(1, "tombstone 1 is missing"), (2, "1 run has neither a record nor a tombstone; 3 were started")],
)
async def test_a_tombstone_that_was_deleted_is_noticed(number: int, found: str, driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in "abc":
            await begun(ledger, thread)
        for thread in "ab":
            await removed(ledger, thread)
        driver.delete_tombstone(number)
        assert any(finding.startswith(found) for finding in await findings(ledger))


async def test_a_run_that_was_deleted_without_a_tombstone_is_noticed(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        for thread in ("a", "t", "t", "t"):
            await begun(ledger, thread)
        driver.delete(RunKey("t", 2))
        lost = "neither a record nor a tombstone; 4 were started"
        assert await findings(ledger) == ["run t.2 was removed without a tombstone", f"1 run has {lost}"]
        driver.delete(RunKey("a", 1))
        assert f"2 runs have {lost}" in await findings(ledger)


async def test_the_last_tombstone_is_sealed_and_a_cut_off_end_is_noticed_with_the_key(driver: Driver) -> None:
    async with opened(driver, key=KEY) as (ledger,):
        for thread in "abc":
            await begun(ledger, thread)
        for thread in "ab":
            await removed(ledger, thread)
        assert await findings(ledger, KEY) == []
        driver.delete_tombstone(2)
        assert any(
            "the chain of tombstones has a seal that does not fit" in line for line in await findings(ledger, KEY)
        )
        await sealed(ledger, "c")


async def sealed(ledger: RunStore, thread: str) -> None:
    before = await ledger.runs(), await ledger.tombstones()
    with pytest.raises(LedgerSealError):
        await removed(ledger, thread)
    assert (await ledger.runs(), await ledger.tombstones()) == before


def test_a_sealed_chain_goes_on_with_its_key_alone(driver: Driver) -> None:
    async def fill(ledger: RunStore) -> None:
        await begun(ledger, "a")
        await removed(ledger, "a")

    async def go_on(ledger: RunStore) -> None:
        await begun(ledger, "b")
        await sealed(ledger, "b")

    use(driver, fill)  # begun without a key
    use(driver, fill, key=KEY)
    use(driver, go_on)
    use(driver, go_on, key=SealKey(b"another secret of letters"))
