"""Parameters of a plan: `{param.customer}` stands for a value that came with the plan (decision 154)."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.words.tables import ClosedTable

Trust = Literal["user", "trusted", "undeclared", "untrusted"]
"""How far a value may be trusted, the most first."""

MAX_CHARACTERS = 20_000
"""Most characters of a parameter's value as JSON text."""
MOST = 100

NAME = r"[A-Za-z][A-Za-z0-9_]*"


class Param(ClosedTable):
    """The value of a parameter, and how far whoever gave it is trusted."""

    value: JsonValue
    label: Trust


Params = Mapping[str, Param]
NO_PARAMS: Params = MappingProxyType({})


def params_json(params: Params) -> dict[str, JsonValue]:
    """Return parameters as the plan has them."""
    return {name: param.model_dump(mode="json") for name, param in params.items()}


def params_faults(params: Any) -> Iterator[tuple[str, str]]:
    """Yield (field, fault) of the parameters of a plan as its author wrote them."""
    if not isinstance(params, Mapping):
        yield "params", 'must be an object: {"<name>": {"value": ..., "label": "user"}}'
        return
    if len(params) > MOST:
        yield "params", f"{len(params)} parameters are too many; at most {MOST} are allowed"
        return
    for name, param in params.items():
        field = f"params.{name}"
        # Names are matched whole: `re.match` would let a line break through at the end.
        if not isinstance(name, str) or re.fullmatch(NAME, name) is None:
            yield "params", f"{name!r} is no name; it begins with a letter, then letters, digits and underscores"
        elif not isinstance(param, Mapping) or set(param) != {"value", "label"}:
            yield field, 'must be {"value": ..., "label": ...}, with the trust in whoever gave the value as its label'
        elif param["label"] not in get_args(Trust):
            yield field, f"label is {param['label']!r}; it is one of user, trusted, undeclared, untrusted"
        else:
            yield from ((f"{field}.value{path}", fault) for path, fault in value_faults(param["value"]))


def value_faults(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, fault) of the value of a parameter: it has to be JSON that can be stored, and not too large."""
    faults = list(json_faults(value))
    yield from faults
    if not faults and len(canonical_json(value).decode()) > MAX_CHARACTERS:
        yield "", f"is longer than {MAX_CHARACTERS} characters; give the path of a file instead"
