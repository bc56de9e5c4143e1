"""Events of tool calls that wait for a person: held for review, or until other calls are settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.content import Arguments
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number, optional_integer
from planner_executor.graph.record.former_owner import FormerOwner, former_owner_in
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, slots=True)
class EarlierCall:
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
    at: float | None = None
    left_by: FormerOwner | None = None

    @classmethod
    def from_json(cls, raw: Json) -> "EarlierCall":
        """Parse the output of `to_json`."""
        get, seq, at = raw.get, optional_integer(raw, "seq"), number(raw.get("at"))
        return cls(raw["key"], get("run"), get("step"), seq, get("error"), get("unmet"), at, former_owner_in(raw))

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        optional = given(run=self.run, step=self.step, seq=self.seq, error=self.error, unmet=self.unmet, at=self.at)
        return {"key": self.key, **optional, **given(left_by=self.left_by and self.left_by.to_json())}


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


@dataclass(frozen=True, slots=True)
class ValueShown:
    """What a call rests on that people gave who may not decide about it alone: the value as text, and their labels.

    `what` is its kind, `step` the step that it was given for, if it was given for one.
    """

    what: str
    by: tuple[str, ...]
    step: str | None = None
    value: str | None = None

    @classmethod
    def from_json(cls, raw: Json) -> "ValueShown":
        """Parse the output of `to_json`."""
        return cls(raw["what"], tuple(raw["by"]), raw.get("step"), raw.get("value"))

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {"what": self.what, "by": list(self.by), **given(step=self.step, value=self.value)}


@dataclass(frozen=True, kw_only=True, slots=True)
class StepHeld(_BlockedCall):
    """A call is held for review.

    `labels` are those of its untrusted arguments, `before` names identical calls of other runs, `asked` is the reason
    why the policy has it shown, `values` what people gave that it rests on, if it is shown for that. `call` and `item`
    are as in `CallStarted`.
    """

    kind: ClassVar[Literal["step_held"]] = "step_held"

    labels: Mapping[str, TrustLabel] = field(default_factory=dict)
    before: tuple[EarlierCall, ...] = ()
    asked: str | None = None
    values: tuple[ValueShown, ...] = ()
    call: int = 0
    item: int | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            **self._call_json(),
            "labels": {name: label.to_json() for name, label in self.labels.items()},
            "revision": self.revision,
            **given(before=[call.to_json() for call in self.before], asked=self.asked),
            **given(values=[value.to_json() for value in self.values]),
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
            values=tuple(map(ValueShown.from_json, raw.get("values", ()))),
            call=integer(raw, "call") if "call" in raw else 0,
            item=optional_integer(raw, "item"),
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
