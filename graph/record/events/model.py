"""Events of model calls: intents with their prompts, and outcomes with their costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.codec import As, Coded, Inline, Json, Shown, Written
from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.payload import Payload


def _amounts(raw: Json) -> Json:
    return {name: value for name, value in raw.items() if is_number(value)}


_Amounts = Annotated[Mapping[str, float], As(dict, _amounts)]
"""Amounts by name, without those that a redaction replaced."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Brief(Coded):
    """What the model of a step is told at its start, and what may be otherwise by the time that it is resumed.

    `date` is the day in the time zone of the settings, `calls` how often each tool may be called, `turns` the number of
    answers.
    """

    constraints: tuple[str, ...] = ()
    date: Written[str] = ""
    calls: _Amounts = field(default_factory=dict)
    turns: Written[Shown[int]] = 0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Prompt(Coded):
    """The prompt of a model call: messages as plain data, the last of which was sent with `note` at its end.

    `continues` is the key of the call whose prompt it extends. `constants` are the artifacts of texts that many prompts
    share; messages refer to them by number.
    """

    continues: str | None = None
    messages: Inline[Content] = NO_CONTENT
    constants: tuple[Content, ...] = ()
    note: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ModelStarted(Payload):
    """The intent of a model call; `reserved` is its reserved budget, `prompt` is None if prompts are not recorded.

    `item` is the index of the list item, if the step runs once per item. `brief` is set where a step's model begins.
    """

    key: str
    role: Written[str] = ""
    item: int | None = None
    model: Written[str] = ""
    prompt_digest: Written[str] = ""
    provider: Written[str] = ""
    reserved: Written[_Amounts] = field(default_factory=dict)
    prompt: Prompt | None = None
    brief: Brief | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Tokens(Coded):
    """Token counts of an answer; `estimated` if the server did not report them."""

    input_tokens: Written[Shown[int]] = 0
    output_tokens: Written[Shown[int]] = 0
    total_tokens: Written[Shown[int]] = 0
    estimated: bool = False

    @property
    def other_tokens(self) -> int:
        """Tokens of the total that are neither of the prompt nor of the answer, as some servers count reasoning."""
        return max(0, self.total_tokens - self.input_tokens - self.output_tokens)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class FailedAttempt(Coded):
    """A failed request: the kind of the failure, and the delay after it in seconds."""

    model: str
    kind: Written[str] = ""
    error: str
    wait_s: Written[Shown[float]] = 0.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ModelFinished(Payload):
    """The outcome of a model call: the answer or the error, and the cost.

    `model` and `usage` are set if a model answered; together with `error` they mean that the answer could not be
    stored. `attempts` are the failed requests before. `worked_s` is the working time of the run in seconds.
    `again` means that another attempt follows.
    """

    key: str
    role: Written[str] = ""
    response: Mapping[str, Any] | None = None
    error: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    attempts: tuple[FailedAttempt, ...] = ()
    cost_usd: Shown[float | None] = None
    worked_s: Shown[float | None] = None
    again: bool = False

    @property
    def paid_usd(self) -> float | None:
        """The price of the answer in US dollars, None if unknown.

        No tokens, as of the embedded rules, cost nothing, and so does a request without an answer.
        """
        is_free = self.usage is None or not self.usage.total_tokens
        return 0.0 if is_free and self.cost_usd is None else self.cost_usd
