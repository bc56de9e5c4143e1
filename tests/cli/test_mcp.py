"""`--mcp FILE`: the tools of MCP servers from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Cli = Callable[..., Result]
Small = Any
PLAN = {
    "steps": [
        {"id": "look", "objective": "Look", "tool": "echo", "args": {"text": "hello"}},
        {"id": "note", "objective": "Note it", "tool": "note", "args": {"text": "{look_result}"}},
    ]
}


@pytest.fixture
def servers(folder: Path, small: Small) -> Path:
    """Return a file that names the small server, beside a plan for it."""
    (folder / "plan.json").write_text(json.dumps(PLAN))
    file = folder / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"small": small.entry(trusted=True)}}))
    return file


def test_a_plan_with_tools_of_a_server_is_shown_approved_in_another_process_and_carried_out(
    cli: Cli, servers: Path, small: Small, latest: Callable[[], str]
) -> None:
    asked = cli("run", "note it", "--plan", "plan.json", "--mcp", servers.name)
    assert (asked.exit_code, small.calls) == (3, [])
    assert "note (write)" in asked.stdout

    done = cli("resume", latest(), "--approve")

    assert (done.exit_code, small.calls) == (0, [("echo", {"text": "hello"}), ("note", {"text": "hello"})])
    assert json.loads(cli("show", latest(), "--json").stdout)["setup"]["mcp"] == str(servers)
    assert len(small.starts) == 2, "one session for each command"


def test_the_tools_of_servers_are_listed_with_what_they_do(cli: Cli, servers: Path) -> None:
    listed = cli("tools", "--mcp", str(servers)).stdout

    (note,) = (line for line in listed.splitlines() if line.startswith("note "))
    assert note.split()[1:3] == ["write", "no"]
    assert "calculator" in listed


@pytest.mark.parametrize("how", ["crash", "no file"])
def test_a_server_that_cannot_be_used_is_one_sentence_before_anything_is_planned(
    cli: Cli, servers: Path, small: Small, how: str
) -> None:
    if how == "crash":
        small.behave("crash")
    else:
        servers.unlink()

    result = cli("run", "note it", "--plan", "plan.json", "--mcp", str(servers))

    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1 and "Traceback" not in result.stderr
    assert ("'small'" if how == "crash" else "servers.json") in result.stderr
    assert cli("runs").stdout.splitlines()[1:] == []


@pytest.mark.slow
def test_nothing_that_a_server_says_on_its_standard_error_reaches_the_terminal(
    process: Callable[..., Any], servers: Path
) -> None:
    done = process("run", "note it", "--plan", "plan.json", "--mcp", str(servers), "--yes")

    assert (done.returncode, done.stderr) == (0, "")
    assert "small server" not in done.stdout
