"""`keep_checkpoints="until_end"`: an ended thread has one checkpoint, and goes on from it in every way."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor import Agent, build_graph
from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.checkpoints.kept_checkpoints import ends_run, keep_checkpoints_from_environment
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PLAN = {"steps": [step("pay", "pay"), step("look", "look", after=["pay"])], "answer": "{look_result}"}


def count(database: str, thread: str) -> int:
    async def counted() -> int:
        async with open_checkpointer(database) as saver:
            return len([found async for found in saver.alist(on_thread(thread))])

    return asyncio.run(counted())


def test_an_ended_thread_goes_on_from_its_last_checkpoint(database: str) -> None:
    tools, broken = LoggedTools(), [True]

    def look() -> str:
        if broken:
            raise OSError(broken.pop())
        return "seen"

    own = [tools.tool("pay", lambda: "receipt", effect="external"), tools.tool("look", look, effect="read")]
    options: Any = {"keep_checkpoints": "until_end", "tools": own, "replan": "never", "attempts": 1}
    with Agent.open(database, planner=ScriptedModel([]), **options) as agent:
        agent.start("g", plan=PLAN, thread="t")
        waiting = count(database, "t")
        assert waiting > 1, "all are kept until the end"
        assert agent.resume("t", "approve").status in ("failed", "partial") and count(database, "t") == 1
    with Agent.open(database, planner=ScriptedModel([]), **options) as agent:
        again = agent.retry("t")
        assert (again.id, again.status, again.answer) == ("t.1", "succeeded", "seen") and len(tools.named("pay")) == 1
        fork = agent.fork("t.1", "look")
        assert agent.resume(fork.id, "approve").status == "succeeded"
        assert agent.start("h", plan={"steps": [], "answer": 2}, thread="t").id == "t.2" and count(database, "t") == 1
        assert agent.verify("t.1").is_whole and agent.verify("t.2").is_whole


async def test_a_chat_keeps_its_messages(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    answers = [{"steps": [], "answer": "one"}, {"steps": [], "answer": "two"}]
    async with open_checkpointer(path) as saver, open_runs(path) as runs:
        graph = build_graph(
            ScriptedModel(answers), tools=[], checkpointer=saver, ledger=runs.ledger, keep_checkpoints="until_end"
        )
        for words in ("first", "second"):
            await graph.ainvoke({"messages": [HumanMessage(words)]}, on_thread("t"))
        left = [found async for found in graph.aget_state_history(on_thread("t"))]
        assert [len(left), *(message.content for message in left[0].values["messages"] if message.type == "human")] == [
            1,
            "first",
            "second",
        ]


def test_all_are_kept_by_default_and_the_environment_may_say_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = {"steps": [], "answer": 2}
    for name, setting, several in (("a.db", "", True), ("b.db", "until_end", False)):
        monkeypatch.setenv("PLANNER_EXECUTOR_KEEP_CHECKPOINTS", setting)
        with Agent.open(tmp_path / name, planner=ScriptedModel([])) as agent:
            agent.start("g", plan=plan, thread="t")
        assert (count(str(tmp_path / name), "t") > 1) is several


def test_what_cannot_be_kept_so_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be one of all, until_end"):
        keep_checkpoints_from_environment({"PLANNER_EXECUTOR_KEEP_CHECKPOINTS": "none"})
    with pytest.raises(ConfigError, match="InMemorySaver keeps all"):
        build_graph(ScriptedModel([]), tools=[], checkpointer=InMemorySaver(), keep_checkpoints="until_end")
    build_graph(ScriptedModel([]), tools=[], checkpointer=InMemorySaver(), keep_checkpoints="all")


@pytest.mark.parametrize(
    ("namespace", "values"),
    [
        ("inner:1", {}),
        ("", {"status": "waiting"}),
        ("", {"branch:to:review": None}),
        ("", {"__start__": {}}),
        ("", {"run": {"id": "t.1"}}),
        ("", {"run": "t.1"}),
    ],
)
def test_only_the_end_of_a_run_of_ours_is_one(namespace: str, values: dict[str, Any]) -> None:
    ended = {"run": {"thread": "t", "n": 1, "id": "t.1", "seq": 9}, "status": "succeeded"}

    assert ends_run("", {"channel_values": ended})  # type: ignore[typeddict-item]
    assert not ends_run(namespace, {"channel_values": {**ended, **values}})  # type: ignore[typeddict-item]
