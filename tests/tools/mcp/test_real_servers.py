"""Servers that others wrote: two from npm, one from PyPI in an environment of its own."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from planner_executor import McpServers, default_tools
from planner_executor.tools.call_progress import CallProgress, told_of_progress
from planner_executor.tools.errors import McpCallFailed

TIME = "mcp-server-time==2026.10.19"
NodePackage = Callable[[str], Path]


@pytest.fixture
def files(node_package: NodePackage, tmp_path: Path) -> dict[str, Any]:
    """Return the entry of the filesystem server over a folder that holds `a.txt`."""
    script = node_package("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("hello")
    return {"command": "node", "args": [str(script), str(tmp_path / "files")]}


@pytest.fixture
def everything(node_package: NodePackage) -> Path:
    """Return the script of the server that does everything that the protocol has."""
    return node_package("@modelcontextprotocol/server-everything") / "dist" / "index.js"


@pytest.fixture
def time_server(pytestconfig: pytest.Config) -> Path:
    """Return the command of the time server, installed into an environment of its own that is kept for later."""
    home = pytestconfig.cache.mkdir(TIME)  # type: ignore[union-attr]
    command = home / "bin" / "mcp-server-time"
    if not command.exists():
        shutil.rmtree(home)
        for step in _installing(home):
            done = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                pytest.skip(f"{TIME} cannot be installed here: {done.stderr.strip()[-200:]}")
    return command


def _installing(home: Path) -> list[list[str]]:
    python = str(home / "bin" / "python")
    if uv := shutil.which("uv"):
        return [
            [uv, "venv", "--quiet", "--python", sys.executable, str(home)],
            [uv, "pip", "install", "--quiet", "--python", python, TIME],
        ]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TIME]
    return [[sys.executable, "-m", "venv", str(home)], pip]


def call(servers: McpServers, tool: str, **args: Any) -> Any:
    (found,) = (each for each in servers.tools() if each.name == tool)
    return asyncio.run(found.arun(args))


def effects(servers: McpServers) -> dict[str, tuple[str, bool]]:
    declared = {tool.name: tool.metadata or {} for tool in servers.tools()}
    return {name: (metadata["effect"], metadata["idempotent"]) for name, metadata in declared.items()}


@contextmanager
def over_http(script: Path) -> Iterator[str]:
    """Run the server that does everything on a free port of loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", str(script), "streamableHttp"]
    with subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            while b"listening" not in (line := process.stderr.readline()):
                assert line, "it ended before it listened"
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def test_the_filesystem_server_reads_writes_and_declares_what_it_does(files: dict[str, Any], tmp_path: Path) -> None:
    with McpServers({"files": files}) as servers:
        read = call(servers, "read_text_file", path=str(tmp_path / "files" / "a.txt"))
        call(servers, "write_file", path=str(tmp_path / "files" / "b.txt"), content="written")
        with pytest.raises(McpCallFailed) as refused:
            call(servers, "read_text_file", path="/etc/hostname")
        declared = effects(servers)

    assert read == {"content": "hello"}
    assert (tmp_path / "files" / "b.txt").read_text() == "written"
    assert "Access denied" in refused.value.reason
    assert declared["read_text_file"] == ("read", True)
    assert declared["write_file"] == ("write", True)
    assert declared["edit_file"] == declared["move_file"] == ("write", False)


def test_names_that_the_projects_own_tools_have_too_get_the_servers_name(files: dict[str, Any], tmp_path: Path) -> None:
    own = default_tools(documents=tmp_path, workspace=tmp_path / "workspace")

    with McpServers({"files": files}) as servers:
        names = {tool.name for tool in servers.tools(beside=own)}

    assert {"files_read_file", "files_write_file", "read_text_file"} <= names
    assert not names & {tool.name for tool in own}


def test_every_kind_of_answer_is_a_plain_value(everything: Path) -> None:
    with McpServers({"all": {"command": "node", "args": [str(everything)]}}) as servers:
        echo = call(servers, "echo", message="hello")
        weather = call(servers, "get-structured-content", location="Chicago")
        picture = call(servers, "get-tiny-image")
        links = call(servers, "get-resource-links", count=1)
        resource = call(servers, "get-resource-reference", resourceType="Text", resourceId=1)

    assert echo == "Echo: hello"
    assert set(weather) == {"temperature", "conditions", "humidity"}
    assert {block["type"] for block in picture} == {"text", "image"}
    assert [block["type"] for block in links] == ["text", "resource_link"]
    assert [block["type"] for block in resource] == ["text", "resource", "text"]
    json.dumps([echo, weather, picture, links, resource])


def test_no_key_of_ours_reaches_a_server_that_tells_its_environment(
    everything: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("ITS_TOKEN", "token-of-the-server")
    entry = {"command": "node", "args": [str(everything)], "env": {"TOKEN": "${ITS_TOKEN}"}}

    with McpServers({"all": entry}) as servers:
        environment = json.loads(call(servers, "get-env"))

    assert environment["TOKEN"] == "***"
    assert "OPENAI_API_KEY" not in environment


def test_a_long_call_that_is_given_up_leaves_the_session_as_it_was(everything: Path) -> None:
    async def given_up(servers: McpServers) -> Any:
        tools = {tool.name: tool for tool in servers.tools()}
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await tools["trigger-long-running-operation"].arun({"duration": 30, "steps": 30})
        return await tools["echo"].arun({"message": "still here"})

    with McpServers({"all": {"command": "node", "args": [str(everything)]}}) as servers:
        assert asyncio.run(given_up(servers)) == "Echo: still here"


def test_a_server_by_streamable_http_does_the_same(everything: Path) -> None:
    async def many(servers: McpServers) -> list[Any]:
        echo = next(tool for tool in servers.tools() if tool.name == "echo")
        return await asyncio.gather(*(echo.arun({"message": str(number)}) for number in range(10)))

    with over_http(everything) as url, McpServers({"all": {"type": "http", "url": url}}) as servers:
        assert call(servers, "get-sum", a=1, b=2) == "The sum of 1 and 2 is 3."
        assert asyncio.run(many(servers)) == [f"Echo: {number}" for number in range(10)]


def test_a_server_from_pypi_runs_in_an_environment_of_its_own(time_server: Path) -> None:
    with McpServers({"time": {"command": str(time_server)}}) as servers:
        there = call(servers, "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
        with pytest.raises(McpCallFailed) as failed:
            call(servers, "get_current_time", timezone="Nowhere/None")
        declared = effects(servers)

    assert there["target"]["datetime"].endswith("21:00:00+09:00")
    assert "timezone" in failed.value.reason.lower()
    assert declared["convert_time"] == ("read", True)


def test_the_progress_of_a_long_operation_is_told(everything: Path) -> None:
    told: list[CallProgress] = []
    entry = {"command": "node", "args": [str(everything)]}
    with McpServers({"all": entry}) as servers, told_of_progress(told.append):
        call(servers, "trigger-long-running-operation", duration=0.4, steps=4)

    assert [(progress.done, progress.total) for progress in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_tool_of_the_everything_server_that_is_a_task_only_is_left_out_by_name(
    everything: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with McpServers({"all": {"command": "node", "args": [str(everything)]}}) as servers:
        names = {tool.name for tool in servers.tools()}

    assert "simulate-research-query" not in names and "echo" in names
    assert not [line for line in caplog.messages if "'echo' is left out" in line]


def test_a_server_is_told_that_nobody_answers_questions_within_a_call(everything: Path) -> None:
    with McpServers({"all": {"command": "node", "args": [str(everything)]}}) as servers:
        names = {tool.name for tool in servers.tools()}

    assert not [name for name in names if "elicitation" in name or "sampling" in name]
