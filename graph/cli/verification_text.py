"""The result of a verification as text."""

from collections.abc import Iterator

from planner_executor.graph.ledger.tombstone import Tombstones
from planner_executor.graph.ledger.verification import Verification
from planner_executor.graph.words.name_list import counted
from planner_executor.graph.words.times import local_time


def lines(found: Verification) -> Iterator[str]:
    """Yield the lines of a report."""
    yield f"run {found.run}: {counted(found.events, 'event')}, {counted(found.artifacts, 'artifact')}"
    yield f"head {found.head}"
    yield _sealed(found)
    if found.noted_seq is not None:
        later = found.events - found.noted_seq
        yield f"the given hash is that of event {found.noted_seq}; events after it: {later}"
    for redaction in found.redactions:
        events = ", ".join(map(str, redaction.events))
        yield f"redacted: events {events} by {redaction.by} at {local_time(redaction.at)}: {redaction.reason}"
    yield from (f"fault: {fault}" for fault in found.faults)
    yield "the record is unchanged" if found.is_whole else "the record was CHANGED or damaged"


def tombstone_lines(found: Tombstones, name: str) -> Iterator[str]:
    """Yield the heads that the tombstone of a run, or of a thread, has; an export is verified against them."""
    row = found.named(name)
    if row is not None:
        yield f"tombstone {row.number} of {len(found.rows)}"
        yield from (f"run {n} of the thread ended with the head {head}" for n, head in enumerate(row.heads, row.first))


def _sealed(found: Verification) -> str:
    return {
        "none": "not sealed: a rewrite of the whole record, or a cut at its end, cannot be detected without a key",
        "unchecked": f"sealed with the key {found.key}, which is not available: the seal was not checked",
        "whole": f"sealed with the key {found.key}",
        "broken": f"the seal of the key {found.key} does not match",
    }[found.seal]
