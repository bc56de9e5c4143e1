"""The ledger under any order of work: what is read is what was written, and no tampering passes."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from graph.errors import LedgerCorruptError, StaleRunError
from graph.ledger.protocol import RunKey
from graph.ledger.sqlite import SqliteLedger
from graph.run.events import CONTROL, Draft

KINDS = ["decided", "plan_revised", "call_started", "call_finished", "paused"]
payloads = st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=5), max_size=3)
drafts = st.builds(Draft, st.sampled_from(KINDS), payloads, st.none() | st.sampled_from(["a", "b"]), st.booleans())
COLUMNS = ["kind", "step", "at", "payload", "salt", "digest", "link"]


class LedgerMachine(RuleBasedStateMachine):
    """A ledger beside a plain list of what it must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "runs.db"
        self.ledger = SqliteLedger(self.path)
        self.runs: dict[RunKey, list[Draft]] = {}

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.do(self.ledger.close())
        self.loop.close()
        self.folder.cleanup()

    def control_seq(self, run: RunKey) -> int:
        return max((seq for seq, draft in enumerate(self.runs[run], 1) if draft.kind in CONTROL), default=0)

    @initialize()
    def open_one(self) -> None:
        self.open("t")

    @rule(thread=st.sampled_from(["t", "t.1", "other"]))
    def open(self, thread: str) -> None:
        run = self.do(self.ledger.open_run(thread, [Draft("run_started", {"goal": "g"})]))
        number = 1 + sum(known.thread == thread for known in self.runs)
        assert run == RunKey(thread, number)
        self.runs[run] = [Draft("run_started", {"goal": "g", "thread": thread, "n": number})]

    @rule(data=st.data(), written=st.lists(drafts, max_size=3), guarded=st.booleans())
    def append(self, data: st.DataObject, written: list[Draft], guarded: bool) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        guard = self.control_seq(run) if guarded else None
        self.runs[run] += written
        assert self.do(self.ledger.append(run, written, control_seq=guard)) == len(self.runs[run])

    @rule(data=st.data(), written=st.lists(drafts, min_size=1, max_size=3))
    def append_stale(self, data: st.DataObject, written: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))
        guard = data.draw(st.integers(0, 9).filter(lambda seq: seq != self.control_seq(run)))
        with pytest.raises(StaleRunError):
            self.do(self.ledger.append(run, written, control_seq=guard))

    @rule(data=st.data(), written=st.lists(drafts, min_size=2, max_size=4))
    def append_at_once(self, data: st.DataObject, written: list[Draft]) -> None:
        run = data.draw(st.sampled_from(list(self.runs)))

        async def all_of_them() -> list[int]:
            return await asyncio.gather(*(self.ledger.append(run, [draft]) for draft in written))

        before = len(self.runs[run])
        assert self.do(all_of_them()) == list(range(before + 1, before + 1 + len(written)))
        self.runs[run] += written

    @rule()
    def reopen(self) -> None:
        self.do(self.ledger.close())
        self.ledger = SqliteLedger(self.path)

    @precondition(lambda self: any(len(drafts) > 1 for drafts in self.runs.values()))
    @rule(data=st.data(), column=st.sampled_from(COLUMNS))
    def tamper_and_restore(self, data: st.DataObject, column: str) -> None:
        run = data.draw(st.sampled_from([run for run, drafts in self.runs.items() if len(drafts) > 1]))
        seq = data.draw(st.integers(1, len(self.runs[run])))
        other = {"at": 1.0, "step": "tampered", "kind": "tampered", "payload": "{}"}.get(column, b"tampered")
        where = "WHERE seq = ? AND run = (SELECT id FROM ledger_runs WHERE thread = ? AND n = ?)"
        key = (seq, run.thread, run.n)
        with closing(sqlite3.connect(self.path)) as db:
            (old,) = db.execute(f"SELECT {column} FROM ledger_events {where}", key).fetchone()
            with db:
                db.execute(f"UPDATE ledger_events SET {column} = ? {where}", (other, *key))
            if old != other:
                with pytest.raises(LedgerCorruptError) as caught:
                    self.do(self.ledger.events(run))
                assert caught.value.seq == seq
            with db:
                db.execute(f"UPDATE ledger_events SET {column} = ? {where}", (old, *key))

    @invariant()
    def everything_reads_back(self) -> None:
        assert set(self.do(self.ledger.runs())) == set(self.runs)
        for run, written in self.runs.items():
            found = self.do(self.ledger.events(run))
            assert [event.seq for event in found] == list(range(1, len(written) + 1))
            assert [(event.kind, event.step, event.payload) for event in found] == [
                (draft.kind, draft.step, draft.payload) for draft in written
            ]


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
