"""Options of the whole command line: version, help and completion."""

from collections.abc import Callable
from importlib.metadata import version

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_the_version_is_that_of_the_distribution(cli: Cli) -> None:
    shown = cli("--version")

    assert (shown.exit_code, shown.stdout) == (0, f"planner-executor {version('planner-executor')}\n")


@pytest.mark.parametrize("words", [(), ("run",), ("policy",), ("policy", "show")])
def test_the_short_form_of_help_is_help(cli: Cli, words: tuple[str, ...]) -> None:
    short, long = cli(*words, "-h"), cli(*words, "--help")

    assert short.exit_code == 0 and short.stdout == long.stdout and "--help" in short.stdout


def test_completion_names_the_commands(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PLANNER_EXECUTOR_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "planner-executor re")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert set(cli().stdout.split()) == {"resume", "retry", "replay", "redact"}
