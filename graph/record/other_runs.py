"""Calls of other runs of a thread that a run must know before it makes the same call."""

from collections.abc import Iterable
from dataclasses import replace

from graph.record.call import Call
from graph.record.events import StepHeld, StepUncertain
from graph.record.results import StepResult
from graph.record.run_state import RunState


def calls_to_know(records: Iterable[RunState]) -> list[Call]:
    """Return the non-repeatable calls that are uncertain, or that a person confirmed as having happened.

    Args:
        records: Runs of one thread, in order. A run that settled a call of another settled the call as started then,
            not a later start of it.
    """
    runs = list(records)
    found = {
        call.key: replace(call, run=record.id)
        for record in runs
        for call in record.calls.by_key.values()
        if not call.repeatable and (call.is_uncertain or call.settled)
    }
    for call in (call for record in runs for call in record.calls.elsewhere.values()):
        known = found.get(call.key)
        if known is not None and known.begun_seq == call.begun_seq and not call.is_uncertain:
            found[call.key] = replace(known, result=call.result, settled=call.settled, unmet=None,
                                      nothing_happened=call.nothing_happened)  # fmt: skip
    return [call for call in found.values() if call.is_uncertain or call.settled]


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
            revision=0,
            number=0,
            result=StepResult("succeeded") if happened or call.unmet is not None else _failed(call.error),
            settled=happened,
            unmet=call.unmet,
            begun_seq=call.seq,
            args_artifact=waiting.args.artifact_id,
            run=call.run,
        )
        for call in (waiting.before if isinstance(waiting, StepHeld) else waiting.calls)
        if call.run is not None
    ]


def _failed(error: str | None) -> StepResult | None:
    """Return the result of a call that raised; None for a call without a known outcome."""
    return StepResult("failed", error=error) if error is not None else None
