"""The graph on Aegra, a server with LangGraph's API: a small form of the trial, and who is let in."""

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import aegra
import httpx
import pytest
import trial

from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.runs.runs import open_runs

RUNS = 30
DESK = """
[desk]
proxies = ["127.0.0.1"]
reviewers = { names = ["ann"] }

[desk.headers]
name = "X-User"
"""
pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[aegra.Engine]:
    if (why := aegra.missing()) is not None:
        pytest.skip(why)
    home = tmp_path_factory.mktemp("aegra")
    (home / "desk.toml").write_text(DESK)
    with aegra.engine(home, PLANNER_EXECUTOR_CONFIG=str(home / "desk.toml")) as engine:
        yield engine


def test_who_has_no_token_is_refused_and_health_needs_none(engine: aegra.Engine) -> None:
    url = engine.servers[0].url

    assert httpx.post(f"{url}/threads", json={}).status_code == httpx.codes.UNAUTHORIZED
    assert httpx.post(f"{url}/threads", json={}, headers={"x-api-key": aegra.TOKEN}).status_code == httpx.codes.OK
    assert [httpx.get(f"{url}/{path}").status_code for path in ("live", "ready", "health")] == [httpx.codes.OK] * 3


def test_a_name_that_leads_here_is_refused(engine: aegra.Engine) -> None:
    answer = httpx.get(f"{engine.servers[0].url}/info", headers={"host": "evil.example", "x-api-key": aegra.TOKEN})

    assert answer.status_code == httpx.codes.MISDIRECTED_REQUEST


def test_the_holder_of_the_token_is_the_approver_and_progress_is_shown(engine: aegra.Engine) -> None:
    found = asyncio.run(trial.tried(engine, range(9, 10), end=None, limit_s=60))
    run, approvers = asyncio.run(approved(engine, trial.label(9)))
    progress = f"{engine.servers[1].url}/threads/{run.thread}/progress"

    assert found.faults == [] and approvers == ["server:token-holder"]
    assert httpx.get(progress, headers={"x-api-key": aegra.TOKEN}).json()["status"] == "succeeded"


async def approved(engine: aegra.Engine, goal: str) -> tuple[Any, list[str]]:
    """Return the run of a goal, and who decided on it."""
    async with open_runs(engine.ledger) as runs:
        (run,) = await runs.page(RunFilter(text=goal))
        return run, [event.payload["approver"] for event in await runs.log(run.id) if event.kind == "decided"]


def test_a_decision_at_the_desk_of_one_server_is_kept_and_the_other_takes_it_up(engine: aegra.Engine) -> None:
    n = 19
    run = asyncio.run(begun(engine, n))
    with httpx.Client(base_url=engine.servers[0].url, headers={"x-api-key": aegra.TOKEN, "x-user": "ann"}) as ann:
        page = ann.get("/desk/run/review", params={"run": run.id})
        hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
        fields = {name: unescape(value) for name, value in hidden} | {"decision": "approve"}
        origin = {"Origin": engine.servers[0].url}
        decided = ann.post("/desk/run/decide", params={"run": run.id}, data=fields, headers=origin)
        shown = ann.get("/desk/run", params={"run": run.id})
        outside = [
            httpx.get(f"{engine.servers[0].url}/desk/runs", headers=headers).status_code
            for headers in ({"x-user": "ann"}, {"x-api-key": aegra.TOKEN})
        ]
    asyncio.run(continued(engine, run))

    assert page.status_code == 200 and decided.status_code == 303
    assert "server:ann" in shown.text and "the decision is on record" in shown.text
    assert outside == [401, 303]
    assert asyncio.run(approved(engine, trial.label(n)))[1] == ["server:ann"]


async def begun(engine: aegra.Engine, n: int) -> Any:
    """Begin a run that asks, and return it as it waits."""
    async with trial.connected(engine) as client, open_runs(engine.ledger) as runs:
        await client.begin(n)
        while not (found := await runs.page(RunFilter(text=trial.label(n), status="waiting"))):
            await asyncio.sleep(0.2)
        return found[0]


async def continued(engine: aegra.Engine, run: Any) -> None:
    """Continue a run at the other server, as `work --server` does, until it has succeeded."""
    async with trial.connected(engine) as client, open_runs(engine.ledger) as runs:
        body = {"operation": "continue", "run": run.id}
        assert await client.invoke(run.thread, engine.servers[1], input=body)
        while (await runs.show(run.id)).status != "succeeded":
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("end", [aegra.Server.kill, aegra.Server.stop])
async def test_no_effect_is_repeated_and_none_lost_when_a_server_ends(engine: aegra.Engine, end: Any) -> None:
    first = 100 if end is aegra.Server.kill else 200

    found = await trial.tried(engine, range(first, first + RUNS), end, limit_s=300)

    assert found.faults == [] and found.statuses["succeeded"] == RUNS
    assert end is aegra.Server.kill or found.repeated == 0
