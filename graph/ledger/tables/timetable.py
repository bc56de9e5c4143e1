"""The next moments of schedules; see `graph.ledger.timetable`."""

import json
from dataclasses import dataclass

from planner_executor.graph.ledger.tables.dialect import BY_KEY, IS_THERE, NAME
from planner_executor.graph.ledger.tables.locks import MAKING, lock
from planner_executor.graph.ledger.tables.transaction import Database, Transaction
from planner_executor.graph.record.moment import Moment

NAMED = "work_schedules"
_TABLE = f"CREATE TABLE IF NOT EXISTS {NAMED} (schedule {NAME} PRIMARY KEY, moment {NAME} NOT NULL){BY_KEY}"
_ALL = f"SELECT moment FROM {NAMED} ORDER BY schedule"
_ADD = f"INSERT INTO {NAMED} VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING schedule"
_REPLACE = f"UPDATE {NAMED} SET moment = %s WHERE schedule = %s AND moment = %s RETURNING schedule"


@dataclass(frozen=True)
class SqlTimetable:
    """See `graph.ledger.timetable.Timetable`."""

    database: Database

    async def moments(self) -> list[Moment]:
        """Return all moments."""
        rows = await self.database.look(lambda tx: tx.ask(_ALL) if tx.one(IS_THERE, NAMED) else [])
        return [Moment(**json.loads(row[0])) for row in rows]

    async def replace(self, before: Moment | None, after: Moment) -> bool:
        """Put a moment in the place of another one."""

        def write(tx: Transaction) -> bool:
            if before is not None:
                return bool(tx.ask(_REPLACE, _text(after), before.schedule, _text(before)))
            if not tx.one(IS_THERE, NAMED):
                lock(tx, MAKING)
                tx.tell(_TABLE)
            return bool(tx.ask(_ADD, after.schedule, _text(after)))

        return await self.database.do(write, full=True)


def _text(moment: Moment) -> str:
    return json.dumps(moment._asdict())
