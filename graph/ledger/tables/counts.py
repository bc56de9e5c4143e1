"""The counts over all runs."""

from planner_executor.graph.ledger.stored_counts import read_counts
from planner_executor.graph.ledger.tables.dialect import CLOCK
from planner_executor.graph.ledger.tables.reader import Reader
from planner_executor.graph.record.counters import Counters, waiting_gauges

_COUNTS = "SELECT name, labels, sum(value) FROM ledger_counters GROUP BY name, labels ORDER BY name, labels"
_WAITS = f"""SELECT waits_for, count(*), {CLOCK} - min(waiting_since) FROM ledger_index
    WHERE waits_for IS NOT NULL GROUP BY waits_for"""


def counters(tx: Reader) -> Counters:
    """Return the counts over all runs, and the gauges by the database's clock."""
    return Counters(read_counts(tx.ask(_COUNTS)), waiting_gauges(tx.ask(_WAITS)))
