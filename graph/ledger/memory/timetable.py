"""The next moments of schedules in memory; see `graph.ledger.timetable`."""

from dataclasses import dataclass, field

from planner_executor.graph.record.moment import Moment


@dataclass
class MemoryTimetable:
    """See `graph.ledger.timetable.Timetable`."""

    by_schedule: dict[str, Moment] = field(default_factory=dict)

    async def moments(self) -> list[Moment]:
        """Return all moments."""
        return [moment for _, moment in sorted(self.by_schedule.items())]

    async def replace(self, before: Moment | None, after: Moment) -> bool:
        """Put a moment in the place of another one."""
        if self.by_schedule.get(after.schedule) != before:
            return False
        self.by_schedule[after.schedule] = after
        return True
