"""Events of model calls: intents with their prompts, and outcomes with their costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number, numbers


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """The prompt of a model call: messages as plain data.

    `continues` is the key of the call whose prompt it extends. `constants` are the artifacts of texts that many prompts
    share; messages refer to them by number.
    """

    continues: str | None = None
    messages: Content = NO_CONTENT
    constants: tuple[Json, ...] = ()

    @classmethod
    def from_json(cls, raw: Json) -> "Prompt":
        """Parse the output of `to_json`."""
        constants = tuple(one["artifact"] for one in raw.get("constants", ()))
        return cls(continues=raw.get("continues"), messages=Content.from_json(raw), constants=constants)

    def to_json(self) -> dict[str, Any]:
        """Return the prompt as the ledger keeps it."""
        constants = [{"artifact": one} for one in self.constants]
        return {"continues": self.continues, **self.messages.to_json(), **given(constants=constants)}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelStarted(Payload):
    """The intent of a model call; `reserved` is its reserved budget, `prompt` is None if prompts are not recorded.

    `item` is the index of the list item, if the step runs once per item.
    """

    kind: ClassVar[Literal["model_started"]] = "model_started"

    key: str
    role: str
    item: int | None = None
    model: str
    prompt_digest: str = ""
    provider: str = ""
    reserved: Mapping[str, float] = field(default_factory=dict)
    prompt: Prompt | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "key": self.key,
            "role": self.role,
            **given(item=self.item),
            "model": self.model,
            "prompt_digest": self.prompt_digest,
            "provider": self.provider,
            "reserved": dict(self.reserved),
            **given(prompt=self.prompt and self.prompt.to_json()),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            key=raw["key"],
            role=raw.get("role", ""),
            item=integer(raw, "item") if "item" in raw else None,
            model=raw.get("model", ""),
            prompt_digest=raw.get("prompt_digest", ""),
            provider=raw.get("provider", ""),
            reserved=numbers(raw.get("reserved", {})),
            prompt=Prompt.from_json(raw["prompt"]) if "prompt" in raw else None,
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """Token counts of an answer; `estimated` if the server did not report them."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    estimated: bool = False

    @classmethod
    def from_json(cls, raw: Json) -> "Tokens":
        """Parse the output of `to_json`."""
        counts = (number(raw.get(name)) or 0 for name in ("input_tokens", "output_tokens", "total_tokens"))
        read, written, total = counts
        return cls(
            input_tokens=read, output_tokens=written, total_tokens=total, estimated=bool(raw.get("estimated", False))
        )

    def to_json(self) -> dict[str, Any]:
        """Return the tokens as the ledger keeps them."""
        counts = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {**counts, "total_tokens": self.total_tokens, **given(estimated=self.estimated)}


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A failed request: the kind of the failure, and the delay after it in seconds."""

    model: str
    kind: str
    error: str
    wait_s: float = 0.0

    @classmethod
    def from_json(cls, raw: Json) -> "FailedAttempt":
        """Parse the output of `to_json`."""
        return cls(raw["model"], raw.get("kind", ""), raw["error"], number(raw.get("wait_s")) or 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the attempt as the ledger keeps it."""
        return {"model": self.model, "kind": self.kind, "error": self.error, "wait_s": self.wait_s}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFinished(Payload):
    """The outcome of a model call: the answer or the error, and the cost.

    `model` and `usage` are set if a model answered; together with `error` they mean that the answer could not be
    stored. `attempts` are the failed requests before. `worked_s` is the working time of the run in seconds.
    `again` means that another attempt follows.
    """

    kind: ClassVar[Literal["model_finished"]] = "model_finished"

    key: str
    role: str
    response: Mapping[str, Any] | None = None
    error: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    attempts: tuple[FailedAttempt, ...] = ()
    cost_usd: float | None = None
    worked_s: float | None = None
    again: bool = False

    @property
    def paid_usd(self) -> float | None:
        """The price of the answer in US dollars, None if unknown; no tokens, as of the embedded rules, cost nothing."""
        return 0.0 if self.usage is not None and not self.usage.total_tokens else self.cost_usd

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "key": self.key,
            "role": self.role,
            **given(
                response=self.response,
                error=self.error,
                model=self.model,
                usage=self.usage and self.usage.to_json(),
            ),
            "attempts": [attempt.to_json() for attempt in self.attempts],
            **given(cost_usd=self.cost_usd, worked_s=self.worked_s, again=self.again),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        usage = raw.get("usage")
        return cls(
            key=raw["key"],
            role=raw.get("role", ""),
            response=raw.get("response"),
            error=raw.get("error"),
            model=raw.get("model"),
            usage=Tokens.from_json(usage) if usage is not None else None,
            attempts=tuple(map(FailedAttempt.from_json, raw.get("attempts", ()))),
            cost_usd=number(raw.get("cost_usd")),
            worked_s=number(raw.get("worked_s")),
            again=raw.get("again", False),
            checkpoint=raw.get("checkpoint"),
        )
