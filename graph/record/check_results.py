"""Results of the checks of a step: for each, whether it is met, and the evidence."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import ExpressionError
from planner_executor.graph.plain_text.sanitize import folded
from planner_executor.graph.plan.check import OF, Check, check_kind
from planner_executor.graph.plan.expressions import evaluate
from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.plan.patterns import MAX_CHARACTERS, all_matches, first_match
from planner_executor.graph.plan.shortening import joined_messages
from planner_executor.graph.plan.work import WorkLimitExceeded, work_limit
from planner_executor.graph.record.check_result import CheckResult
from planner_executor.graph.record.values import to_text
from planner_executor.graph.words.name_list import counted, listed

SEEN_CHARACTERS = 300
MOST_WORK = 2_000_000
"""Steps that one check may take; a few seconds."""
CITATION = r"https?://[^\s<>()\[\]\"']+|[\pL\pN_./-]+\.\pL\w{0,7}(?::[0-9]+(?:-[0-9]+)?|,? (?:page|p\.) ?[0-9]+)"
"""An address, or a file with the line or the page: `notes.md:12`, `notes.md:12-13`, `notes.pdf, page 3`."""

Looks = Callable[[str], str | None]
"""Takes a path, returns a description of the file, None if there is no file."""
Seen = tuple[bool, str]


@dataclass(frozen=True)
class Evidence:
    """The evidence for checks: the result, the number of successful calls by tool, and files."""

    result: JsonValue
    called: Mapping[str, int]
    file: Looks


def findings(checks: Sequence[Check], evidence: Evidence) -> tuple[CheckResult, ...]:
    """Return the result of each check, in order; a missing part of the value is null."""
    return tuple(_finding(check, evidence) for check in checks)


def _finding(check: Check, evidence: Evidence) -> CheckResult:
    kind = check_kind(check)
    wanted: Any = check[kind]
    if kind == "called":
        met, seen = _called(wanted, evidence.called)
    elif kind == "file_exists":
        there = evidence.file(wanted)
        met, seen = there is not None, there or "there is no such file"
    else:
        try:
            part = evaluate(str(check[OF]), evidence.result) if OF in check else evidence.result
            # Patterns and schemas are a planner's: how much they work is counted, not timed.
            with work_limit(MOST_WORK):
                met, seen = LOOKERS[kind](wanted, part)
        except (ExpressionError, WorkLimitExceeded, ValueError, TypeError, RecursionError) as error:
            met, seen = False, f"it cannot be told: {(str(error).splitlines() or ['nested too deeply'])[0]}"
    return CheckResult(check, met, _cut(folded(storable(seen))))


def _called(tool: str, called: Mapping[str, int]) -> Seen:
    times = called.get(tool, 0)
    others = "; called were " + listed(sorted(called)) if called and not times else ""
    return times > 0, f"{counted(times, 'call')} with success{others}"


def _schema(schema: Any, part: JsonValue) -> Seen:
    faults = schema_errors(schema, part)
    return not faults, joined_messages(faults, SEEN_CHARACTERS) or "it fits"


def _condition(expression: Any, part: JsonValue) -> Seen:
    found = evaluate(expression, part)
    return found is True, f"it is {_cut(to_text(found), 100)} of {to_text(part)}"


def _matches(pattern: Any, part: JsonValue) -> Seen:
    text = _text(part)
    found = first_match(pattern, text)
    if found is not None:
        return True, f"found {found[:SEEN_CHARACTERS]!r}"
    cut = f"the first {MAX_CHARACTERS} characters of " if len(text) > MAX_CHARACTERS else ""
    return False, f"not found in {cut}{text[:SEEN_CHARACTERS]!r}"


def _range(ends: Any, part: JsonValue) -> Seen:
    low, high = ends
    if not is_number(part):
        return False, f"it is no number but {to_text(part)}"
    number: Any = part
    return (low is None or number >= low) and (high is None or number <= high), f"it is {to_text(part)}"


def _non_empty(_: Any, part: JsonValue) -> Seen:
    empty = part is None or part in ("", [], {}) or (isinstance(part, str) and not part.strip())
    return not empty, f"it is {to_text(part)}"


def _cites(least: Any, part: JsonValue) -> Seen:
    found = list(dict.fromkeys(_citations(part)))
    return len(found) >= least, counted(len(found), "citation") + (f": {listed(found)}" if found else "")


def _citations(part: JsonValue) -> Iterator[str]:
    """Yield the sources that a text cites, or that are in `source` fields beside `line` or `page`."""
    if isinstance(part, str):
        yield from (found.rstrip(".,;:") for found in all_matches(CITATION, part))
    elif isinstance(part, list):
        for item in part:
            yield from _citations(item)
    elif isinstance(part, dict):
        if isinstance(part.get("source"), str) and part["source"]:
            # The form in which tools of ours say where a passage stands.
            place = part.get("line") or part.get("page")
            yield f"{part['source']}:{place}" if place else str(part["source"])
        for item in part.values():
            yield from _citations(item)


def _cut(text: str, most: int = SEEN_CHARACTERS) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(part: JsonValue) -> str:
    """Return text unchanged, and anything else as JSON, like a reference within text."""
    return part if isinstance(part, str) else to_text(part)


LOOKERS: Mapping[str, Callable[[Any, JsonValue], Seen]] = {
    "schema": _schema,
    "condition": _condition,
    "matches": _matches,
    "range": _range,
    "non_empty": _non_empty,
    "cites": _cites,
}
"""Kind of check -> function that returns whether a part of the result meets it, and the evidence."""
