"""Answers that a server holds to a JSON Schema, where the model can be told one."""

import json
import warnings
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable


def with_schema(model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
    """Return the model bound to a schema, or None where it cannot be; found out without asking it anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it binds in another way than by default is no news here
            return model.with_structured_output(dict(schema), include_raw=True)
    except (NotImplementedError, ValueError, TypeError):
        return None


def as_text(found: Any) -> AIMessage:
    """Return a structured answer as a message; what came as the arguments of a made-up tool becomes its text."""
    if isinstance(found, AIMessage):
        return found
    raw: AIMessage = found["raw"]
    if str(raw.text).strip() or len(raw.tool_calls) != 1:
        return raw
    return raw.model_copy(update={"content": json.dumps(raw.tool_calls[0]["args"]), "tool_calls": []})


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
