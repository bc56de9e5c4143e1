"""What the rules are asked: the one JSON object in the messages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage


def document_in(messages: Sequence[BaseMessage]) -> dict[str, Any] | None:
    """Return the first JSON object that a human message consists of."""
    for message in messages:
        if not isinstance(message, HumanMessage):
            continue
        try:
            found = json.loads(str(message.text))
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


@dataclass(frozen=True)
class Asked:
    """A planner's or a replanner's document; entries without content are left out of it."""

    document: Mapping[str, Any]

    @property
    def goal(self) -> str:
        """What the run is for."""
        return str(self.document.get("goal", ""))

    @property
    def constraints(self) -> list[str]:
        """The constraints, as they were given."""
        return [str(each) for each in self.document.get("constraints", ())]

    @property
    def feedback(self) -> list[str]:
        """What a person said about earlier plans, oldest first."""
        return [str(each) for each in self.document.get("feedback", ())]

    def missing(self, needed: Mapping[str, Sequence[str]]) -> list[str]:
        """Return which of these tools, each with the arguments it must take, are not listed."""
        takes = {tool["name"]: tool.get("args", {}) for tool in self.document.get("tools", ())}
        return [name for name, args in needed.items() if name not in takes or not set(args) <= set(takes[name])]

    def offers(self, tool: str, *args: str) -> bool:
        """Whether a tool that takes these arguments is listed."""
        return not self.missing({tool: args})
