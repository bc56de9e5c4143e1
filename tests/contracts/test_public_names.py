"""What others import from us stays where it is, and importing is light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import planner_executor
from planner_executor.graph.plan.schema import Plan

ROOT = Path(__file__).parents[2]
NAMES = [
    "Agent",
    "AgentError",
    "AllowedHost",
    "AsyncAgent",
    "McpServers",
    "ModelSettings",
    "NothingHappened",
    "Person",
    "Playbook",
    "Run",
    "ToolError",
    "Transient",
    "build_graph",
    "default_tools",
    "idempotency_key",
    "tool",
]
HEAVY = [
    "langgraph",
    "langchain",
    "langchain_core",
    "langchain_openai",
    "openai",
    "pydantic",
    "jsonschema",
    "jmespath",
    "sqlite3",
    "rich",
    "typer",
]


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after `code`."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_the_public_names_are_these() -> None:
    assert planner_executor.__all__ == NAMES
    assert dir(planner_executor) == NAMES


def test_type_checkers_read_the_same_names_in_the_same_places() -> None:
    stub = ast.parse((ROOT / "planner_executor" / "__init__.pyi").read_text())
    read = {alias.asname: line.module for line in stub.body if isinstance(line, ast.ImportFrom) for alias in line.names}

    assert read == {name: f"planner_executor.{home}" for name, home in planner_executor._HOME.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(planner_executor, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        planner_executor.no_such_thing  # noqa: B018  (looking it up is the act)


@pytest.mark.parametrize(
    "code",
    [
        "import planner_executor",
        "import planner_executor.graph.errors",
        "import planner_executor.tools",
        "from planner_executor import AgentError",
    ],
)
def test_importing_is_light(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY)


def test_an_agent_that_is_opened_has_imported_no_tool_no_replay_no_worker_and_no_drawing() -> None:
    loaded = loaded_by("from planner_executor import Agent; Agent.open(':memory:').close()")

    assert loaded.isdisjoint(
        {
            "planner_executor.tools.registry",
            "planner_executor.tools.mcp.servers",
            "planner_executor.graph.replay.player",
            "planner_executor.graph.work.worker",
            "pydantic_settings",
            "planner_executor.graph.text.drawing.svg",
        }
    )


@pytest.mark.parametrize("module", ["plan.validation", "plan.revision", "record.run_state", "review.decision"])
def test_the_pure_domain_needs_neither_langgraph_nor_langchain_nor_a_database(module: str) -> None:
    loaded = loaded_by(f"import planner_executor.graph.{module}")
    assert loaded.isdisjoint({"langgraph", "langchain", "langchain_core", "sqlite3"})


def test_a_plan_is_closed() -> None:
    assert set(Plan.model_fields) == {"steps", "answer", "params"}
