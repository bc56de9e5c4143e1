"""`resume` uses the operator's settings; what a run remembers completes them, never weakens them, and is shown."""

import asyncio
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import Result

from planner_executor import AsyncAgent
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.resumed_setup import setup_to_resume
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.errors import InputError

Cli = Callable[..., Result]
DATABASE = Path("planner-executor.db")
LAX = '[tools.write_report]\nverdict = "allow"\n'
STRICT = '[effects]\nwrite = "deny"\n'
STRICTER = '[effects]\nwrite = "deny"\nexternal = "deny"\n'


@pytest.fixture(autouse=True)
def no_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANNER_EXECUTOR_POLICY", raising=False)
    monkeypatch.delenv("PLANNER_EXECUTOR_CONFIG", raising=False)


def hostile(folder: Path, small: Any = None) -> dict[str, Any]:
    """Return what a client would like the operator's resume to use."""
    (folder / "lax.toml").write_text(LAX)
    server = small.entry() if small is not None else {"command": "no-such-command"}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"small": server}}))
    model = {"model": "openai:m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "HOME"}
    return {
        "workspace": str(folder / "elsewhere"),
        "policy": str(folder / "lax.toml"),
        "approval": "never",
        "mcp": str(folder / "servers.json"),
        "models": {"planner": model},
    }


def begun(folder: Path, thread: str, *, record: Mapping[str, Any] | None = None, **configurable: Any) -> str:
    """Begin a run as a server does; `record` is written as versions did that obeyed `configurable.setup`."""

    async def begin() -> None:
        options = Setup.default().options()
        async with AsyncAgent.open(folder / DATABASE, **options) as agent:
            with invoked_by(Caller(thread, {"setup": record or {}})):
                plan = json.loads((folder / "plan.json").read_text())
                config: Any = {"configurable": {"thread_id": thread, **configurable}}
                await agent.graph.ainvoke({"goal": "g", "plan": plan}, config)

    asyncio.run(begin())
    return f"{thread}.1"


def test_what_a_client_says_of_a_run_is_not_used(cli: Cli, folder: Path, small: Any) -> None:
    run = begun(folder, "t", setup=hostile(folder, small), setup_by="facade")

    done = cli("resume", run, "--approve")

    assert done.exit_code == 0 and (folder / "workspace" / "report.md").exists()
    assert not (folder / "elsewhere").exists() and small.starts == []
    assert "elsewhere" not in done.stdout


def test_a_run_of_a_server_is_resumed_in_the_folders_that_are_named_before(cli: Cli, folder: Path) -> None:
    run = begun(folder, "t")

    done = cli("resume", run, "--reject")

    assert f"{run} has no recorded settings" in done.stdout
    assert f"documents: {folder / 'docs'}; workspace: {folder / 'workspace'}" in done.stdout


def test_an_older_record_is_used_only_as_far_as_options_name_it(cli: Cli, folder: Path, small: Any) -> None:
    run = begun(folder, "t", record=hostile(folder, small))

    refused = cli("resume", run, "--approve")

    assert refused.exit_code == 2 and small.starts == []
    named = ["--workspace", "--policy", "--approval never", "--mcp", "--set planner.api_key_env", "--own-settings"]
    named = [each for each in named if each not in refused.stderr.replace("'", "")]
    assert named == []
    assert not (folder / "elsewhere").exists() and not (folder / "workspace").exists()


def test_a_run_of_an_older_record_goes_on_with_the_settings_here(cli: Cli, folder: Path, small: Any) -> None:
    run = begun(folder, "t", record=hostile(folder, small))

    assert cli("resume", run, "--approve", "--own-settings").exit_code == 0
    assert (folder / "workspace" / "report.md").exists() and small.starts == []


def test_a_run_of_an_older_record_goes_on_with_the_settings_that_options_name(cli: Cli, folder: Path) -> None:
    run = begun(folder, "t", record={"workspace": str(folder / "elsewhere"), "max_replans": 5, "replan": "failure"})
    named = ["--workspace", str(folder / "elsewhere"), "--max-replans", "0"]

    cli("resume", run, "--approve", *named)  # shown anew, because it works elsewhere now
    done = cli("resume", run, "--approve", *named)

    assert done.exit_code == 0
    assert (folder / "elsewhere" / "report.md").exists()


def test_an_older_record_that_says_what_holds_here_needs_nobody(cli: Cli, folder: Path) -> None:
    run = begun(folder, "t", record=Setup.default().to_json())

    assert cli("resume", run, "--approve").exit_code == 0


@pytest.mark.parametrize(
    "setup", [{"workspace": 3.5}, {"models": "x"}, {"models": {"planner": {"heat": 1}}}, {"mcp": []}]
)
def test_an_older_record_that_cannot_be_read_is_left_out_by_an_option(
    cli: Cli, folder: Path, setup: dict[str, Any]
) -> None:
    run = begun(folder, "t", record=setup)
    refused = cli("resume", run, "--approve")

    assert refused.exit_code == 2 and "--own-settings" in refused.stderr
    assert cli("resume", run, "--approve", "--own-settings").exit_code == 0


@pytest.mark.parametrize(("typed", "workspace"), [("y\n", "elsewhere"), ("what?\nn\n", "workspace"), ("", None)])
def test_in_a_terminal_a_person_decides_about_an_older_record(
    folder: Path, typed: str, workspace: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(folder, "t", record={"workspace": str(folder / "elsewhere")})
    out = io.StringIO()
    screen = Screen(Console(file=out, width=60), Console(file=out, width=60), interactive=True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    if workspace is None:
        with pytest.raises(InputError):
            setup_to_resume(screen, find_run(DATABASE, "t"), {}, own_settings=False)
        return
    found = setup_to_resume(screen, find_run(DATABASE, "t"), {}, own_settings=False)

    assert found.workspace == str(folder / workspace)
    shown = "".join(out.getvalue().split())
    assert f"workspace:{folder}/elsewhere;current:{folder}/workspace" in shown


def resumed(cli: Cli, folder: Path, then: str | None, here: str | None, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Start a run under one policy and resume it with another in the environment; the plan writes a report."""
    for name, text in (("then.toml", then), ("here.toml", here)):
        (folder / name).write_text(text or "")
    cli("run", "add", "--plan", "plan.json", *(["--policy", "then.toml"] if then else []))
    run = cli("runs").stdout.splitlines()[1].split()[0]
    if here:
        monkeypatch.setenv("PLANNER_EXECUTOR_POLICY", str(folder / "here.toml"))
    first = cli("resume", run, "--approve")  # what changed is shown anew
    return first if first.exit_code == 0 else cli("resume", run, "--approve")


def test_a_remembered_policy_that_allows_more_gives_way_to_the_operators(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = resumed(cli, folder, LAX, STRICT, monkeypatch)

    assert done.exit_code != 0 and "the policy denies write_report" in done.output
    assert not (folder / "workspace").exists()
    then = f"recorded: {folder}/then.toml"
    assert f"policy: {folder}/here.toml (current); {then}" in done.stdout


def test_the_operators_policy_holds_for_a_run_that_was_started_without_one(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = resumed(cli, folder, None, STRICT, monkeypatch)

    assert done.exit_code != 0 and "the policy denies write_report" in done.output
    assert not (folder / "workspace").exists()


def test_a_remembered_policy_that_is_as_strict_everywhere_goes_on_to_hold(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "plan.json").write_text(
        '{"steps": [{"id": "s", "objective": "o", "tool": "calculator", "args": {"expression": "1"}}]}'
    )

    done = resumed(cli, folder, STRICTER, STRICT, monkeypatch)

    assert done.exit_code == 0
    assert f"policy: {folder}/then.toml (recorded); current: {folder}/here.toml" in done.stdout


def test_differences_are_shown_before_a_server_is_started_that_the_run_remembers(
    cli: Cli, folder: Path, small: Any, latest: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"small": small.entry()}}))
    cli("run", "add", "--plan", "plan.json", "--mcp", "servers.json", "--workspace", "out")
    run = latest()
    small.behave("crash")

    failed = cli("resume", run)

    assert failed.exit_code == 2 and "'small'" in failed.stderr
    assert f"workspace: {folder}/out (recorded); current: {folder}/workspace" in failed.stdout
    (mcp,) = (line for line in failed.stdout.splitlines() if line.startswith("mcp: "))
    assert f"{folder}/servers.json (" in mcp and "small_server.py" in mcp and mcp.endswith("current: none")


def test_nothing_is_shown_where_nothing_differs(cli: Cli, waiting: str) -> None:
    assert "here:" not in cli("resume", waiting).stdout


def test_another_folder_of_documents_takes_the_run_over_and_the_plan_is_shown_again(
    cli: Cli, folder: Path, latest: Callable[[], str]
) -> None:
    for name in ("docs", "others"):
        (folder / name).mkdir()
        (folder / name / "a.md").write_text(f"of {name}\n")
    read = {"id": "read", "objective": "read", "tool": "read_document", "args": {"path": "a.md"}}
    (folder / "plan.json").write_text(json.dumps({"steps": [read]}))
    cli("run", "g", "--plan", "plan.json", "--approval", "always")

    asked = cli("resume", latest(), "--docs", "others", "--approve")
    left = cli("resume", latest(), "--own-settings", "--approve")
    done = cli("resume", latest(), "--approve")  # it remembers the folder under which it was taken over

    assert asked.exit_code == 2 and "Asked again: `the terms" in asked.stdout
    assert left.exit_code == 2 and f"reads {folder / 'others'} on record, here {folder / 'docs'}" in left.stderr
    assert done.exit_code == 0 and "of others" in cli("show", latest(), "--json").stdout
