"""A call that may not be repeated is not begun if another run of the family has begun the same one since."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ledger_drivers import DRIVERS, STARTED, Driver, opened, use, write

from planner_executor.graph.errors import CallElsewhereError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

CALL = {"key": "k1", "call": 0, "tool": "pay", "args": {"amount": 980}, "repeatable": False, "revision": 1}


def begun(step: str = "a", **more: Any) -> Draft:
    return drafted("call_started", {**CALL, **more}, step)


def ended(step: str = "a", **more: Any) -> Draft:
    return drafted("call_finished", {"call": 0, "status": "succeeded", "value": "paid", **more}, step)


def fork_of(run: RunKey) -> list[Draft]:
    return [STARTED, drafted("run_forked", {"source": run.id, "again": []})]


async def refused(ledger: RunStore, run: RunKey, draft: Draft, seen: Mapping[RunKey, int] = {}) -> bool:
    """Return whether an intent is refused, which then leaves no event."""
    before = len(await ledger.events(run))
    try:
        await write(ledger, run, [draft], seen=seen)
    except CallElsewhereError as error:
        assert error.run == run.id and len(await ledger.events(run)) == before
        return True
    return False


SAME = [begun(), begun(key="k2"), begun("b"), begun(item=3, call=2), begun(revision=7)]
OTHER = [begun(args={"amount": 981}), begun(tool="refund"), begun(repeatable=True)]


@pytest.mark.parametrize("how", ["the next run of its thread", "a fork", "what it is a fork of", "another fork"])
@pytest.mark.parametrize(("draft", "is_refused"), [*((one, True) for one in SAME), *((one, False) for one in OTHER)])
async def test_the_same_call_of_the_family_is_refused_whatever_its_step(
    driver: Driver, how: str, draft: Draft, is_refused: bool
) -> None:
    async with opened(driver) as (ledger,):
        first = await ledger.open_run("t", [STARTED])
        runs = {
            "the next run of its thread": (first, await ledger.open_run("t", [STARTED])),
            "a fork": (first, fork := await ledger.open_run("f", fork_of(first))),
            "what it is a fork of": (fork, first),
            "another fork": (fork, await ledger.open_run("g", fork_of(first))),
        }
        one, other = runs[how]
        await write(ledger, one, [begun(), ended()])
        assert await refused(ledger, other, draft) is is_refused


async def test_a_run_of_another_family_may_make_the_same_call(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        first, other = await ledger.open_run("t", [STARTED]), await ledger.open_run("u", [STARTED])
        await write(ledger, first, [begun()])
        assert not await refused(ledger, other, begun())


async def test_its_own_call_may_be_begun_again(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED, begun()])
        assert not await refused(ledger, run, begun(attempt=2))


TURNS = [
    (begun(), True),
    (ended(), True),
    (drafted("step_checked", {"met": False, "error": "no", "revision": 1, "checks": []}, "a"), True),
    (drafted("decided", {}), True),
    (begun("b", args={}), False),
    (drafted("paused", {}), False),
]


@pytest.mark.parametrize(("later", "is_refused"), TURNS)
async def test_what_the_author_has_seen_does_not_count_but_what_became_of_it_since_does(
    driver: Driver, later: Draft, is_refused: bool
) -> None:
    async with opened(driver) as (ledger,):
        first, other = await ledger.open_run("t", [STARTED]), await ledger.open_run("t", [STARTED])
        await write(ledger, first, [begun()])
        seen = (await ledger.calls_elsewhere(other)).seen
        assert seen == {first: 2}
        known = await refused(ledger, other, begun("c", key="k2"), seen)
        await write(ledger, first, [later], seen={other: 99})
        assert (known, await refused(ledger, other, begun("c", key="k2"), seen)) == (False, is_refused)


async def test_of_two_that_begin_the_same_call_at_once_one_loses(driver: Driver) -> None:
    async with opened(driver, 2) as (one, other):
        losses = []
        for n in range(8):
            first = await one.open_run(f"t{n}", [STARTED])
            fork = await other.open_run(f"f{n}", fork_of(first))
            lost = await asyncio.gather(refused(one, first, begun()), refused(other, fork, begun(key="k2")))
            losses.append(sum(lost))
        assert losses == [1] * 8


async def test_a_fork_on_a_thread_with_runs_makes_one_family_of_both(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        paid, thread = await ledger.open_run("t", [STARTED]), await ledger.open_run("u", [STARTED])
        await write(ledger, thread, [begun()])
        fork = await ledger.open_run("u", fork_of(paid))
        assert [await refused(ledger, run, begun(key="k2")) for run in (paid, fork)] == [True, True]


@pytest.mark.parametrize("first", ["t", "f"])
def test_copied_threads_are_one_family_whichever_comes_first(driver: Driver, tmp_path: Path, first: str) -> None:
    source = DRIVERS["memory"](tmp_path)

    async def filled(ledger: RunStore) -> dict[str, Any]:
        run = await ledger.open_run("t", [STARTED])
        fork = await ledger.open_run("f", fork_of(run))
        await write(ledger, run, [begun()])
        return {one.thread: await ledger.transcript(one) for one in (run, fork)}

    copies = use(source, filled)

    async def work(ledger: RunStore) -> bool:
        for thread in sorted(copies, key=lambda thread: thread != first):
            await ledger.adopt([copies[thread]])
        return await refused(ledger, RunKey("f", 1), begun(key="k2"))

    assert use(driver, work)


async def test_a_removed_run_is_forgotten(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        first = await ledger.open_run("t", [STARTED])
        fork = await ledger.open_run("f", fork_of(first))
        await write(ledger, fork, [begun(), ended()])
        await ledger.remove([[await ledger.transcript(fork)]], "ada")
        assert not await refused(ledger, first, begun(key="k2"))


async def test_a_call_with_a_redacted_value_may_be_any_of_its_tool(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        first = await ledger.open_run("t", [STARTED])
        fork = await ledger.open_run("f", fork_of(first))
        await write(ledger, first, [begun(args={"to": "ann@example.com"})])
        await ledger.redact("t", "ann@example.com", "ada", "asked for")
        assert [await refused(ledger, fork, begun(key="k2", **more)) for more in ({}, {"tool": "refund"})] == [
            True,
            False,
        ]


async def test_calls_that_differ_by_a_default_share_the_digest_on_record(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        first = await ledger.open_run("t", [STARTED])
        fork = await ledger.open_run("f", fork_of(first))
        await write(ledger, first, [begun(same="d" * 64)])
        assert await refused(ledger, fork, begun(key="k2", args={"amount": 980, "copies": 1}, same="d" * 64))
