"""Where a text stops being JSON, for the person who wrote it."""

import json
from typing import Any

from planner_executor.graph.plan.unique_keys import read_json

BEFORE, AFTER = 16, 24
"""How much of the line is shown around the fault, in characters."""


def json_fault(text: str) -> str | None:
    """Return the line, the column and the surroundings of the first fault; None if the text is JSON.

    >>> json_fault('{"a": 1,\\n "b" 2}')
    'line 2, column 6: Expecting \\':\\' delimiter, near \\' "b" 2}\\''
    """
    try:
        read_json(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}: {error.msg}, {_near(error)}"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return str(error)
    return None


def broken_json(raw: Any) -> str | None:
    """Return the fault of a text that begins as an object or a list does, None for anything else."""
    if not isinstance(raw, str) or not raw.lstrip().startswith(("{", "[")):
        return None
    fault = json_fault(raw)
    return fault and f"the text is not valid JSON: {fault}"


def _near(error: json.JSONDecodeError) -> str:
    if not error.doc[error.pos :].strip():
        return "where the text ends"
    start = error.doc.rfind("\n", 0, error.pos) + 1
    end = error.doc.find("\n", error.pos)
    line = error.doc[max(start, error.pos - BEFORE) : min(end if end >= 0 else len(error.doc), error.pos + AFTER)]
    return f"near {line!r}"
