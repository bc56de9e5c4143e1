"""What the rules are asked: the one JSON object in the messages."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

LONGEST = 4_000
"""Longer texts are not understood: rules look at a text again from each of its characters."""
_SPACES = re.compile(r"([^\S\n])[^\S\n]+")
_LINES = re.compile(r"\n[ \n]*\n")


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
        return _readable(self.document.get("goal", ""))

    @property
    def constraints(self) -> list[str]:
        """The constraints, as they were given."""
        return [_readable(each) for each in self.document.get("constraints", ())]

    @property
    def feedback(self) -> list[str]:
        """What a person said about earlier plans, oldest first."""
        return [_readable(each) for each in self.document.get("feedback", ())]

    def missing(self, needed: Mapping[str, Sequence[str]]) -> list[str]:
        """Return which of these tools, each with the arguments it must take, are not listed."""
        takes = {tool["name"]: tool.get("args", {}) for tool in self.document.get("tools", ())}
        return [name for name, args in needed.items() if name not in takes or not set(args) <= set(takes[name])]

    def offers(self, tool: str, *args: str) -> bool:
        """Whether a tool that takes these arguments is listed."""
        return not self.missing({tool: args})


def _readable(given: Any) -> str:
    """Return a text without long runs of white space; one that is too long is as good as none."""
    text = _LINES.sub("\n\n", _SPACES.sub(r"\1", str(given)[: LONGEST + 1]))
    return text if len(str(given)) <= LONGEST else ""
