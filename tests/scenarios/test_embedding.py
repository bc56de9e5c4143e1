"""The blocks of the page on embedding, over the project that `planner-executor new` writes."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_server import serving
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor.graph.cli.commands.new import write_project
from planner_executor.graph.testing import ScriptedModel, on_thread, step

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "embed.md").read_text()
SECTIONS = {part.split("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
ACCOUNT = "DE89370400440532013000"
PAYS = {"steps": [step("p", "pay", account=ACCOUNT, amount=5, invoice="X-1")], "answer": "{p_result}"}
"""A plan whose payment stands in it whole, so that approving it approves the payment."""
GOAL = {"goal": "Pay X-1"}
BLOCKS = {"create_agent": 1} | ({"deepagents": 2} if find_spec("deepagents") else {})
"""Outer agents, and how many blocks of their section make one."""
Shown = Callable[..., dict[str, Any]]


class Outer(ScriptedModel):
    """A model that takes tools, and calls them by its script."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Return what the first blocks of a section define; the models that they name answer from scripts."""
    write_project(tmp_path / "bills")
    monkeypatch.chdir(tmp_path / "bills")
    monkeypatch.syspath_prepend(str(tmp_path / "bills"))
    monkeypatch.delitem(sys.modules, "payables", raising=False)

    def run(section: str, *outer: Any, blocks: int = 1) -> dict[str, Any]:
        names = {"INNER": ScriptedModel([PAYS]), "OUTER": Outer(outer), "__name__": "page"}
        for block in re.findall(r"```python\n(.*?)```", SECTIONS[section], re.DOTALL)[:blocks]:
            for name, model in (("INNER", '"openai:gpt-5-mini"'), ("OUTER", '"openai:gpt-5"')):
                block = block.replace(model, name)
            exec(compile(block, section, "exec", dont_inherit=True), names)
        return names

    return run


def paid() -> int:
    bank = Path("bank.csv")
    return len(bank.read_text().splitlines()) if bank.exists() else 0


def test_as_a_node_its_interrupt_passes_through_the_outer_graph(shown: Shown) -> None:
    app = shown("A node of your graph")["app"]

    asked = app.invoke(GOAL, on_thread())
    assert asked["__interrupt__"][0].value["action_requests"][0]["name"] == "run_plan" and not paid()

    done = app.invoke(Command(resume="approve"), on_thread())
    assert (done["answer"], done["filed"], paid()) == ("paid 5.0 EUR", True, 1)


@pytest.mark.parametrize("blocks", BLOCKS.values(), ids=BLOCKS)
def test_as_a_tool_its_interrupt_passes_through_the_outer_agent_whose_model_never_sees_the_request(
    shown: Shown, blocks: int
) -> None:
    calls = AIMessage("", tool_calls=[{"id": "1", "name": "accounts", "args": GOAL}])
    page = shown("A tool of another agent", calls, "It is paid.", blocks=blocks)
    agent = page["agent"]

    asked = agent.invoke({"messages": [("user", "Pay X-1")]}, on_thread())
    assert asked["__interrupt__"][0].value["action_requests"][0]["name"] == "run_plan" and not paid()

    done = agent.invoke(Command(resume="approve"), on_thread())
    assert done["messages"][-1].text == "It is paid." and paid() == 1
    last = page["OUTER"].prompts[-1][-1]
    assert json.loads(last.text) == {
        "status": "succeeded",
        "answer": "paid 5.0 EUR",
        "reason": "1 of 1 steps succeeded",
    }
    assert ACCOUNT not in str(page["OUTER"].prompts)


@pytest.mark.e2e
def test_as_a_tool_of_deepagents_too() -> None:
    python = ROOT / ".venv" / "deepagents" / "bin" / "python"
    if not python.exists():
        pytest.skip(
            f"deepagents is not installed, which other versions than ours go with: make {python.parents[1]}/.installed"
        )
    options = ["-q", "-p", "no:cacheprovider", "-W", "default"]
    ran = subprocess.run(
        [python, "-m", "pytest", *options, __file__, "-k", "outer_agent and deepagents"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_a_tool_that_does_not_wait_says_what_the_page_lists_and_nothing_of_the_request(shown: Shown) -> None:
    page = shown("A tool that does not wait")
    fields = {
        name for cell in re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
    }

    said = page["accounts"].invoke(GOAL)
    told = json.loads(said)
    assert set(told) == fields and (told["status"], told["asks"]) == ("waiting", ["run_plan"])
    request = page["runs"].show(told["run"]).request
    assert ACCOUNT not in said and request["digest"] not in said

    page["runs"].resume(told["run"], "approve")
    told = json.loads(page["accounts_say"].invoke({"run": told["run"]}))
    assert (told["status"], told["asks"], told["answer"], paid()) == ("succeeded", [], "paid 5.0 EUR", 1)
    page["runs"].close()


def test_a_web_service_streams_the_work_of_whoever_is_signed_in(shown: Shown) -> None:
    app = shown("A web service")["app"]
    ada = {"x-session": "session-of-ada"}

    with serving(app) as url, httpx.Client(base_url=url, timeout=30) as client:
        assert client.post("/runs", params=GOAL, headers={"x-session": "forged"}).status_code == 401
        run = client.post("/runs", params=GOAL, headers=ada).json()
        at = f"/runs/{run['run']}/approve"
        assert client.post(at, params={"digest": "another"}, headers=ada).status_code == 409 and not paid()
        streamed = client.post(at, params={"digest": run["request"]["digest"]}, headers=ada)

    *changes, last = map(json.loads, streamed.text.splitlines())
    assert len(changes) >= 2 and (last["status"], last["answer"], paid()) == ("succeeded", "paid 5.0 EUR", 1)


def test_a_worker_of_a_python_service_ends_when_nothing_is_left(shown: Shown) -> None:
    assert shown("Workers of a Python service")["worker"] is not None
