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


def printed_by(code: str) -> list[str]:
    """Return the lines that a fresh interpreter prints: of `code`, and the modules that it has loaded after it."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after `code`."""
    return set(printed_by(code)[-1].split())


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


FIRST_USE = '''
import threading
from planner_executor import Agent

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("planner_executor.", "jsonschema", "referencing")):
            imported[name] = threading.current_thread().name

def look(at: str, times: int = 1) -> str:
    """Look."""
    return at

with Agent.open(":memory:", tools=[look]) as agent:
    print(*sys.modules)
    imported = {}
    sys.meta_path.insert(0, Finder())
    agent.list(), agent.inbox(), agent.alike(), agent.approvals()
    print(*sys.modules)
    for at in (1, "here"):
        plan = {"steps": [{"id": "look", "objective": "look", "tool": "look", "args": {"at": at}}]}
        run = agent.start("look", plan=plan)
    agent.resume(run.id, "approve")
    agent.audit(run.id), agent.verify(run.id)
print(*(name for name, thread in imported.items() if thread != "agent-loop"))
print(*(name for name, thread in imported.items() if thread == "agent-loop"))
'''


def test_an_open_agent_has_imported_nothing_that_drives_runs_and_imports_it_beside_its_event_loop() -> None:
    opened, listed, aside, held = (set(line.split()) for line in printed_by(FIRST_USE)[:4])

    ours = {name.removeprefix("planner_executor.") for name in opened if name.startswith("planner_executor.")}
    assert ours.isdisjoint(
        {
            "tools.registry",
            "tools.mcp.servers",
            "graph.builder.graph_builder",
            "graph.ledger.protocol",
            "graph.nodes",
            "graph.record.events",
            "graph.runs.runs",
            "graph.session",
            "graph.text.event_text",
        }
    )
    assert opened.isdisjoint({"sqlite3", "aiosqlite", "pydantic_settings", "jsonschema", "referencing"})
    assert len(ours) <= 156
    assert listed.isdisjoint({"langgraph.graph", "planner_executor.graph.session"})
    assert {f"planner_executor.graph.nodes.{name}" for name in ("planner", "reviewer", "executor")} <= aside
    assert held == set()


@pytest.mark.parametrize("module", ["plan.validation", "plan.revision", "record.run_state", "review.decision"])
def test_the_pure_domain_needs_neither_langgraph_nor_langchain_nor_a_database(module: str) -> None:
    loaded = loaded_by(f"import planner_executor.graph.{module}")
    assert loaded.isdisjoint({"langgraph", "langchain", "langchain_core", "sqlite3"})


def test_a_plan_is_closed() -> None:
    assert set(Plan.model_fields) == {"steps", "answer", "params"}
