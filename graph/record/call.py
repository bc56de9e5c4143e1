"""A tool call of a run: started, with its outcome, or waiting for a person."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.events.call_asked import AskedQuestion
from planner_executor.graph.record.events.held_call import EarlierCall, StepHeld
from planner_executor.graph.record.former_owner import FormerOwner
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.trust_label import TrustLabel


def call_key(run: str, step: str, item: int | None, number: int, tool: str, args_digest: str) -> str:
    """Return the idempotency key of a call; it is equal across attempts and revisions."""
    return digest([run, step, item, number, tool, args_digest])


def place_of(step: str, item: int | None) -> str:
    """Return a step, with the index of the list item if it runs once per item."""
    return step if item is None else f"{step}[{item}]"


def failed(error: str | None) -> StepResult | None:
    """Return the result of a call that raised; None for a call without a known outcome."""
    return StepResult("failed", error=error) if error is not None else None


class AskedCall(NamedTuple):
    """What a call asked when it ended, in which pass; `forms` are the answers, None until they are given.

    `resumed`: the call was started again with the answers. `anew`: a person said that nothing came of that.
    """

    questions: tuple[AskedQuestion, ...]
    state: str | None
    within: Pass
    forms: Mapping[str, Any] | None = None
    resumed: bool = False
    anew: bool = False


class Call(NamedTuple):
    """A started tool call and its outcome; `item` is the index of the list item, if the step runs once per item.

    `unmet` is the reason why the step failed although the call succeeded: the result does not meet the criteria.
    `settled` means that a person confirmed the call, `asked` is set if it ended with questions to a person. `run` names
    the run if it is another one of the thread. `begun_seq` is the number of the event of its start, `begun_at` the time
    of that in Unix seconds, and `args_artifact` the id of the artifact of large arguments. `attempt` counts how often
    the call was tried; `again` means that it failed and the next attempt follows. `left_by` is the process that left
    the call without an outcome, None if the run was not taken from it.
    """

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str
    repeatable: bool
    within: Pass
    number: int
    result: StepResult | None = None
    nothing_happened: bool = False
    settled: bool = False
    unmet: str | None = None
    item: int | None = None
    begun_seq: int | None = None
    begun_at: float | None = None
    args_artifact: str | None = None
    run: str = ""
    attempt: int = 1
    again: bool = False
    asked: AskedCall | None = None
    left_by: FormerOwner | None = None

    def ended(self, result: StepResult, *, nothing_happened: bool, again: bool = False) -> "Call":
        """Return the call with its outcome."""
        return self._replace(result=result, nothing_happened=nothing_happened, again=again)

    @property
    def is_uncertain(self) -> bool:
        """Whether the call may have had an effect without the expected outcome, as far as the record shows."""
        done = self.result is not None and self.result.status == "succeeded" and self.unmet is None
        return not (self.repeatable or done or self.nothing_happened)

    @property
    def maker_may_live(self) -> bool:
        """Whether the call has no outcome, and may yet be made: its process is not known to be dead."""
        return self.result is None and not (self.left_by is not None and self.left_by.is_dead)

    @property
    def failure(self) -> str:
        """Why the call may not have taken effect: its error, or what is known of the process that left it."""
        if self.result is not None:
            return str(self.result.error)
        if self.left_by is None:
            return "no outcome is on record; its process ended in the middle of it, or may go on with it"
        what = "ended in the middle of it" if self.left_by.is_dead else "is not known to be dead, and may go on with it"
        return f"no outcome is on record; {self.left_by.process} {what}"

    def has_copy(self, copy: "Call | None") -> bool:
        """Whether a copy, which another run has, is of the call as it is: of its last start, and as far as it came."""
        is_last = copy is not None and copy.begun_seq == self.begun_seq
        return is_last and copy is not None and (copy.result is None) == (self.result is None)

    @property
    def may_go_on(self) -> bool:
        """Whether the same call, and no other, may be made: it was asked something and was not started again since."""
        return self.asked is not None and not self.asked.resumed

    @property
    def place(self) -> str:
        """The step, with the index of the list item if it runs once per item."""
        return place_of(self.step, self.item)

    @property
    def is_the_step(self) -> bool:
        """Whether the result of the call is the result of the step."""
        return self.number == 0 and self.item is None


class HeldCall(NamedTuple):
    """A call of a step held for review, as its event says; `edited` are the arguments that a person gave instead.

    The key stays that of the call as it was asked for, also if a person gave other arguments.
    """

    step: str
    event: StepHeld
    within: Pass
    edited: Mapping[str, JsonValue] | None = None

    @property
    def args(self) -> Mapping[str, JsonValue]:
        """The arguments to make it with, as far as they are known."""
        args: Mapping[str, JsonValue] = self.event.args.shown if self.edited is None else self.edited
        return args

    @property
    def labels(self) -> Mapping[str, TrustLabel]:
        """The trust label of each untrusted argument; what a person gave instead is the person's."""
        asked, args = self.event.args.shown, self.args
        return {name: label for name, label in self.event.labels.items() if args.get(name) == asked.get(name)}

    @property
    def before(self) -> tuple[str, ...]:
        """The runs in which the same call was made, and when if that is on record."""
        return tuple(dict.fromkeys(_made(call) for call in self.event.before if call.run is not None))


def _made(call: EarlierCall) -> str:
    if call.at is None:
        return str(call.run)
    return f"{call.run} on {datetime.fromtimestamp(call.at, UTC):%Y-%m-%d at %H:%M} UTC"


class RejectedCall(NamedTuple):
    """A call that a person rejected with words, or that nobody decided about in time, in a pass over the plan."""

    why: str
    within: Pass


class WaitingCall(NamedTuple):
    """A call that waits until a person settles the calls named by `keys`, which may have had the same effect."""

    step: str
    keys: tuple[str, ...]
    within: Pass
