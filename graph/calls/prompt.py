"""What a model is asked, as the ledger keeps it: plain data, and of a conversation only what is new."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import JsonValue

from graph.plan.canonical import digest
from graph.record import events
from graph.record.artifacts import without_constants
from graph.record.events import Content
from graph.record.values import Kept, keep, keep_constant

Prompt = list[JsonValue]

CONSTANT_CHARACTERS = 200
"""A shorter text costs less where it stands than its name would."""


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    """Return messages as plain data: what a model reads of them, without the ids that clients make up."""
    return [_told(message) for message in messages]


@dataclass(frozen=True)
class Asked:
    """A prompt that is in the ledger: the key of its call, how many messages it has, and their digest."""

    key: str
    messages: int
    digest: str


@dataclass(frozen=True)
class Recorded:
    """What an event holds of a prompt, and the artifacts that it names."""

    prompt: events.Prompt
    artifacts: list[Kept]


@dataclass
class Prompts:
    """The last prompt of each conversation; a longer one of the same conversation is kept as what it adds to it.

    What system messages say, and `constants`, are texts that many runs share: each is kept once, as an artifact.
    """

    constants: Collection[str] = ()
    _last: dict[tuple[str, str], Asked] = field(default_factory=dict)

    def recorded(self, asked: Asked, role: str, conversation: str, prompt: Prompt) -> Recorded:
        """Return what to keep of a call's prompt; `continues` is the key of the call whose prompt stands before it."""
        before = self._last.get((role, conversation))
        self._last[role, conversation] = asked
        if before is None or digest(prompt[: before.messages]) != before.digest:
            return self._kept(prompt, None)
        return self._kept(prompt[before.messages :], before.key)

    def _kept(self, prompt: Prompt, continues: str | None) -> Recorded:
        shared = [text for text in (*_system_texts(prompt), *self.constants) if len(text) >= CONSTANT_CHARACTERS]
        used = [text for text in dict.fromkeys(shared) if any(text in _content(message) for message in prompt)]
        messages = keep(without_constants(prompt, {text: number for number, text in enumerate(used)}))
        constants = [keep_constant(text) for text in used]
        named = tuple(one.named for one in constants)
        told = events.Prompt(continues=continues, messages=Content.of(messages), constants=named)
        return Recorded(told, [messages, *constants])


def _system_texts(prompt: Prompt) -> list[str]:
    return [_content(one) for one in prompt if isinstance(one, dict) and one["type"] == "system"]


def _content(message: JsonValue) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _told(message: BaseMessage) -> JsonValue:
    told: dict[str, Any] = {"type": message.type, "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        told["tool_calls"] = [{name: call.get(name) for name in ("name", "args", "id")} for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        told |= {"tool_call_id": message.tool_call_id, "status": message.status}
    return told
