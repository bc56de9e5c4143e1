"""Deliveries on their way, in a lane for each address: a slow receiver holds up its own notices and no others."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from planner_executor.graph.ledger.outbox import Delivery, Outbox

HOLD_S = 120.0
"""How long a delivery is left to the process that sends it; more than a try takes."""
AT_ONCE, MOST_LANES = 4, 32
"""How many notices are sent to one address at a time, and to how many addresses."""


@dataclass(frozen=True)
class Try:
    """One try of a delivery: whether it arrived or was dropped, in a sentence too."""

    is_settled: bool
    sentence: str


class Lanes:
    """What is due in an outbox, on its way to several addresses at a time."""

    def __init__(
        self, outbox: Outbox, addresses: Collection[str], try_one: Callable[[Delivery], Awaitable[Try]]
    ) -> None:
        self._outbox, self._addresses, self._try_one = outbox, frozenset(addresses), try_one
        self._busy: dict[str, asyncio.Task[list[Try]]] = {}

    async def fill(self) -> bool:
        """Begin what is due for addresses to which nothing is on its way; return whether anything is now."""
        while (free := sorted(self._addresses - self._busy.keys())) and len(self._busy) < MOST_LANES:
            if not (due := await self._outbox.claim(free, HOLD_S, AT_ONCE)):
                break
            for name in {delivery.address for delivery in due}:
                batch = [delivery for delivery in due if delivery.address == name]
                self._busy[name] = asyncio.create_task(self._sent(batch))
        return bool(self._busy)

    async def ended(self, limit_s: float) -> list[str]:
        """Wait until a lane is free again, but not longer than this; return a sentence for each try.

        An address that a notice did not reach is left alone from then on.
        """
        await asyncio.wait(self._busy.values(), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        told: list[Try] = []
        for name, lane in [(name, lane) for name, lane in self._busy.items() if lane.done()]:
            del self._busy[name]
            tries = lane.result()
            # Its next notices would wait as long, and hold up the end of this call.
            if not all(one.is_settled for one in tries):
                self._addresses -= {name}
            told += tries
        return [one.sentence for one in told]

    async def close(self) -> None:
        """Stop; what was on its way is due again after a while."""
        for lane in self._busy.values():
            lane.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def _sent(self, batch: Collection[Delivery]) -> list[Try]:
        return list(await asyncio.gather(*map(self._try_one, batch)))
