"""The command `planner-executor`.

Imports take seconds, and the end of the process may too: Ctrl-C is one sentence and code 130 then as well. So this
module itself imports only what Python has loaded at its start, or nearly so.
"""

import atexit
import gc
import os
import signal
import sys

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
YOUNG_OBJECTS = 100_000
"""So many objects are made before a collection of garbage: more than a command imports."""


def stop_at_once(_number: int, _frame: "FrameType | None") -> None:
    """End the process while no command is at work, so that there is nothing to undo.

    An exception would not do: it can be raised within an import, which may take it for its own.
    """
    try:  # noqa: SIM105  (contextlib takes long to import)
        sys.stdout.flush()
    except (OSError, ValueError, RuntimeError):  # the stream is closed, or in the middle of a write
        pass
    os.write(2, b"\ninterrupted\n" if os.isatty(2) else b"interrupted\n")
    os._exit(INTERRUPTED)


def occupy_closed_streams() -> None:
    """Open nothing in place of a standard stream that is closed: a file or connection would get its number.

    What is written to standard error by that number, here or in a library, would go into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free


def main() -> None:
    """Run the command line.

    A command makes Ctrl-C an exception while it is at work (`graph.cli.exit_codes`).
    """
    occupy_closed_streams()
    gc.set_threshold(YOUNG_OBJECTS)
    atexit.register(gc.freeze)  # what is left then goes with the process, and no cycle in it is looked for
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's `&` has it ignored
        signal.signal(signal.SIGINT, stop_at_once)
    from planner_executor.graph.cli import app

    app(prog_name="planner-executor")
