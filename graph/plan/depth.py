"""Nesting limits for values from clients: deeper ones overflow Python's stack, serializers or databases."""

import json
from typing import Any

MAX_DEPTH = 220
"""Deepest nesting kept from a client. Readers refuse lesser depths with a message; serializers fail at 255."""
MAX_PARTS = 5_000_000


def is_deep(value: Any, most: int = MAX_DEPTH) -> bool:
    """Whether lists and objects are nested deeper than `most`.

    >>> is_deep([[[1]]], 3), is_deep([[[1]]], 2)
    (False, True)
    """
    stack, count = [(value, 1)], 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > most or count > MAX_PARTS:
            return True
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()
        stack += [(each, depth + 1) for each in inner if isinstance(each, dict | list | tuple)]
    return False


def limit_depth(value: Any, most: int = MAX_DEPTH) -> Any:
    """Return a value without the parts nested deeper than `most`; a shallow value is returned unchanged.

    The remaining depth still exceeds the limits of plans and responses, so that their readers refuse the value.

    >>> limit_depth({"a": [[1]]}, 1)
    {'a': []}
    """
    if not is_deep(value, most):
        return value
    holder: list[Any] = [None]
    # A stack of its own, since the value may be nested deeper than Python's.
    stack: list[tuple[Any, Any, Any, int]] = [(value, holder, 0, 0)]
    count = 0
    while stack:
        part, into, key, depth = stack.pop()
        count += 1
        is_kept = depth < most and count < MAX_PARTS
        if isinstance(part, dict):
            into[key] = dict.fromkeys(part) if is_kept else {}
            stack += [(item, into[key], name, depth + 1) for name, item in part.items() if is_kept]
        elif isinstance(part, list | tuple):
            into[key] = [None] * len(part) if is_kept else []
            stack += [(item, into[key], place, depth + 1) for place, item in enumerate(part) if is_kept]
        else:
            into[key] = part
    return holder[0]


def parse_json_or_text(text: str, **options: Any) -> Any:
    """Return a text parsed as JSON, or the text itself.

    If the text overflows the JSON parser, the result is a plan that its reader refuses as too deep.

    >>> parse_json_or_text("[1]"), parse_json_or_text("one")
    ([1], 'one')
    """
    try:
        return limit_depth(json.loads(text, **options))
    except RecursionError:
        if not text.rstrip().endswith(("]", "}")):
            return text
        return {"steps": [{"id": "step_1", "args": {"x": _nested()}}]}
    except ValueError:
        return text


def _nested() -> Any:
    value: Any = []
    for _ in range(MAX_DEPTH - 10):
        value = [value]
    return value
