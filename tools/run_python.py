"""Tool `run_python`: a few lines of Python in a sandbox. Needs the extra `sandbox`."""

import json
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import InputRefused
from planner_executor.tools.extras import EXTRAS, missing_extra

_MEMORY_BYTES = 256_000_000
_LONGEST_CODE = 20_000
_MOST_PRINTED = 20_000
_LONGEST_VALUE = 1_000_000
_LONGEST_TRACE = 1_500
_NEXT_MOVES = {
    "ModuleNotFoundError": "; do without it, other packages cannot be had here",
    "PermissionError": "; there are no files here: read them in a step before and pass what they hold in inputs",
    "TimeoutError": "; do less",
    "MemoryError": "; do less at a time",
}


class RunPythonArgs(ToolArgs):
    """Arguments of `run_python`."""

    code: str = Field(
        min_length=1,
        max_length=_LONGEST_CODE,
        description="Python; the value of its last expression is the result; no files, network or other packages",
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="names and values that the code finds as variables, such as results of steps"
    )


class Printed:
    """The output of the code, up to a limit."""

    def __init__(self) -> None:
        self.text = ""
        self.cut = False

    def __call__(self, _stream: Literal["stdout", "stderr"], text: str) -> None:
        """Add output."""
        room = _MOST_PRINTED - len(self.text)
        self.text += text[:room]
        self.cut = self.cut or len(text) > room


def run_python(time_s: int = 10) -> BaseTool:
    """Return the tool; `time_s` is how long the code may run."""

    def run(code: str, inputs: dict[str, Any] | None = None) -> dict[str, Any]:
        if needed := missing_extra(*EXTRAS["run_python"]):
            raise _failed(needed)
        if wrong := [name for name in inputs or {} if not name.isidentifier()]:
            raise _failed(f"{wrong[0]!r} in inputs can be no variable; name it with letters, digits and _")
        printed = Printed()
        value = _as_json(_run(code, inputs or {}, printed, time_s))
        return {"value": json.loads(value), "printed": printed.text, "cut": printed.cut}

    return StructuredTool.from_function(
        func=run,
        name="run_python",
        description=(
            "Run a little Python in a sandbox, to compute or to reshape data given in inputs; its standard library is "
            "math, re, json, csv, datetime, decimal, collections, itertools, random and few more. "
            "The result is {value, printed, cut}; cut is true if printed is not all that the code printed."
        ),
        args_schema=RunPythonArgs,
        metadata=declare("read", idempotent=True, timeout_s=time_s + 10, trusted=False, free_args=("inputs",)),
    )


def _run(code: str, inputs: dict[str, Any], printed: Printed, time_s: int) -> Any:
    """Return the value of the code's last expression, from a process that the sandbox starts and ends.

    Raises:
        InputRefused: It raised, exceeded a limit, or is not Python.
    """
    from pydantic_monty import Monty, MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

    try:
        with (
            Monty(max_processes=1, request_timeout=time_s + 2) as pool,
            pool.checkout(
                limits={"max_feed_duration_secs": time_s, "max_memory": _MEMORY_BYTES}, os_policy={"sleep": "zero"}
            ) as session,
        ):
            return session.feed_run(code, inputs=inputs, print_callback=printed)
    except (MontyRuntimeError, MontySyntaxError) as error:
        raise _failed(_explained(error.display(), error.display("type-msg"))) from error
    except MontyCrashedError as error:
        raise _failed(f"its process was ended ({error}); it may need too much memory or time") from error
    except (MontyError, ValueError, OSError, RuntimeError) as error:
        raise _failed(f"{error}") from error


def _explained(trace: str, message: str) -> str:
    """Return where an exception came from, or only its message if the trace is long, with the next move."""
    shown = trace if len(trace) <= _LONGEST_TRACE else message[:_LONGEST_TRACE]
    return f"{shown}{_NEXT_MOVES.get(message.partition(':')[0], '')}"


def _failed(reason: str) -> InputRefused:
    return InputRefused("the code failed", reason)


def _as_json(value: Any) -> str:
    """Return a value as JSON text: tuples and sets as lists, dates and decimals as text.

    Raises:
        InputRefused: It is of another type, or too large.
    """
    try:
        text = json.dumps(value, default=_json_default, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _failed(f"its value is not JSON ({error}); return numbers, text, lists, objects") from error
    if len(text) > _LONGEST_VALUE:
        raise _failed(f"its value is {len(text)} characters of JSON, {_LONGEST_VALUE} are the most; return less")
    return text


def _json_default(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        # In one order, so that the same code gives the same value.
        return sorted(value, key=repr)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    raise TypeError(f"it holds a {type(value).__name__}")
