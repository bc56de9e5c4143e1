"""Events of tool calls: intents, outcomes and refusals."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.content import Arguments, result_from_json, result_json
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number, optional_integer
from planner_executor.graph.record.results import StepResult


@dataclass(frozen=True, kw_only=True, slots=True)
class CallStarted(Payload):
    """The intent of a call, written before the call is made.

    `call` is 0 for a step's own call, and counts a model's calls from 1. `item` is the index of the list item, if the
    step runs once per item. `attempt` counts how often it is tried, from 1. `replaces` is the key of the call in whose
    place a person had it made, `approval` the standing approval that let it through. `same` is the digest that
    identical calls share if it is another one than that of the arguments, which may spell out defaults. `reopened`
    counts how often the ended run was reopened before, if it was; it is None in records of before version 6.
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
    same: str | None = None
    reopened: int | None = None

    @property
    def safe(self) -> bool:
        """See `Payload`."""
        return self.repeatable

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "key": self.key,
            "call": self.call,
            **({"item": self.item} if self.item is not None else {}),
            "tool": self.tool,
            **self.args.to_json(),
            "effect": self.effect,
            "repeatable": self.repeatable,
            "revision": self.revision,
            **({"attempt": self.attempt} if self.attempt > 1 else {}),
            **({"replaces": self.replaces} if self.replaces is not None else {}),
            **({"approval": self.approval} if self.approval is not None else {}),
            **({"same": self.same} if self.same is not None else {}),
            **({"reopened": self.reopened} if self.reopened else {}),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            key=raw["key"],
            call=integer(raw, "call"),
            item=optional_integer(raw, "item"),
            tool=raw["tool"],
            args=Arguments.from_json(raw),
            effect=raw.get("effect"),
            repeatable=raw["repeatable"],
            revision=integer(raw, "revision"),
            attempt=number(raw.get("attempt")) or 1,
            replaces=raw.get("replaces"),
            approval=raw.get("approval"),
            same=raw.get("same"),
            reopened=number(raw.get("reopened")),
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
            item=optional_integer(raw, "item"),
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
