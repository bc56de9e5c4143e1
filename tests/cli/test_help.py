"""The help screens on a narrow terminal."""

import re

from typer.main import get_command
from typer.testing import CliRunner

from planner_executor.graph.cli import app


def test_no_help_screen_is_wider_than_a_narrow_terminal_or_leaves_out_words() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]  # it is a group
    within = [(name, *inner) for name, group in commands.items() for inner in zip(getattr(group, "commands", ()))]

    for words in [(), *((name,) for name in commands), *within]:
        screen = CliRunner().invoke(app, [*words, "--help"], terminal_width=60).stdout

        assert max(map(len, screen.splitlines())) <= 60, screen
        assert not re.search(r"\w\.\.\.$", screen, re.MULTILINE), screen
