"""What a ledger must hold, beside the ledgers on one database that hold it."""

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine
from ledger_drivers import NEVER_S, Driver

from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.protocol import Lease, Message
from planner_executor.graph.record.events import CONTROL, Draft
from planner_executor.graph.record.run_key import RunKey


class LedgerModel(RuleBasedStateMachine):
    """Ledgers on one database beside plain lists of what it must hold: events, leases given out, messages left."""

    make: Callable[[Path], Driver]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.driver = type(self).make(Path(self.folder.name))
        self.ledger = self.driver.open(pace=Pace(NEVER_S))  # those who are said to be gone must not beat
        self.ledgers = [self.ledger]
        self.texts: set[str] = set()
        self.runs: dict[RunKey, list[Draft]] = {}
        self.leases: dict[RunKey, list[Lease]] = {}
        self.inbox: dict[RunKey, list[Message]] = {}
        self.owners: dict[RunKey, AbstractAsyncContextManager[Lease]] = {}
        self.displaced: list[tuple[RunKey, AbstractAsyncContextManager[Lease]]] = []

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        for owner in [*self.owners.values(), *(owner for _, owner in self.displaced)]:
            self.do(owner.__aexit__(None, None, None))
        for ledger in self.ledgers:
            self.do(ledger.close())
        self.loop.close()
        self.folder.cleanup()

    def control_seq(self, run: RunKey) -> int:
        return max((seq for seq, draft in enumerate(self.runs[run], 1) if draft.kind in CONTROL), default=0)

    def take(self, run: RunKey) -> None:
        owner = self.ledger.owned(run)
        lease = self.do(owner.__aenter__())
        assert lease.run == run and lease.token == len(self.leases[run]) + 1
        self.leases[run].append(lease)
        self.owners[run] = owner

    def lease_of(self, run: RunKey) -> Lease:
        """Return the lease in force of a run, which somebody else may have had before."""
        if run not in self.owners:
            self.take(run)
        return self.leases[run][-1]
