"""The prompt document: the JSON object in a role's messages."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

MAX_CHARACTERS = 4_000
"""Longer texts are ignored: the rules' regular expressions may be quadratic (decision 0016)."""
IN_SHORT = "…"
"""Stands for the arguments of a tool in short, which is one of many."""
_SPACES = re.compile(r"([^\S\n])[^\S\n]+")
_TOOL = re.compile(r"^(?P<tool>[^\s(]+)\((?P<takes>.*?)\): ", re.MULTILINE)
_ARGUMENT = re.compile(r"(?:\A|; )([^\s:;?]+)\??: ")
_LINES = re.compile(r"\n[ \n]*\n")


def document_in(messages: Sequence[BaseMessage]) -> dict[str, Any] | None:
    """Return the first human message that is a JSON object."""
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


def tools_in(messages: Sequence[BaseMessage]) -> dict[str, frozenset[str] | None]:
    """Return tool -> names of its arguments, from the lines `name(arg: type; other?: type): what it does`.

    None stands for arguments that are not known, those of a tool in short.
    """
    system = [str(message.text) for message in messages if isinstance(message, SystemMessage)]
    lines = "\n".join([*system, *(document_in(messages) or {}).get("tools", ())])
    return {found["tool"]: _arguments(found["takes"]) for found in _TOOL.finditer(lines)}


@dataclass(frozen=True)
class PromptDocument:
    """The document of a planner's or replanner's prompt, from which empty entries are missing, and the tools."""

    document: Mapping[str, Any]
    tools: Mapping[str, Collection[str] | None] = field(default_factory=dict)

    @property
    def goal(self) -> str:
        """The goal of the run."""
        return _readable(self.document.get("goal", ""))

    @property
    def constraints(self) -> list[str]:
        """The constraints."""
        return [_readable(each) for each in self.document.get("constraints", ())]

    @property
    def feedback(self) -> list[str]:
        """Feedback on earlier plans, oldest first."""
        return [_readable(each) for each in self.document.get("feedback", ())]

    def missing(self, needed: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the tools, given with their required arguments, that the document does not list."""
        return [name for name, args in needed.items() if name not in self.tools or not self._takes(name, args)]

    def offers(self, tool: str, *args: str) -> bool:
        """Whether the document lists a tool with these arguments."""
        return not self.missing({tool: args})

    def _takes(self, tool: str, args: Sequence[str]) -> bool:
        """Whether a tool has these arguments, as far as is known."""
        known = self.tools[tool]
        return known is None or set(args) <= set(known)


def _arguments(takes: str) -> frozenset[str] | None:
    return None if takes == IN_SHORT else frozenset(_ARGUMENT.findall(takes))


def _readable(given: Any) -> str:
    """Return a text with white space collapsed, empty if it is too long."""
    text = _LINES.sub("\n\n", _SPACES.sub(r"\1", str(given)[: MAX_CHARACTERS + 1]))
    return text if len(str(given)) <= MAX_CHARACTERS else ""
