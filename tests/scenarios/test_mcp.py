"""Whole runs with tools of MCP servers: approval, at most once, notice of change, and nothing that leaks."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import Agent, McpServers, build_graph, default_tools
from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Small = Any
EXAMPLES = Path(__file__).parents[2] / "examples" / "renewable-energy"
SOURCES = ("solar-power.md", "offshore-wind.txt", "energy-storage.md")


def brief(folder: Path) -> Any:
    """Return the plan of a brief: three documents are read side by side, summarised, and the brief is written."""
    reads = [
        step(f"read_{number}", "read_text_file", path=str(folder / source)) for number, source in enumerate(SOURCES)
    ]
    texts = [f"{{read_{number}_result.content}}" for number in range(len(SOURCES))]
    said = "# Trends\n\n{summary_result.summary}\n"
    return {
        "steps": [
            *reads,
            step("summary", "summarize_text", text=texts),
            step("report", "files_write_file", path=str(folder / "brief.md"), content=said),
        ]
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the documents that the brief is about."""
    shutil.copytree(EXAMPLES, tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def files(node_package: Callable[[str], Path], folder: Path) -> dict[str, Any]:
    """Return the entry of the filesystem server over that folder."""
    script = node_package("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    return {"command": "node", "args": [str(script), str(folder)]}


def test_a_brief_is_read_summarised_and_written_by_the_filesystem_server_once_it_is_approved(
    files: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    own = default_tools(documents=folder, workspace=tmp_path / "workspace")

    with Agent.open(tmp_path / "runs.db", tools=own, mcp={"files": files}) as agent:
        planned = agent.start("Write a brief on renewable energy", plan=brief(folder))
        assert planned.request is not None and not (folder / "brief.md").exists()
        held = agent.resume(planned.id, "approve")
        assert held.request is not None and not (folder / "brief.md").exists()
        run = agent.resume(planned.id, {"type": "approve"})

    (words,) = held.request["action_requests"]
    written = (folder / "brief.md").read_text()
    assert words["name"] == "run_step" and words["args"]["args"]["content"] == written
    assert run.status == "succeeded"
    assert written.startswith("# Trends\n\n") and len(written) > 200


def test_what_the_user_lets_into_an_argument_is_not_asked_about_again(
    files: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    own = default_tools(documents=folder, workspace=tmp_path / "workspace")
    free = {**files, "tools": {"write_file": {"free_args": ["content"]}}}

    with Agent.open(tmp_path / "runs.db", tools=own, mcp={"files": free}) as agent:
        run = agent.resume(agent.start("Write a brief", plan=brief(folder)).id, "approve")

    assert run.status == "succeeded" and (folder / "brief.md").exists()


def test_reading_what_stays_here_needs_no_person_where_side_effects_are_what_is_approved(
    small: Small, tmp_path: Path
) -> None:
    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, approval="side_effects") as agent:
        read = agent.start("Look", plan={"steps": [step("a", "echo", text="x")]})
        write = agent.start("Note", plan={"steps": [step("a", "note", text="x")]})

    assert (read.status, write.status) == ("succeeded", "waiting")
    assert [tool for tool, _ in small.calls] == ["echo"]


@pytest.mark.parametrize("named", [["echo"], []])
def test_a_tool_of_a_server_looks_before_a_plan_if_it_is_named(small: Small, tmp_path: Path, named: list[str]) -> None:
    look = {"look": [{"tool": "echo", "args": {"text": "x" * 2_000}}]}
    model = ScriptedModel([look, *[{"steps": [step("a", "echo", text="y")]}] * 2])

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, planner=model, look=named) as agent:
        agent.start("Look first")
        looked = [args for tool, args in small.calls if args["text"] != "y"]

    assert looked == ([{"text": "x" * 2_000}] if named else [])


def test_a_call_that_a_server_died_in_is_not_made_again_unseen(small: Small, tmp_path: Path) -> None:
    plan: Any = {"steps": [step("a", "echo", text="x"), step("b", "die")]}
    model = ScriptedModel([{"steps": [step("b", "die")]}])

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, planner=model) as agent:
        run = agent.resume(agent.start("Die", plan=plan).id, "approve")

    assert run.status == "waiting" and run.request is not None
    assert "may have" in run.request["action_requests"][0]["description"]
    assert [tool for tool, _ in small.calls] == ["echo", "die"]


def test_after_a_server_died_a_revision_goes_on_with_the_one_that_was_started_again(
    small: Small, tmp_path: Path
) -> None:
    plan: Any = {"steps": [step("a", "look_and_die")]}
    model = ScriptedModel([{"steps": [step("a", "echo", text="back")]}])

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, planner=model) as agent:
        run = agent.resume(agent.start("Look", plan=plan).id, "approve")
        run = agent.resume(run.id, "approve")

    assert (run.status, run.answer) == ("succeeded", "back")
    assert len(small.starts) == 2


def test_what_a_server_calls_an_error_is_a_failed_step(small: Small, tmp_path: Path) -> None:
    plan: Any = {"steps": [step("a", "fail", text="no such article"), step("b", "echo", text="{a_result}")]}

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, approval="never", replan="never") as agent:
        run = agent.start("Fail", plan=plan)

    assert run.status == "failed" and "no such article" in run.reason
    assert [tool for tool, _ in small.calls] == ["fail"]


def test_a_tool_that_changes_between_approval_and_call_is_not_called(small: Small, tmp_path: Path) -> None:
    plan: Any = {"steps": [step("a", "note", text="x")]}

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, replan="never") as agent:
        waiting = agent.start("Note", plan=plan)
        small.behave("swapped")
        run = agent.resume(waiting.id, "approve")

    assert run.status == "failed" and "has changed its arguments" in run.reason
    assert small.calls == []


def test_a_tool_that_its_server_swaps_while_the_plan_runs_is_not_called(small: Small, tmp_path: Path) -> None:
    plan: Any = {"steps": [step("a", "swap"), step("b", "note", text="x", after=["a"])]}

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, replan="never") as agent:
        run = agent.resume(agent.start("Note", plan=plan).id, "approve")

    assert run.status == "failed" and "has changed its arguments" in run.reason
    assert [tool for tool, _ in small.calls] == ["swap"]


@pytest.mark.parametrize("change", ["tool", "place"])
def test_a_run_that_is_taken_over_with_another_server_is_asked_about_again(
    small: Small, tmp_path: Path, change: str
) -> None:
    plan: Any = {"steps": [step("a", "note", text="x")]}
    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry()}) as agent:
        waiting = agent.start("Note", plan=plan)
    if change == "tool":
        small.behave("swapped")
    env = {"ROOT": "/elsewhere"} if change == "place" else {}

    with Agent.open(tmp_path / "runs.db", mcp={"small": small.entry(env=env)}) as agent:
        with pytest.raises(OtherTermsError, match="changed"):
            agent.resume(waiting.id, "approve")
        again = agent.resume(waiting.id, "approve", take_over=True)
        calls = list(small.calls)
        run = agent.resume(waiting.id, "approve")

    assert (again.status, calls) == ("waiting", [])
    assert (run.status, small.calls) == ("succeeded", [("note", {"text": "x"})])


def test_a_graph_of_ones_own_works_with_invoke_inside_a_running_event_loop(small: Small, saver: Any) -> None:
    async def notebook(servers: McpServers) -> Any:
        graph = build_graph(tools=servers.tools(), checkpointer=saver)
        plan = {"steps": [step("a", "echo", text="x"), step("b", "echo", text="y")]}
        asked(graph.invoke({"goal": "g", "plan": plan}, on_thread()))
        return graph.invoke(Command(resume="approve"), on_thread())

    async def main() -> Any:
        async with McpServers({"small": small.entry()}) as servers:
            return await notebook(servers)

    assert asyncio.run(main())["answer"] == {"a": "x", "b": "y"}
    assert len(small.starts) == 1


def test_no_key_is_in_any_file_that_a_run_leaves_behind(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("SMALL_TOKEN", key)
    entry = small.entry(env={"SMALL_TOKEN": "${SMALL_TOKEN}"})
    plan: Any = {"steps": [step("a", "environment"), step("b", "fail", text="{a_result}")]}

    (tmp_path / "runs").mkdir()

    with Agent.open(tmp_path / "runs" / "runs.db", mcp={"small": entry}, approval="never", replan="never") as agent:
        run = agent.start("Tell", plan=plan)

    assert run.status == "failed" and "***" in run.reason
    assert not [file for file in (tmp_path / "runs").iterdir() if key.encode() in file.read_bytes()]


def test_the_progress_of_a_server_is_in_the_stream_of_the_run(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        graph = build_graph(ScriptedModel([{"steps": [step("a", "steady")]}]), tools=servers.tools(), approval="never")
        told = list(graph.stream({"goal": "g"}, on_thread(), stream_mode="custom"))

    first = next(event for event in told if event.get("progress"))
    assert (first["step"], first["status"]) == ("a", "running")
    assert first["progress"] == {
        "tool": "steady",
        "done": 1,
        "total": 3,
        "message": "page 1",
        "text": "1 of 3, page 1",
    }


def test_an_image_is_in_the_result_and_not_in_the_prompt_of_a_later_step() -> None:
    picture = {"type": "image", "data": "iVBO" * 100, "mimeType": "image/png"}
    show = LoggedTools().tool("show", lambda: [picture], effect="read")
    look = {"id": "b", "objective": "look", "depends_on": ["a"]}
    model = ScriptedModel([{"steps": [step("a", "show"), look], "answer": "{a_result}"}, "it is red"])

    state = build_graph(model, tools=[show], approval="never").invoke({"goal": "g"}, on_thread())

    assert state["answer"] == [picture]
    assert "iVBOiVBO" not in str(model.prompts) and "(image/png, 300 bytes, not shown)" in str(model.prompts[-1])
