"""Finding runs in the index."""

from collections.abc import Mapping, Sequence

from planner_executor.graph.ledger.index_row import SELECT, read
from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import is_gone
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.ledger.search import UNDER_WAY, UNFINISHED
from planner_executor.graph.ledger.tables.dialect import either
from planner_executor.graph.ledger.tables.reader import Reader
from planner_executor.graph.ledger.tables.run_names import id_of
from planner_executor.graph.record.run_key import RunKey, run_name
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.record.waiting_filter import NEVER, Waiting, WaitingFilter, WaitingOrder

_WAITING_VALUES: Mapping[WaitingOrder, str] = {
    "age": "waiting_since",
    "deadline": f"coalesce(until, {NEVER:.0f})",
    "cost": "-cost_usd",
    "amount": "-coalesce(amount, 0)",
}
"""By what open requests are ordered; see `graph.record.waiting_filter.VALUES`."""
_TOLD = f"{either('instr(told, %s)', 'strpos(told, %s)')} > 0"
_ASKS = f"{either('instr(asks, %s)', 'strpos(asks, %s)')} > 0"
IS_SILENT = either("%s < 0", "beat_at < clock_timestamp() - make_interval(secs => %s)")
"""Whether the owner of a run was silent for so many seconds; only a server has timed its heartbeats."""
_RUNS = "SELECT thread, n{} FROM ledger_index JOIN ledger_runs ON ledger_runs.id = ledger_index.run"
_LEASED = f"{_RUNS} LEFT JOIN ledger_leases ON ledger_leases.run = ledger_index.run"
_UNFINISHED = f"""{_LEASED.format(f", seq, {IS_SILENT}, owner, token, beat")}
    WHERE status IN {UNFINISHED} ORDER BY ledger_index.run"""
_DEAD = f"""{_LEASED.format(f", owner, {IS_SILENT}")}
    WHERE owner != '' AND status IN {UNDER_WAY} ORDER BY ledger_index.run"""
_DUE = f"{_RUNS.format('')} WHERE due_at <= %s ORDER BY due_at, run LIMIT %s OFFSET %s"
_WAITING = f"{SELECT} WHERE {{}} ORDER BY {{}}, run LIMIT %s"


def summaries(tx: Reader, runs: Sequence[RunKey]) -> list[RunSummary]:
    """Return the rows of these runs in the index."""
    wanted = ", ".join(["(%s, %s)"] * len(runs))
    query = f"{SELECT} WHERE (thread, n) IN (VALUES {wanted})"
    return (
        [read(row) for row in tx.ask(query, *(value for run in runs for value in (run.thread, run.n)))] if runs else []
    )


def unfinished(tx: Reader, silent_s: float) -> list[Unfinished]:
    """Return the runs that are planned, executed or paused, the oldest first.

    An owner that was silent for more than `silent_s` seconds is dead.
    """
    return [
        Unfinished(
            RunKey(thread, n),
            seq,
            Holder(owner, *beats) if owner is not None else None,
            bool(owner) and (bool(is_silent) or is_gone(owner)),
        )
        for thread, n, seq, is_silent, owner, *beats in tx.ask(_UNFINISHED, silent_s)
    ]


def dead(tx: Reader, silent_s: float) -> tuple[str, ...]:
    """Return the names of runs that have not ended and whose owner is dead; for `silent_s` see `unfinished`."""
    found = tx.ask(_DEAD, silent_s)
    return tuple(run_name(thread, n) for thread, n, owner, is_silent in found if is_silent or is_gone(owner))


def waiting(tx: Reader, limit: int, wanted: WaitingFilter, after: Waiting | None) -> list[RunSummary]:
    """Return rows of runs that wait for a person and are wanted, in the order of the filter, after this place."""
    where, values = _wanted(wanted)
    value = _WAITING_VALUES[wanted.order]
    if after is not None:
        where += f" AND {value} >= %s AND ({value}, run) > (%s, %s)"  # an index finds the first alone
        values += [after.value, after.value, id_of(tx, RunKey(after.thread, after.n)) or 0]
    return [read(row) for row in tx.ask(_WAITING.format(where, value), *values, limit)]


def waiting_count(tx: Reader, wanted: WaitingFilter) -> int:
    """Return how many of them there are."""
    where, values = _wanted(wanted)
    return int(tx.ask(f"SELECT count(*) FROM ledger_index WHERE {where}", *values)[0][0])


def _wanted(wanted: WaitingFilter) -> tuple[str, list[object]]:
    # `asks` is a list in JSON: with its quotes a name is not found within a longer one.
    asks = " OR ".join([_ASKS] * len(wanted.asks))
    parts = ["waits_for = %s", *([f"({asks})"] if asks else []), *([_TOLD] * len(wanted.words))]
    return " AND ".join(parts), [PERSON, *(f'"{name}"' for name in wanted.asks), *wanted.words]


def due(tx: Reader, now: float, limit: int, offset: int) -> list[RunKey]:
    """Return runs whose open request has something due at `now`, in Unix seconds, what is due longest first."""
    return [RunKey(*row) for row in tx.ask(_DUE, now, limit, offset)]
