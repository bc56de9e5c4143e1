"""Kinds of events, kinds of steps and end statuses have one home each, and whoever tells them apart names every one."""

import ast
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from planner_executor.graph.plan.step_kind import KINDS, NAMING
from planner_executor.graph.record.events import TYPES
from planner_executor.graph.record.results import StepStatus
from planner_executor.graph.record.run_status import ENDS, STATUSES

ROOT = Path(__file__).parents[2]
HOME = ROOT / "graph" / "record" / "events"
FAKES = ROOT / "graph" / "testing.py"
FILES = [
    *(path for path in (ROOT / "graph").rglob("*.py") if HOME not in path.parents and path != FAKES),
    *(ROOT / "tools").rglob("*.py"),
]
TEMPLATES = [*(ROOT / "graph").rglob("*.html"), *(ROOT / "graph" / "desk" / "static").glob("*.*s")]
CLASSES = {kind.__name__ for kind in TYPES.values()}
MOST_LOOKED_FOR = 4
"""So many kinds an `isinstance` may look for; who tells more of them apart has to say what the others are."""

OTHER_WORDS = {
    "configured": "a field of `run_started`",
    "executing": "why a thread is kept, and a part of the desk's position",
    "inherited": "a word",
    "paused": "a status of runs, and of a page",
    "redacted": "a field of a replay's report",
    "steered": "a cause of replanning",
    "decided": "a word",
    "voted": "a word",
}
"""Kinds of events that are also names of other things: as those they may stand by themselves, but not beside `kind`."""


def named(text: str) -> set[str]:
    """Return the kinds of events that a text consists of, or that SQL in it names."""
    quoted = set(re.findall(r"'(\w+)'", text))
    return TYPES.keys() & ({text} | quoted if text not in OTHER_WORDS else quoted)


def strings(node: ast.AST) -> set[str]:
    """Return the kinds of events that a node names as strings."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return named(node.value)
    if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("kind"):
        return OTHER_WORDS.keys() & {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return set()


def classes(node: ast.AST) -> set[str]:
    return {
        ast.unparse(one).rpartition(".")[2] for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)
    } & CLASSES


def patterns(found: ast.Match) -> set[str]:
    return {name for case in found.cases for name in classes(case.pattern)}


def unnamed(node: ast.AST) -> bool:
    """Whether code tells kinds of events apart, and a kind that is added would be taken for one of the others."""
    if isinstance(node, ast.Match):
        return bool(patterns(node)) and "assert_never(" not in ast.unparse(node.cases[-1])
    looks = isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
    return looks and len(classes(node.args[1])) > MOST_LOOKED_FOR


STEP_STATUSES = frozenset(get_args(StepStatus))
"""Of which some are end statuses too: a list of these alone is one of steps."""


def told_apart(node: ast.AST) -> set[str]:
    """Return the words in a list, in a table, or in a `match` that does not end in assert_never."""
    parts: Sequence[ast.AST | None] = ()
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.keys
    elif isinstance(node, ast.Match) and "assert_never(" not in ast.unparse(node.cases[-1]):
        parts = [one.value for case in node.cases for one in ast.walk(case.pattern) if isinstance(one, ast.MatchValue)]
    return {one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def lists_kinds_of_steps(node: ast.AST) -> bool:
    return len(words := told_apart(node)) > 1 and words <= set(KINDS)


def lists_end_statuses(node: ast.AST) -> bool:
    return len((words := told_apart(node)) & set(ENDS)) > 1 and not words <= STEP_STATUSES


LOOKS = (strings, unnamed, lists_kinds_of_steps, lists_end_statuses)
LOOKED_AT = (ast.Constant, ast.Compare, ast.Match, ast.Call, ast.Tuple, ast.List, ast.Set, ast.Dict)
"""No other node is looked at: of all nodes these are a third."""


@cache
def places() -> dict[Callable[[ast.AST], Any], list[str]]:
    """Return where each look finds something; the trees are many objects, and none is kept."""
    found: dict[Callable[[ast.AST], Any], list[str]] = {look: [] for look in LOOKS}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, LOOKED_AT):
                for look in LOOKS:
                    if look(node):
                        found[look].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_kinds_of_events_are_named_by_their_classes() -> None:
    assert not places()[strings], "use the class, or its `kind`"


def test_whoever_tells_kinds_of_events_apart_names_every_one() -> None:
    assert not places()[unnamed], "use `match`, name the others with `pass`, and end in assert_never"


def test_no_page_names_a_kind_of_event() -> None:
    found = {path.name: named(path.read_text().replace('"', "'")) - OTHER_WORDS.keys() for path in TEMPLATES}

    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("code", "finds"),
    [
        ("'call_started'", strings),
        ("f\"WHERE kind = 'decided'\"", strings),
        ("event.kind != 'paused'", strings),
        ("match data:\n    case Paused():\n        pass", unnamed),
        ("isinstance(data, Paused | RunEnded | Voted | Decided | events.Steered)", unnamed),
    ],
)
def test_what_is_not_to_be_is_found(code: str, finds: Callable[[ast.AST], Any]) -> None:
    assert any(finds(node) for node in ast.walk(ast.parse(code)))


def test_a_list_of_kinds_of_steps_is_made_of_their_type() -> None:
    assert {place.partition(":")[0] for place in places()[lists_kinds_of_steps]} == {"graph/plan/step_kind.py"}


def test_a_list_of_end_statuses_is_made_of_their_type() -> None:
    assert {place.partition(":")[0] for place in places()[lists_end_statuses]} == {"graph/record/run_status.py"}


def test_a_page_compares_statuses_and_kinds_with_those_that_there_are() -> None:
    texts = [path.read_text() for path in TEMPLATES]
    compared = {word for text in texts for word in re.findall(r"status\s*[!=]=\s*\"(\w+)\"", text)}

    assert compared and compared <= {*STATUSES, *STEP_STATUSES}
    assert not [text for text in texts for kind in NAMING if f"value={kind}" in text or f'value="{kind}"' in text]
