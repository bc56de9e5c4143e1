"""Tokens and dollars of whole runs: retried, forked, over lists, with failed requests, they are the same everywhere."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from desk_server import query, served
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.cli.commands.show import as_data, lines
from planner_executor.graph.cli.recorded_run import recorded_run
from planner_executor.graph.evaluation.planned_arm import ended
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.serving.run_progress import run_progress
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PRICES = {"prices": {"scripted": {"input": 100.0, "output": 100.0}}}
EACH = {"id": "each", "objective": "judge", "for_each": ["x", "y", "z"], "max_failures": 1, "depends_on": ["s"]}
THINK = {"id": "m", "objective": "think", "depends_on": ["each"]}
PLAN = {"steps": [step("s", "look", at="orders"), EACH, THINK], "answer": "{m_result}"}
BAD = ValueError("a bad request")


def said(text: str, read: int, written: int, reasoned: int = 0) -> AIMessage:
    counts = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written + reasoned}
    return AIMessage(text, usage_metadata=counts)  # type: ignore[arg-type]


def agent_on(path: Path, *answers: Any) -> Agent:
    look = LoggedTools().tool("look", lambda at: at, effect="read", trusted=True)
    executor = ScriptedModel(answers)
    options: dict[str, Any] = {"tools": [look], "policy": PRICES, "replan": "never", "budget": {"tokens": 100_000}}
    return Agent.open(path, planner=ScriptedModel([]), executor=executor, **options)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Three runs: one that succeeds at once, one that fails and is retried, and a fork of it."""
    path = tmp_path / "runs.db"
    items = [said(text, 100, 10, 5) for text in "xyz"]
    with agent_on(path, *items, said("done", 900, 50, 200)) as agent:
        agent.resume(agent.start("g", plan=PLAN, thread="whole").id, "approve")
    with agent_on(path, *items[:2], BAD, BAD) as agent:
        agent.resume(agent.start("g", plan=PLAN, thread="again").id, "approve")
    with agent_on(path, said("done", 700, 30)) as agent:
        agent.retry("again.1")
    with agent_on(path, said("anew", 300, 3, 30)) as agent:
        fork = agent.fork("again.1", "m")
        agent.resume(fork.id, "approve")
    return path


def on_the_desk(path: Path, runs: list[str]) -> dict[str, tuple[int, float, int]]:
    """What the page of a run's budget says: the sums of its table, and the line on top."""
    found = {}
    with served(path) as server, server.visit() as visit:
        for run in runs:
            page = visit.get(query("/budget", run)).text
            cells = re.findall(r'<td class="num">([^<]+)</td>' * 4, page)
            head = int(page.partition(" of 100000 tokens")[0].rpartition(" ")[2].rpartition(">")[2])
            found[run] = sum(int(row[2]) for row in cells), sum(float(row[3]) for row in cells), head
    return found


def test_every_surface_says_the_same_tokens_and_dollars_of_whole_runs(database: Path) -> None:
    with agent_on(database) as agent:
        listed = {run.id: run for run in agent.list()}
        logs = {run: agent.log(run) for run in listed}
        audits = {run: agent.audit(run).to_json()["costs"] for run in listed}

    assert sorted(one.tokens for one in listed.values()) == [333, 960, 1495]
    desk = on_the_desk(database, list(listed))
    for name, one in listed.items():
        found, log = recorded_run(database, name), logs[name]
        data = as_data(found)
        steps = {row["step"]: row["cost"] for row in run_progress(log)["steps"]}
        trial = ended(log.run, None, log.events, 0.0, 0).spent
        costs = data["costs"]

        assert one.tokens > 0 and costs == audits[name] and "reserved" not in data
        assert {name: cost for name, cost in steps.items() if name in costs} == costs
        tokens, dollars = (sum(cost[kind] for cost in costs.values()) for kind in ("tokens", "cost_usd"))
        assert {one.tokens} == {tokens, data["usage"]["tokens"], trial.tokens, desk[name][0], desk[name][2]}
        spent = " ".join(line for line in lines(found, 80) if line.startswith("spent"))
        assert f" {tokens} of 100000 tokens" in spent and f" {tokens:,} tokens and " in log.run.compared
        paid = [one.cost_usd, data["usage"]["cost_usd"], trial.cost_usd, desk[name][1]]
        assert paid == [pytest.approx(dollars)] * 4
        assert log.run.spent is not None and log.run.spent["tokens"] == tokens
        assert log.run.spent["cost_usd"] == pytest.approx(dollars)


def test_a_fork_is_compared_without_what_it_inherited(database: Path) -> None:
    with agent_on(database) as agent:
        fork = next(run.id for run in agent.list() if run.id.endswith(".1") and run.thread not in ("whole", "again"))

    said = recorded_run(database, fork).record.said

    assert said is not None and said.done == {"s", "each"}


def test_the_metrics_are_the_sum_of_the_list(database: Path) -> None:
    async def read() -> Any:
        async with open_runs(database) as runs:
            return await runs.counters()

    counts = Counter[str]()
    for (name, _), count in asyncio.run(read()).counts.items():
        counts[name] += count  # type: ignore[assignment]
    with agent_on(database) as agent:
        listed = agent.list()

    assert counts["tokens_total"] == sum(run.tokens for run in listed)
    assert counts["cost_usd_total"] == pytest.approx(sum(run.cost_usd for run in listed))
    assert counts["model_calls_total"] == sum(run.model_calls for run in listed)
