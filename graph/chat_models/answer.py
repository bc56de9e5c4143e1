"""What a chat model answered, in one form for all of them: the same whether it was just given or is on record."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately

from graph.chat_models.json_text import NoJson, json_from
from graph.chat_models.settings import OFFLINE

Flaw = Literal["refused", "truncated", "empty"]

FINISH = ("finish_reason", "stop_reason", "done_reason")
"""Where providers say why an answer ended."""

TRUNCATED = ("length", "max_tokens", "max_output_tokens", "model_length")
REFUSED = (
    "content_filter",
    "refusal",
    "safety",
    "prohibited_content",
    "blocklist",
    "recitation",
    "guardrail_intervened",
)
MOST_TOKENS = 10**9
"""No answer takes more; a server that says so is not believed."""
REPEATED_ELSEWHERE = ("tool_calls", "function_call", "parsed", "refusal")
"""Keys of a message's `additional_kwargs` that stand in its other fields too."""


@dataclass(frozen=True)
class Attempt:
    """A request that brought no answer: what went wrong, and how many seconds were waited before the next one."""

    model: str
    kind: str
    error: str
    wait_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the attempt as the ledger keeps it."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """An answer, the model that gave it, what it cost in tokens, and the attempts that failed before.

    `usage` holds `input_tokens`, `output_tokens` and `total_tokens`; with `estimated` where the server did not count.
    """

    message: AIMessage
    model: str
    usage: Mapping[str, Any]
    attempts: tuple[Attempt, ...] = ()


def flaw_of(message: AIMessage) -> Flaw | None:
    """Return what makes an answer unusable whatever it was asked for, or None."""
    reason = _finish(message)
    if reason in TRUNCATED:
        return "truncated"
    if reason in REFUSED:
        return "refused"
    said = str(message.text).strip() or message.tool_calls or message.invalid_tool_calls
    return None if said else "empty"


def settled(message: AIMessage) -> AIMessage:
    """Return the answer as it is kept: what a later call must be sent, a refusal's words, and how it ended."""
    calls, broken = _calls(message)
    more = {name: value for name, value in message.additional_kwargs.items() if name not in REPEATED_ELSEWHERE}
    refusal = _refusal(message)
    reason = "refusal" if refusal else _finish(message)
    return AIMessage(
        content=message.content if str(message.text).strip() or not refusal else refusal,
        tool_calls=calls,
        invalid_tool_calls=broken,
        additional_kwargs={name: value for name, value in more.items() if value and _is_json(value)},
        response_metadata={"finish_reason": reason} if reason else {},
        id=message.id,
        name=message.name,
    )


def usage_of(messages: list[BaseMessage], answer: AIMessage) -> dict[str, Any]:
    """Return the tokens that a call took, estimated if the server does not say, or says what cannot be."""
    counted: Mapping[str, Any] = answer.usage_metadata or _counted_elsewhere(answer) or {}
    told = {name: counted.get(name) or 0 for name in ("input_tokens", "output_tokens", "total_tokens")}
    if not all(map(_is_count, told.values())):
        told = {}
    if told:  # a sum that is less than its parts would let a run spend more than its budget
        told["total_tokens"] = max(told["total_tokens"], told["input_tokens"] + told["output_tokens"])
    if any(told.values()) or answer.response_metadata.get("model_provider") == OFFLINE:
        return told
    asked, given = count_tokens_approximately(messages), count_tokens_approximately([answer])
    return {"input_tokens": asked, "output_tokens": given, "total_tokens": asked + given, "estimated": True}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def _calls(message: AIMessage) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the calls that are asked for, those with nearly JSON arguments too, and the others; each has an id."""
    calls = [ToolCall(**{**call, "id": call["id"] or f"call_{n}"}) for n, call in enumerate(message.tool_calls, 1)]
    broken = []
    for number, call in enumerate(message.invalid_tool_calls, len(calls) + 1):
        name = call["id"] or f"call_{number}"
        args = _arguments(call["args"])
        if args is None or not call["name"]:
            broken.append(InvalidToolCall(**{**call, "id": name}))
        else:
            calls.append(ToolCall(name=call["name"], args=args, id=name, type="tool_call"))
    return calls, broken


def _arguments(text: str | None) -> dict[str, Any] | None:
    if not (text or "").strip():
        return {}
    try:
        found = json_from(text or "")
    except NoJson:
        return None
    return found if isinstance(found, dict) else None


def _counted_elsewhere(answer: AIMessage) -> UsageMetadata | None:
    """Return the tokens of a structured answer that was streamed: they stand in another place then."""
    found = answer.response_metadata.get("token_usage")
    if not isinstance(found, Mapping) or not isinstance(found.get("prompt_tokens"), int):
        return None
    asked, given = found["prompt_tokens"], found.get("completion_tokens") or 0
    if not (_is_count(asked) and _is_count(given)):
        return None
    return UsageMetadata(
        input_tokens=asked, output_tokens=given, total_tokens=found.get("total_tokens") or asked + given
    )


def _finish(message: AIMessage) -> str:
    said = message.response_metadata
    if said.get("status") == "incomplete" and not said.get("incomplete_details"):
        return "length"
    detail = said.get("incomplete_details")
    reasons = [said.get(name) for name in FINISH] + [detail.get("reason") if isinstance(detail, Mapping) else None]
    return next((reason.lower() for reason in reasons if isinstance(reason, str) and reason), "")


def _refusal(message: AIMessage) -> str:
    if isinstance(words := message.additional_kwargs.get("refusal"), str):
        return words
    blocks = message.content if isinstance(message.content, list) else []
    return " ".join(str(block.get("refusal", "")) for block in blocks if isinstance(block, dict)).strip()


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return False
    return True
