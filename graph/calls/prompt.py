"""Prompts as the ledger keeps them: plain data, and only the new messages of a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.prompts.pictures import without_bytes
from planner_executor.graph.record import events
from planner_executor.graph.record.artifacts import without_constants
from planner_executor.graph.record.events import Content
from planner_executor.graph.record.values import Kept, keep, keep_constant

PromptMessages = list[JsonValue]

CONSTANT_CHARACTERS = 200
"""Shorter texts stay inline, because a reference would take more space."""


def prompt_of(messages: Sequence[BaseMessage]) -> PromptMessages:
    """Return the content of messages as plain data, without client-generated ids."""
    return [_plain(message) for message in messages]


@dataclass(frozen=True)
class Asked:
    """A recorded prompt: the key of its call, the number of its messages, and their digest."""

    key: str
    messages: int
    digest: str


@dataclass(frozen=True)
class Recorded:
    """A prompt as an event holds it, and the artifacts it refers to."""

    prompt: events.Prompt
    artifacts: list[Kept]


@dataclass
class Prompts:
    """The last prompt of each conversation; the next one is kept as the messages it adds.

    System messages are shared by many runs, so each is kept once, as an artifact.
    """

    _last: dict[tuple[str, str], Asked] = field(default_factory=dict)

    def recorded(self, asked: Asked, role: str, conversation: str, prompt: PromptMessages) -> Recorded:
        """Return a call's prompt for its event; `continues` is the key of the call whose prompt it extends."""
        before = self._last.get((role, conversation))
        self._last[role, conversation] = asked
        # What was sent before may have been changed since, and is then no beginning of this prompt.
        if before is None or digest(prompt[: before.messages]) != before.digest:
            return self._kept(prompt, None)
        return self._kept(prompt[before.messages :], before.key)

    def _kept(self, prompt: PromptMessages, continues: str | None) -> Recorded:
        used = [text for text in dict.fromkeys(_system_texts(prompt)) if len(text) >= CONSTANT_CHARACTERS]
        messages = keep(without_constants(prompt, {text: number for number, text in enumerate(used)}))
        constants = [keep_constant(text) for text in used]
        named = tuple(Content(artifact=one.named) for one in constants)
        recorded = events.Prompt(continues=continues, messages=Content.of(messages), constants=named)
        return Recorded(recorded, [messages, *constants])


def _system_texts(prompt: PromptMessages) -> list[str]:
    return [_content(one) for one in prompt if isinstance(one, dict) and one["type"] == "system"]


def _content(message: JsonValue) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _plain(message: BaseMessage) -> JsonValue:
    data: dict[str, Any] = {"type": message.type, "content": without_bytes(message.content)}
    if isinstance(message, AIMessage) and message.tool_calls:
        data["tool_calls"] = [{name: call.get(name) for name in ("name", "args", "id")} for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        data |= {"tool_call_id": message.tool_call_id, "status": message.status}
    return data
