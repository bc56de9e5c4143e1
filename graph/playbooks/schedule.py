"""The table `[[schedules]]` of the settings file: playbooks that workers run at fixed times (decision 163)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, Field, JsonValue

from planner_executor.graph.chat_models.retry import is_time_zone
from planner_executor.graph.settings.settings_file import Table
from planner_executor.graph.words.tables import List, OpenTable, Says, Shape, Text, fault

FIELDS = 5
"""Of an expression: minute, hour, day of the month, month, day of the week; seconds are no part of it."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")


@dataclass(frozen=True)
class Schedule:
    """A playbook of the settings' folder, by name, with values for its parameters, and when it runs.

    `missed` moments, when no worker was there, start nothing or one run for all. With `overlap` a moment starts nothing
    while the run before it has not ended, or waits for that, one at most.
    """

    name: str
    playbook: str
    cron: str
    time_zone: str = "UTC"
    params: dict[str, JsonValue] = field(default_factory=dict)
    missed: Literal["skip", "run_once"] = "skip"
    overlap: Literal["skip", "queue"] = "skip"

    @property
    def rule(self) -> str:
        """Its expression with the time zone; with another one it counts anew."""
        return f"{self.cron} {self.time_zone}"

    def next_after(self, moment: float) -> float:
        """Return the first moment after one, in Unix seconds.

        A fixed time of day comes once in the hour that comes twice, and at the end of the gap in one that is missing.

        >>> Schedule("nightly", "report", "30 2 * * *", "Europe/Berlin").next_after(1774742400.0)  # 29 March 2026, 1:00
        1774746000.0
        """
        begins = datetime.fromtimestamp(moment, UTC).astimezone(ZoneInfo(self.time_zone))
        return next(CronSim(self.cron, begins)).timestamp()


class Written(OpenTable):
    """An entry of the table as it is written."""

    name: Text
    playbook: Text
    cron: Text
    time_zone: Text = "UTC"
    params: Annotated[dict[str, Any], Says("must be a table: a value for each parameter")] = Field(default_factory=dict)
    missed: Literal["skip", "run_once"] = "skip"
    overlap: Literal["skip", "queue"] = "skip"


def _schedule(entry: Written) -> Schedule:
    for name, value in (("name", entry.name), ("playbook", entry.playbook)):
        if _NAME.fullmatch(value) is None:
            raise fault("must be a word of small letters, digits, - and _", name)
    if not is_time_zone(entry.time_zone):
        raise fault("is no time zone; write for example Europe/Berlin", "time_zone")
    found = Schedule(**entry.model_dump())
    try:
        if len(entry.cron.split()) != FIELDS:
            raise fault("must have minute, hour, day of the month, month and day of the week", "cron")
        # An expression may be well formed and name no day that there is, such as 30 February.
        found.next_after(0.0)
    except (CronSimError, StopIteration) as error:
        raise fault(f"is no expression of cron, or never comes: {str(error)[:80] or 'no such day'}", "cron") from error
    return found


def _named_once(schedules: tuple[Schedule, ...]) -> tuple[Schedule, ...]:
    names = [one.name for one in schedules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise fault(f"has {twice} twice; give each schedule a name of its own")
    return schedules


def _acts(schedules: Sequence[Schedule]) -> list[str]:
    return [f"schedules: {one.name} has workers run the playbook {one.playbook} at {one.rule!r}" for one in schedules]


SCHEDULES: Table[tuple[Schedule, ...]] = Table(
    "schedules",
    Annotated[
        tuple[Annotated[Written, AfterValidator(_schedule), Shape()], ...],
        AfterValidator(_named_once),
        List,
    ],
    _acts,
)
