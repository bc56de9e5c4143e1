"""A tool call of a run: started, with its outcome, or waiting for a person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from graph.record.events.call_asked import AskedQuestion
from graph.record.results import StepResult
from graph.record.trust_label import TrustLabel


@dataclass(frozen=True)
class AskedCall:
    """What a call asked when it ended, under which revision; `forms` are the answers, None until they are given.

    `resumed`: the call was started again with the answers. `anew`: a person said that nothing came of that.
    """

    questions: tuple[AskedQuestion, ...]
    state: str | None
    revision: int
    forms: Mapping[str, Any] | None = None
    resumed: bool = False
    anew: bool = False


@dataclass(frozen=True)
class Call:
    """A tool call that was started, and its outcome; `item` counts from 0 if its step is done for each of a list.

    `unmet` says why its step failed although the call succeeded: its result does not meet the step's criteria.
    `settled` means that a person said that it happened, `run` names the run if it is another one of the thread.
    `asked` is set if it ended with questions to a person.
    `begun_seq` and `ended_seq` are the numbers of its events, `begun_at` is the time of the first in Unix
    seconds, `args_artifact` holds arguments that are too large.
    """

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str
    repeatable: bool
    revision: int
    number: int
    result: StepResult | None = None
    nothing_happened: bool = False
    settled: bool = False
    unmet: str | None = None
    item: int | None = None
    begun_seq: int | None = None
    begun_at: float | None = None
    ended_seq: int | None = None
    args_artifact: str | None = None
    run: str = ""
    asked: AskedCall | None = None

    def ended(self, result: StepResult, seq: int, *, nothing_happened: bool) -> "Call":
        """Return the call with its outcome; `seq` is the number of the event that holds it."""
        # a long run has many calls: `replace` would take as long as all the rest of reading one
        return Call(**{**vars(self), "result": result, "ended_seq": seq, "nothing_happened": nothing_happened})

    @property
    def is_uncertain(self) -> bool:
        """Whether it may have had an effect without the outcome that was wanted, as far as the record shows."""
        done = self.result is not None and self.result.status == "succeeded" and self.unmet is None
        return not (self.repeatable or done or self.nothing_happened)

    @property
    def may_go_on(self) -> bool:
        """Whether the same call, and no other, may be made: it was asked something and was not started again since."""
        return self.asked is not None and not self.asked.resumed

    @property
    def is_the_step(self) -> bool:
        """Whether its result is the step's."""
        return self.number == 0 and self.item is None


@dataclass(frozen=True)
class HeldCall:
    """A call that waits for a person to see it.

    `labels` has the source of each argument that is untrusted, `before` names runs in which the same call happened.
    """

    key: str
    step: str
    tool: str
    args: Mapping[str, JsonValue]
    labels: Mapping[str, TrustLabel]
    revision: int
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class WaitingCall:
    """A call that waits until a person has settled the calls named by `keys`, which may have had its effect."""

    step: str
    keys: tuple[str, ...]
    revision: int
