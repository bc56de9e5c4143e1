"""Shell-quoted command lines, shown as suggestions for the next move."""

import shlex
import shutil
import sys
from pathlib import Path

from graph.cli.options import DATABASE
from graph.ledger.opening import shown

NAME = "planner-executor"


def command(words: str, run: str, database: str | Path) -> str:
    """Return a shell-quoted command line for a run; `words` is the command's name followed by options.

    >>> command("resume --approve", "demo.1", Path("runs.db"))
    'planner-executor resume demo.1 --approve --db runs.db'
    >>> command("show", "demo.1", "postgresql://ada:secret@localhost/runs")
    'planner-executor show demo.1 --db postgresql://ada@localhost/runs'
    """
    name, _, options = words.partition(" ")
    db_option = "" if str(database) == DATABASE else f" --db {shlex.quote(shown(database))}"
    return f"{program()} {name} {shlex.quote(run)}{options and ' '}{options}{db_option}"


def program() -> str:
    """Return the program's name, or its path if it is not on `PATH`."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == NAME and shutil.which(NAME) is None else NAME
