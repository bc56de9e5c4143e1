"""No file that a tool writes becomes code: not of a notice's process, not at the next start, not of a server."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from planner_executor import Agent, build_graph, default_tools
from planner_executor.graph.cli import app
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ROOT = Path(__file__).parents[2]
PLAN: Any = {"steps": [step("plant", "write_file", path="json.py", content="raise SystemExit('planted')")]}
TOOLS = (
    "from planner_executor import tool\n\n@tool('read')\ndef look() -> str:\n"
    "    'Look.'\n    return 'seen'\n\nTOOLS = [look]\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder with a plan that plants a module, and settings that are named and lie elsewhere."""
    for name in ("PLANNER_EXECUTOR_DB", "PLANNER_EXECUTOR_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PLANNER_EXECUTOR_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "settings.toml").write_text("")
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(PLAN))
    monkeypatch.chdir(folder)
    return folder


def run(*args: str) -> Result:
    database = str(Path.cwd().parent / "runs.db")
    return CliRunner().invoke(
        app, ["run", "g", "--plan", "plan.json", "--yes", "--db", database, *args], catch_exceptions=False
    )


@pytest.mark.parametrize("named", ["option", "settings", "identity"])
def test_a_workspace_where_tools_are_imported_is_refused_before_the_run(project: Path, named: str) -> None:
    (project / "mytools.py").write_text(TOOLS)
    settings = {"settings": "tools = ['mytools:TOOLS']", "identity": "identity = 'mytools:look'"}.get(named, "")
    (project.parent / "settings.toml").write_text(settings)

    done = run("--workspace", ".", *(["--tools", "mytools:TOOLS"] if named == "option" else []))

    assert done.exit_code == 2 and "where write_report can write; it holds code that is imported" in done.stderr
    assert not (project / "json.py").exists() and "mytools" not in sys.modules


def test_beside_tools_of_a_project_folder_a_module_is_written_to_the_workspace(project: Path) -> None:
    (project / "project_tools.py").write_text(TOOLS)

    done = run("--tools", "project_tools:TOOLS", "--pack", "files")

    assert done.exit_code == 0, done.stderr
    assert (project / "workspace" / "json.py").exists(), "nothing imports from the workspace"


@pytest.mark.parametrize("place", [".", "lib", "lib/inner/.."])
def test_a_folder_of_the_import_path_is_no_workspace(
    project: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "lib" / "inner").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, "lib"])

    with pytest.raises(ConfigError, match=r"lib lies within .*, where write_report can write; Python imports from it"):
        build_graph(tools=default_tools(Path("docs"), Path(place)))


def test_nor_is_one_of_the_installation(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(project / "venv"))

    with pytest.raises(ConfigError, match="where Python is installed; choose another folder"):
        build_graph(tools=default_tools(Path("docs"), Path("venv/share")))


def test_a_tool_that_only_reads_may_look_at_code(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "."])
    reading = LoggedTools().tool("look", effect="read", folder=str(project))

    build_graph(planner=ScriptedModel([PLAN]), tools=[reading])


def test_below_a_folder_of_the_import_path_the_step_that_plants_a_module_fails(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    tools = default_tools(Path("docs"), Path("workspace"))

    with Agent.open(project.parent / "runs.db", tools=tools, approval="never") as agent:
        ended = agent.start("g", plan=PLAN)

    assert ended.status == "failed" and f"Python imports from {project}" in str(ended.reason)
    assert not (project / "workspace" / "json.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["signal", "json", "typer"])
def test_python_m_takes_no_module_of_the_current_folder_for_an_installed_one(project: Path, name: str) -> None:
    (project / f"{name}.py").write_text("raise SystemExit('planted')")

    done = subprocess.run(
        [sys.executable, "-m", "planner_executor", "runs", "--db", "no.db"], capture_output=True, text=True, check=False
    )

    assert "planted" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "entry",
    [{"cwd": "workspace"}, {"args": ["workspace/server.py"]}, {"command": "workspace/server.py"}, {"cwd": "link"}],
)
def test_no_server_is_started_where_a_tool_can_write(project: Path, entry: dict[str, Any]) -> None:
    (project / "workspace").mkdir()
    (project / "link").symlink_to("workspace")
    (project / "workspace" / "server.py").write_text(f"open({str(project / 'planted')!r}, 'w')")
    given = {"command": sys.executable, "args": ["-m", "server"], **entry}
    own = default_tools(Path("docs"), Path("workspace"))

    with (
        pytest.raises(ConfigError, match=r"can write; the MCP server small runs there"),
        Agent.open(project.parent / "runs.db", tools=own, mcp={"small": given}),
    ):
        raise AssertionError("it was started")

    assert not (project / "planted").exists()
