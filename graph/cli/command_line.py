"""Shell-quoted command lines, shown as suggestions for the next move."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from planner_executor.graph.cli.options import DATABASE
from planner_executor.graph.ledger.drivers import shown

NAME = "planner-executor"
CONFIG = "--config"
CONFIGURED = ("resume", "retry")
"""Commands printed here that take a settings file."""


def command(words: str, run: str, database: str | Path) -> str:
    """Return a shell-quoted command line for a run; `words` is the command's name followed by options.

    >>> command("resume --approve", "demo.1", Path("runs.db"))
    'planner-executor resume demo.1 --approve --db runs.db'
    >>> command("show", "demo.1", "postgresql://ada:secret@localhost/runs")
    'planner-executor show demo.1 --db postgresql://ada@localhost/runs'
    """
    name, _, options = words.partition(" ")
    config = config_option(sys.argv) if name in CONFIGURED else ""
    return f"{program()} {name} {shlex.quote(run)}{options and ' '}{options}{config}{db_option(database)}"


def db_option(database: str | Path) -> str:
    """Return the option that names a database, without its password; empty for the default one."""
    return "" if str(database) == DATABASE else f" --db {shlex.quote(shown(database))}"


def config_option(called: Sequence[str]) -> str:
    """Return the option that names the settings file, as this process was called with it: an untrusted file has to be.

    >>> config_option(["planner-executor", "run", "a goal", "--config", "my settings.toml"])
    " --config 'my settings.toml'"
    """
    for place, word in enumerate(called):
        if word == CONFIG and place + 1 < len(called):
            return f" {CONFIG} {shlex.quote(called[place + 1])}"
        if word.startswith(f"{CONFIG}="):
            return f" {CONFIG} {shlex.quote(word.removeprefix(f'{CONFIG}='))}"
    return ""


def program() -> str:
    """Return the program's name, or its path if it is not on `PATH`."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == NAME and shutil.which(NAME) is None else NAME
