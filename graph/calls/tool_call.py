"""A tool call, its admission and its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.record.call import place_of
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.caps import CapUse
from planner_executor.graph.record.events import CallFinished, Draft
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import USER, TrustLabel
from planner_executor.graph.record.values import Kept
from planner_executor.tools.call_questions import CallReplies


@dataclass(frozen=True)
class ToolCall:
    """What is called, and for what; `number` is 0 for a step's own call, and counts a model's calls from 1.

    The looks of planners belong to no step, "", and are counted as a model's calls.

    `item` is the index of the list item, if the step runs once per item. `label` is the trust label of its result,
    `labels` are those of its arguments. `same_digest` is equal for identical calls, if it may not be repeated.
    `edited` are the arguments that a person changed, `replaces` is the key of the call as it was before.
    """

    key: str
    step: str
    number: int
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str
    item: int | None = None
    label: TrustLabel = USER
    labels: Mapping[str, TrustLabel] = field(default_factory=dict)
    same_digest: str = ""
    edited: tuple[str, ...] = ()
    replaces: str | None = None

    @property
    def name(self) -> str:
        """The key under which people are asked about it: that of the call that it replaces (decision 72)."""
        return self.replaces or self.key

    @property
    def place(self) -> str:
        """The step, with the index of the list item if it runs once per item."""
        return place_of(self.step, self.item)


@dataclass(frozen=True)
class Admitted:
    """A call that may be made, and how it was admitted: the next attempt at it, within `limits`.

    `wait_s` are the seconds until its turn under a rate. For a call that may not be repeated, `queued` means that an
    identical one is in progress, and `is_shared` that another run of the family may begin one. `approval` is the
    standing approval that let it through, `caps` what it takes of caps across runs, if of any. `replies` are a person's
    answers to what the same call asked before. `previewed` is the preview that was made now that it is due.
    """

    call: ToolCall
    limits: AttemptLimits
    attempt: int = 1
    wait_s: float = 0.0
    queued: bool = False
    is_shared: bool = False
    approval: str | None = None
    caps: CapUse | None = None
    replies: CallReplies | None = None
    previewed: CallPreview | None = None

    @property
    def has_turn(self) -> bool:
        """Whether its intent is written by itself: it waits for its turn, or a cap or another run may prevent it."""
        return self.wait_s > 0 or self.queued or self.is_shared or self.caps is not None


@dataclass(frozen=True)
class Finished:
    """A call with its outcome, and its value if it succeeded; `unchecked` means that its step's criteria come next.

    `is_passing` means that the same call may succeed later, `again` that it is tried again.
    """

    call: ToolCall
    result: StepResult
    kept: Kept | None = None
    nothing_happened: bool = False
    unchecked: bool = False
    again: bool = False
    is_passing: bool = False

    @property
    def value(self) -> JsonValue:
        """The whole value, inline or from its artifact."""
        return self.kept.value if self.kept else None

    def draft(self, worked_s: float | None = None) -> Draft:
        """Return the call's outcome as an event; the run has worked so many seconds."""
        finished = CallFinished(
            result=self.result,
            call=self.call.number,
            item=self.call.item,
            nothing_happened=self.nothing_happened,
            unchecked=self.unchecked,
            again=self.again,
            worked_s=worked_s,
        )
        return Draft(finished, self.call.step or None)


class CallHeld(Exception):
    """The call named by `key` waits for review. Never leaves the node."""

    def __init__(self, key: str, why: str) -> None:
        self.key = key
        super().__init__(why)


class CallAsks(CallHeld):
    """The call named by `key` ended with questions, and goes on after a person has answered. Never leaves the node."""


class CallUncertain(Exception):
    """The call might repeat the effects of the uncertain calls named by `keys`. Never leaves the node."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        super().__init__("its call may have taken effect already; a person has to say whether it did")
