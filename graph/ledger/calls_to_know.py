"""The events from which other runs of a family know what became of a call."""

from collections.abc import Mapping

from planner_executor.graph.record.events import CallFinished, CallStarted, Decided, StepChecked

TURNING = tuple(one.kind for one in (CallStarted, CallFinished, StepChecked, Decided))
"""Kinds of events after which another run may have to wait that had not to before, if they are about the same step."""

TO_KNOW: Mapping[str, str] = {
    CallStarted.kind: '"repeatable":false',
    Decided.kind: '"settled":[{',
    StepChecked.kind: '"met":false',
}
"""Kind -> what stands in the payload of each event that makes a call uncertain or settles it, and of few others.

No other writer can forge them: in text from outside a backslash precedes each quote. A database index searches these
payloads, and any program that writes to the database updates it, so they are never packed.
"""
