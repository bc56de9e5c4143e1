"""The counts of caps across runs in memory; changes require the lock of the store."""

import time
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planner_executor.graph.ledger.caps import KEPT_S, check_day, check_turn, corrected
from planner_executor.graph.record.caps import CapCorrection, CapEntry, CapUse

Day = tuple[str, str, float]
"""A cap, its user, and the end of the day."""
Counted = Mapping[tuple[str, str], tuple[float, float]]
"""Cap and user -> the end of the day, and the amount that counts for a call."""


@dataclass
class MemoryCaps:
    """What was used of caps by day, what was counted by the key of the call, and the last turn of each rate."""

    used: ChainMap[Day, float] = field(default_factory=ChainMap)
    counted: ChainMap[str, Counted] = field(default_factory=ChainMap)
    turns: ChainMap[str, float] = field(default_factory=ChainMap)

    def entered(self, database: str, entries: Sequence[CapEntry]) -> "MemoryCaps":
        """Return the counts with calls counted or corrected, on top of these, which do not change; see `keep`.

        Raises:
            CapReachedError: A cap allows a call only later.
        """
        changed = MemoryCaps(self.used.new_child(), self.counted.new_child(), self.turns.new_child())
        for entry in entries:
            if isinstance(entry, CapUse):
                changed._count(database, entry, time.time())
            else:
                changed._correct(entry)
        return changed

    def keep(self, changed: "MemoryCaps") -> None:
        """Take over what was entered, and forget old days if a new one has begun."""
        # Old days are looked for only with the first call of a new one: all of them are gone through.
        is_new_day = not self.used.keys() >= changed.used.maps[0].keys()
        self.used.update(changed.used.maps[0])
        self.counted.update(changed.counted.maps[0])
        self.turns.update(changed.turns.maps[0])
        if is_new_day:
            self._forget(time.time() - KEPT_S)

    def _forget(self, before: float) -> None:
        for day in [day for day in self.used if day[2] < before]:
            del self.used[day]
        for call in [call for call, noted in self.counted.items() if all(end < before for end, _ in noted.values())]:
            del self.counted[call]

    def _count(self, database: str, use: CapUse, now: float) -> None:
        for rate in use.turns:
            check_turn(database, rate, rate.wait_s(self.turns.get(rate.name), now))
            self.turns[rate.name] = now
        noted = dict(self.counted.get(use.call, {}))
        for cap, amount in use.amounts:
            until = cap.until(now)
            day = (cap.name, cap.user, until)
            used = self.used.get(day, 0.0)
            check_day(database, cap, used, amount, now)
            self.used[day] = used + amount
            noted[cap.name, cap.user] = until, noted.get((cap.name, cap.user), (until, 0.0))[1] + amount
        self.counted[use.call] = noted

    def _correct(self, entry: CapCorrection) -> None:
        noted = dict(self.counted.get(entry.call, {}))
        for (name, person), (until, counted) in noted.items():
            amount = corrected(counted, entry.more, name)
            day = (name, person, until)
            self.used[day] = max(0.0, self.used.get(day, 0.0) + amount - counted)
            noted[name, person] = until, amount
        self.counted[entry.call] = noted
