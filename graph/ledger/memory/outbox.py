"""Deliveries of notices in memory; see `graph.ledger.outbox`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner_executor.graph.ledger.outbox import Delivery, DeliveryKey


@dataclass
class _Posted:
    delivery: Delivery
    due_at: float | None
    failure: str | None = None


@dataclass
class MemoryOutbox:
    """See `graph.ledger.outbox.Outbox`."""

    _position: str | None = None
    _posted: dict[DeliveryKey, _Posted] = field(default_factory=dict)

    async def looked_until(self) -> str | None:
        """Return the position up to which runs were looked at."""
        return self._position

    async def add(self, deliveries: Sequence[Delivery], position: str) -> None:
        """Add the deliveries that are not known yet, and note the position."""
        for one in deliveries:
            self._posted.setdefault(one.key, _Posted(one, time.monotonic()))
        self._position = position

    async def claim(self, addresses: Sequence[str], hold_s: float, most: int = 20) -> list[Delivery]:
        """Return due deliveries to these addresses, and hold them back."""
        now = time.monotonic()
        due = [one for one in tuple(self._posted.values()) if one.due_at is not None and one.due_at <= now]
        wanted = [one for one in due if one.delivery.address in addresses][:most]
        for one in wanted:
            one.due_at = now + hold_s
        return [one.delivery for one in wanted]

    async def settle(self, delivery: Delivery, again_s: float | None, failure: str | None = None) -> None:
        """Note the outcome of a try."""
        if (posted := self._posted.get(delivery.key)) is not None:
            posted.delivery = posted.delivery._replace(tries=posted.delivery.tries + 1)
            posted.due_at = None if again_s is None else time.monotonic() + again_s
            posted.failure = failure

    async def drop(self, delivery: Delivery) -> None:
        """Note that it is not sent any more."""
        if (posted := self._posted.get(delivery.key)) is not None:
            posted.due_at = posted.failure = None

    async def given_up(self) -> int:
        """Return the number of deliveries that were given up after a failure."""
        return sum(one.due_at is None and one.failure is not None for one in self._posted.values())

    def forget(self, runs: Sequence[object]) -> None:
        """Forget the deliveries of removed runs."""
        self._posted = {key: one for key, one in self._posted.items() if one.delivery.run not in runs}
