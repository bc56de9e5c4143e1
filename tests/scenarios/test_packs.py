"""Packs of tools: which a run that begins is offered, and that a run keeps the tools it was begun with."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planner_executor import Agent, build_graph, default_tools
from planner_executor.graph.cli import app
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.testing import ScriptedModel, step
from planner_executor.tools.registry import every_tool

CODE = {"steps": [step("add", "run_python", code="40 + 2")]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def own(**given: Any) -> list[str]:
    return [*build_graph(**given).services.toolbox]


def look(number: int) -> str:
    """Look something up."""
    return str(number)


def test_packs_are_chosen_and_without_a_choice_all_but_code_are_there() -> None:
    assert own() == [each.name for each in default_tools(Path("docs"), Path("workspace"))]
    assert own(pack="code") == ["run_python"]
    assert own(pack=["tables", "code"]) == ["calculator", "query_csv", "query_json", "query_sqlite", "run_python"]
    assert own(pack=[]) == []


def test_beside_tools_of_ones_own_there_are_no_packs_unless_some_are_chosen() -> None:
    assert own(tools=[look]) == ["look"]
    assert own(tools=[look], pack=["code"]) == ["run_python", "look"]


def test_a_settings_file_chooses_packs_and_code_from_the_argument_overrules_it(folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('pack = ["tables"]\n')

    assert own() == ["calculator", "query_csv", "query_json", "query_sqlite"]
    assert own(pack="code") == ["run_python"] and own(tools=[look]) == ["look"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('pack = ["code"]', "is not trusted, and adds the pack code"),
        ('\npack = ["tabels"]', "line 2: pack has 'tabels', which is no pack; did you mean tables?"),
        ("pack = 5", "line 1: pack takes a list of packs, such as"),
    ],
)
def test_a_settings_file_that_only_lies_there_adds_nothing_that_is_not_there_by_default(
    folder: Path, text: str, words: str
) -> None:
    (folder / "planner-executor.toml").write_text(text)

    with pytest.raises(ConfigError) as refused:
        build_graph()

    assert words in str(refused.value)


def test_an_unknown_pack_is_refused_with_the_right_name() -> None:
    with pytest.raises(ConfigError, match=r"pack has 'cod', which is no pack; did you mean code\?"):
        build_graph(pack="cod")


def test_a_run_that_began_with_every_tool_goes_on_with_all_of_them(folder: Path) -> None:
    with Agent.open("runs.db", planner=ScriptedModel([]), tools=every_tool(Path("docs"), Path("workspace"))) as before:
        run = before.start("add", plan=CODE)

    with Agent.open("runs.db", planner=ScriptedModel([])) as agent:
        ended = agent.resume(run.id, "approve")

    assert (ended.status, ended.answer["value"]) == ("succeeded", 42)


@pytest.mark.parametrize("options", [{}, {"pack": "documents"}])
def test_a_run_that_begins_is_offered_the_chosen_packs_alone(options: Any) -> None:
    model = ScriptedModel([CODE, CODE, CODE, CODE])

    with Agent.open("runs.db", planner=model, **options) as agent:
        run = agent.start("add")

    assert run.status == "failed" and "run_python" not in str(model.prompts[0])


def test_the_command_line_takes_packs_and_a_run_keeps_its_own(cli: Callable[..., Any], folder: Path) -> None:
    (folder / "plan.json").write_text(json.dumps(CODE))

    begun = cli("run", "add", "--plan", "plan.json", "--pack", "code")
    assert begun.exit_code == 3
    assert cli("run", "add", "--plan", "plan.json").exit_code == 1
    run = re.findall(r"resume (\S+) --approve", begun.output)[0]
    ended = cli("resume", run, "--approve")

    assert ended.exit_code == 0 and "42" in ended.output


def test_the_command_line_takes_up_a_run_that_began_with_every_tool(cli: Callable[..., Any]) -> None:
    with Agent.open("planner-executor.db", tools=every_tool(Path("docs"), Path("workspace"))) as before:
        run = before.start("add", plan=CODE)

    assert cli("resume", run.id, "--approve").exit_code == 0


def test_a_misspelt_pack_is_refused_on_the_command_line(cli: Callable[..., Any]) -> None:
    refused = cli("tools", "--pack", "tabels")

    assert refused.exit_code == 2 and "which is no pack; did you mean tables?" in refused.output


@pytest.fixture
def cli() -> Callable[..., Any]:
    return lambda *given: CliRunner().invoke(app, list(given))
