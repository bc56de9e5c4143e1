"""Observers on threads of their own: in order, in the caller's context, and never in anybody's way."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.observing.observed import ObservedLedger
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

USER = contextvars.ContextVar("USER", default="nobody")


def drafts(*names: str) -> list[Draft]:
    return [drafted("steered", {"approver": name}) for name in names]


def write(observers: Sequence[Any], *names: str, timeout_s: float = 10.0) -> None:
    async def main() -> None:
        inner = MemoryLedger()
        ledger = ObservedLedger(inner, observers, timeout_s)
        for name in names:
            await ledger.open_run("t", drafts(name))
        await inner.close()

    asyncio.run(main())


def test_events_are_told_in_order_on_one_thread_that_is_not_the_event_loops() -> None:
    told: list[str] = []
    idents: set[int] = set()

    def observer(_: RunKey, events: Sequence[Draft]) -> None:
        told.extend(event.data.approver for event in events)
        idents.add(threading.get_ident())

    names = [str(number) for number in range(20)]
    write([observer], *names)

    assert told == names and len(idents) == 1 and threading.get_ident() not in idents


def test_an_observer_sees_the_context_of_who_writes() -> None:
    users: list[str] = []
    USER.set("ann")
    write([lambda *_: users.append(USER.get())], "a")

    assert users == ["ann"]


def test_an_observer_that_hangs_holds_up_nobody_and_is_told_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    go, hung, told = threading.Event(), list[str](), list[str]()

    def hangs(_: RunKey, events: Sequence[Draft]) -> None:
        hung.append(events[0].data.approver)
        go.wait(60)

    with caplog.at_level(logging.WARNING, "planner_executor.observing"):
        write([hangs, lambda _, events: told.append(events[0].data.approver)], "a", "b", "c", timeout_s=0.01)
    go.set()

    assert told == ["a", "b", "c"] and hung == ["a"]
    assert len([line for line in caplog.messages if "not returned" in line]) == 1


def test_an_observer_is_told_of_each_event_once_however_it_is_written() -> None:
    told: list[tuple[int, str]] = []

    def observer(run: RunKey, events: Sequence[Draft]) -> None:
        told.extend((run.n, event.data.approver) for event in events)

    async def main() -> list[tuple[int, str]]:
        inner = MemoryLedger()
        ledger = ObservedLedger(inner, [observer])
        async with ledger.begun("t", drafts("begun")) as owned:
            run = owned.lease.run
            await ledger.append(owned.lease, drafts("appended"))
            await ledger.write(owned.lease, drafts("written"), after=2, and_release=True)
        await ledger.write(run, drafts("alone"), after=3)
        async with ledger.owned_and_read(run, 1, drafts("too late")) as owned:
            assert not owned.opened
        async with ledger.owned_and_read(run, 4, drafts("opening")) as owned:
            assert owned.opened
            await inner.post(run, "pause")
            await ledger.take_messages(owned.lease, lambda _: drafts("answer"))
        written = [(run.n, event.data.approver) for event in await inner.events(run)]
        await inner.close()
        return written

    written = asyncio.run(main())

    assert told == written
    assert [name for _, name in told] == ["begun", "appended", "written", "alone", "opening", "answer"]
