"""The graph on Aegra, a server with LangGraph's API: a small form of the trial, and who is let in."""

import asyncio
from collections.abc import Iterator
from typing import Any

import aegra
import httpx
import pytest
import trial

from graph.runs import open_runs

RUNS = 30
pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[aegra.Engine]:
    if (why := aegra.missing()) is not None:
        pytest.skip(why)
    with aegra.engine(tmp_path_factory.mktemp("aegra")) as engine:
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
        (run,) = await runs.list(text=goal)
        return run, [event.payload["approver"] for event in await runs.log(run.id) if event.kind == "decided"]


@pytest.mark.parametrize("end", [aegra.Server.kill, aegra.Server.stop])
def test_no_effect_is_repeated_and_none_lost_when_a_server_ends(engine: aegra.Engine, end: Any) -> None:
    first = 100 if end is aegra.Server.kill else 200

    found = asyncio.run(trial.tried(engine, range(first, first + RUNS), end, limit_s=300))

    assert found.faults == [] and found.statuses["succeeded"] == RUNS
    assert end is aegra.Server.kill or found.repeated == 0
