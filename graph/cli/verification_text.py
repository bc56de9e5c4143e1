"""What a verification found, in words."""

from collections.abc import Iterator

from graph.cli.local_time import local_time
from graph.ledger.verification import Verification


def lines(found: Verification) -> Iterator[str]:
    """Yield what was found."""
    yield f"run {found.run}: {found.events} events, {found.artifacts} artifacts"
    yield f"head {found.head}"
    yield _sealed(found)
    if found.noted_seq is not None:
        later = found.events - found.noted_seq
        yield f"the hash that was noted is of event {found.noted_seq}; {later or 'none'} came after it"
    for redaction in found.redactions:
        events = ", ".join(map(str, redaction.events))
        yield f"redacted: events {events} by {redaction.by} at {local_time(redaction.at)}: {redaction.reason}"
    yield from (f"fault: {fault}" for fault in found.faults)
    yield "the record is what was written" if found.is_whole else "the record is NOT what was written"


def _sealed(found: Verification) -> str:
    return {
        "none": "not sealed: without a key nobody can tell whether all of it was written anew, or its end cut off",
        "unchecked": f"sealed with the key {found.key}, which is not at hand: the seal was not checked",
        "whole": f"sealed with the key {found.key}",
        "broken": f"the seal of the key {found.key} does not fit",
    }[found.seal]
