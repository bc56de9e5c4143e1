"""No page of a run is a fault of the desk, whatever state the run is in."""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from all_pages import STEPS, filled
from desk_server import PLAN, DeskServer, Visit, query, served
from postgres_server import execute, new_schema

from planner_executor.graph.agent import Agent
from planner_executor.graph.desk.application import ROUTES
from planner_executor.graph.policy.retention import Retention
from planner_executor.graph.record.events import Draft, EventData, Paused
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.retention import prune
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import step

SECRET = "hunter2-wind"
CIRCLE = [step("a", "read", after=["b"]), step("b", "read", after=["a"])]
REFUSED: Mapping[str, Any] = {
    "circle": CIRCLE,
    "itself": [step("a", "read", after=["a"])],
    "twice": [step("a", "read"), step("a", "mail")],
    "dangling": [step("a", "read", what="{gone_result}", after=["gone"])],
    "unknown tool": [step("a", "no_such_tool")],
    "empty": [],
    "kinds": [{"id": "a", "objective": "o", "ask": "?", "gate": "?", "tool": "read"}],
    "loop of items": [{**step("a", "read"), "for_each": "{a_result}"}],
    "no ids": [{"tool": "read"}, {"tool": "read"}],
    "no list": "steps",
}
PAGES = sorted(
    route.path
    for route in ROUTES
    if "GET" in (getattr(route, "methods", None) or ()) and f"{route.path}/".startswith("/run/")
)
STREAMS = ("/run/live",)
LISTS = ("/", "/runs", "/approvals")
ODD: Sequence[dict[str, str]] = [{"part": "x"}, {"step": "nowhere"}, {"step": ""}]


def refused(name: str) -> Callable[[DeskServer], None]:
    def begin(server: DeskServer) -> None:
        with server.agent(*[{"steps": REFUSED[name]}] * 5) as agent:
            agent.start("g", thread="run")

    return begin


def given(name: str) -> Callable[[DeskServer], None]:
    def begin(server: DeskServer) -> None:
        with server.agent() as agent:
            agent.start("g", plan={"steps": REFUSED[name]}, thread="run")

    return begin


def answered(answer: Any) -> Callable[[DeskServer], None]:
    def begin(server: DeskServer) -> None:
        with server.agent(answer) as agent:
            agent.start("g", thread="run")

    return begin


def waiting(then: Callable[[Agent], Any] = lambda _: None) -> Callable[[DeskServer], None]:
    def begin(server: DeskServer) -> None:
        with server.agent(*[{"steps": CIRCLE}] * 5) as agent:
            agent.start(f"send {SECRET}", plan=PLAN, thread="run")
            then(agent)

    return begin


def redacted(server: DeskServer) -> None:
    with server.agent() as agent:
        agent.start(f"send {SECRET}", plan={"steps": [step("look", "read", what=SECRET)]}, thread="run")
        agent.resume("run", "approve")
        agent.redact("run", SECRET, reason="a secret")


@dataclass(frozen=True, kw_only=True, slots=True)
class Foreseen(Paused):
    """What a newer release might write."""


def of_a_newer_release(server: DeskServer) -> None:
    async def write() -> None:
        async with open_runs(server.database) as runs:
            run = RunKey("run", 1)
            after = len(await runs.ledger.events(run))
            await runs.ledger.write(run, [Draft(cast(EventData, Foreseen(reason="")))], after=after)

    waiting()(server)
    asyncio.run(write())


def changed(statement: str, on_postgres: str = "") -> Callable[[DeskServer], None]:
    """A run that waits, in a database that was changed behind the ledger's back."""

    def begin(server: DeskServer) -> None:
        waiting()(server)
        if isinstance(server.database, str):
            execute(server.database, on_postgres or statement)
        else:
            with closing(sqlite3.connect(server.database)) as file, file:
                file.execute(statement)

    return begin


STATES: Mapping[str, Callable[[DeskServer], None]] = {
    **{f"a plan that was refused: {name}": refused(name) for name in REFUSED},
    **{f"a plan that was given and refused: {name}": given(name) for name in ("circle", "no list")},
    "no plan: an answer": answered({"steps": [], "answer": "42"}),
    "no plan: cannot": answered({"steps": [], "cannot": "no way"}),
    "no plan: not even JSON": answered("I would rather not."),
    "waiting": waiting(),
    "a revision that was refused": waiting(lambda agent: agent.resume("run", {"type": "reject", "message": "other"})),
    "rejected": waiting(lambda agent: agent.resume("run", "reject")),
    "cancelled": waiting(lambda agent: agent.cancel("run")),
    "ended": waiting(lambda agent: agent.resume("run", "approve")),
    "redacted": redacted,
    "redacted while it waits": waiting(lambda agent: agent.redact("run", SECRET, reason="a secret")),
    "an unreadable checkpoint": changed(
        "UPDATE checkpoints SET checkpoint = x'00'", r"UPDATE checkpoint_blobs SET blob = '\x00'"
    ),
}
UNREADABLE: Mapping[str, Callable[[DeskServer], None]] = {
    "of a newer release": of_a_newer_release,
    "a changed event": changed("UPDATE ledger_events SET at = 5 WHERE seq = 3"),
    "a changed kind": changed("UPDATE ledger_events SET kind = 'foreseen' WHERE seq = 3"),
    "a lost event": changed("DELETE FROM ledger_events WHERE seq = 3"),
    "a lost end": changed("DELETE FROM ledger_events WHERE seq > 2"),
    "a payload that is no JSON": changed("UPDATE ledger_events SET payload = '{' WHERE seq = 3"),
    "lost artifacts": changed("DELETE FROM ledger_artifacts"),
}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    return new_schema() if request.param == "postgres" else tmp_path / "runs.db"


@pytest.mark.parametrize("state", STATES)
def test_every_page_of_a_run_in_every_state_is_a_page(database: Path | str, state: str) -> None:
    with served(database) as server, server.visit() as visit:
        STATES[state](server)
        found = every_page(visit, ODD if state in ("waiting", "ended") else ())

    assert not {path: status for path, status in found.items() if status not in (200, 303, 400, 404)}
    assert {status for path, status in found.items() if path in ("/run", "/run/timeline", "/run/audit")} == {200}


@pytest.mark.parametrize("state", UNREADABLE)
def test_a_run_that_cannot_be_read_is_no_fault_of_the_desk_and_hides_no_list(database: Path | str, state: str) -> None:
    with served(database) as server, server.visit() as visit:
        UNREADABLE[state](server)
        found = every_page(visit)

    assert not {path: status for path, status in found.items() if status not in (200, 303, 400, 404, 503)}
    assert {found[where] for where in LISTS} == {200}


def test_every_page_of_a_run_of_every_kind_is_a_page(tmp_path: Path) -> None:
    with filled(tmp_path) as server, server.visit() as visit:
        found = {
            (path, name): answer(visit, path, f"{name}.1") for name in STEPS for path in PAGES if path not in STREAMS
        }

    assert not {where: status for where, status in found.items() if status not in (200, 303, 400, 404)}


async def test_a_run_that_was_pruned_is_told_of_on_every_page(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        STATES["cancelled"](server)
        await pruned(server.database)
        found = {path: visit.get(query(path.removeprefix("/run"), "run.1")) for path in PAGES}

    assert {response.status_code for response in found.values()} == {404}
    assert all("pruned" in response.text for response in found.values())


async def pruned(database: Any) -> None:
    async with open_runs(database) as runs:
        await prune(runs.ledger, Retention(before=float("inf")), "os:ada")


def every_page(visit: Visit, odd: Sequence[dict[str, str]] = ()) -> dict[str, int]:
    found = {path: answer(visit, path, odd=odd) for path in PAGES if path not in STREAMS}
    return {**found, **{where: visit.get(where).status_code for where in LISTS}}


def answer(visit: Visit, path: str, run: str = "run.1", odd: Sequence[dict[str, str]] = ()) -> int:
    ways = [{}, {"part": "2", "revision": "1", "from": "1", "to": "2"}, *odd]
    if re.search("step|value|download", path):
        ways += [{"step": name} for name in ("a", "look", "send")]
    return max(visit.get(query(path.removeprefix("/run"), run, **more)).status_code for more in ways)
