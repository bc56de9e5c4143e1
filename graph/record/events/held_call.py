"""Events of tool calls that wait for a person: held for review, or until other calls are settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.codec import Coded, Inline, Needed, Shown
from planner_executor.graph.record.events.content import Arguments
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.former_owner import FormerOwner
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EarlierCall(Coded):
    """An earlier call that another call waits for, or repeats.

    `run`, `step` and `seq` locate its intent, if it is a call of another run, and `at` is its time in Unix seconds.
    `error` is its failure, `unmet` the reason why its step failed although the call succeeded, `left_by` the process
    that left it without an outcome.
    """

    key: str
    run: str | None = None
    step: str | None = None
    seq: int | None = None
    error: str | None = None
    unmet: str | None = None
    at: Shown[float | None] = None
    left_by: FormerOwner | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ValueShown(Coded):
    """What a call rests on that people gave who may not decide about it alone: the value as text, and their labels.

    `what` is its kind, `step` the step that it was given for, if it was given for one.
    """

    what: str
    by: tuple[str, ...]
    step: str | None = None
    value: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepHeld(Payload, must_last=True):
    """A call is held for review.

    `labels` are those of its untrusted arguments, `before` names identical calls of other runs, `asked` is the reason
    why the policy has it shown, `values` what people gave that it rests on, if it is shown for that. `call` and `item`
    are as in `CallStarted`. `previewed` is what its tool says that it would do, if that was made for this request.
    """

    key: str
    tool: str
    args: Inline[Arguments]
    labels: Needed[Mapping[str, TrustLabel]] = field(default_factory=dict)
    revision: int
    before: tuple[EarlierCall, ...] = ()
    asked: str | None = None
    values: tuple[ValueShown, ...] = ()
    previewed: CallPreview | None = None
    call: int = 0
    item: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepUncertain(Payload, must_last=True):
    """A call waits until a person settles other calls, of which the known data is copied here."""

    key: str
    tool: str
    args: Inline[Arguments]
    calls: tuple[EarlierCall, ...]
    revision: int
