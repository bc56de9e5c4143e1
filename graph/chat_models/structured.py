"""Structured output: answers that the server constrains to a JSON Schema."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence

CANNOT_BIND = (NotImplementedError, KeyError)
"""Exceptions of chat models that cannot bind tools; some look up a missing key."""

MAX_BINDINGS = 8

BY_SEVERAL = frozenset({"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"})
REFUSED: Mapping[str, frozenset[str]] = {
    "anthropic": BY_SEVERAL | {"minimum", "maximum", "maxItems"},
    "google": BY_SEVERAL | {"pattern", "additionalProperties"},
}
"""Beginning of a provider's name -> keywords of JSON Schema with which it refuses a whole request."""
OF_NAMES = ("properties", "$defs")
"""Keywords whose values are schemas by name."""


def with_schema(model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
    """Return the model bound to a schema, or None if it cannot be bound; makes no request."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fallback to another binding method is fine
            suited = without_refused(schema, model._llm_type.removeprefix("chat-"))
            return _without_parser(model.with_structured_output(suited, include_raw=True))
    except (*CANNOT_BIND, ValueError, TypeError):
        return None


def without_refused(schema: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """Return a schema without the keywords that a provider refuses; validation checks them all the same.

    >>> without_refused({"properties": {"pattern": {"type": "string", "pattern": "a"}}}, "google-generative-ai")
    {'properties': {'pattern': {'type': 'string'}}}
    """
    refused = next((names for start, names in REFUSED.items() if provider.startswith(start)), frozenset[str]())
    suited: dict[str, Any] = _without(schema, refused)
    return suited


def _without(node: Any, refused: frozenset[str]) -> Any:
    if isinstance(node, list):
        return [_without(item, refused) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        name: {key: _without(part, refused) for key, part in value.items()}
        if name in OF_NAMES and isinstance(value, Mapping)
        else _without(value, refused)
        for name, value in node.items()
        if name not in refused
    }


@dataclass
class Bindings:
    """Cache of bound models by model and schema, since LangChain creates classes for each binding."""

    _held: dict[tuple[int, int], tuple[BaseChatModel, Mapping[str, Any], Runnable[Any, Any] | None]] = field(
        default_factory=dict
    )

    def with_schema(self, model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
        """Return the model bound to a schema, see the function of this name; the schema must not be changed later."""
        key = id(model), id(schema)  # both are referenced below, so their ids stay unique
        held = self._held.get(key)
        if held is None:
            if len(self._held) >= MAX_BINDINGS:
                self._held.clear()
            held = self._held[key] = model, schema, with_schema(model, schema)
        return held[2]


def _without_parser(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return the part of a chain that returns the message; LangChain's parsing runnables are not needed.

    A chain of another shape is returned unchanged.
    """
    first = chain.first if isinstance(chain, RunnableSequence) else None
    steps = first.steps__ if isinstance(first, RunnableParallel) else {}
    return steps["raw"] if steps.keys() == {"raw"} else chain


def as_text(found: Any, title: str | None = None) -> AIMessage:
    """Return a structured answer as a message; arguments of the synthetic tool call become part of its text.

    All calls and all text are kept, so that the caller can see whether they agree. If no call has the schema's
    title, the message is named after the first call.
    """
    raw: AIMessage = found["raw"] if isinstance(found, Mapping) else found
    calls = [json.dumps(call["args"]) for call in raw.tool_calls]
    # Arguments that are no JSON are kept as they are: their reader says what is wrong with them.
    calls += [call["args"] or "" for call in raw.invalid_tool_calls]
    if not calls:
        return raw
    text = "\n".join(part for part in (str(raw.text).strip(), *calls) if part)
    names = [call["name"] for call in raw.tool_calls]
    name = names[0] if names and title is not None and title not in names else raw.name
    return raw.model_copy(update={"content": text, "tool_calls": [], "invalid_tool_calls": [], "name": name})


def cut_off(error: Exception) -> AIMessage | None:
    """Return the answer in the error that OpenAI's client raises at the token limit, or None."""
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
