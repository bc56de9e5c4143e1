"""Answers that a server holds to a JSON Schema, where the model can be told one."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableParallel, RunnableSequence

CANNOT_BIND = (NotImplementedError, KeyError)
"""What a chat model raises that takes no tools: KeyError comes from ones that look up what they have not."""

MOST_HELD = 8


def with_schema(model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
    """Return the model bound to a schema, or None where it cannot be; found out without asking it anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it binds in another way than by default is no news here
            return _without_parser(model.with_structured_output(dict(schema), include_raw=True))
    except (*CANNOT_BIND, ValueError, TypeError):
        return None


@dataclass
class Bindings:
    """What models were bound to last, by model and schema: to bind one, LangChain makes classes at run time."""

    _held: dict[tuple[int, int], tuple[BaseChatModel, Mapping[str, Any], Runnable[Any, Any] | None]] = field(
        default_factory=dict
    )

    def with_schema(self, model: BaseChatModel, schema: Mapping[str, Any]) -> Runnable[Any, Any] | None:
        """Return the model bound to a schema, see the function of this name; who calls does not change the schema."""
        key = id(model), id(schema)  # both are held, so no other object gets their ids meanwhile
        held = self._held.get(key)
        if held is None:
            if len(self._held) >= MOST_HELD:
                self._held.clear()
            held = self._held[key] = model, schema, with_schema(model, schema)
        return held[2]


def _without_parser(chain: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return what gives the message alone: LangChain parses it with a dozen runnables more, and we read it ourselves.

    A chain of another shape is left as it is.
    """
    first = chain.first if isinstance(chain, RunnableSequence) else None
    steps = first.steps__ if isinstance(first, RunnableParallel) else {}
    return steps["raw"] if steps.keys() == {"raw"} else chain


def as_text(found: Any) -> AIMessage:
    """Return a structured answer as a message; what came as the arguments of a made-up tool becomes a part of its text.

    All that was said is kept, several calls and words beside them too: it is for the reader to see whether they agree.
    """
    raw: AIMessage = found["raw"] if isinstance(found, Mapping) else found
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
