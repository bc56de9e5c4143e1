"""Events of tool calls: intents, outcomes and refusals."""

from dataclasses import dataclass

from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.codec import Inline, Shown, Written
from planner_executor.graph.record.events.content import Arguments, Result
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallStarted(Payload):
    """The intent of a call, written before the call is made.

    `call` is 0 for a step's own call, and counts a model's calls from 1. `item` is the index of the list item, if the
    step runs once per item. `attempt` counts how often it is tried, from 1. `replaces` is the key of the call in whose
    place a person had it made, `approval` the standing approval that let it through. `same` is the digest that
    identical calls share if it is another one than that of the arguments, which may spell out defaults. `reopened`
    counts how often the ended run was reopened before, if it was; it is None in records of before version 6.
    `previewed` is the preview that was made when the call was due, if one was.
    """

    key: str
    call: int
    item: int | None = None
    tool: str
    args: Inline[Arguments]
    effect: Written[str | None] = None
    repeatable: bool
    revision: int
    attempt: Shown[int] = 1
    replaces: str | None = None
    approval: str | None = None
    same: str | None = None
    reopened: Shown[int | None] = None
    previewed: CallPreview | None = None

    @property
    def safe(self) -> bool:
        """See `Payload`."""
        return self.repeatable


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallFinished(Payload):
    """The outcome of the call of that number and item.

    `nothing_happened`: the call failed without an effect. `unchecked`: the step's criteria are checked next. `again`:
    it failed, and the next attempt follows. `worked_s` is the working time of the run in seconds.
    """

    result: Result
    call: int
    item: int | None = None
    nothing_happened: bool = False
    unchecked: bool = False
    again: bool = False
    worked_s: Shown[float | None] = None

    @property
    def is_the_step(self) -> bool:
        """Whether the result of the call is the result of the step."""
        return self.call == 0 and self.item is None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallPreviewed(Payload, is_aside=True):
    """What tools say that the calls of a plan would do which a person proposed; one that is begun leaves the machine.

    The previews of other plans, and of calls that are held or due, are fields of the events that they are made for.
    """

    previews: tuple[CallPreview, ...]

    @property
    def is_intent(self) -> bool:
        """Whether it was written before a preview that leaves the machine."""
        return any(preview.is_begun for preview in self.previews)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallRefused(Payload):
    """A call that the step's grant or the policy does not allow."""

    tool: str
    args: Inline[Arguments]
    why: str
    revision: int
