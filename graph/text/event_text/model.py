"""The text of the events of model calls."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.record.call import place_of
from planner_executor.graph.record.events import ModelFinished, ModelStarted
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import content, value_text
from planner_executor.graph.words.name_list import counted


def model_started(step: str, data: ModelStarted) -> Words:
    """Say which model is called for what."""
    yield f"the {data.role} asked {data.model}{f' for {place_of(step, data.item)}' if step else ''}"
    if data.prompt is None:
        yield "the prompt is not recorded"
        return
    if data.prompt.continues:
        yield "going on with the conversation:"
    messages = data.prompt.messages
    if messages.artifact is not None:
        yield content(messages)
    for message in messages.value or ():
        yield f"{message['type']}: {value_text(_content_of(message))}{_requested_calls(message)}"


def _content_of(message: Mapping[str, Any]) -> Any:
    """Return the content of a message; text stored apart, shared by messages, may be absent."""
    parts = message.get("parts")
    if parts is None:
        return message["content"]
    return "".join(part if isinstance(part, str) else f"(constant {part})" for part in parts)


def model_finished(step: str, data: ModelFinished) -> Words:
    """Say how the call of the model came out, and what it used."""
    usage = data.usage
    tokens = f", {counted(usage.input_tokens, 'token')} in and {usage.output_tokens} out" if usage is not None else ""
    by = f" by {data.model}" if data.model else ""
    yield f"the {data.role} was answered{by}{f' for {step}' if step else ''}{tokens}"
    yield from (f"attempt with {attempt.model} failed: {attempt.error}" for attempt in data.attempts)
    if data.response is None:
        yield f"no answer: {data.error}{'; tried again' if data.again else ''}"
    else:
        yield f"answer: {value_text(data.response.get('content'))}{_requested_calls(data.response)}"


def _requested_calls(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    return "".join(f"; it asks for {call['name']} {value_text(call['args'])}" for call in calls)
