"""Runs of a LangGraph server go on through its API, and only there."""

import asyncio
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from planner_executor import build_graph
from planner_executor.graph.errors import ConfigError, OtherTermsError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import ScriptedModel, drafted
from planner_executor.graph.work.candidate import Candidate
from planner_executor.graph.work.continuing import ByPlace, Fit
from planner_executor.graph.work.server import ByServer
from planner_executor.graph.work.worker import Worker

STARTED = drafted("run_started", {"goal": "g", "constraints": [], "origin": "server"})
URL = "http://localhost:2024"
AT_ONCE = Pace(beat_s=0.0, lease_s=0.0, look_s=0.0)


class Client:
    """The part of langgraph-sdk's client that is used: one thread, and what is asked of it."""

    def __init__(self, refusal: int | None = None, thread: Any = None, answer: Any = None) -> None:
        self.threads = self.runs = self
        self.answer = answer
        self.refusal, self.thread, self.asked = refusal, thread, list[Any]()

    async def get(self, thread: str) -> Any:
        if self.thread is None:
            raise _answer(404)
        return self.thread

    async def wait(self, *place: str, **given: Any) -> Any:
        self.asked.append((*place, given["input"], given["multitask_strategy"], given["on_disconnect"]))
        if self.refusal is not None:
            raise _answer(self.refusal)
        return self.answer


def _answer(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", URL)
    return httpx.HTTPStatusError(f"status {status}", request=request, response=httpx.Response(status, request=request))


async def on_server() -> Candidate:
    ledger = MemoryLedger()
    key = await ledger.open_run("t", [STARTED])
    events = await ledger.events(key)
    return Candidate(key, project(events), events)


@pytest.mark.parametrize("refusal", [None, 409, 422])
async def test_a_run_is_continued_by_an_operation_unless_the_server_works_on_it(refusal: int | None) -> None:
    client = Client(refusal, {"metadata": {"assistant_id": "a-1"}})

    run, place = await on_server(), ByServer(URL, client)
    assert await place.fit(run) == Fit()
    await place.go_on(run)
    assert client.asked == [("t", "a-1", {"operation": "continue", "run": "t.1"}, "reject", "continue")]


async def test_a_run_under_other_terms_than_the_servers_is_left_once_with_what_to_do() -> None:
    raised = OtherTermsError("t.1", "role planner: needs scripted, here is offline")
    answer = {"__error__": {"error": "OtherTermsError", "message": str(raised)}}
    client, told = Client(thread={}, answer=answer), list[str]()

    ledger = MemoryLedger()
    await ledger.open_run("t", [STARTED])
    place = ByPlace(ByServer("http://elsewhere", Client()), ByServer(URL, client))
    now_s = iter(range(0, 10_000, 100))
    worker = Worker(Runs(ledger), place, lambda one: told.append(one.line()), pace=AT_ONCE, clock=lambda: next(now_s))
    for _ in range(3):
        await worker.run(once=True)
    assert told == ["t.1 taken up", f"t.1 left: {raised.sentence}"] and len(client.asked) == 1
    assert "needs scripted" in told[1] and "--take-over" in told[1]


@pytest.mark.parametrize("answer", [None, [], {"__error__": "text"}, {"__error__": {"error": "ValueError"}}])
async def test_any_other_answer_of_a_server_is_no_reason_to_leave_a_run(answer: Any) -> None:
    await ByServer(URL, Client(thread={}, answer=answer)).go_on(await on_server())


async def test_a_server_that_refuses_is_named() -> None:
    with pytest.raises(ConfigError, match=r"localhost:2024 cannot be used: status 500"):
        await ByServer(URL, Client(500, {})).go_on(await on_server())


@pytest.mark.parametrize("answer", [[], "text", 17, {"metadata": "text"}])
async def test_another_service_at_the_address_is_named_and_ends_no_worker(answer: Any) -> None:
    with pytest.raises(ConfigError, match="is not that of LangGraph's API"):
        await ByServer(URL, Client(thread=answer)).fit(await on_server())


def test_a_page_instead_of_an_answer_is_named_and_so_is_a_missing_token() -> None:
    async def main(status: int) -> str:
        answers = httpx.MockTransport(lambda _: httpx.Response(status, text="<html>"))
        client = LangGraphClient(httpx.AsyncClient(transport=answers, base_url=URL))
        with pytest.raises(ConfigError) as caught:
            await ByServer(URL, client).fit(await on_server())
        return str(caught.value)

    assert "is not that of LangGraph's API" in asyncio.run(main(200)) and "_TOKEN" in asyncio.run(main(401))
    assert "is not that of LangGraph's API" in asyncio.run(main(302))


@pytest.mark.parametrize("url", ["", "localhost:2024", "http://h:port", "ftp://h", "http://", "/x"])
def test_what_is_no_address_of_a_server_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="http://HOST:PORT"):
        ByServer(url)


async def test_an_address_is_named_without_its_password() -> None:
    assert (
        await ByServer("http://ada:s3cret@localhost:2024", Client()).fit(await on_server())
    ).lacks == f"{URL} does not know thread t"


async def test_a_thread_that_the_server_does_not_know_is_missing() -> None:
    assert (await ByServer(URL, Client()).fit(await on_server())).lacks == f"{URL} does not know thread t"


async def test_without_a_server_its_runs_are_left() -> None:
    assert (
        await ByPlace(ByServer("http://elsewhere", Client())).fit(await on_server())
    ).lacks == "a LangGraph server keeps its checkpoints: name it with --server"


@pytest.mark.parametrize(("configurable", "origin"), [({}, None), ({"assistant_id": "a", "graph_id": "g"}, "server")])
async def test_the_record_says_that_a_server_started_the_run(configurable: dict[str, Any], origin: str | None) -> None:
    ledger = MemoryLedger()
    app = build_graph(ScriptedModel(['{"steps": [], "answer": "yes"}']), ledger=ledger)

    await app.ainvoke({"goal": "g"}, {"configurable": {"thread_id": "t", **configurable}})
    assert project(await ledger.events(RunKey("t", 1))).assignment.origin == origin
