"""Verification of a run's record: the chain, the artifacts, the seal, and a hash that was noted earlier."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from planner_executor.graph.ledger.chain import REDACTED, Fault, Row, fault_of
from planner_executor.graph.ledger.seal import SealKey, seal_fault
from planner_executor.graph.ledger.transcript import Transcript, events_of

SealState = Literal["none", "unchecked", "whole", "broken"]


class Redaction(NamedTuple):
    """A recorded redaction: the changed events, its author, time (Unix seconds) and reason."""

    seq: int
    events: tuple[int, ...]
    by: str
    at: float
    reason: str


class Verification(NamedTuple):
    """The result of a verification; `head` is the hash of the last event, as hexadecimal digits.

    `faults` are sentences, empty if the record is intact; `fault` is the first damaged event. `seal` is `unchecked` if
    the run is sealed and no key was given. `noted_seq` is the event with the noted hash.
    """

    run: str
    events: int
    head: str
    artifacts: int
    key: str | None
    seal: SealState
    redactions: tuple[Redaction, ...]
    fault: Fault | None
    noted_seq: int | None
    faults: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the record has no faults."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """Return the result as data."""
        found = {name: getattr(self, name) for name in ("run", "events", "head", "artifacts", "key", "seal")}
        redactions = [{**redaction._asdict(), "events": list(redaction.events)} for redaction in self.redactions]
        bad = {"seq": self.fault.seq, "why": self.fault.why} if self.fault else None
        whole = {"whole": self.is_whole, "first_bad": bad, "faults": list(self.faults)}
        return {**whole, **found, "noted_seq": self.noted_seq, "redactions": redactions}


def verify(transcript: Transcript, key: SealKey | None = None, head: str | None = None) -> Verification:
    """Recompute the chain of a run.

    Args:
        transcript: The run's record.
        key: The key that must have sealed the run.
        head: An earlier noted hash of one of its events, as hexadecimal digits, which the record must still contain.
    """
    fault = fault_of(transcript.run, transcript.rows, transcript.written)
    unfit = seal_fault(key, transcript.key, transcript.seal, transcript.head) if key is not None else None
    noted_seq = next((row.seq for row in transcript.rows if head and row.link.hex() == head.strip().lower()), None)
    faults = [f"event {fault.seq} {fault.why}"] if fault else []
    if fault is None:  # else what the events name may be forged as well
        lost = transcript.lost_artifacts().items()
        faults += [f"event {seq} names artifact {name}, which is lost or changed" for seq, name in lost]
    if unfit is not None:
        faults.append(f"the run {unfit}")
    if head and noted_seq is None:
        faults.append(f"no event has the hash {head}: the record was written anew, or its end was cut off")
    return Verification(
        run=transcript.run,
        events=len(transcript.rows),
        head=transcript.head.hex() if isinstance(transcript.head, bytes) else "",
        artifacts=len(transcript.artifacts),
        key=transcript.key,
        seal=_seal_state(transcript, key, unfit),
        redactions=tuple(_redactions(transcript.rows)),
        fault=fault,
        noted_seq=noted_seq,
        faults=tuple(faults),
    )


def _seal_state(transcript: Transcript, key: SealKey | None, unfit: str | None) -> SealState:
    if transcript.seal is None and transcript.key is None:
        return "none"
    if key is None:
        return "unchecked"
    return "whole" if unfit is None else "broken"


def _redactions(rows: Sequence[Row]) -> Iterator[Redaction]:
    for event in events_of(row for row in rows if row.kind == REDACTED):
        yield Redaction(
            seq=event.seq,
            events=_changed_by(event.payload.get("left")),
            by=str(event.payload.get("by")),
            at=event.at,
            reason=str(event.payload.get("reason")),
        )


def _changed_by(left: Any) -> tuple[int, ...]:
    """Return the events named by a redaction; types are checked, because a forged file may have a valid chain."""
    entries = left if isinstance(left, list) else []
    named = (entry.get("seq") for entry in entries if isinstance(entry, dict))
    return tuple(seq for seq in named if isinstance(seq, int))
