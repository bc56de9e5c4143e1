"""Odd input on the command line ends with exit code 2 and one sentence, never with a traceback."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer import BadParameter
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from planner_executor.graph.cli import app
from planner_executor.graph.cli.options import named, path_of

CODEC = "byte 3 is not UTF-8 text; save it as UTF-8"
LOOP = "Too many levels of symbolic links"


def options_for_paths(command: Any, name: str = "") -> Iterator[Any]:
    """Yield (command, option) for each option that takes a file or a folder."""
    if isinstance(command, TyperGroup):
        for sub, found in command.commands.items():
            yield from options_for_paths(found, f"{name} {sub}".strip())
    else:
        for one in command.params:
            if str(one.metavar) in ("FILE", "DIR", "[FILE]", "[PLAN]", "SUITE"):
                yield pytest.param(one, id=f"{name} {one.name}")


@pytest.mark.parametrize("option", [*options_for_paths(get_command(app))])
def test_a_blank_path_is_refused_wherever_one_is_taken(option: Any) -> None:
    assert option.type_descriptor.parameter_info.parser is path_of
    with pytest.raises(BadParameter, match="the path is blank"):
        path_of("")


@pytest.mark.parametrize(
    ("database", "words"),
    [
        (":memory:", "gone at the end of the command; name a file"),
        ("file:x?mode=memory", "name the path alone"),
        (" ", "blank"),
    ],
)
def test_a_database_that_no_other_command_would_find_is_refused_with_the_next_move(database: str, words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        named(database)


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin").write_bytes(b"caf\xe9 = 1")
    Path("loop").symlink_to("loop")


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        *((f"{option} latin", CODEC) for option in ("--plan", "--policy", "--config", "--mcp")),
        *((f"{option} loop", LOOP) for option in ("--plan", "--policy", "--config", "--mcp")),
        ("--workspace loop", "loop is not a folder"),
        ("--budget tool_calls=99999999999999999999", "tool_calls is beyond 64 bits"),
        ("--budget calls.calculator=99999999999999999999", "calls.calculator is beyond 64 bits"),
        ("--budget wall_s=99999999999999999999", "wall_s is beyond 64 bits"),
        ("--set planner.temperature=x", "planner.temperature: must be a valid number"),
        ("--set planner.warmth=1", "planner.warmth: unknown setting; use model, temperature"),
    ],
)
def test_odd_input_of_a_run_is_named_in_one_sentence(given: str, words: str) -> None:
    result = CliRunner().invoke(app, ["run", "What is 2 + 3?", *given.split()])

    said = re.sub(r"\s+", " ", result.output + str(result.exception))
    assert words in said and "Errno" not in said and "codec" not in said
    ours = ("planner_executor.graph.errors", "planner_executor.tools")
    assert result.exit_code == 2 or type(result.exception).__module__.startswith(ours)


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("command", ["show", "verify", "replay"])
def test_a_name_longer_than_any_file_name_is_that_of_no_run(command: str) -> None:
    result = CliRunner().invoke(app, [command, "x" * 3_000])

    assert result.exit_code == 2
    assert "no run 'xxx" in result.output and len(result.output) < 400


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("option", ["--tag", "--text", "--since", "--before"])
def test_a_blank_filter_is_refused_because_it_would_list_everything_or_nothing(option: str) -> None:
    result = CliRunner().invoke(app, ["runs", option, ""])

    assert result.exit_code == 2
    assert "the text is blank" in result.output
