"""The user's own editor on a text."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults

VARIABLES = ("VISUAL", "EDITOR")
USUAL = ("notepad",) if os.name == "nt" else ("sensible-editor", "nano", "vim", "vi")


def edited(text: str, name: str) -> str:
    """Return a text after the user has edited it in a private file of that name, which is gone afterwards.

    Raises:
        InputError: There is no editor, it failed, or it left a file that is not UTF-8.
        KeyboardInterrupt: Ctrl-C ended the editor.
    """
    command = _editor()
    with tempfile.TemporaryDirectory(prefix="planner-executor-") as folder:
        file = Path(folder, name)
        # Private before it has anything in it: a plan may hold what others must not read.
        file.touch(mode=0o600)
        file.write_text(text, "utf-8", newline="\n")
        _run([*command, str(file)])
        with file_faults("edit", f"what {command[0]} saved cannot be read"):
            # Editors of Windows may begin with a mark, and end lines in their own way.
            return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")


def _run(command: list[str]) -> None:
    try:
        with _left_to_the_editor(signal.SIGINT):
            code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise InputError("edit", f"{command[0]} cannot be started: {error.strerror or error}") from error
    # Ended by the signal itself, or a script that started the editor says so.
    if code in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if code:
        raise InputError("edit", f"{command[0]} ended with code {code}")


def _editor() -> list[str]:
    named = next((words for name in VARIABLES if (words := os.environ.get(name, "").strip())), None)
    found = next((program for program in USUAL if shutil.which(program)), None)
    try:
        # With POSIX rules the backslashes of a Windows path would be escapes.
        command = shlex.split(named, posix=os.name != "nt") if named else [found] if found else []
    except ValueError as error:
        raise InputError("edit", f"the editor {named!r} is no command: {error}") from error
    if not command:
        raise InputError("edit", f"no editor is known; set {' or '.join(VARIABLES)}")
    return command


@contextmanager
def _left_to_the_editor(number: signal.Signals) -> Iterator[None]:
    """Let a signal of the terminal end neither this process nor, as an ignored one would be, pass by the editor."""
    before = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(number, before)
