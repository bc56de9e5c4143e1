"""Work on files that may be hostile, in a process of its own: bounded, without network or write access.

A thread cannot be stopped and shares the memory of the whole program; a process can be killed, and its bounds are
enforced by the system.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

from planner_executor.tools.errors import WorkStopped
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.isolated import FOLDER, environment, import_path, python_command

_PACKAGE = str(sys.modules["planner_executor"].__file__)
_START = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("planner_executor", sys.argv[1])
sys.modules["planner_executor"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
sys.path += sys.argv[5:]
from planner_executor.tools.workers.child import main
main(*sys.argv[2:5])
"""
_LONGEST_WORDS = 300
_AT_ONCE = BoundedSemaphore(4)


@dataclass(frozen=True)
class Bounds:
    """How long a process may take, and how much address space it may have."""

    time_s: int
    memory_bytes: int


def in_child(task: str, request: Mapping[str, Any], bounds: Bounds, handles: Sequence[int] = ()) -> Any:
    """Do work in a new process and return what it returned, which is JSON; few run at once, others wait.

    Args:
        task: `module:function` within the package `planner_executor`.
        request: The function's arguments, JSON too.
        bounds: The limits at which it is stopped.
        handles: Open files that the child gets, under the same numbers.

    Raises:
        Fault: The work raised it.
        WorkStopped: It exceeded a limit, or died.
    """
    limits = (str(bounds.memory_bytes), str(bounds.time_s))
    with (
        _AT_ONCE,
        subprocess.Popen(
            python_command("-c", _START, _PACKAGE, task, *limits, *import_path()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=handles,
            env=environment(),
            cwd=FOLDER,
            start_new_session=True,  # Ctrl-C is for us to act on
        ) as child,
    ):
        try:
            out, said = child.communicate(json.dumps(request).encode(), timeout=bounds.time_s)
        except subprocess.TimeoutExpired:
            raise WorkStopped(f"it took longer than {bounds.time_s} s") from None
        finally:
            child.kill()
    return _read(child.returncode, out, said, bounds)


def _read(code: int, out: bytes, said: bytes, bounds: Bounds) -> Any:
    if code == 0:
        answer = json.loads(out)
        if "value" in answer:
            return answer["value"]
        if "fault" in answer:
            raise Fault(answer["fault"])
        raise WorkStopped(f"it needs more than {bounds.memory_bytes // 10**6} MB of memory")
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2][:_LONGEST_WORDS]
    if code < 0:
        last = f"killed by {signal.Signals(-code).name}"
    raise WorkStopped(f"its process ended early ({last or f'code {code}'})")
