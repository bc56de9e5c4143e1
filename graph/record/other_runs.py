"""Calls of other runs of a family that a run must know before it makes the same call."""

from collections.abc import Collection, Iterable

from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.call import Call, failed
from planner_executor.graph.record.events import StepHeld, StepUncertain
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState


def is_kin(other: Assignment, thread: str, run: str, forked_from: str | None) -> bool:
    """Return whether what succeeded in another run of the family counts: in a fork, or in what this is a fork of.

    Another goal on the same thread may mean to make the same call again.
    """
    if other.started.thread != thread:
        return True
    source = other.forked_from
    return source == run or forked_from == other.key.id or (source is not None and source == forked_from)


def calls_to_know(records: Iterable[RunState], kin: Collection[str] = ()) -> list[Call]:
    """Return the non-repeatable calls that are uncertain, or that are known to have happened.

    Args:
        records: Runs of one family, in order. A run that settled a call of another settled the call as it was then.
        kin: Ids of the runs whose calls are known to have happened if they succeeded; of others a person has said so.
    """
    runs = list(records)
    found = {
        call.key: call._replace(run=record.id, settled=call.settled or (record.id in kin and not call.is_uncertain))
        for record in runs
        for call in record.calls.by_key.values()
        if not (call.repeatable or call.nothing_happened)
    }
    for call in (call for record in runs for call in record.calls.elsewhere.values()):
        if (known := found.get(call.key)) is not None and is_settled_by(known, call):
            found[call.key] = known._replace(result=call.result, settled=call.settled, unmet=None,
                                      nothing_happened=call.nothing_happened)  # fmt: skip
    return [call for call in found.values() if call.is_uncertain or call.settled]


def is_settled_by(call: Call, copy: Call | None) -> bool:
    """Return whether a person has settled a call in another run, which has this copy of it.

    That holds for the call as it was then: not once it was begun again, and not once a call without an outcome has one.
    """
    if copy is None or copy.begun_seq != call.begun_seq or copy.is_uncertain or not call.is_uncertain:
        return False
    return copy.settled or call.has_copy(copy)


def other_calls(waiting: StepHeld | StepUncertain) -> list[Call]:
    """Return the calls of other runs that an event names, as earlier calls of the call it is about."""
    happened = isinstance(waiting, StepHeld)
    return [
        Call(
            key=call.key,
            step=call.step or "",
            tool=waiting.tool,
            args=waiting.args.shown,
            args_digest=waiting.args.digest,
            repeatable=False,
            within=Pass(0),
            number=0,
            result=StepResult("succeeded") if happened or call.unmet is not None else failed(call.error),
            settled=happened,
            unmet=call.unmet,
            begun_seq=call.seq,
            begun_at=call.at,
            args_artifact=waiting.args.artifact_id,
            run=call.run,
            left_by=call.left_by,
        )
        for call in (waiting.before if isinstance(waiting, StepHeld) else waiting.calls)
        if call.run is not None
    ]
