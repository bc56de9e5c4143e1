import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from desk_server import DeskServer, Visit, query

from planner_executor.graph.desk.feed import Moment
from planner_executor.graph.desk.records import MOST_RUNS, Records, open_records
from planner_executor.graph.desk.watch import Watch
from planner_executor.graph.ledger.run_store import Changes
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import drafted

BEGUN = [drafted("run_started", {"goal": "x", "constraints": [], "thread": "new", "n": 1})]

READS = "SELECT seq, kind"
"""Part of every statement that reads events."""


async def traced(records: Records, found: list[str] | None) -> None:
    """Note the statements that are executed from now on, or note them no longer."""
    callback = found.append if found is not None else None
    await records.runs.ledger._file.look(lambda db: db.set_trace_callback(callback))  # type: ignore[attr-defined]


def messages(visit: Visit, path: str, until: str, **headers: str) -> list[tuple[int, dict[str, Any]]]:
    """Read a stream until the run has that status; return the number and the content of each message."""
    found: list[tuple[int, dict[str, Any]]] = []
    number = 0
    with visit.client.stream("GET", path, headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            name, _, rest = line.partition(": ")
            number = int(rest) if name == "id" else number
            if name == "data":
                found.append((number, json.loads(rest)))
                if found[-1][1]["status"] == until:
                    return found
    return found


def test_a_stream_tells_each_event_once_and_goes_on_after_a_lost_connection(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    first = messages(visit, query("/live", waiting, seq="0"), "waiting")
    seen = first[-1][0]
    with server.agent() as agent:
        agent.resume(waiting, "approve")
    later = messages(visit, query("/live", waiting, seq="0"), "succeeded", **{"Last-Event-ID": str(seen)})

    numbers = [event[0] for _, message in [*first, *later] for event in message["events"]]
    assert numbers == list(range(1, later[-1][0] + 1))
    assert first[0][1]["steps"] == {"look": "pending", "send": "pending"}
    assert later[-1][1]["steps"] == {"look": "succeeded", "send": "succeeded"}


def test_a_stream_of_a_run_that_does_not_exist_is_an_error(visit: Visit) -> None:
    assert visit.get(query("/live", "nowhere.1")).status_code == 404


def test_a_stream_needs_a_session(server: DeskServer, waiting: str) -> None:
    with httpx.Client(base_url=server.url) as stranger:
        assert stranger.get(query("/live", waiting)).status_code == 303


async def test_streams_of_a_run_share_one_watch_that_ends_with_the_last_of_them(
    server: DeskServer, waiting: str
) -> None:
    async with open_records(server.database) as records:
        watch, key = Watch(records, every_s=0.01), await records.runs.find(waiting)
        streams = [watch.follow(key) for _ in range(3)]
        first = [await anext(stream) for stream in streams]
        await records.runs.cancel(waiting)
        later = [await anext(stream) for stream in streams]
        for stream in streams:
            await stream.aclose()
        assert watch._task is None
        first, later, left = (first, later, len(watch.feeds))

    assert len({id(now) for now in first}) == len({id(now) for now in later}) == 1 and left == 0
    assert (first[0].status, later[0].status) == ("waiting", "cancelled")
    assert later[0].message(first[0].seq, first[0]) is later[0].message(first[0].seq, first[0])


def test_a_change_of_a_run_is_read_once_for_all_its_streams_and_only_what_is_new(tmp_path: Path) -> None:
    async def statements(streams: int) -> list[str]:
        async with open_records(tmp_path / f"{streams}.db") as records, AsyncExitStack() as stack:
            found: list[str] = []
            runs = [await records.runs.ledger.open_run(f"run-{n}", BEGUN) for n in range(2 * MOST_RUNS)]
            watch = Watch(records, every_s=0.01)
            followed = [watch.follow(run) for run in runs for _ in range(streams)]
            for stream in followed:
                stack.push_async_callback(stream.aclose)
                await anext(stream)
            await traced(records, found)
            await records.runs.cancel("run-0")
            assert [(await anext(stream)).status for stream in followed[:streams]] == ["cancelled"] * streams
            await traced(records, None)
            return [statement for statement in found if READS in statement]

    alone, many = asyncio.run(statements(1)), asyncio.run(statements(5))

    assert len([statement for statement in many if "seq >= 1 " in statement]) == 1 and sorted(alone) == sorted(many)


async def test_a_run_that_is_shown_again_is_read_from_its_last_event_on(server: DeskServer, waiting: str) -> None:
    async with open_records(server.database) as records:
        found: list[str] = []
        shown = await records.show(waiting)
        await traced(records, found)
        assert await records.show(waiting) == shown
        await traced(records, None)
        seq, (statement,) = (shown.seq, [statement for statement in found if READS in statement])

    assert f"seq >= {seq} " in statement


async def test_a_database_that_always_has_news_is_not_asked_all_the_time(tmp_path: Path) -> None:
    class Busy(SqliteLedger):
        asked = 0

        async def changes(self, since: str | None = None) -> Changes:
            self.asked += 1
            return await super().changes(since)

        async def wait_for_news(self, most_s: float) -> None:
            return

    async with open_records(tmp_path / "runs.db") as records:
        ledger = Busy(tmp_path / "runs.db")
        run = await ledger.open_run("new", BEGUN)
        stream = Watch(replace(records, runs=Runs(ledger))).follow(run)
        await anext(stream)
        for _ in range(100):  # each of them takes the time of a look
            await ledger.changes()
        await stream.aclose()
        await ledger.close()
        assert (ledger.asked - 100) < 10


def test_a_message_has_what_the_stream_lacks_and_says_how_much_is_left_out() -> None:
    steps = {"look": "succeeded", "send": "running"}
    told = [(seq, 0.0, f"event {seq}") for seq in range(101, 301)]
    before = Moment((290, True), "running", 1, {"look": "succeeded", "send": "pending"}, told[:190])
    now = Moment((300, True), "running", 1, steps, told)

    first, later = json.loads(now.message(0, None)), json.loads(now.message(290, before))

    assert (first["steps"], len(first["events"]), first["left_out"]) == (steps, 200, 100)
    assert (later["steps"], len(later["events"]), later["left_out"]) == ({"send": "running"}, 10, 0)


async def test_a_stream_ends_after_a_while_so_that_its_session_is_checked_again(
    server: DeskServer, waiting: str
) -> None:
    async with open_records(server.database) as records:
        watch = Watch(records, every_s=0.01, lasts_s=0.05)
        assert len([seen async for seen in watch.follow(await records.runs.find(waiting))]) == 1


async def test_a_list_is_told_of_a_run_that_another_owner_starts(server: DeskServer) -> None:
    async with open_records(server.database) as records, open_records(server.database) as other:
        watch = Watch(records, every_s=0.01)
        changes = watch.follow_list()
        told = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0.2)
        assert not told.done()
        await other.runs.ledger.open_run("new", BEGUN)
        number = await asyncio.wait_for(told, 20)
        await changes.aclose()
        assert number == 1


async def test_the_state_of_a_run_does_not_change_while_a_page_of_it_is_made(server: DeskServer, waiting: str) -> None:
    async with open_records(server.database) as records:
        shown = await records.show(waiting)
        await records.runs.cancel(waiting)
        async with shown.reading:
            other = asyncio.ensure_future(records.show(waiting))
            await asyncio.wait([other], timeout=0.2)
            assert not other.done()
            meanwhile = shown.record.seq
        before, meanwhile, status = (shown.seq, meanwhile, (await other).run.status)

    assert before == meanwhile and status == "cancelled"


async def test_what_is_kept_of_a_run_grows_by_its_news(server: DeskServer, waiting: str) -> None:
    async with open_records(server.database) as records:
        before = await records.show(waiting)
        await records.runs.cancel(waiting)
        before, after = (before, await records.show(waiting))

    assert (before.run.status, after.run.status) == ("waiting", "cancelled")
    assert [event.seq for event in after.events] == list(range(1, after.seq + 1))
    assert before.run.request is not None and before.run.request["run"] == waiting
    assert before.run.plan is not None and before.run.plan is after.run.plan
