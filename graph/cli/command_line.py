"""Command lines that people can paste into a shell."""

import shlex
import shutil
import sys
from pathlib import Path

from graph.cli.options import DATABASE

NAME = "planner-executor"


def command(words: str, run: str, database: Path) -> str:
    """Return a command line about a run that can be pasted into a shell; `words` begins with the command's name.

    >>> command("resume --approve", "demo.1", Path("runs.db"))
    'planner-executor resume demo.1 --approve --db runs.db'
    """
    name, _, options = words.partition(" ")
    where = "" if database == DATABASE else f" --db {shlex.quote(str(database))}"
    return f"{program()} {name} {shlex.quote(run)}{options and ' '}{options}{where}"


def program() -> str:
    """Return how this command is called: by its path where it is not on the search path."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == NAME and shutil.which(NAME) is None else NAME
