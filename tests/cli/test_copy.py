"""Copying threads between files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.mark.parametrize(
    ("given", "code", "words"), [("nobody", 2, "no run 'nobody'"), ("--all", 0, "has no runs to copy")]
)
def test_what_is_not_there_leaves_no_database_behind(cli: Cli, given: str, code: int, words: str) -> None:
    if given == "nobody":
        cli("run", "Compute 40 + 2", "--yes", "--db", "runs.db")
    else:
        Path("runs.db").touch()

    done = cli("copy", given, "--db", "runs.db", "--to", "other.db")

    assert done.exit_code == code and words in done.output and not Path("other.db").exists()
