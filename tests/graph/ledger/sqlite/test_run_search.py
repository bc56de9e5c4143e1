"""What a page of a list costs: counted in steps of SQLite's machine, which time and other work do not change."""

from collections.abc import Callable
from contextlib import closing

import pytest

from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.ledger.sqlite.run_search import page
from planner_executor.graph.ledger.tables.schema import create
from planner_executor.graph.record.run_filter import RunFilter

STATUSES = ("succeeded", "waiting", "paused", "running", "planning")


def with_runs(count: int) -> Connection:
    """A database whose index has so many runs, a fifth of them in each status, all with the tag `nightly`."""
    db = Connection(":memory:")
    create(db)
    numbers = range(1, count + 1)
    db.executemany("INSERT INTO ledger_runs (id, thread, n) VALUES (?, ?, 1)", [(n, f"run-{n}") for n in numbers])
    columns = (
        "run, seq, status, goal, asks, people, tags, started_at, updated_at, revision, steps, succeeded, tool_calls, "
        "model_calls, tokens, cost_usd"
    )
    row = "(?, 1, ?, 'go', '[]', '[]', '[\"nightly\"]', ?, 0, 1, 1, 0, 0, 0, 0, ?)"
    rows = [(n, STATUSES[n % len(STATUSES)], float(n), float(n)) for n in numbers]
    db.executemany(f"INSERT INTO ledger_index ({columns}) VALUES {row}", rows)
    db.executemany("INSERT INTO ledger_tags VALUES ('nightly', ?)", [(n,) for n in numbers])
    return db


def steps(count: int, wanted: RunFilter) -> int:
    """Return how many steps a page takes, and check that it is full."""
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    with closing(with_runs(count)) as db:
        db.set_progress_handler(step, 1)
        assert len(page(db, wanted)) == wanted.limit
        return taken


@pytest.mark.parametrize(
    "wanted",
    [
        lambda **more: RunFilter(**more),
        lambda **more: RunFilter(status="waiting", **more),
        lambda **more: RunFilter(status="paused", **more),
        lambda **more: RunFilter(tag="nightly", **more),
        lambda **more: RunFilter(tag="nightly", status="waiting", **more),
        lambda **more: RunFilter(text="run-", **more),
        lambda **more: RunFilter(since=1.0, **more),
        lambda **more: RunFilter(order="cost", **more),
        lambda **more: RunFilter(order="duration", status="waiting", tag="nightly", **more),
    ],
    ids=["all", "status", "paused", "tag", "tag and status", "text", "since", "cost", "duration, tag and status"],
)
def test_a_page_costs_the_same_however_many_runs_match(wanted: Callable[..., RunFilter]) -> None:
    few, many = (
        [steps(count, wanted(limit=20)), steps(count, wanted(limit=20, before=f"run-{count // 2}.1"))]
        for count in (400, 4_000)
    )

    assert all(more <= 1.1 * less for less, more in zip(few, many, strict=True)), (few, many)


def test_paused_runs_of_each_stored_status_come_in_one_order() -> None:
    with closing(with_runs(40)) as db:
        found = [run.id for run in page(db, RunFilter(status="paused", limit=7, before="run-39.1"))]

    assert found == [f"run-{n}.1" for n in (38, 37, 34, 33, 32, 29, 28)]
