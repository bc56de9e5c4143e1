"""Which results a JMESPath uses: the names `<step>_result` that it evaluates against the object of the results.

In a filter, behind a projection, a dot, a pipe or `&`, JMESPath knows nothing of that object: a name there is a field
of something else, and gives null.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from jmespath.exceptions import JMESPathError
from jmespath.parser import Parser

from planner_executor.graph.plan.expressions import FUNCTIONS, MAX_CHARACTERS

_NAME = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z][A-Za-z0-9_]*)_result(?![A-Za-z0-9_])")
# Possessive, so that no text makes it go back: quotes without an end would else take quadratic time.
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`""", re.DOTALL)
_ALL_AT_ROOT = frozenset(
    {"comparator", "or_expression", "and_expression", "not_expression", "multi_select_list", "function_expression"}
)
_FIRST_AT_ROOT = frozenset(
    {"subexpression", "index_expression", "projection", "value_projection", "filter_projection", "flatten", "pipe"}
)
_INTO = _FIRST_AT_ROOT - {"pipe"}


class Roots(NamedTuple):
    """The steps whose results an expression uses, in order; those it names elsewhere; other names at its root.

    `into` are the results whose parts it takes, `unknown` the functions that do not exist.
    """

    results: tuple[str, ...]
    misplaced: tuple[str, ...]
    others: tuple[str, ...]
    into: frozenset[str]
    unknown: tuple[str, ...]


def roots_of(expression: str) -> Roots | None:
    """Return what an expression names, None if it names no result, or is no JMESPath, or too long or deep to be one.

    >>> roots_of("max_by(a_result.rows, &n).x").results, roots_of("a_result[?c == b_result]").misplaced
    (('a',), ('b',))
    """
    if len(expression) > MAX_CHARACTERS or not names_in(expression):
        return None
    return _roots(expression)


def names_in(text: str) -> tuple[str, ...]:
    """Return the steps that a text names as `<step>_result` outside quotes, each once."""
    return tuple(dict.fromkeys(_NAME.findall(_QUOTED.sub('""', text)))) if "_result" in text else ()


def with_names(expression: str, names: Mapping[str, str]) -> str:
    """Return an expression with the steps that it names outside quotes replaced.

    >>> with_names("max_by(a_result, &n) == 'a_result'", {"a": "b"})
    "max_by(b_result, &n) == 'a_result'"
    """
    parts, end = [], 0
    for quoted in _QUOTED.finditer(expression):
        parts += [_renamed(expression[end : quoted.start()], names), quoted[0]]
        end = quoted.end()
    return "".join([*parts, _renamed(expression[end:], names)])


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _NAME.sub(lambda name: f"{names.get(name[1], name[1])}_result", text)


@lru_cache(maxsize=4_096)
def _roots(expression: str) -> Roots | None:
    if not all(map(_is_json, re.findall(r"`((?:[^`\\]|\\.)*+)`", expression))):
        return None  # the library still reads it, with a warning
    try:
        nodes = list(_nodes(Parser().parse(expression).parsed))
    except (JMESPathError, ValueError, RecursionError):
        return None
    written = names_in(expression)
    found = [(node["value"], at_root) for node, at_root in nodes if node["type"] == "field"]
    called = [node["value"] for node, _ in nodes if node["type"] == "function_expression"]
    into = [node["children"][0] for node, _ in nodes if node["type"] in _INTO]
    rooted = tuple(dict.fromkeys(name for name, at_root in found if at_root))
    behind = {_step(name) for name, at_root in found if not at_root}
    results = tuple(step for name in rooted if (step := _step(name)) in written)
    return Roots(
        results,
        tuple(step for step in written if step in behind),
        tuple(name for name in rooted if _step(name) not in written),
        frozenset(step for one in into if one["type"] == "field" and (step := _step(one["value"])) in results),
        tuple(dict.fromkeys(name for name in called if name not in FUNCTIONS)),
    )


def _is_json(literal: str) -> bool:
    try:
        json.loads(literal.replace("\\`", "`"))
    except (ValueError, RecursionError):
        return False
    return True


def _step(name: str) -> str:
    """Return the step whose result has this name, an empty text for any other name."""
    return found[1] if (found := _NAME.fullmatch(name)) else ""


def _nodes(node: Any, at_root: bool = True) -> Iterator[tuple[Any, bool]]:
    """Yield each node of an expression, and whether a field there is looked up among the results."""
    yield node, at_root
    kind = node["type"]
    for place, child in enumerate(node["children"]):
        if isinstance(child, dict):
            stays = kind in _ALL_AT_ROOT or (kind in _FIRST_AT_ROOT and place == 0)
            yield from _nodes(child, at_root and stays)
