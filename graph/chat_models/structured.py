"""Answers that a server holds to a JSON Schema, where the model can be told one."""

import json
import warnings
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

CANNOT_BIND = (NotImplementedError, KeyError)
"""What a chat model raises that takes no tools: KeyError comes from ones that look up what they have not."""


def with_schema(model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
    """Return the model bound to a schema, or None where it cannot be; found out without asking it anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it binds in another way than by default is no news here
            return model.with_structured_output(dict(schema), include_raw=True)
    except (*CANNOT_BIND, ValueError, TypeError):
        return None


def as_text(found: Any) -> AIMessage:
    """Return a structured answer as a message; what came as the arguments of a made-up tool becomes a part of its text.

    All that was said is kept, several calls and words beside them too: it is for the reader to see whether they agree.
    """
    if isinstance(found, AIMessage):
        return found
    raw: AIMessage = found["raw"]
    calls = [json.dumps(call["args"]) for call in raw.tool_calls]
    calls += [call["args"] or "" for call in raw.invalid_tool_calls]
    if not calls:
        return raw
    said = "\n".join(part for part in (str(raw.text).strip(), *calls) if part)
    return raw.model_copy(update={"content": said, "tool_calls": [], "invalid_tool_calls": []})


def cut_off(error: Exception) -> AIMessage | None:
    """Return the answer that OpenAI's client raises as an error because it hit its token limit."""
    completion: Any = getattr(error, "completion", None)
    if type(error).__name__ != "LengthFinishReasonError" or completion is None:
        return None
    usage = completion.usage
    counted = usage and {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }
    words = completion.choices[0].message.content or ""
    return AIMessage(words, response_metadata={"finish_reason": "length"}, usage_metadata=counted or None)
