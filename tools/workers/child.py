"""The child's side: bounds first, then the work. Only the standard library is loaded before the bounds hold."""

import importlib
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from planner_executor.tools.workers.fault import Fault

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = ("os.", "socket.", "subprocess.")
_HARMLESS = {"os.chdir", "os.listdir", "os.putenv", "os.scandir", "os.unsetenv", "os.walk"}


def main(task: str, memory_bytes: str, time_s: str) -> None:
    """Read a request from standard input, do `module:function` with it, and write the answer to standard output."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    _bound(int(memory_bytes), int(time_s))
    answer = json.dumps(_answer(task, json.load(sys.stdin)), ensure_ascii=False, allow_nan=False)
    with os.fdopen(answers, "wb") as stream:
        stream.write(answer.encode("utf-8", "replace"))  # half a surrogate pair becomes a question mark


def _answer(task: str, request: dict[str, Any]) -> dict[str, Any]:
    module, name = task.split(":")
    try:
        return {"value": getattr(importlib.import_module(module), name)(**request)}
    except Fault as fault:
        return {"fault": fault.reason}
    except MemoryError:
        return {"out_of_memory": True}


def _bound(memory_bytes: int, time_s: int) -> None:
    """Bound memory and time, and give up files to write, network and processes."""
    signal.alarm(time_s + 1)  # the parent kills at time_s; this is for a parent that died
    for limit, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a system that does not know one of them has the others
            resource.setrlimit(limit, (most, most))
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        refused = not isinstance(args[0], int) and bool(args[2] & _WRITING)  # a number is open already
    else:
        refused = event.startswith(_REFUSED) and event not in _HARMLESS
    if refused:
        raise PermissionError(f"not allowed in this process: {event}")
