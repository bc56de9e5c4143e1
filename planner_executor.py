"""Entry point of the `planner-executor` command.

`graph` and `tools` are common names: a `graph.py` or `tools.py` of the user's own that comes first on the
import path would be loaded instead of ours. This module is looked up first and says so in one sentence.

Imports take seconds, and the end of the process may too: Ctrl-C is one sentence and code 130 then as well. So this
module itself imports only what Python has loaded at its start, or nearly so.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m` looks in the current folder first, where a file named like a module of Python's may lie.
    sys.path.append(sys.path.pop(0))

import os
import signal

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

INTERRUPTED = 130


def shadowing_file(package: str) -> "Path | None":
    """Return the file that `import package` would load instead of ours, or None if ours is found."""
    import importlib.util
    from pathlib import Path

    ours = Path(__file__).resolve().parent / package / "__init__.py"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).resolve()
    return None if found == ours else found


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
    """Run the command line, unless a file of the user's hides one of our packages.

    A command makes Ctrl-C an exception while it is at work (`graph.cli.exit_codes`).
    """
    occupy_closed_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's `&` has it ignored
        signal.signal(signal.SIGINT, stop_at_once)
    for package in ("graph", "tools"):
        if found := shadowing_file(package):
            sys.stderr.write(
                f"{found} hides the package '{package}' of planner-executor; "
                "rename that file or run the command from another folder\n"
            )
            raise SystemExit(2)
    from graph.cli import app

    app(prog_name="planner-executor")


if __name__ == "__main__":
    main()
