"""Two users of a server: who asked and who decides, as the server's authentication knows them."""

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.runs.runs import open_runs

POLICY = """
[approvers.tools.write_file]
roles = ["finance"]
four_eyes = true

[approvers.tools.move_file]
roles = ["finance"]
decide_within = "0.001s"

[approvers.tools.run_python]
quorum = 2

[tools.write_file]
ask_when = { path = { pattern = ".*money.*" } }

[limits.per_day.per_user]
calls = { write_report = 1 }
"""
MOVE = {"id": "m", "objective": "move", "tool": "move_file", "args": {"path": "a.txt", "to": "b.txt"}}
REPORT = {"id": "r", "objective": "report", "tool": "write_report"}
WRITE = {"id": "w", "objective": "write", "tool": "write_file", "args": {"path": "money.txt", "content": "x"}}
APPROVE = {"type": "approve"}
CLAIM: dict[str, Any] = {
    "identity": "bob@example.com", "is_authenticated": True, "display_name": "bob", "roles": ["finance"]
}  # fmt: skip


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that knows its users and their roles, under a policy that says who decides."""
    policy = tmp_path_factory.mktemp("policy") / "policy.toml"
    policy.write_text(POLICY)
    settings = policy.with_name("settings.toml")
    settings.write_text('pack = ["files", "tables", "documents", "code"]\n')
    auth = Path(__file__).with_name("token_auth.py")
    return serve(auth=auth, PLANNER_EXECUTOR_POLICY=str(policy), PLANNER_EXECUTOR_CONFIG=str(settings))


def decided(server: Any, run: str) -> list[tuple[str, str]]:
    async def read() -> list[tuple[str, str]]:
        async with open_runs(server.home / "runs.db") as runs:
            events = [event.payload for event in await runs.log(run) if event.kind == "decided"]
            return [(event["decision"], event["approver"]) for event in events]

    return asyncio.run(read())


def test_of_two_users_the_other_one_with_the_role_decides_about_plan_and_call(guarded: Any, thread_of: Any) -> None:
    ada = thread_of(guarded, Authorization="Bearer ada+finance")
    bob = thread_of(guarded, Authorization="Bearer bob+finance")
    eve = thread_of(guarded, Authorization="Bearer eve")
    bob.id = eve.id = ada.id
    run = ada.run({"goal": "write", "plan": {"steps": [WRITE]}})["run"]["id"]

    ada.answer(APPROVE)
    assert "asked for this" in ada.request()["error"]
    eve.answer(APPROVE, config={"configurable": {"langgraph_auth_user": CLAIM, "roles": ["finance"]}})
    assert "may not decide this" in ada.request()["error"]
    eve.answer({"type": "reject"})
    bob.answer({**APPROVE, "ask_later": ["w"]})
    assert ada.request()["action_requests"][0]["args"]["args"]["path"] == "money.txt"
    ada.answer(APPROVE)
    assert "asked for this" in ada.request()["error"]

    assert bob.answer(APPROVE)["status"] == "succeeded"
    assert decided(guarded, run) == [("approve", "server:bob@example.com"), ("settle", "server:bob@example.com")]


def test_an_answer_after_the_end_approves_nothing_and_is_on_record(guarded: Any, thread_of: Any) -> None:
    ada = thread_of(guarded, Authorization="Bearer ada+finance")
    bob = thread_of(guarded, Authorization="Bearer bob+finance")
    bob.id = ada.id
    run = ada.run({"goal": "move", "plan": {"steps": [MOVE]}})["run"]["id"]
    assert "Decide until 20" in ada.request()["action_requests"][0]["description"]

    ended = bob.answer(APPROVE)

    assert ended["status"] == "rejected" and "nobody decided until" in ended["reason"]
    assert any("Not counted: the answer came too late" in str(message["content"]) for message in ended["messages"])

    async def read() -> list[tuple[str, str]]:
        async with open_runs(guarded.home / "runs.db") as runs:
            return [(event.kind, event.payload.get("approver", "")) for event in await runs.log(run)][-3:]

    late = ("late_answer", "server:bob@example.com")
    assert asyncio.run(read()) == [("review_expired", ""), ("run_ended", ""), late]
    ada.answer(APPROVE)
    assert asyncio.run(read())[-1] == ("late_answer", "server:bob@example.com"), "the thread has ended"


def test_one_user_twice_is_no_quorum_and_who_claims_another_name_is_the_same_one(guarded: Any, thread_of: Any) -> None:
    ada, bob = (thread_of(guarded, Authorization=f"Bearer {name}") for name in ("ada", "bob"))
    bob.id = ada.id
    code = {"id": "c", "objective": "count", "tool": "run_python", "args": {"code": "print(2)"}}
    run = ada.run({"goal": "count", "plan": {"steps": [code]}})["run"]["id"]

    ada.answer(APPROVE)
    ada.answer(APPROVE)
    ada.answer(APPROVE, config={"configurable": {"langgraph_auth_user": CLAIM}})

    assert decided(guarded, run) == []
    shown = ada.request()["action_requests"][0]["description"]
    assert "Approved so far by: `server:ada@example.com`" in shown and "bob" not in shown
    bob.answer(APPROVE)
    assert decided(guarded, run)[0] == ("approve", "server:bob@example.com")


def test_further_calls_are_approved_by_who_may_approve_the_call(guarded: Any, thread_of: Any) -> None:
    ada, bob = (thread_of(guarded, Authorization=f"Bearer {name}+finance") for name in ("ada", "bob"))
    bob.id = ada.id
    paths = [f"money-{number}.txt" for number in range(3)]
    steps = [{**WRITE, "id": f"w{at}", "args": {"path": path, "content": "x"}} for at, path in enumerate(paths)]
    for before, after in pairwise(steps):
        after["depends_on"] = [before["id"]]
    run = ada.run({"goal": "write", "plan": {"steps": steps}})["run"]["id"]
    bob.answer({**APPROVE, "ask_later": [one["id"] for one in steps]})
    further = {**APPROVE, "standing": {"at_most": 1, "args": {"path": {"one_of": paths}}}}

    ada.answer(further)
    assert "asked for this" in ada.request()["error"]
    bob.answer(further)

    assert ada.request()["action_requests"][0]["args"]["step"] == "w2", "the second was let through, the third is shown"
    assert bob.answer(APPROVE)["status"] == "succeeded"
    assert {by for _, by in decided(guarded, run)} == {"server:bob@example.com"}


def reported(server: Any, thread: Any, name: str, **options: Any) -> Any:
    """Return what the server says of a run that writes a report: its error, or the thread's values."""
    plan = {"steps": [{**REPORT, "args": {"content": "x", "path": name}}]}
    thread.run({"goal": "report", "plan": plan})
    options |= {"command": {"resume": APPROVE}, "raise_error": False}
    values = thread.client.runs.wait(thread.id, thread.graph, **options)
    assert (server.home / "workspace" / name).exists() == ("__error__" not in values)
    return values


def test_a_cap_of_each_user_pauses_the_runs_of_one_and_no_other_until_its_day_is_over(
    guarded: Any, thread_of: Any
) -> None:
    headers = [{"Authorization": f"Bearer {name}"} for name in ("ada", "ada", "ada", "bob")]
    first, second, forged, of_bob = (thread_of(guarded, **one) for one in headers)
    assert reported(guarded, first, "first.md")["status"] == "succeeded"

    paused = reported(guarded, second, "second.md")
    claims = reported(guarded, forged, "forged.md", config={"configurable": {"langgraph_auth_user": CLAIM}})

    for values in (paused, claims):
        assert values["__error__"]["error"] == "RunPausedError"
        assert "at most 1 call of write_report a day for each user" in values["__error__"]["message"]
        assert re.search(r"resume it after 20\d\d-\d\d-\d\d 00:00:00 UTC", values["__error__"]["message"])
    assert reported(guarded, of_bob, "bob.md")["status"] == "succeeded"

    with closing(sqlite3.connect(guarded.home / "runs.db")) as db, db:
        db.execute("UPDATE ledger_caps SET until = until - 86400.0")
    run = second.state()["values"]["run"]["id"]
    assert second.run({"operation": "continue", "run": run})["status"] == "succeeded"
    assert (guarded.home / "workspace" / "second.md").exists()
