"""MCP servers beside a graph's other tools."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AsyncAgent, default_tools
from planner_executor.graph.builder.tool_servers import awith_servers, with_servers
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.testing import LoggedTools, step

Small = Any


def test_without_servers_the_tools_stay_as_they_are() -> None:
    tools = [LoggedTools().tool("echo")]

    with with_servers(None, tools) as given:
        assert given is tools


def test_a_servers_tool_whose_name_is_taken_gets_its_servers_name_in_front(small: Small) -> None:
    with with_servers({"small": small.entry()}, [LoggedTools().tool("echo")]) as tools:
        names = [tool.name for tool in tools if hasattr(tool, "name")]

    assert names[0] == "echo"
    assert "small_echo" in names and "note" in names


@pytest.mark.parametrize("mcp", ["nowhere.json", {"x": {}}, {"x": {"command": "no-such-command"}}])
async def test_servers_that_cannot_be_used_are_a_fault_of_the_configuration(mcp: Any) -> None:
    with pytest.raises(ConfigError), with_servers(mcp, []):
        raise AssertionError("they were started")
    with pytest.raises(ConfigError):
        async with awith_servers(mcp, []):
            raise AssertionError("they were started")


def test_the_facade_starts_the_servers_of_a_file_and_stops_them_at_its_end(small: Small, tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"small": small.entry(trusted=True)}}))
    plan: Any = {"steps": [step("a", "echo", text="hello"), step("b", "note", text="{a_result} there")]}

    with Agent.open(tmp_path / "runs.db", mcp=file) as agent:
        run = agent.start("Note it", plan=plan)
        assert small.calls == []
        run = agent.resume(run.id, "approve")

    assert (run.status, run.answer) == ("succeeded", "noted")
    assert small.calls == [("echo", {"text": "hello"}), ("note", {"text": "hello there"})]
    assert len(small.starts) == 1


def test_a_facade_that_is_cancelled_stops_its_servers(small: Small, tmp_path: Path) -> None:
    async def main() -> None:
        plan: Any = {"steps": [step("a", "slow")]}
        async with AsyncAgent.open(tmp_path / "runs.db", mcp={"small": small.entry()}, approval="never") as agent:
            await agent.start("Wait", plan=plan)

    async def cancelled() -> None:
        work = asyncio.create_task(main())
        while not small.calls:
            await asyncio.sleep(0.01)
        work.cancel()
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())

    assert [tool for tool, _ in small.calls] == ["slow"]
    (process,) = small.starts
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.e2e
def test_servers_of_a_process_end_with_it(small: Small) -> None:
    script = f"""
from planner_executor.graph.builder.tool_servers import with_servers_to_the_end
print(len(with_servers_to_the_end({{"small": {small.entry()!r}}}, [])))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 5


@pytest.mark.parametrize("place", ["workspace/servers.json", "link/servers.json"])
async def test_no_program_is_started_that_a_file_names_which_a_tool_can_write(
    small: Small, tmp_path: Path, place: str
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "workspace")
    (tmp_path / "workspace" / "servers.json").write_text(json.dumps({"mcpServers": {"small": small.entry()}}))
    own = default_tools(documents=tmp_path / "docs", workspace=tmp_path / "workspace")

    with pytest.raises(ConfigError, match="can write"), with_servers(tmp_path / place, own):
        raise AssertionError("they were started")
    with pytest.raises(ConfigError, match="can write"):
        async with awith_servers(tmp_path / place, own):
            raise AssertionError("they were started")
    assert small.starts == []
