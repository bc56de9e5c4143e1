"""What a model is asked, as the ledger keeps it: plain data, and of a conversation only what is new."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import JsonValue

from graph.plan.canonical import digest
from graph.run.values import Kept, keep

Prompt = list[JsonValue]


def prompt_of(messages: Sequence[BaseMessage]) -> Prompt:
    """Return messages as plain data: what a model reads of them, without the ids that clients make up."""
    return [_told(message) for message in messages]


@dataclass(frozen=True)
class Asked:
    """A prompt that is in the ledger: the key of its call, how many messages it has, and their digest."""

    key: str
    messages: int
    digest: str


@dataclass
class Prompts:
    """The last prompt of each conversation; a longer one of the same conversation is kept as what it adds to it."""

    _last: dict[tuple[str, str], Asked] = field(default_factory=dict)

    def kept(self, asked: Asked, role: str, conversation: str, prompt: Prompt) -> tuple[Kept, str | None]:
        """Return what to keep of a call's prompt, and the key of the call whose prompt stands before it."""
        before = self._last.get((role, conversation))
        self._last[role, conversation] = asked
        if before is None or digest(prompt[: before.messages]) != before.digest:
            return keep(prompt), None
        return keep(prompt[before.messages :]), before.key


def _told(message: BaseMessage) -> JsonValue:
    told: dict[str, Any] = {"type": message.type, "content": message.content}
    if isinstance(message, AIMessage) and message.tool_calls:
        told["tool_calls"] = [{name: call.get(name) for name in ("name", "args", "id")} for call in message.tool_calls]
    if isinstance(message, ToolMessage):
        told |= {"tool_call_id": message.tool_call_id, "status": message.status}
    return told
