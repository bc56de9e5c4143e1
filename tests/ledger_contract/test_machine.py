"""Every ledger under any order of work: what is read is what was written, and no damage passes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from ledger_drivers import DRIVERS, NEVER_S, PARAMETERS, departed
from ledger_model import LedgerModel

from planner_executor.graph.errors import LeaseLostError, LedgerCorruptError, MessageWaitingError, StaleRunError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.protocol import Message
from planner_executor.graph.ledger.replaced_owner import replacement
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted


def draft_of(kind: str, payload: dict[str, Any], step: str | None) -> Draft:
    """Return an event; a call may be repeated, as an identical one that may not is refused (`test_families`)."""
    return drafted(kind, {**payload, "repeatable": True} if kind == "call_started" else payload, step)


KINDS = ["decided", "plan_revised", "call_started", "call_finished", "paused"]
payloads = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=5), max_size=3)
drafts = st.builds(draft_of, st.sampled_from(KINDS), payloads, st.none() | st.sampled_from(["a", "b"]))
HAS_PROC = Path("/proc/self/stat").exists()
COLUMNS = ["kind", "step", "at", "payload", "salt", "digest", "link"]


class LedgerMachine(LedgerModel):
    """Work on the ledgers in any order."""

    @initialize()
    def open_one(self) -> None:
        self.open("t")

    @rule(thread=st.sampled_from(["t", "t.1", "other"]))
    def open(self, thread: str) -> None:
        run = self.do(self.ledger.open_run(thread, [drafted("run_started", {"goal": "g"})]))
        number = 1 + sum(known.thread == thread for known in self.runs)
        assert run == RunKey(thread, number)
        self.runs[run] = [drafted("run_started", {"goal": "g"}).of_run(thread, number)]
        self.leases[run], self.inbox[run] = [], []

    @precondition(lambda self: len(self.owners) < len(self.runs))
    @rule(data=st.data())
    def own(self, data: st.DataObject) -> None:
        self.take(data.draw(st.sampled_from([run for run in self.runs if run not in self.owners])))

    @precondition(lambda self: self.owners)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(list(self.owners)))
        self.do(self.owners.pop(run).__aexit__(None, None, None))

    @precondition(lambda self: self.owners and HAS_PROC)
    @rule(data=st.data())
    def take_over(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(list(self.owners)))
        self.driver.own(run, departed())
        self.runs[run] += replacement(self.driver.holder(run))
        assert not self.do(self.ledger.is_worked_on(run))
        self.displaced.append((run, self.owners.pop(run)))
        self.take(run)

    @precondition(lambda self: self.displaced)
    @rule(data=st.data())
    def release_what_was_taken_over(self, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(self.displaced) - 1))
        self.do(self.displaced.pop(place)[1].__aexit__(None, None, None))

    @precondition(lambda self: any(len(leases) > 1 for leases in self.leases.values()))
    @rule(
        data=st.data(), written=st.lists(drafts, max_size=3), guarded=st.booleans(), require_empty_inbox=st.booleans()
    )
    def append_under_an_old_lease(
        self, data: st.DataObject, written: list[Draft], guarded: bool, require_empty_inbox: bool
    ) -> None:
        old = data.draw(st.sampled_from([lease for leases in self.leases.values() for lease in leases[:-1]]))
        guard = self.control_seq(old.run) if guarded else None
        with pytest.raises(LeaseLostError):
            self.do(self.ledger.append(old, written, control_seq=guard, require_empty_inbox=require_empty_inbox))
        with pytest.raises(LeaseLostError):
            self.do(self.ledger.take_messages(old))

    @rule(data=st.data(), message=st.sampled_from(["pause", "cancel"]))
    def post(self, data: st.DataObject, message: Message) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        self.do(self.ledger.post(run, message))
        self.inbox[run].append(message)

    @rule(data=st.data(), answered=st.lists(drafts, max_size=2))
    def take_messages(self, data: st.DataObject, answered: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        taken = self.do(self.ledger.take_messages(self.lease_of(run), lambda messages: answered if messages else ()))
        assert taken == self.inbox[run]
        self.runs[run] += answered if taken else []
        self.inbox[run] = []

    @rule(data=st.data(), written=st.lists(drafts, max_size=3))
    def append_if_no_message_waits(self, data: st.DataObject, written: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        lease = self.lease_of(run)
        if self.inbox[run]:
            with pytest.raises(MessageWaitingError):
                self.do(self.ledger.append(lease, written, require_empty_inbox=True))
        else:
            self.runs[run] += written
            assert self.do(self.ledger.append(lease, written, require_empty_inbox=True)) == len(self.runs[run])

    @rule(data=st.data(), written=st.lists(drafts, max_size=3), guarded=st.booleans())
    def append(self, data: st.DataObject, written: list[Draft], guarded: bool) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        guard = self.control_seq(run) if guarded else None
        self.runs[run] += written
        assert self.do(self.ledger.append(self.lease_of(run), written, control_seq=guard)) == len(self.runs[run])

    @rule(data=st.data(), written=st.lists(drafts, min_size=1, max_size=3))
    def append_stale(self, data: st.DataObject, written: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        guard = data.draw(st.integers(0, 9).filter(lambda seq: seq != self.control_seq(run)))
        lease = self.lease_of(run)
        with pytest.raises(StaleRunError):
            self.do(self.ledger.append(lease, written, control_seq=guard))

    @rule(data=st.data(), written=st.lists(drafts, min_size=2, max_size=4))
    def append_at_once(self, data: st.DataObject, written: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))

        lease = self.lease_of(run)

        async def all_of_them() -> list[int]:
            return await asyncio.gather(*(self.ledger.append(lease, [draft]) for draft in written))

        before = len(self.runs[run])
        assert self.do(all_of_them()) == list(range(before + 1, before + 1 + len(written)))
        self.runs[run] += written

    @rule(data=st.data(), closing=st.booleans())
    def go_on_with_another_connection(self, data: st.DataObject, closing: bool) -> None:
        if closing:
            self.do(self.ledger.close())  # it opens again on use, be it to let go of a run
        if len(self.ledgers) < 3:
            self.ledgers.append(self.driver.open(pace=Pace(NEVER_S)))
        self.ledger = data.draw(st.sampled_from(self.ledgers))

    @rule(data=st.data(), text=st.text(max_size=3).map(lambda letters: letters * 3_000))
    def append_with_an_artifact(self, data: st.DataObject, text: str) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        kept = keep(text)
        draft = drafted("call_finished", kept.fields())
        self.runs[run].append(draft)
        assert self.do(self.ledger.append(self.lease_of(run), [draft], artifacts=[kept])) == len(self.runs[run])
        self.texts |= {text} if kept.artifact else set()

    @precondition(lambda self: any(len(drafts) > 1 for drafts in self.runs.values()))
    @rule(data=st.data(), column=st.sampled_from(COLUMNS))
    def tamper_and_restore(self, data: st.DataObject, column: str) -> None:
        run = data.draw(st.sampled_from([run for run, drafts in self.runs.items() if len(drafts) > 1]))
        seq = data.draw(st.integers(1, len(self.runs[run])))
        other = {"at": 1.0, "step": "tampered", "kind": "tampered", "payload": "{}"}.get(column, b"tampered")
        old = self.driver.change(run, seq, column, other)
        if old != other:
            with pytest.raises(LedgerCorruptError) as caught:
                self.do(self.ledger.events(run))
            assert caught.value.seq == seq
        self.driver.change(run, seq, column, old)

    @rule(data=st.data())
    def cut_off_and_restore(self, data: st.DataObject) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        left = data.draw(st.integers(0, len(self.runs[run]) - 1))
        lease = self.lease_of(run)
        restore = self.driver.cut(run, left)
        for work in (self.ledger.events(run), self.ledger.append(lease, [drafted("paused", {})])):
            with pytest.raises(LedgerCorruptError) as caught:
                self.do(work)
            assert caught.value.seq == left + 1
        restore()

    @invariant()
    def owned_is_worked_on(self) -> None:
        for run in self.runs:
            assert self.do(self.ledger.is_worked_on(run)) == (run in self.owners)

    @invariant()
    def artifacts_read_back(self) -> None:
        for text in self.texts:
            artifact = keep(text).artifact
            assert artifact is not None and json.loads(self.do(self.ledger.artifact(artifact.id))) == text

    @invariant()
    def everything_reads_back(self) -> None:
        assert set(self.do(self.ledger.runs())) == set(self.runs)
        for run, written in self.runs.items():
            found = self.do(self.ledger.events(run))
            assert [event.seq for event in found] == list(range(1, len(written) + 1))
            assert [(event.kind, event.step, event.payload) for event in found] == [
                (draft.kind, draft.step, draft.payload) for draft in written
            ]


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_ledger_holds_in_any_order_of_work(name: str) -> None:
    machine = type(f"{name.capitalize()}Machine", (LedgerMachine,), {"make": staticmethod(DRIVERS[name])})

    examples = 10 if name == "postgres" else 12  # a server takes ten times as long
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None))
