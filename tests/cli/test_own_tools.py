"""Runs of one's own agent on the command line: its tools are named, and a run says which of them it lacks."""

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from typer.testing import Result

from planner_executor import Agent
from planner_executor.graph.testing import step

Cli = Callable[..., Result]
SOURCE = """
from pathlib import Path
from planner_executor import tool

@tool("read")
def look_up_order(number: int) -> str:
    "Look an order up."
    return f"order {number}"

@tool("external")
def refund(order: str) -> str:
    "Pay an order back."
    with Path("effects").open("a") as file:
        file.write(order + "\\n")
    return "refunded"

TOOLS = [look_up_order, refund]
"""
PLAN = {"steps": [step("look", "look_up_order", number=7), step("pay", "refund", order="{look_result}")]}
modules = count()


@pytest.fixture
def shop(folder: Path) -> Iterator[str]:
    """Return the name of a module with tools in the current folder, and leave a run that waits with them."""
    name = f"own_shop_{next(modules)}"
    (folder / f"{name}.py").write_text(SOURCE)
    sys.path.append(str(folder))
    try:
        module = __import__(name)
        with Agent("planner-executor.db", tools=module.TOOLS) as agent:
            agent.start("pay order 7 back", plan=PLAN, thread="order")
    finally:
        sys.path.remove(str(folder))
    yield f"{name}:TOOLS"
    sys.modules.pop(name, None)


def test_a_run_of_ones_own_agent_is_decided_and_carried_out(cli: Cli, shop: str, folder: Path) -> None:
    result = cli("resume", "order", "--approve", "--tools", shop)

    assert result.exit_code == 0, result.stderr
    assert (folder / "effects").read_text() == "order 7\n"


@pytest.mark.parametrize("decision", ["--approve", "--yes", "--reject"])
def test_a_run_whose_tools_are_not_at_hand_says_which_and_keeps_its_request(cli: Cli, shop: str, decision: str) -> None:
    before = cli("audit", "order", "--json").stdout

    result = cli("resume", "order", decision)

    assert result.exit_code == 2
    assert "order.1 needs look_up_order, refund: name them with --tools" in result.stderr
    assert cli("audit", "order", "--json").stdout == before
    assert cli("resume", "order", "--approve", "--tools", shop).exit_code == 0


def test_a_run_needs_only_the_tools_of_the_steps_that_are_left(cli: Cli, shop: str) -> None:
    cli("resume", "order", "--approve", "--tools", shop)

    assert cli("resume", "order").exit_code == 0  # it has ended


def test_own_tools_are_planned_with_beside_the_projects(cli: Cli, shop: str, folder: Path) -> None:
    (folder / "own.json").write_text(json.dumps(PLAN))

    assert "look_up_order" in cli("tools", "--tools", shop).stdout
    assert cli("run", "pay", "--plan", "own.json", "--tools", shop).exit_code == 3
    assert cli("run", "pay", "--plan", "own.json").exit_code == 1


def test_a_settings_file_names_tools_once_it_is_trusted(cli: Cli, shop: str, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text(f'tools = ["{shop}"]\n')

    refused = cli("resume", "order", "--approve")
    assert refused.exit_code == 2 and f"imports {shop}" in refused.stderr and "trust" in refused.stderr
    assert cli("trust", "planner-executor.toml", "--yes").exit_code == 0
    assert cli("resume", "order", "--approve").exit_code == 0


def test_a_record_never_has_tools_imported(cli: Cli, shop: str, folder: Path) -> None:
    (folder / "own.json").write_text(json.dumps(PLAN))
    cli("run", "pay", "--plan", "own.json", "--tools", shop)
    waiting = cli("runs").stdout.splitlines()[1].split()[0]

    assert "needs look_up_order, refund" in cli("resume", waiting, "--approve").stderr
