"""A policy is tried on the runs of a database, each under the terms of its own record."""

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planner_executor import AsyncAgent
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs import policy_trial
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("pay", "pay", to="ann")]}


async def started(path: Path, thread: str, plan: Any = PLAN, **options: Any) -> None:
    tools = [LoggedTools().tool("pay", effect="external", trusted=True)]
    async with AsyncAgent.open(path, planner=ScriptedModel([]), tools=tools, **options) as agent:
        run = await agent.start("g", plan=plan, thread=thread)
        assert (run if run.status == "succeeded" else await agent.resume(run.id, "approve")).status == "succeeded"


async def tried(path: Path, policy: dict[str, Any], since: float | None = None) -> list[tuple[str, str, str, str]]:
    async with AsyncAgent.open(path, planner=ScriptedModel([])) as agent:
        runs: AsyncIterator[Any] = policy_trial.tried_on_runs(agent.runs, policy_from(policy), since)
        return [(run, one.what, one.was, one.would) for run, found in [each async for each in runs] for one in found]


async def test_each_run_is_read_once_however_many_stand_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    for thread in ("a", "b", "c"):
        await started(path, thread)
    denied = {"effects": {"external": "deny"}}
    monkeypatch.setattr(policy_trial, "PAGE", 2)

    found = await tried(path, denied)

    assert [one for one in found if one[0] == "c.1"] == [
        ("c.1", "the plan", "asked", "denied"), ("c.1", "pay", "let through", "denied")
    ]  # fmt: skip
    assert [one[0] for one in found if one[1] == "pay"] == ["c.1", "b.1", "a.1"]
    assert await tried(path, denied, since=time.time() + 60) == []


async def test_a_run_that_is_removed_once_it_was_listed_is_left_out(tmp_path: Path) -> None:
    for thread in ("a", "b"):
        await started(tmp_path / "runs.db", thread)
    found = []
    async with AsyncAgent.open(tmp_path / "runs.db", planner=ScriptedModel([])) as agent:
        ledger = agent.runs.ledger
        async for run, _ in policy_trial.tried_on_runs(agent.runs, policy_from({}), None):
            found.append(run)
            await ledger.remove([[await ledger.transcript(RunKey("a", 1))]], "os:ben")

    assert found == ["b.1"]


@pytest.mark.parametrize(
    ("options", "policy", "would"),
    [
        ({"approval": "never"}, {}, "let through"),
        ({"approval": "never"}, {"approval": "always"}, "asked"),
        ({"policy": {"approval": "never"}}, {}, "asked"),
        ({"policy": {"approval": "never"}}, {"approval": "never"}, "let through"),
    ],
)
async def test_a_mode_that_the_policy_set_goes_with_it_and_one_of_the_run_stays(
    tmp_path: Path, options: dict[str, Any], policy: dict[str, Any], would: str
) -> None:
    await started(tmp_path / "runs.db", "a", **options)

    plan, call = await tried(tmp_path / "runs.db", policy)

    assert plan == ("a.1", "the plan", "let through", would)
    assert call == ("a.1", "pay", "let through", "let through")


async def test_what_cannot_be_read_any_more_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await started(path, "long", {"steps": [step("pay", "pay", to="x" * 100_000)]})
    whole = await tried(path, {})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM ledger_artifacts WHERE length(content) BETWEEN 100000 AND 100100")
    shortened = await tried(path, {})
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM ledger_artifacts")

    assert whole == [("long.1", "the plan", "asked", "asked"), ("long.1", "pay", "let through", "let through")]
    assert shortened == [whole[0], ("long.1", "pay", "let through", "unknown")]
    assert await tried(path, {}) == [("long.1", "the run", "unknown", "unknown")]
