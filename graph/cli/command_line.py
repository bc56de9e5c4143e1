"""Shell-quoted command lines, shown as suggestions for the next move."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner_executor.graph.cli.given_options import repeated_options
from planner_executor.graph.cli.options import DATABASE
from planner_executor.graph.ledger.database_name import shown

NAME = "planner-executor"
CARRYING_ON = ("resume", "retry", "fork")
"""Commands that carry a run on, under the options that this one was given."""
NO_SETUP: Mapping[str, Any] = {}


def command(words: str, run: str, database: str | Path, setup: Mapping[str, Any] = NO_SETUP) -> str:
    """Return a shell-quoted command line for a run.

    Args:
        words: The command's name followed by options.
        run: The name of the run.
        database: The database.
        setup: What a facade recorded of the run, see `Run.setup`: the tools that a command has to name again.

    >>> command("resume --approve", "demo.1", Path("runs.db"))
    'planner-executor resume demo.1 --approve --db runs.db'
    >>> command("show", "demo.1", "postgresql://ada:secret@localhost/runs")
    'planner-executor show demo.1 --db postgresql://ada@localhost/runs'
    """
    name, _, options = words.partition(" ")
    repeated = repeated_options(setup) if name in CARRYING_ON else ""
    return f"{program()} {name} {shlex.quote(run)}{options and ' '}{options}{repeated}{db_option(database)}"


def db_option(database: str | Path) -> str:
    """Return the option that names a database, without its password; empty for the default one."""
    return "" if str(database) == DATABASE else f" --db {shlex.quote(shown(database))}"


def program() -> str:
    """Return the program's name, or its path if it is not on `PATH`."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == NAME and shutil.which(NAME) is None else NAME
