"""People hear of runs: by a real webhook receiver and a real mail server, also after one was down."""

import asyncio
import json
import socket
import sqlite3
import threading
import time
from contextlib import closing
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from postgres_server import execute
from webhook_receiver import ARRIVE_S, receiver, settings

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.notices.addresses import addresses_of
from planner_executor.graph.notices.posting import tell
from planner_executor.graph.notices.webhook import KEY
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.graph.work.chores import chores_of

PLAN = {"steps": [step("one", "read", x=1)]}
READ = LoggedTools().tool("read", effect="read")


def agent_of(database: str, config: Path) -> Agent:
    tools = [READ]
    return Agent(database, planner=ScriptedModel([]), tools=tools, config=config, replan="never")


def test_a_person_hears_that_a_run_waits_and_that_it_ended(tmp_path: Path, database: str) -> None:
    with receiver() as ops, agent_of(database, settings(tmp_path, ops.url)) as agent:
        run = agent.start("pay with s3cret", plan=PLAN)
        waits = ops.await_one()
        assert (waits["kind"], waits["run"], waits["asks"]) == ("waits", run.id, ["run_plan"])
        assert waits["link"] == f"https://desk/{run.id}" and "s3cret" not in json.dumps(waits)
        agent.resume(run.id, "approve")
        ended = ops.await_one()
        assert (ended["kind"], ended["status"]) == ("ended", "succeeded")
        assert ended["id"] != waits["id"] and ops.got[-1][0][KEY] == ended["id"]


async def test_the_notices_of_a_run_are_sent_when_its_agent_closes(tmp_path: Path, database: str) -> None:
    with receiver() as ops:
        config = settings(tmp_path, ops.url)
        for n in range(5):
            with agent_of(database, config) as agent:
                agent.start("g", plan=PLAN)
            assert len(ops.got) == n + 1
        await _with_async_agent(database, config)
        assert len(ops.got) == 6


async def _with_async_agent(database: str, config: Path) -> None:
    async with AsyncAgent(database, planner=ScriptedModel([]), tools=[READ], config=config) as agent:
        await agent.start("g", plan=PLAN)


async def test_a_notice_that_is_no_longer_so_when_the_receiver_is_back_is_dropped(
    tmp_path: Path, database: str
) -> None:
    with receiver() as ops, agent_of(database, settings(tmp_path, ops.url, "waits ended")) as agent:
        ops.answers = [503]
        run = agent.start("g", plan=PLAN)
        agent.close()
        with Agent(database, planner=ScriptedModel([]), tools=[READ]) as unannounced:
            assert unannounced.resume(run.id, "approve").status == "succeeded"

        async def later() -> list[str]:
            async with open_runs(database) as runs:
                *_, chore = chores_of(tmp_path / "settings.toml")
                await _make_due(database)
                return [*await chore.do(runs), str(await runs.ledger.outbox.given_up())]

        told = await later()
        assert sorted(told) == [
            "0",
            f"did not notify ops that {run.id} waits: a plan to approve: it is no longer so",
            f"notified ops: {run.id} ended: succeeded",
        ]
        assert [json.loads(body)["kind"] for _, body in ops.got] == ["ended"]


async def test_a_receiver_that_is_down_hears_of_it_from_a_worker_later(tmp_path: Path, database: str) -> None:
    with receiver() as ops, agent_of(database, settings(tmp_path, ops.url, "waits")) as agent:
        ops.answers = [503]
        agent.start("g", plan=PLAN)
        agent.close()

        async def later() -> None:
            async with open_runs(database) as runs:
                *_, chore = chores_of(tmp_path / "settings.toml")
                while not ops.got:  # the agent's own notifier may be at it too, and whoever is first is refused
                    await _make_due(database)
                    await chore.do(runs)

        await later()
        assert ops.await_one()["kind"] == "waits"
        assert len({headers[KEY] for headers, _ in ops.got}) == 1


async def _make_due(database: str) -> None:
    """Let the time of the next try come."""
    due = "UPDATE ledger_notices SET due_at = {} WHERE due_at IS NOT NULL"
    if is_address(database):
        await asyncio.to_thread(execute, database, due.format("to_timestamp(0)"))
        return
    with closing(sqlite3.connect(database)) as file, file:
        file.execute(due.format(0))


def test_what_a_process_left_behind_is_sent_by_a_worker(tmp_path: Path, database: str) -> None:
    with receiver() as ops:
        config = settings(tmp_path, ops.url, "waits")
        with Agent(database, planner=ScriptedModel([]), tools=[READ]) as agent:
            agent.start("before anybody asked for notices", plan=PLAN)

            async def told() -> list[str]:
                ledger, addresses = open_ledger(database), addresses_of(config)
                assert addresses is not None
                said: list[str] = []
                await tell(ledger, addresses, said.append)
                return said

            assert asyncio.run(told()) == [], "nobody hears of what was before the first look"
            run = agent.start("this process sends no notices", plan=PLAN)
            assert asyncio.run(told()) == [f"notified ops: {run.id} waits: a plan to approve"]
            assert ops.await_one()["run"] == run.id
            assert asyncio.run(told()) == []


def test_a_worker_reminds_of_a_request_that_is_about_to_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def later(_: SqliteLedger) -> float:
        return time.time() + 70_000.0

    times = {
        "decide_within": "1d",
        "remind_before": ["6h"],
        "escalate_after": "12h",
        "escalate_to": {"roles": ["lead"]},
    }
    with receiver() as ops:
        config = settings(tmp_path, ops.url, "expires escalated")
        planner, policy = ScriptedModel([]), {"approvers": times}
        with Agent(tmp_path / "runs.db", planner=planner, tools=[READ], policy=policy) as agent:
            run = agent.start("g", plan=PLAN)
        monkeypatch.setattr(SqliteLedger, "now", later)

        async def work() -> list[str]:
            async with open_runs(tmp_path / "runs.db") as runs:
                await runs.ledger.outbox.add([], (await runs.ledger.changes(None)).position)
                return [told for chore in chores_of(config) for told in await chore.do(runs)]

        assert sorted(asyncio.run(work())[2:]) == [
            f"notified ops: {run.id} is about to expire: a plan to approve",
            f"notified ops: {run.id} is escalated to you: a plan to approve",
        ]
        assert {json.loads(body)["kind"] for _, body in ops.got} == {"expires", "escalated"}


def free_port() -> int:
    """Return a port that nothing listens on: aiosmtpd connects to the port it was given, and takes no 0."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Mailbox:
    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.arrived = threading.Semaphore(0)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.letters.append(message_from_bytes(envelope.content, policy=default))
        self.arrived.release()
        return "250 OK"


def test_a_mail_names_the_run_and_links_to_it(tmp_path: Path) -> None:
    mailbox = Mailbox()
    server = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        host, port = server.server.sockets[0].getsockname()
        url = f"mailto://{host}:{port}/?from=desk@example.org&to=ada@example.org&mode=insecure"
        with agent_of(str(tmp_path / "runs.db"), settings(tmp_path, url, "waits")) as agent:
            run = agent.start("g", plan=PLAN)
            assert mailbox.arrived.acquire(timeout=ARRIVE_S), "no mail arrived"
    finally:
        server.stop()
    (letter,) = mailbox.letters
    assert letter["To"] and "ada@example.org" in letter["To"]
    assert letter["Subject"] == f"{run.id} waits: a plan to approve"
    assert f"https://desk/{run.id}" in letter.get_content()
    assert letter.get_content_type() == "text/plain"  # the name of a run is a client's, and no markup
