"""The next moments of schedules, shared by all workers of a database."""

from typing import Protocol

from planner_executor.graph.record.moment import Moment


class Timetable(Protocol):
    """One moment for each schedule, by its name.

    The table is made by the first moment and is no part of the ledger's schema: a database without it has no schedule,
    and an older release leaves it alone (decision 163). `tests/ledger_contract/test_timetable.py` checks every driver.
    """

    async def moments(self) -> list[Moment]:
        """Return all moments, by the names of their schedules."""

    async def replace(self, before: Moment | None, after: Moment) -> bool:
        """Put a moment in the place of another one, None for none; return False if that is not what is there.

        Of several callers with the same moment before them one succeeds. It survives a power cut.
        """
