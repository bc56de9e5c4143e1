"""The events that the choke point writes about a call, besides its outcome."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from planner_executor.graph.calls.ruled_calls import Unmet
from planner_executor.graph.calls.tool_call import Admitted, ToolCall
from planner_executor.graph.errors import ResultError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import (
    Arguments,
    AskedQuestion,
    CallAsked,
    CallRefused,
    CallStarted,
    Draft,
    EarlierCall,
    StepHeld,
    StepUncertain,
)
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.record.values import Kept, keep, normalise

SHOWN_BYTES = 1_000_000
"""Arguments for review are kept inline in the ledger up to this size."""


def intent(admitted: Admitted, spec: ToolSpec, args: Kept, within: Pass) -> Draft:
    """Return the event that precedes a call."""
    call = admitted.call
    started = CallStarted(
        key=call.key,
        call=call.number,
        item=call.item,
        tool=call.tool,
        args=Arguments.of(args),
        effect=spec.effect,
        repeatable=spec.repeatable,
        revision=within.revision,
        reopened=within.reopened or None,
        attempt=admitted.attempt,
        replaces=call.replaces,
        approval=admitted.approval,
        previewed=admitted.previewed,
        same=None if spec.repeatable or call.same_digest == call.args_digest else call.same_digest,
    )
    return Draft(started, call.step or None)


def refused_call(tool: str, args: Mapping[str, JsonValue], why: str, revision: int) -> tuple[CallRefused, Kept]:
    """Return the event of a call that is not allowed, and its arguments as they are stored."""
    try:
        shown = keep(normalise(dict(args)))
    except ResultError as error:
        shown = keep(f"arguments that no record can hold: {error}")
    return CallRefused(tool=str(tool), args=Arguments.of(shown), why=why, revision=revision), shown


def hold(
    call: ToolCall,
    revision: int,
    untrusted: Mapping[str, TrustLabel],
    before: Sequence[Call],
    asked: str | None,
    unmet: Unmet | None,
    previewed: CallPreview | None = None,
) -> tuple[Draft, Kept]:
    """Return the event that holds a call for review, and its arguments as they are stored.

    Args:
        call: The call.
        revision: The revision of the plan.
        untrusted: Argument -> label, for the arguments to review.
        before: Identical calls of other runs that have happened.
        asked: Why the policy has it shown, None if it does not.
        unmet: Why people have to decide about it who meet the rules of its tool, None if such people have.
        previewed: What its tool says that it would do.
    """
    shown = keep(dict(call.args), SHOWN_BYTES)
    held = StepHeld(
        key=call.key,
        tool=call.tool,
        args=Arguments.of(shown),
        labels=untrusted,
        revision=revision,
        before=tuple(map(_earlier_call, before)),
        asked=asked or (unmet.why if unmet is not None else None),
        values=unmet.values if unmet is not None else (),
        previewed=previewed,
        call=call.number,
        item=call.item,
    )
    return Draft(held, call.step), shown


def uncertainty(call: ToolCall, revision: int, unsettled: Sequence[Call]) -> tuple[Draft, Kept]:
    """Return the event of a call that waits until a person has settled others, and its arguments as they are stored."""
    shown = keep(dict(call.args))
    uncertain = StepUncertain(
        key=call.key,
        tool=call.tool,
        args=Arguments.of(shown),
        calls=tuple(map(_earlier_call, unsettled)),
        revision=revision,
    )
    return Draft(uncertain, call.step), shown


def questions_asked(
    call: ToolCall, questions: Sequence[AskedQuestion], state: str | None, revision: int, worked_s: float | None
) -> Draft:
    """Return the event of a call that ended with questions to a person."""
    asked = CallAsked(
        key=call.key,
        call=call.number,
        item=call.item,
        tool=call.tool,
        questions=tuple(questions),
        state=state,
        revision=revision,
        worked_s=worked_s,
    )
    return Draft(asked, call.step)


def _earlier_call(call: Call) -> EarlierCall:
    """Return an earlier call as the ledger keeps it; a call of another run is copied, as this record has no other."""
    if not call.run:
        return EarlierCall(call.key)
    error = (call.result.error or None) if call.result is not None else None
    return EarlierCall(call.key, call.run, call.step, call.begun_seq, error, call.unmet, call.begun_at, call.left_by)
