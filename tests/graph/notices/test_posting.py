"""Deliveries: which become due about a run, how each is tried, and when one is given up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from planner_executor.graph.errors import LedgerUnavailableError, NoticeError
from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.notices import apprise, lanes, webhook
from planner_executor.graph.notices.addresses import KINDS, Address, Addresses
from planner_executor.graph.notices.posting import MOST_TRIES, again_s, deliveries_about, look, tell
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.testing import drafted

Result = TypeVar("Result")
RUN = RunKey("t", 1)
OPS, ADA = Address("ops", "https://hooks.example.org"), Address("ada", "mailto://ada@example.org")
TOLD = {"waits": ("ops", "ada"), "failed": ("ops",), "ended": ()}
ADDRESSES = Addresses({"ops": OPS, "ada": ADA}, TOLD)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (RunSummary("t", 1, 9, "failed", ended_at=5.0), [Delivery(RUN, "failed", 5.0, "failed", (), "ops")]),
        (RunSummary("t", 1, 9, "succeeded", ended_at=5.0), []),
        (RunSummary("t", 1, 9, "running"), []),
        (
            RunSummary("t", 1, 9, "waiting", waits_for="person", waiting_since=7.0, asks=("run_plan",)),
            [Delivery(RUN, "waits", 7.0, "waiting", ("run_plan",), name) for name in ("ops", "ada")],
        ),
        (RunSummary("t", 1, 9, "waiting", waits_for="other", waiting_since=7.0), []),
    ],
)
def test_each_address_that_hears_of_this_kind_gets_a_delivery(run: RunSummary, told: list[Delivery]) -> None:
    assert deliveries_about(run, ADDRESSES) == told


@pytest.mark.parametrize(("tries", "wait_s"), [(1, 30.0), (2, 60.0), (9, 7_680.0), (10, 14_400.0), (23, 14_400.0)])
def test_tries_become_rarer_up_to_four_hours(tries: int, wait_s: float) -> None:
    assert again_s(tries) == wait_s
    assert again_s(24) is None


@asynccontextmanager
async def in_memory() -> AsyncIterator[MemoryLedger]:
    ledger = MemoryLedger()
    try:
        yield ledger
    finally:
        await ledger.close()


async def ended(ledger: MemoryLedger, thread: str) -> RunKey:
    started, over = (
        drafted("run_started", {"goal": "g", "thread": thread, "n": 1}),
        drafted("run_ended", {"status": "failed", "reason": "r"}),
    )
    run = await ledger.open_run(thread, [started])
    async with ledger.owned(run) as lease:
        await ledger.append(lease, [over])
    return run


async def failure(ledger: MemoryLedger, thread: str = "t") -> Delivery:
    """Return the delivery to `ops` about a run that has failed just now."""
    run = await ended(ledger, thread)
    (summary,) = await ledger.summaries([run])
    assert summary.ended_at is not None
    return Delivery(run, "failed", summary.ended_at, "failed", (), "ops")


async def due(ledger: MemoryLedger) -> list[str]:
    return [delivery.run.id for delivery in await ledger.outbox.claim(["ops"], 60)]


async def test_the_first_look_of_a_database_is_about_the_runs_of_its_process_alone() -> None:
    async with in_memory() as ledger:
        old, mine = await ended(ledger, "old"), await ended(ledger, "mine")
        await look(ledger, ADDRESSES, [mine])
        found = [await due(ledger)]
        await ended(ledger, "later")
        for also in ([], [old]):
            await look(ledger, ADDRESSES, also)
            found.append(await due(ledger))
        assert found == [["mine.1"], ["later.1"], ["old.1"]]


async def test_a_look_at_what_has_not_changed_adds_nothing_twice() -> None:
    async with in_memory() as ledger:
        run = await ended(ledger, "t")
        for also in ([run], [], [run]):
            await look(ledger, ADDRESSES, also)
        assert await due(ledger) == ["t.1"]


async def test_what_is_due_is_sent_once_and_said() -> None:
    sent: list[str] = []

    async def send(address: Address, _: Addresses, delivery: Delivery) -> None:
        sent.append(f"{address.name}: {delivery.kind}")

    async with in_memory() as ledger:
        await look(ledger, ADDRESSES, [await ended(ledger, "t")])
        said: list[object] = []
        for _ in range(2):
            await tell(ledger, ADDRESSES, said.append, send=send)
        assert said == ["notified ops: t.1 ended: failed"]
    assert sent == ["ops: failed"]


@pytest.mark.parametrize(
    ("tries", "then", "given_up"), [(0, "tried again in 30 s", 0), (MOST_TRIES - 1, "it is given up", 1)]
)
async def test_what_did_not_arrive_is_tried_again_or_given_up(tries: int, then: str, given_up: int) -> None:
    async def send(*_: object) -> None:
        raise NoticeError("the receiver answered with 503")

    async with in_memory() as ledger:
        delivery, said = await failure(ledger), list[str]()
        await ledger.outbox.add([delivery], "0")
        for _ in range(tries):
            await ledger.outbox.settle(delivery, again_s=0.0)
        await tell(ledger, ADDRESSES, said.append, send=send)
        (said,), left = (said, await ledger.outbox.given_up())

    assert said == f"could not notify ops that t.1 ended: failed: the receiver answered with 503; {then}"
    assert left == given_up


async def test_a_notice_that_arrived_is_settled_as_delivered() -> None:
    async def send(*_: object) -> None: ...

    async with in_memory() as ledger:
        await ledger.outbox.add([await failure(ledger)], "0")
        await tell(ledger, ADDRESSES, lambda _: None, send=send)
        assert (await due(ledger), await ledger.outbox.given_up()) == ([], 0)


async def test_a_receiver_that_does_not_answer_holds_up_no_other_and_none_that_comes_later() -> None:
    told: list[str] = []

    async with in_memory() as ledger:
        over = asyncio.Event()

        async def send(address: Address, _: Addresses, delivery: Delivery) -> None:
            if delivery.run.thread == "t29" and address is ADA:
                await ended(ledger, "later")
            if delivery.run.thread == "later":
                over.set()
            if address is OPS:
                await over.wait()  # it answers only after all of the others have been sent
                raise NoticeError("it did not answer")

        slow = [await failure(ledger, f"t{n}") for n in range(30)]
        await ledger.outbox.add(slow, "0")
        await ledger.outbox.add([one._replace(address="ada") for one in slow], "0")
        both = Addresses(ADDRESSES.by_name, {**TOLD, "failed": ("ada",)})
        await tell(ledger, both, told.append, send=send)
    to_ada = [line for line in told if line.startswith("notified ada")]
    assert len(to_ada) == 31 and "later.1" in to_ada[-1]
    assert len(told) == 35, "the address that was not reached is left alone until later"


async def test_the_new_runs_of_this_process_are_told_at_the_first_look_too() -> None:
    told: list[str] = []

    async def send(*_: object) -> None: ...

    async with in_memory() as ledger:
        news = [[await ended(ledger, "t")]]
        await tell(ledger, ADDRESSES, told.append, lambda: news.pop() if news else (), send)
    assert told == ["notified ops: t.1 ended: failed"]


@pytest.mark.parametrize("thing", ["another moment", "another kind"])
async def test_what_is_no_longer_so_is_dropped_and_not_given_up(thing: str) -> None:
    sent: list[object] = []
    told: list[str] = []

    async def send(*of: object) -> None:
        sent.append(of)

    async with in_memory() as ledger:
        so = await failure(ledger)
        changed = {
            "another moment": so._replace(since=so.since - 1.0),
            "another kind": so._replace(kind="waits"),
        }
        more = (changed[thing]._replace(since=so.since - n) for n in range(2, 7))
        several = [changed[thing], *more]  # more than are sent at a time
        await ledger.outbox.add(several, "0")
        for _ in range(2):
            await tell(ledger, Addresses(ADDRESSES.by_name, dict.fromkeys(KINDS, ())), told.append, send=send)
            assert len(told) == len(several)
        assert (await due(ledger), await ledger.outbox.given_up(), sent) == ([], 0, [])
    assert all(one.startswith("did not notify ops that ") and one.endswith(": it is no longer so") for one in told)


@pytest.mark.parametrize("late_s", [0.0, 1.0], ids=["sent", "dropped"])
async def test_what_is_settled_is_never_due_again(late_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    async def send(*_: object) -> None: ...

    monkeypatch.setattr(lanes, "HOLD_S", 0.0)
    told: list[str] = []

    def report(sentence: str) -> None:
        assert not told
        told.append(sentence)

    async with in_memory() as ledger:
        so = await failure(ledger)
        await ledger.outbox.add([so._replace(since=so.since - late_s)], "0")
        await tell(ledger, Addresses(ADDRESSES.by_name, dict.fromkeys(KINDS, ())), report, send=send)
    assert len(told) == 1


async def test_what_is_on_its_way_is_stopped_if_the_ledger_fails() -> None:
    stopped: list[bool] = []

    async def send(*_: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    async with in_memory() as ledger:

        def report(_: str) -> None:
            raise LedgerUnavailableError("memory", "is away")

        async def answer(address: Address, *_: object) -> None:
            await (send() if address is OPS else asyncio.sleep(0))

        to_ops = await failure(ledger)
        await ledger.outbox.add([to_ops, to_ops._replace(address="ada")], "0")
        with pytest.raises(LedgerUnavailableError):
            await tell(ledger, ADDRESSES, report, send=answer)
        assert stopped == [True]


@pytest.mark.parametrize(("link", "body"), [("https://desk/{run}", "https://desk/t.1"), (None, "t.1 ended: failed")])
async def test_a_notice_is_sent_the_way_of_its_address(
    link: str | None, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []

    async def note(*told: Any) -> None:
        sent.append(told)

    monkeypatch.setattr(webhook, "send", note)
    monkeypatch.setattr(apprise, "send", note)
    addresses = Addresses(ADDRESSES.by_name, {**TOLD, "failed": ("ops", "ada")}, b"secret", link)

    async with in_memory() as ledger:
        await look(ledger, addresses, [await ended(ledger, "t")])
        await tell(ledger, addresses, lambda _: None)
    mail, hook = sorted(sent, key=len)
    assert mail == (ADA.url, "t.1 ended: failed", body)
    assert hook[:2] == (OPS.url, b"secret") and (hook[2]["run"], hook[2]["link"]) == ("t.1", link and body)
