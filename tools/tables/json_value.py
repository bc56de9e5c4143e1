"""A JMESPath expression over a JSON file, or one of JSON lines. Runs in a child process."""

import json
from contextlib import suppress
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from planner_executor.tools.workers.content import text_of
from planner_executor.tools.workers.fault import Fault

MOST_BYTES = 50_000_000
_MOST_CHARACTERS_OUT = 1_000_000
_KEYS_NAMED = 30


def query(handle: int, expression: str) -> dict[str, Any]:
    """Return `{value, total, cut}`: for a list also its length, and only its first items if it is too long.

    Args:
        handle: The open file.
        expression: JMESPath.

    Raises:
        Fault: The file is not JSON, the expression is invalid, or its value is null or too large.
    """
    document = _parsed(text_of(handle, MOST_BYTES).text)
    try:
        value = jmespath.search(expression, document)
    except (JMESPathError, RecursionError) as error:
        raise Fault(f"JMESPath: {' '.join(str(error).split()) or 'nested too deeply'}") from error
    if value is None:
        raise Fault(f"it gives null or nothing; the file is {_shape(document)}; to allow null, ask for it in [ ]")
    return _bounded(value)


def _parsed(text: str) -> Any:
    """Return the document; JSON lines become a list."""
    try:
        return _loaded(text)
    except RecursionError as error:
        raise Fault("the file is nested too deeply") from error
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        with suppress(ValueError):
            if len(lines) > 1:
                return [_loaded(line) for line in lines]
        raise Fault(f"the file is not JSON: {error}") from error


def _loaded(text: str) -> Any:
    return json.loads(text, parse_constant=str)  # NaN and the infinities, which are no JSON, as text


def _bounded(value: Any) -> dict[str, Any]:
    shown = value if isinstance(value, list) else [value]
    size = 0
    for count, item in enumerate(shown):
        try:
            # Python reads 1e999 as infinity, and would write that back as `Infinity`, which is no JSON.
            size += len(json.dumps(item, allow_nan=False))
        except ValueError as error:
            raise Fault("it holds a number that is larger than JSON can carry; ask for another part") from error
        if size > _MOST_CHARACTERS_OUT:
            if count == 0 or shown is not value:
                raise Fault(f"it gives {_shape(item)}, too much to show; ask for a part of it")
            return {"value": shown[:count], "total": len(shown), "cut": True}
    return {"value": value, "total": len(shown) if shown is value else None, "cut": False}


def _shape(value: Any) -> str:
    """Describe a value in one line."""
    if isinstance(value, dict):
        more = ", …" if len(value) > _KEYS_NAMED else ""
        return f"an object with the keys {', '.join(list(value)[:_KEYS_NAMED])}{more}"
    if isinstance(value, list):
        return f"a list of {len(value)}" + (f", the first of them {_shape(value[0])}" if value else "")
    return f"text of {len(value)} characters" if isinstance(value, str) else "a number, true, false or null"
