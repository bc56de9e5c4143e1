"""Exit codes, and the translation of errors into them."""

import errno
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import typer

from planner_executor.graph.cli.outlet import give_up
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.signals import Interrupted, ctrl_c_as_exception
from planner_executor.graph.errors import AgentError, LedgerError
from planner_executor.graph.record.run_status import ENDS, RunStatus

SUCCEEDED, ENDED_OTHERWISE, USAGE, WAITING, STORAGE, INTERRUPTED = 0, 1, 2, 3, 4, 130

UNWRITABLE = frozenset({errno.ENOSPC, errno.EIO, errno.EDQUOT})
"""Errors of a standard output that is on a full or broken disk."""


def exit_code(status: RunStatus) -> int:
    """Return the exit code for a run that has ended or waits."""
    if status == "succeeded":
        return SUCCEEDED
    return ENDED_OTHERWISE if status in ENDS else WAITING


@contextmanager
def report_errors(screen: Screen) -> Iterator[None]:
    """Print an `AgentError` as one sentence and exit with its code; let other errors, which are bugs, propagate.

    Ctrl-C is an interruption within the block, of which one sentence is printed too.
    """
    try:
        with ctrl_c_as_exception():
            yield
            if sys.stdout is not None:  # it may be closed
                sys.stdout.flush()
    except BrokenPipeError:  # the reader has all that it wanted
        give_up(sys.stdout)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        give_up(sys.stdout)
        screen.complain(f"the output cannot be written: {error.strerror}")
        raise typer.Exit(STORAGE) from None
    except AgentError as error:
        screen.complain(str(error))
        raise typer.Exit(STORAGE if isinstance(error, LedgerError) else USAGE) from None
    except Interrupted:
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        screen.complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None


def on_screen(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, which gives it the options, without the `screen` that it takes.

    Standard output is left to events for a command that is given `json`.
    """
    # Evaluated here: typer would look the names of annotations up in this module.
    signature = inspect.signature(command, eval_str=True)

    @wraps(command)
    def call(**given: Any) -> None:
        # Standard output is then for programs alone.
        screen = Screen.beside_json() if given.get("json") else Screen.here()
        with report_errors(screen):
            command(screen=screen, **given)

    call.__signature__ = signature.replace(  # type: ignore[attr-defined]  # what typer reads
        parameters=[one for one in signature.parameters.values() if one.name != "screen"]
    )
    return call
