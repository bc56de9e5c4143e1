from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from planner_executor.graph.cli.option_groups import with_option_groups


@dataclass(frozen=True)
class Paper:
    size: Annotated[str, typer.Option("--size", help="How large it is.")] = "A4"
    copies: Annotated[int, typer.Option("--copies", min=1)] = 1


def printed(*words: str) -> str:
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @with_option_groups
    def print_file(file: str, *, draft: bool = False, paper: Paper, owner: str = "me") -> None:
        """Print a file."""
        typer.echo(f"{file} {draft} {paper} {owner}")

    return CliRunner().invoke(app, list(words)).output


def test_a_command_gets_its_option_group_as_one_value() -> None:
    assert printed("a.txt", "--size", "A3", "--copies", "2") == f"a.txt False {Paper('A3', 2)} me\n"


def test_an_option_that_is_not_given_has_the_default_of_its_field() -> None:
    assert printed("a.txt", "--owner", "you") == f"a.txt False {Paper()} you\n"


def test_help_lists_the_options_of_a_group_where_the_group_stands() -> None:
    told = printed("--help")

    assert "Print a file." in told
    assert [told.index(option) for option in ("--draft", "--size", "--copies", "--owner")] == sorted(
        told.index(option) for option in ("--draft", "--size", "--copies", "--owner")
    )
    assert "How large it is." in told


def test_the_bounds_of_a_field_are_kept() -> None:
    assert f"{Paper()}" not in printed("a.txt", "--copies", "0")


def test_two_options_of_the_same_name_are_refused() -> None:
    def command(paper: Paper, copies: int = 1) -> None: ...

    with pytest.raises(TypeError, match="command have the same name"):
        with_option_groups(command)
