"""`planner-executor doctor`: health of the database."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import command, db_option, program
from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.cli.exit_codes import STORAGE, on_screen
from planner_executor.graph.cli.run_lookup import setups_of, with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import LedgerError, MissingRunError
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.run_store import Health
from planner_executor.graph.record.artifacts import artifacts_named
from planner_executor.graph.record.events import CallStarted, Event
from planner_executor.graph.record.run_key import RunKey, run_name
from planner_executor.graph.runs.approvals import wide_approvals
from planner_executor.graph.runs.retention import missing
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.words.name_list import counted


@on_screen
def doctor(
    screen: Screen,
    reindex: Annotated[bool, typer.Option("--reindex", help="Rebuild the index of runs from the records.")] = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Check the database: sizes, integrity, index, runs whose process died."""
    if is_missing(db):
        screen.say(f"the database {db} does not exist yet")
        return
    if reindex:
        screen.say(f"runs in the rebuilt index: {with_runs(db, lambda runs: runs.ledger.reindex())}")
        return
    health = with_runs(db, lambda runs: runs.ledger.health())
    screen.say_each(lines(health, db, setups_of(db, health.dead)))
    broken = with_runs(db, faults)
    screen.say_each(broken)
    again = f"{program()} doctor --reindex{db_option(db)}"
    # Of a damaged file the index tells nothing that could be relied on.
    for name in [] if health.damage else with_runs(db, lambda runs: runs.ledger.misindexed()):
        screen.say(f"run {name}: the index differs from the records; rebuild it: {again}")
    if lost := with_runs(db, lambda runs: runs.ledger.outbox.given_up()):
        screen.say(f"notices that were given up: {lost}; look at their addresses in [notify]")
    removed, gone = with_runs(db, lambda runs: missing(runs.ledger))
    if removed.rows:
        screen.say(f"pruned: {counted(len(removed.rows), 'tombstone')} of {counted(removed.runs, 'run')}")
    screen.say_each(gone)
    what = "database" if is_address(db) else "file"
    is_broken = bool(health.damage or broken or gone)
    screen.say(f"the {what} is damaged; restore it from a backup" if is_broken else f"the {what} is intact")
    if is_broken:
        raise typer.Exit(STORAGE)


def lines(health: Health, db: str, setups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the health of a database as lines; `setups` has what a facade recorded of the runs, by their names."""
    log = f", write-ahead log {megabytes(health.write_ahead_log)}" if health.write_ahead_log else ""
    found = [
        f"{'tables' if is_address(db) else 'file'} {megabytes(health.file)}{log}",
        f"runs {health.runs}, {megabytes(health.per_run)} a run",
    ]
    found += [f"{table}: {counted(rows, 'row')}, {megabytes(size)}" for table, (rows, size) in health.tables.items()]
    again = {name: command("resume", name, db, setups.get(name, {})) for name in health.dead}
    found += [f"run {name}: its process died; continue it: {words}" for name, words in again.items()]
    return found + [f"damage: {words}" for words in health.damage]


async def faults(runs: Runs) -> list[str]:
    """Return the faults of all runs' records and of standing approvals, one per line."""
    wide = await wide_approvals(runs)
    counted_calls = {use.approval.id: use.calls for use in wide.uses}
    try:
        found = [(key, await _fault(runs, key, counted_calls)) for key in await runs.ledger.runs()]
    # Without the list of runs nothing else can be looked at.
    except LedgerError as error:
        return [str(error)]
    of_runs = [f"run {run_name(key.thread, key.n)}: {fault}" for key, fault in found if fault is not None]
    return [*(str(one.error) for one in wide.unread), *of_runs]


async def _fault(runs: Runs, key: RunKey, counted_calls: Mapping[str, frozenset[str]]) -> str | None:
    try:
        events = await runs.ledger.events(key)
    except MissingRunError:  # it was removed since it was listed
        return None
    except LedgerError:
        return "its records were changed or are damaged"
    for name, call in _standing_calls(events):
        if call not in counted_calls.get(name, (call,)):  # those of another database came with a copied thread
            return f"a call of it is missing among those that the standing approval {name} let through"
    for artifact in artifacts_named(events):
        try:
            await runs.ledger.artifact(artifact)
        except LedgerError:
            return f"its artifact {artifact[:12]} is missing or was changed"
    return None


def _standing_calls(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """Yield the standing approval and the key of each call that one let through."""
    for event in events:
        if isinstance(data := event.data_if_known, CallStarted) and data.approval is not None:
            yield data.approval, data.key


def megabytes(size: int) -> str:
    """Return a size for people.

    >>> megabytes(2_500_000), megabytes(120)
    ('2.50 MB', '0.1 kB')
    """
    return f"{size / 1e6:.2f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
