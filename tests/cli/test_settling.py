"""Two payments of one step that a process died in are named by their item and settled in one answer."""

import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from typer.testing import Result
from warm_process import run_warm

from planner_executor import Agent
from planner_executor.graph.errors import InputError
from planner_executor.graph.testing import step

Cli = Callable[..., Result]
PLAN = {"steps": [{**step("pay", "pay", name="{item_result}"), "for_each": ["ann", "bo"]}], "answer": "{pay_result}"}
SOURCE = f"""
import os
import signal
from pathlib import Path
from threading import Barrier

from planner_executor import Agent, tool

both = Barrier(2)

def note(name):
    with Path("effects").open("a") as file:
        file.write(name + "\\n")

@tool("external")
def pay(name: str) -> str:
    "Pay a person; the first two payments die together, one of them after its effect."
    if not Path("died").exists():
        if name == "ann":
            note(name)
        both.wait(60)
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    note(name)
    return "paid " + name

TOOLS = [pay]

if __name__ == "__main__":
    with Agent("planner-executor.db", tools=TOOLS) as agent:
        agent.start("pay", plan={PLAN}, thread="bank")
        agent.resume("bank", "approve")
"""
modules = count()
pytestmark = pytest.mark.slow


@pytest.fixture
def bank(folder: Path) -> Iterator[str]:
    """Return the tools of a run whose process has died in two payments of one step."""
    name = f"own_bank_{next(modules)}"
    (folder / f"{name}.py").write_text(SOURCE)
    died = run_warm([f"{name}.py"], cwd=folder)
    assert died.returncode == -signal.SIGKILL, died.stdout + died.stderr
    sys.path.append(str(folder))
    yield f"{name}:TOOLS"
    sys.path.remove(str(folder))
    sys.modules.pop(name, None)


def paid(folder: Path) -> list[str]:
    return (folder / "effects").read_text().split()


def test_a_person_settles_both_in_python(bank: str, folder: Path) -> None:
    module = __import__(bank.removesuffix(":TOOLS"))
    with Agent("planner-executor.db", tools=module.TOOLS) as agent:
        run = agent.resume("bank")
        assert run.request is not None
        told = [action["description"] for action in run.request["action_requests"]]
        assert ["`pay[0]` called pay" in told[0], "`pay[1]` called pay" in told[1]] == [True, True], told
        with pytest.raises(InputError, match=r'happened \{"name":"ann"\}; .* happened \{"name":"bo"\}'):
            run.decide(happened=[True])

        run = agent.resume(run.id, run.decide(happened=[True, False], results=["paid ann before"]))

    assert (run.status, run.answer) == ("succeeded", ["paid ann before", "paid bo"])
    assert paid(folder) == ["ann", "bo"]


def test_a_person_settles_both_on_the_command_line(cli: Cli, bank: str, folder: Path) -> None:
    shown = cli("resume", "bank", "--tools", bank).stdout
    assert "`pay[0]` called pay" in shown and "`pay[1]` called pay" in shown
    assert "--happened true|false --happened true|false" in shown
    half = cli("resume", "bank", "--tools", bank, "--happened", "true")
    assert half.exit_code == 2 and '{"name":"ann"}' in half.stderr and '{"name":"bo"}' in half.stderr

    both = ("--happened", "true", "--result", "paid ann before", "--happened", "false")
    result = cli("resume", "bank", "--tools", bank, *both)

    assert result.exit_code == 0, result.stderr
    assert paid(folder) == ["ann", "bo"]
