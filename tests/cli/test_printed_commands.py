"""Every command that the program prints is accepted as it is printed, for each option that a run was begun with."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from inspect import Signature
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planner_executor.graph.cli.commands.run import run as run_command
from planner_executor.graph.cli.option_groups import flag
from planner_executor.graph.testing import step

Cli = Callable[..., Result]
SOURCE = """
import os, signal
from pathlib import Path
from planner_executor import tool

@tool("read")
def look_up_order(number: int) -> str:
    "Look an order up, once its file is there; the first look is interrupted if somebody wants that."
    if Path("interrupt").exists():
        Path("interrupt").unlink()
        os.kill(os.getpid(), signal.SIGINT)
    return Path("order").read_text()

TOOLS = [look_up_order]
"""
BUILT_IN = {"steps": [step("sum", "calculator", expression="40 + 2"), step("read", "read_document", path="order.md")]}
OWN = {"steps": [step("look", "look_up_order", number=7)]}
POLICY = '[effects]\nwrite = "review"\n'
OPTIONS: dict[str, list[str]] = {
    "--constraint": ["--constraint", "in cents"],
    "--tag": ["--tag", "money"],
    "--plan": [],
    "--budget": ["--budget", "tool_calls=9"],
    "--docs": ["--docs", "other docs"],
    "--workspace": ["--workspace", "out"],
    "--mcp": ["--mcp", "servers.json"],
    "--tools": ["--tools", "{module}:TOOLS"],
    "--pack": ["--pack", "documents", "--pack", "tables"],
    "--planner": ["--planner", "offline"],
    "--executor": ["--executor", "openai:m"],
    "--replanner": ["--replanner", "offline"],
    "--judge": ["--judge", "openai:m"],
    "--set": ["--set", "executor.model=openai:m", "--set", "executor.temperature=0.2"],
    "--as": ["--as", "ann"],
    "--role": ["--as", "ann", "--role", "clerk"],
    "--proof-command": ["--as", "ann", "--proof-command", "echo proof"],
    "--config": ["--config", "own settings.toml"],
    "--policy": ["--policy", "rules.toml"],
    "--approval": ["--approval", "always"],
    "--replan": ["--replan", "never"],
    "--horizon": ["--horizon", "1"],
    "--max-replans": ["--max-replans", "0"],
    "--max-repairs": ["--max-repairs", "0"],
    "--max-concurrency": ["--max-concurrency", "1"],
    "--yes": ["--yes"],
    "--json": ["--json"],
    "--db": ["--db", "other runs.db"],
}
PLACES = {"FILE": "edited.json", "TEXT": "words", "STEP=TEXT": "{step}=words", "true|false": "true"}
modules = count()


@pytest.fixture(autouse=True)
def shop(folder: Path, small: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Be in a folder with everything that an option names, and return the name of a module with tools."""
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    for name in ("docs", "other docs"):
        (folder / name).mkdir()
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"small": small.entry()}}))
    (folder / "rules.toml").write_text(POLICY)
    (folder / "own settings.toml").write_text('pack = ["documents", "tables"]\n')
    name = f"printed_shop_{next(modules)}"
    (folder / f"{name}.py").write_text(SOURCE)
    yield name
    sys.modules.pop(name, None)


def begin(cli: Cli, folder: Path, shop: str, option: str, *more: str) -> Result:
    """Begin a run with an option, of a plan whose last step fails until its file is there."""
    plan = OWN if option == "--tools" else BUILT_IN
    (folder / "plan.json").write_text(json.dumps(plan))
    edited = {**plan, "answer": "edited"}
    (folder / "edited.json").write_text(json.dumps(edited))
    given = [word.format(module=shop) for word in OPTIONS[option]]
    return cli("run", "g", "--plan", "plan.json", *given, *more)


def printed(result: Result, plan: dict[str, Any] = BUILT_IN) -> list[list[str]]:
    """Return the commands that were printed, as a shell reads them, with their places filled in."""
    lines = [line for line in (result.stdout + result.stderr).splitlines() if "planner-executor " in line]
    found = [shlex.split(line.partition("planner-executor ")[2].rstrip("`")) for line in lines]
    places = {place: value.format(step=plan["steps"][0]["id"]) for place, value in PLACES.items()}
    return [[places.get(word, word) for word in words] for words in found]


def accepted(cli: Cli, words: Sequence[str]) -> Result:
    result = cli(*words)
    assert result.exit_code in (0, 1, 3), (words, result.stdout, result.stderr)
    return result


def test_each_option_of_run_is_tried() -> None:
    signature: Signature = run_command.__signature__  # type: ignore[attr-defined]
    names = {name for option in signature.parameters.values() if (name := flag(option)) is not None}

    assert names == set(OPTIONS)


@pytest.mark.parametrize("option", ["--tools", "--horizon", *[*OPTIONS][::3]])  # what failed, below, is tried with all
def test_each_answer_to_a_request_is_accepted_as_printed(cli: Cli, folder: Path, shop: str, option: str) -> None:
    plan = OWN if option == "--tools" else BUILT_IN
    offered = printed(begin(cli, folder, shop, option), plan)
    at = list(OPTIONS).index(option) % len(offered)

    # What an option adds is the same in all of them: each is given with a few options, and all with one.
    accepted(cli, offered[at])
    for other in range(len(offered)) if option == "--tools" else ():
        accepted(cli, printed(begin(cli, folder, shop, option), plan)[other])


@pytest.mark.parametrize("option", [name for name in OPTIONS if name != "--horizon"])  # it goes on to the next part
def test_what_failed_is_shown_and_tried_again_as_printed(cli: Cli, folder: Path, shop: str, option: str) -> None:
    more = [] if option in ("--replan", "--max-replans") else ["--max-replans", "0"]
    begun = begin(cli, folder, shop, option, *more)
    details, again = printed(begun if option == "--yes" else accepted(cli, printed(begun)[0]))
    for file in ("order", "docs/order.md", "other docs/order.md"):
        (folder / file).write_text("seven")

    assert "read failed" in (said := accepted(cli, details).stdout) or "look failed" in said
    assert "succeeded" in accepted(cli, again).output


def test_a_run_that_is_interrupted_goes_on_as_printed(cli: Cli, folder: Path, shop: str) -> None:
    (folder / "order").write_text("seven")
    (folder / "interrupt").touch()
    begun = begin(cli, folder, shop, "--tools", "--yes")
    ((name, *options),) = printed(begun)

    assert begun.exit_code == 130 and name == "resume"
    assert accepted(cli, [name, *options]).exit_code == 0


@pytest.mark.parametrize("way", ["--raise", "--finish", "--feedback", "--reject"])
def test_a_spent_budget_is_answered_as_printed(cli: Cli, folder: Path, shop: str, way: str) -> None:
    (folder / "order").write_text("seven")
    twice = {"steps": [*OWN["steps"], step("again", "look_up_order", number=8)]}
    (folder / "twice.json").write_text(json.dumps(twice))
    budget = ["--budget", "tool_calls=1", "--budget", "calls.look_up_order=1"]
    begun = cli("run", "g", "--plan", "twice.json", "--tools", f"{shop}:TOOLS", *budget)
    asked = accepted(cli, printed(begun)[0])

    (answer,) = [words for words in printed(asked) if way in words]
    assert accepted(cli, [word.replace("NUMBER", "9") for word in answer]).output


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *product(["resume"], ["--docs", "--workspace", "--executor", "--set", "--policy", "--max-replans"]),
        *product(["retry"], ["--docs", "--executor", "--policy"]),
        *product(["fork"], ["--workspace", "--policy", "--max-replans"]),
    ],
)
def test_a_run_taken_over_under_an_option_is_answered_as_printed(
    cli: Cli, folder: Path, shop: str, command: str, option: str, latest: Callable[[], str]
) -> None:
    begun = begin(cli, folder, shop, "--plan", "--replan", "never")
    if command != "resume":
        accepted(cli, printed(begun)[0])
    more = {"retry": ["--edit", "edited.json"], "fork": ["--from", "sum"]}.get(command, [])

    answered(cli, accepted(cli, [command, latest(), *more, *OPTIONS[option]]))


@pytest.mark.parametrize("option", ["--docs", "--workspace", "--executor", "--policy"])
def test_a_run_taken_over_remembers_under_what(
    cli: Cli, folder: Path, shop: str, option: str, latest: Callable[[], str]
) -> None:
    begin(cli, folder, shop, "--plan")
    cli("resume", latest(), *OPTIONS[option])

    (on,) = printed(cli("show", latest()))

    assert on[1:] == [latest()]
    answered(cli, accepted(cli, on))


def answered(cli: Cli, shown: Result) -> None:
    """Answer a request as printed; what is on record is asked anew first, if it is under other terms by now."""
    (on, *_) = carrying_on(shown)
    if (again := cli(*on)).exit_code == 2:
        assert "with the request above" in again.stderr
        accepted(cli, carrying_on(again)[0])


def carrying_on(result: Result) -> list[list[str]]:
    return [words for words in printed(result) if words[0] in ("resume", "retry")]


@pytest.mark.parametrize("words", [["show"], ["steer", "in cents"], ["skip", "look"], ["supply", "look", "7"]])
def test_commands_about_a_run_name_the_tools_that_it_recorded(
    cli: Cli, folder: Path, shop: str, latest: Callable[[], str], words: list[str]
) -> None:
    begin(cli, folder, shop, "--tools")
    name, *more = words

    (printed_then,) = printed(cli(name, latest(), *more))

    assert printed_then[-2:] == ["--tools", f"{shop}:TOOLS"]
    accepted(cli, printed_then)


def test_prune_names_them_too(cli: Cli, folder: Path, shop: str) -> None:
    begin(cli, folder, shop, "--tools")

    (go_on,) = printed(cli("prune", "--older-than", "2099-01-01"))

    accepted(cli, go_on)


def test_a_run_of_other_terms_is_taken_over_as_printed(
    cli: Cli, folder: Path, shop: str, latest: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(cli, folder, shop, "--docs", "--db", "other runs.db")
    monkeypatch.setenv("PLANNER_EXECUTOR_DB", "other runs.db")
    left = cli("resume", latest(), "--own-settings")

    (taken,) = printed(left)
    assert left.exit_code == 2 and taken[2:4] == ["--take-over", "--own-settings"]
    accepted(cli, taken)
