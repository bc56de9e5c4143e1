"""Answers of chat models in one provider-independent form, the same for live and recorded answers."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.utils import count_tokens_approximately

from planner_executor.graph.chat_models.settings import OFFLINE

Flaw = Literal["refused", "truncated", "empty"]

FINISH = ("finish_reason", "stop_reason", "done_reason")
"""Metadata keys in which providers report why an answer ended."""

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
EXPLAINED = "explained"
"""The finish reason of the embedded rules if they have no plan: their text is the whole reason."""
MAX_TOKENS = 10**9
"""Token counts above this are treated as wrong."""
DUPLICATED_KEYS = ("tool_calls", "function_call", "parsed", "refusal")
"""Keys of a message's `additional_kwargs` that duplicate its other fields."""


class FailedRequest(NamedTuple):
    """A failed request: kind and text of the error, and the wait before the next request, in seconds."""

    model: str
    kind: str
    error: str
    wait_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the attempt as recorded in the ledger."""
        return self._asdict()


class ModelAnswer(NamedTuple):
    """An answer with its model, its usage in tokens, and the failed attempts before it.

    `usage` has `input_tokens`, `output_tokens` and `total_tokens`, and `estimated` if the server did not report them.
    """

    message: AIMessage
    model: str
    usage: Mapping[str, Any]
    attempts: tuple[FailedRequest, ...] = ()


def flaw_of(message: AIMessage) -> Flaw | None:
    """Return why an answer is unusable for any purpose, or None."""
    reason = _finish(message)
    if reason in TRUNCATED:
        return "truncated"
    if reason in REFUSED:
        return "refused"
    content = str(message.text).strip() or message.tool_calls or message.invalid_tool_calls
    return None if content else "empty"


def is_explanation(message: AIMessage) -> bool:
    """Whether the embedded rules say in prose why they have no plan."""
    return _finish(message) == EXPLAINED


def recordable(message: AIMessage) -> AIMessage:
    """Return the answer as recorded: the content that later calls need, a refusal's text, and the finish reason."""
    calls, broken = _calls(message)
    more = {name: value for name, value in message.additional_kwargs.items() if name not in DUPLICATED_KEYS}
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
    """Return the token usage of a call, estimated if the server reports none or an impossible one."""
    counted: Mapping[str, Any] = answer.usage_metadata or _streamed_usage(answer) or {}
    usage = {name: counted.get(name) or 0 for name in ("input_tokens", "output_tokens", "total_tokens")}
    if not all(map(_is_count, usage.values())):
        usage = {}
    if usage:  # a total below its parts would let a run exceed its budget
        usage["total_tokens"] = max(usage["total_tokens"], usage["input_tokens"] + usage["output_tokens"])
    # The embedded rules take no tokens; any other answer does, and a budget has to see them.
    if any(usage.values()) or answer.response_metadata.get("model_provider") == OFFLINE:
        return usage
    asked, given = count_tokens_approximately(messages), count_tokens_approximately([answer])
    return {"input_tokens": asked, "output_tokens": given, "total_tokens": asked + given, "estimated": True}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS


def _calls(message: AIMessage) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the valid tool calls, including those with repairable JSON, and the invalid ones; each gets an id."""
    # The answer to a call names it by its id; some local servers send none.
    calls = [ToolCall(**{**call, "id": call["id"] or f"call_{n}"}) for n, call in enumerate(message.tool_calls, 1)]
    broken = []
    for number, call in enumerate(message.invalid_tool_calls, len(calls) + 1):
        name = call["id"] or f"call_{number}"
        args = _arguments(call["args"])
        if args is None or not call["name"]:
            # A call without a name may have been cut off; the model is told that it is invalid.
            broken.append(InvalidToolCall(**{**call, "id": name}))
        else:
            calls.append(ToolCall(name=call["name"], args=args, id=name, type="tool_call"))
    return calls, broken


def _arguments(text: str | None) -> dict[str, Any] | None:
    if not (text or "").strip():
        return {}
    from planner_executor.graph.chat_models.json_text import NoJson, json_from  # few answers have calls that are broken

    try:
        found = json_from(text or "")
    except NoJson:
        return None
    return found if isinstance(found, dict) else None


def _streamed_usage(answer: AIMessage) -> UsageMetadata | None:
    """Return the usage of a streamed structured answer, which is in the response metadata."""
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
    metadata = message.response_metadata
    # OpenAI's Responses say so without a reason if the connection ended.
    if metadata.get("status") == "incomplete" and not metadata.get("incomplete_details"):
        return "length"
    detail = metadata.get("incomplete_details")
    reasons = [metadata.get(name) for name in FINISH] + [detail.get("reason") if isinstance(detail, Mapping) else None]
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
