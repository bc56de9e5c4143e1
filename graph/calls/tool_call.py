"""A tool call: admitted, made, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from graph.record.events import CallFinished, Draft
from graph.record.results import StepResult
from graph.record.trust_label import USER, TrustLabel
from graph.record.values import Kept


@dataclass(frozen=True)
class ToolCall:
    """A call that may be made; `number` is 0 for a step's own call, and counts a model's calls from 1.

    `item` is the place in the list, from 0, where a step is done for each item.
    `label` is what its result is worth, `wait_s` how many seconds its turn is away. Of a call that may not be repeated
    `same_digest` is equal for calls that are the same, and `queued` says that one of them is under way.
    """

    key: str
    step: str
    number: int
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str
    item: int | None = None
    label: TrustLabel = USER
    wait_s: float = 0.0
    same_digest: str = ""
    queued: bool = False


@dataclass(frozen=True)
class Finished:
    """A call that came to an end, and its value where it succeeded; `unchecked` says that its step has not ended."""

    call: ToolCall
    result: StepResult
    kept: Kept | None = None
    nothing_happened: bool = False
    worked_s: float | None = None
    unchecked: bool = False

    @property
    def value(self) -> JsonValue:
        """The whole value, inlined or not."""
        return self.kept.value if self.kept else None

    def draft(self) -> Draft:
        """Return the call's outcome as an event."""
        finished = CallFinished(
            result=self.result,
            call=self.call.number,
            item=self.call.item,
            nothing_happened=self.nothing_happened,
            unchecked=self.unchecked,
            worked_s=self.worked_s,
        )
        return Draft(finished, self.call.step)


class CallHeld(Exception):
    """A call waits for a person to see it; `key` names it. It never leaves the node."""

    def __init__(self, key: str, why: str) -> None:
        self.key = key
        super().__init__(why)


class CallUncertain(Exception):
    """A call might repeat effects that may have happened; `keys` names their calls. It never leaves the node."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        super().__init__("its call may have taken effect already; a person has to say whether it did")
