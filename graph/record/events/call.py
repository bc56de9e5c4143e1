"""Events of tool calls: intents, outcomes, refusals, and calls that wait for a person."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from graph.record.events.content import Arguments, result_from_json, result_json
from graph.record.events.payload import Json, Payload, given, integer, number
from graph.record.results import StepResult
from graph.record.trust_label import TrustLabel


def _optional(raw: Json, name: str) -> int | None:
    return integer(raw, name) if name in raw else None


@dataclass(frozen=True, kw_only=True, slots=True)
class CallStarted(Payload):
    """The intent of a call, written before the call is made.

    `call` is 0 for a step's own call, and counts a model's calls from 1. `item` is the index of the list item, if the
    step runs once per item. `attempt` counts how often it is tried, from 1. `replaces` is the key of the call in whose
    place a person had it made, `approval` the standing approval that let it through.
    """

    kind: ClassVar[Literal["call_started"]] = "call_started"

    key: str
    call: int
    item: int | None = None
    tool: str
    args: Arguments
    effect: str | None = None
    repeatable: bool
    revision: int
    attempt: int = 1
    replaces: str | None = None
    approval: str | None = None

    @property
    def safe(self) -> bool:
        """See `Payload`."""
        return self.repeatable

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "key": self.key,
            "call": self.call,
            **given(item=self.item),
            "tool": self.tool,
            **self.args.to_json(),
            "effect": self.effect,
            "repeatable": self.repeatable,
            "revision": self.revision,
            **({"attempt": self.attempt} if self.attempt > 1 else {}),
            **given(replaces=self.replaces, approval=self.approval),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            key=raw["key"],
            call=integer(raw, "call"),
            item=_optional(raw, "item"),
            tool=raw["tool"],
            args=Arguments.from_json(raw),
            effect=raw.get("effect"),
            repeatable=raw["repeatable"],
            revision=integer(raw, "revision"),
            attempt=number(raw.get("attempt")) or 1,
            replaces=raw.get("replaces"),
            approval=raw.get("approval"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CallFinished(Payload):
    """The outcome of the call of that number and item.

    `nothing_happened`: the call failed without an effect. `unchecked`: the step's criteria are checked next. `again`:
    it failed, and the next attempt follows. `worked_s` is the working time of the run in seconds.
    """

    kind: ClassVar[Literal["call_finished"]] = "call_finished"

    result: StepResult
    call: int
    item: int | None = None
    nothing_happened: bool = False
    unchecked: bool = False
    again: bool = False
    worked_s: float | None = None

    @property
    def is_the_step(self) -> bool:
        """Whether the result of the call is the result of the step."""
        return self.call == 0 and self.item is None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            **result_json(self.result),
            "call": self.call,
            **given(
                item=self.item,
                nothing_happened=self.nothing_happened,
                unchecked=self.unchecked,
                again=self.again,
                worked_s=self.worked_s,
            ),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            result=result_from_json(raw),
            call=integer(raw, "call"),
            item=_optional(raw, "item"),
            nothing_happened=raw.get("nothing_happened", False),
            unchecked=raw.get("unchecked", False),
            again=raw.get("again", False),
            worked_s=number(raw.get("worked_s")),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRefused(Payload):
    """A call that the step's grant or the policy does not allow."""

    kind: ClassVar[Literal["call_refused"]] = "call_refused"

    tool: str
    args: Arguments
    why: str
    revision: int

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"tool": self.tool, **self.args.to_json(), "why": self.why, "revision": self.revision}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            tool=raw["tool"],
            args=Arguments.from_json(raw),
            why=raw["why"],
            revision=integer(raw, "revision"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """An earlier call that another call waits for, or repeats.

    `run`, `step` and `seq` locate its intent, if it is a call of another run, and `at` is its time in Unix seconds.
    `error` is its failure, `unmet` the reason why its step failed although the call succeeded.
    """

    key: str
    run: str | None = None
    step: str | None = None
    seq: int | None = None
    error: str | None = None
    unmet: str | None = None
    at: float | None = None

    @classmethod
    def from_json(cls, raw: Json) -> "EarlierCall":
        """Parse the output of `to_json`."""
        get, seq, at = raw.get, _optional(raw, "seq"), number(raw.get("at"))
        return cls(raw["key"], get("run"), get("step"), seq, get("error"), get("unmet"), at)

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        optional = given(run=self.run, step=self.step, seq=self.seq, error=self.error, unmet=self.unmet, at=self.at)
        return {"key": self.key, **optional}


@dataclass(frozen=True, kw_only=True, slots=True)
class _BlockedCall(Payload):
    """A call that waits for a person; never lost in a power cut, because the person is asked about it."""

    must_last: ClassVar[bool] = True

    key: str
    tool: str
    args: Arguments
    revision: int

    def _call_json(self) -> dict[str, Any]:
        return {"key": self.key, "tool": self.tool, **self.args.to_json()}

    @staticmethod
    def _call_from_json(raw: Json) -> dict[str, Any]:
        plain = {"key": raw["key"], "tool": raw["tool"], "checkpoint": raw.get("checkpoint")}
        return {**plain, "args": Arguments.from_json(raw), "revision": integer(raw, "revision")}


@dataclass(frozen=True, kw_only=True, slots=True)
class StepHeld(_BlockedCall):
    """A call is held for review.

    `labels` are those of its untrusted arguments, `before` names identical calls of other runs, `asked` is the reason
    why the policy has it shown. `call` and `item` are as in `CallStarted`.
    """

    kind: ClassVar[Literal["step_held"]] = "step_held"

    labels: Mapping[str, TrustLabel] = field(default_factory=dict)
    before: tuple[EarlierCall, ...] = ()
    asked: str | None = None
    call: int = 0
    item: int | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            **self._call_json(),
            "labels": {name: label.to_json() for name, label in self.labels.items()},
            "revision": self.revision,
            **given(before=[call.to_json() for call in self.before], asked=self.asked),
            **given(call=self.call or None, item=self.item),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            **cls._call_from_json(raw),
            labels={name: TrustLabel.of(label) for name, label in raw["labels"].items()},
            before=tuple(map(EarlierCall.from_json, raw.get("before", ()))),
            asked=raw.get("asked"),
            call=integer(raw, "call") if "call" in raw else 0,
            item=_optional(raw, "item"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StepUncertain(_BlockedCall):
    """A call waits until a person settles other calls, of which the known data is copied here."""

    kind: ClassVar[Literal["step_uncertain"]] = "step_uncertain"

    calls: tuple[EarlierCall, ...]

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            **self._call_json(),
            "calls": [call.to_json() for call in self.calls],
            "revision": self.revision,
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(**cls._call_from_json(raw), calls=tuple(map(EarlierCall.from_json, raw["calls"])))
