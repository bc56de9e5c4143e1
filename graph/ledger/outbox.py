"""Deliveries of notices: address, notice and time of the next attempt; stored beside the events of the runs."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from planner_executor.graph.record.run_key import RunKey

DeliveryKey = tuple[str, int, str, float, str]
"""Thread and number of the run, kind, time, address."""


class Delivery(NamedTuple):
    """A notice to one address. Run, kind, time and address identify it; it is written once.

    `kind` is one of `graph.notices.notice.KINDS`, `since` the time of what it is about in Unix seconds, `status` the
    run's status and `asks` what a person is asked then. `address` is the name of an address, never the address itself.
    `tries` counts the tries before this one.
    """

    run: RunKey
    kind: str
    since: float
    status: str
    asks: tuple[str, ...]
    address: str
    tries: int = 0

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> "Delivery":
        """Return the delivery in a row of an SQL driver: thread and number of the run, and the other fields."""
        thread, n, kind, since, status, asks, address, tries = row
        return cls(RunKey(thread, n), kind, since, status, tuple(json.loads(asks)), address, tries)

    @property
    def key(self) -> DeliveryKey:
        """What identifies it."""
        return self.run.thread, self.run.n, self.kind, self.since, self.address


class Outbox(Protocol):
    """The deliveries of a database. Times are those of the database's clock; sent deliveries stay until their run goes.

    `tests/ledger_contract/test_outbox.py` checks each sentence for every driver.
    """

    async def looked_until(self) -> str | None:
        """Return the position of `RunStore.changes` up to which runs were looked at, or None before the first look."""

    async def add(self, deliveries: Sequence[Delivery], position: str) -> None:
        """Add the deliveries that are not known yet, due now, and note the position, in one transaction."""

    async def claim(self, addresses: Sequence[str], hold_s: float, most: int = 20) -> list[Delivery]:
        """Return due deliveries to these addresses, the oldest first, and hold them back for `hold_s` seconds.

        Of several callers at a time one gets a delivery. One whose process dies is due again after that time.
        """

    async def settle(self, delivery: Delivery, again_s: float | None, failure: str | None = None) -> None:
        """Note the outcome of a try: delivered without a failure, else to be tried after `again_s`, None for never."""

    async def drop(self, delivery: Delivery) -> None:
        """Note that it is not sent any more, since what it says is no longer so; it keeps no failure."""

    async def given_up(self) -> int:
        """Return the number of deliveries that were given up after a failure."""
