"""What was looked through and what was skipped: search results say it, summaries keep it, reports tell it."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.tools.embedded_json import json_pieces

NAMED = 20
"""So many skipped files are named; all are counted."""
_DEEPEST = 20


def coverage(searched: int, skipped: Mapping[str, str]) -> dict[str, Any]:
    """Return `{searched, skipped: [{source, reason}], skipped_count}`.

    Args:
        searched: How many documents were looked through.
        skipped: File -> why it was not.
    """
    named = [{"source": source, "reason": reason} for source, reason in list(skipped.items())[:NAMED]]
    return {"searched": searched, "skipped": named, "skipped_count": len(skipped)}


def coverage_in(given: object) -> dict[str, Any]:
    """Return the coverage of all search results in nested JSON, which are about one folder; empty if none says it.

    >>> coverage_in([{"passages": [], **coverage(2, {})}, {"passages": [], **coverage(2, {"a.docx": "?"})}])
    {'searched': 2, 'skipped': [{'source': 'a.docx', 'reason': '?'}], 'skipped_count': 1}
    """
    found = list(_coverages(given, _DEEPEST))
    if not found:
        return {}
    named = {str(each["source"]): each for one in found for each in one["skipped"]}
    return {
        "searched": max(one["searched"] for one in found),
        "skipped": list(named.values())[:NAMED],
        "skipped_count": max(one["skipped_count"] for one in found),
    }


def _coverages(given: object, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth == 0:
        return
    if isinstance(given, str):
        for _, value in json_pieces(given):
            yield from _coverages(value, depth - 1)
    elif isinstance(given, list):
        for item in given:
            yield from _coverages(item, depth - 1)
    elif isinstance(given, dict) and _is_coverage(given):
        yield given
    elif isinstance(given, dict):
        for item in given.values():  # what stands in their texts was written by others
            yield from _coverages(item if isinstance(item, dict | list) else None, depth - 1)


def _is_coverage(given: Mapping[str, Any]) -> bool:
    counts = (given.get("searched"), given.get("skipped_count"))
    skipped = given.get("skipped")
    return (
        all(isinstance(count, int) and not isinstance(count, bool) for count in counts)
        and isinstance(skipped, list)
        and all(isinstance(each, dict) and {"source", "reason"} <= each.keys() for each in skipped)
    )
