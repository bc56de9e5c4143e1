"""The arms of an evaluation through OpenAI's client against a server on loopback."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor import default_tools
from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.evaluation.evaluation import evaluate
from planner_executor.graph.evaluation.suite_file import read_suite
from planner_executor.graph.testing import step

SUITE = """
tools = ["calculator"]
[budget]
cost_usd = 0.5
[prices.scripted-model]
input = 1.0
output = 2.0
[[cases]]
id = "sum"
goal = "What is 2 + 3?"
checks = [{ matches = "^5$" }, { called = "calculator" }]
"""
PLAN = {"steps": [step("add", "calculator", expression="2 + 3")]}
CALL = {"id": "a", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "2 + 3"}'}}


async def test_each_arm_asks_the_server_and_is_charged_what_it_counts(replies: Any, tmp_path: Path) -> None:
    (tmp_path / "sums.toml").write_text(SUITE)
    for plan in (PLAN, PLAN):  # the direct agent comes last in the first case
        replies.say(plan)
    replies.say("", finish="tool_calls", tool_calls=[CALL])
    replies.say("5")

    models = role_models({"planner": replies.settings()})
    results = await evaluate(read_suite(tmp_path / "sums.toml"), models, default_tools, tmp_path / "out")

    spent = {trial.slot.arm: trial.spent for trial in results.trials}
    assert all(trial.met for trial in results.trials)
    assert {arm: took.tokens for arm, took in spent.items()} == {"static": 16, "replanning": 16, "direct": 32}
    assert spent["direct"].cost_usd == pytest.approx(2 * (11 * 1.0 + 5 * 2.0) / 1e6)
    assert not spent["direct"].estimated
    asked = [body for _, _, body in replies.requests]
    assert [tool["function"]["name"] for tool in asked[2]["tools"]] == ["calculator"]
    assert asked[3]["messages"][-1]["role"] == "tool"
    assert asked[3]["messages"][-1]["content"] == "5"
    assert "tools" not in asked[0]
