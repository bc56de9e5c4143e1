"""A value is taken out of all runs of a thread, and what is left still proves itself."""

import json

import pytest
from ledger_drivers import Driver, opened, write

from planner_executor.graph.errors import InputError, LedgerCorruptError, RunOwnedError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.run_store import Redacted, RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

SECRET = "ada@example.org"
KEY = SealKey(b"a secret of many letters")
LARGE = keep({"text": SECRET * 1_000})
FINISHED = drafted("step_finished", {"status": "succeeded", **LARGE.fields(), "inputs": {}, "revision": 1}, "a")
STARTED = drafted("run_started", {"goal": f"mail {SECRET}", "constraints": [], "tags": [SECRET]})


async def filled(ledger: RunStore, thread: str = "t") -> list[RunKey]:
    """Write two runs that hold the value: in the goal, in an artifact, and in a message that nobody has read."""
    runs = [await ledger.open_run(thread, [STARTED]) for _ in range(2)]
    await write(ledger, runs[0], [drafted("paused", {"reason": "x"}), FINISHED], artifacts=[LARGE])
    await ledger.post(runs[1], json.dumps({"feedback": SECRET}))
    return runs


async def redacted(ledger: RunStore, thread: str = "t") -> Redacted:
    return await ledger.redact(thread, SECRET, "os:ada", f"asked by {SECRET}")


async def test_a_value_is_out_of_events_artifacts_messages_and_index_and_the_chain_holds(driver: Driver) -> None:
    async with opened(driver, key=KEY) as (ledger,):
        first, second = await filled(ledger)
        before = await ledger.transcript(first)
        done = await redacted(ledger)
        assert dict(done.events) == {first: (1, 3), second: (1,)} and (done.artifacts, done.remaining) == (1, ())
        for run in (first, second):
            transcript = await ledger.transcript(run)
            found = verify(transcript, KEY, before.head.hex() if run == first else None)
            assert found.is_whole and found.seal == "whole"
            assert not any(SECRET in text for text in (*transcript.artifacts.values(), *map(str, transcript.rows)))
            ended = (await ledger.events(run))[-1]
            assert (ended.kind, ended.payload["by"]) == ("redacted", "os:ada")
            assert ended.payload["reason"] == "asked by [redacted]"
        with pytest.raises(LedgerCorruptError):
            await ledger.artifact(str(LARGE.named["id"]))
        (row, _) = await ledger.page(RunFilter())
        assert SECRET not in row.goal and SECRET not in row.tags and await ledger.misindexed() == []
        assert await ledger.page(RunFilter(tag=SECRET)) == []
        async with ledger.owned(second) as lease:
            assert await ledger.take_messages(lease) == [json.dumps({"feedback": "[redacted]"})]
            await ledger.append(lease, [drafted("paused", {"reason": "x"})])
        assert await ledger.misindexed() == []


async def test_a_value_is_out_of_standing_approvals_which_still_prove_themselves(driver: Driver) -> None:
    given = StandingApproval("one", "pay", {"to": {"one_of": [SECRET]}}, 2, "f", "p", ("server:bo",), 1.0, until=9e9)

    async with opened(driver) as (ledger,):
        runs = await filled(ledger)
        other = given._replace(id="two", args={"to": {"one_of": ["bo@example.org"]}})
        await ledger.write(runs[0], [], after=0, given=[given, other])
        async with ledger.owned(runs[0]) as lease:
            await ledger.append(
                lease, [drafted("paused", {"reason": "x"})], uses=[StandingCall("one", "c", runs[0].id)]
            )
        done = await redacted(ledger)
        assert (done.approvals, done.remaining) == (1, ())
        one, two = sorted(await ledger.standing(), key=lambda use: use.approval.id)
        assert one.approval.args == {"to": {"one_of": ["[redacted]"]}} and one.left == 1
        assert two.approval.args == {"to": {"one_of": ["bo@example.org"]}}
        assert await ledger.revoke_standing("one", "os:bo")
        assert (await redacted(ledger)).approvals == 0


async def test_a_value_that_a_standing_approval_is_read_by_is_not_taken_out(driver: Driver) -> None:
    given = StandingApproval("one", f"pay_{SECRET}", {}, 2, "f", "p", ("server:bo",), 1.0, until=9e9)

    async with opened(driver) as (ledger,):
        runs = await filled(ledger)
        await ledger.write(runs[0], [], after=0, given=[given])
        with pytest.raises(InputError, match="cannot be taken out of a standing approval: it stands in tool"):
            await redacted(ledger)
        assert (await ledger.events(RunKey("t", 1)))[0].payload["goal"] == f"mail {SECRET}"


async def test_what_other_threads_hold_stays_and_is_named(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        await filled(ledger)
        others = await filled(ledger, "other")
        done = await redacted(ledger)
        assert {f"run {run.id}" for run in others} <= set(done.remaining)
        assert (await ledger.events(others[0]))[0].payload["goal"] == f"mail {SECRET}"
        assert await ledger.artifact(str(LARGE.named["id"])) == LARGE.text
        assert (await redacted(ledger, "other")).remaining == ()


async def test_a_value_that_is_nowhere_leaves_all_as_it_was(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        runs = await filled(ledger)
        before = [await ledger.events(run) for run in runs]
        done = await ledger.redact("t", "never said", "os:ada", "r")
        assert (done.events, done.artifacts) == ({}, 0)
        assert [await ledger.events(run) for run in runs] == before


@pytest.mark.parametrize("value", ["abc", "succeeded"])
async def test_a_word_that_the_record_needs_is_refused_and_nothing_changes(driver: Driver, value: str) -> None:
    async with opened(driver) as (ledger,):
        runs = await filled(ledger)
        before = [await ledger.transcript(run) for run in runs]
        with pytest.raises(InputError):
            await ledger.redact("t", value, "os:ada", "r")
        assert [await ledger.transcript(run) for run in runs] == before


async def test_a_thread_is_not_redacted_while_one_of_its_runs_is_worked_on(driver: Driver) -> None:
    async with opened(driver, count=2, pace=Pace(beat_s=0.01, look_s=0.005)) as (ledger, other):
        first, second = await filled(ledger)
        async with other.owned(second):
            with pytest.raises(RunOwnedError):
                await redacted(ledger)
        assert not await ledger.is_worked_on(first)
        assert (await ledger.events(first))[0].payload["goal"] == f"mail {SECRET}"
