"""Standing approvals at the desk: given with a call, listed with what is left, and revoked at once."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from desk_server import DeskServer, Visit, decide, ended, query, served

from planner_executor.graph.runs.approvals import ApprovalsPage, approvals_of_runs
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, step


def tools(log: LoggedTools) -> list[Any]:
    return [log.tool("fetch", lambda **_: "news", effect="read"), log.tool("mail", effect="external")]


ASK = {"tools": {"mail": {"verdict": "ask"}}}


def held(server: DeskServer, thread: str, *texts: str) -> str:
    """A run that waits with its first mail."""
    steps = [step(f"mail_{n}", "mail", to="ann", text=text) for n, text in enumerate(texts)]
    for later, before in zip(steps[1:], steps, strict=False):
        later["depends_on"] = [before["id"]]
    with server.agent() as agent:
        agent.start("send", plan={"steps": steps}, thread=thread)
        by_themselves = {"type": "approve", "ask_later": [step["id"] for step in steps]}
        return agent.resume(thread, by_themselves).id


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with served(tmp_path / "runs.db", tools=tools, options={"policy": ASK}) as running:
        yield running


LATER = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 30 * 86_400))


def wish(**fields: str) -> dict[str, str]:
    return {"decision": "approve", "call:mail_0": "standing"} | {f"call:mail_0:{k}": v for k, v in fields.items()}


def revoke(visit: Visit, page: str) -> Any:
    return visit.send(page, "/approvals")


def test_one_of_a_run_lets_calls_through_and_is_listed_with_what_is_left(server: DeskServer, visit: Visit) -> None:
    run = held(server, "t", "one", "two", "three")

    decide(visit, run, **wish(at_most="1", **{"bound:text": "any"}))

    assert ended(server, run) == "waiting" and len(server.tools.named("mail")) == 2
    for page in (visit.get("/approvals").text, visit.get(query("/effects", run)).text):
        assert "used up" in page and "0 of 1" in page and "anything" in page and "ann" in page


def test_one_that_is_wider_than_a_run_counts_in_the_next_and_ends_when_it_is_revoked(
    server: DeskServer, visit: Visit
) -> None:
    first = held(server, "t", "one")
    decide(visit, first, **wish(at_most="9", until=LATER, **{"bound:text": "one_of", "value:text": "one, two"}))
    assert ended(server, first) == "succeeded"
    touched = visit.get(query("", held(server, "next", "two"))).text
    page = visit.get("/approvals").text

    answer = revoke(visit, "/approvals")
    later = held(server, "later", "two")

    assert "1 call of mail approved ahead by" in touched
    assert "8 of 9" in page and "one or two" in page and "runs that they ask for" in page
    assert answer.status_code == 303 and "revoked" in visit.get("/approvals").text
    assert ended(server, later) == "waiting"
    assert [call["text"] for call in server.tools.named("mail")] == ["one", "two"]


def test_one_of_a_run_is_revoked_on_its_page(server: DeskServer, visit: Visit) -> None:
    run = held(server, "t", "one", "other")
    decide(visit, run, **wish(at_most="5"))
    assert ended(server, run) == "waiting"

    answer = revoke(visit, query("/effects", run))

    assert answer.headers["location"].endswith(query("/effects", run))
    assert "revoked" in visit.get(query("/effects", run)).text


def test_approvals_of_any_number_of_runs_are_listed_page_by_page(server: DeskServer, visit: Visit) -> None:
    async def page(before: str | None) -> ApprovalsPage:
        async with open_runs(server.database) as runs:
            return await approvals_of_runs(runs, limit=1, before=before)

    for thread in ("first", "second"):
        decide(visit, run := held(server, thread, "one", "other"), **wish(at_most="5"))
        assert ended(server, run) == "waiting"
    latest = asyncio.run(page(None))
    last = asyncio.run(page(latest.next))
    behind = visit.get("/approvals?before=second.1").text

    assert [use.approval.run for use in latest.uses] == ["second.1"] and latest.next == "second.1"
    assert [use.approval.run for use in last.uses] == ["first.1"] and last.next is None
    assert "first.1" in behind and "second.1" not in behind
    assert "No active run has one" in visit.get("/approvals?before=nowhere").text


def test_a_damaged_run_and_a_damaged_approval_are_named_and_hide_no_other(server: DeskServer, visit: Visit) -> None:
    for thread in ("good", "bad"):
        decide(visit, run := held(server, thread, "one", "other"), **wish(at_most="5"))
        assert ended(server, run) == "waiting"
    decide(visit, run := held(server, "wide", "one"), **wish(at_most="5", until=LATER))
    assert ended(server, run) == "succeeded"
    with closing(sqlite3.connect(server.database)) as file, file:
        bad = "SELECT id FROM ledger_runs WHERE thread = 'bad'"
        file.execute(f"UPDATE ledger_events SET at = 5 WHERE seq = 3 AND run = ({bad})")
        file.execute("UPDATE ledger_standing SET at = 5")

    shown = visit.get("/approvals")

    assert shown.status_code == 200 and "run bad.1 is left out" in shown.text and "good.1" in shown.text
    assert "those of any run are left out" in shown.text


def test_a_bound_without_a_value_is_told_and_keeps_what_was_filled_in(server: DeskServer, visit: Visit) -> None:
    run = held(server, "t", "one")

    answer = decide(visit, run, **wish(at_most="5", **{"bound:to": "domains"}))

    assert answer.status_code == 422 and "say what it may be" in answer.text and 'value="5"' in answer.text
