"""Grants: the tools, arguments and calls that an approval gives a step."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from graph.plan.canonical import canonical_json
from graph.plan.schema import Step
from graph.record.values import to_text


class Refused(Exception):
    """A call that is not granted; it becomes an error for the model, or the step's, and never leaves the node."""


@dataclass(frozen=True)
class Grant:
    """What one step may do: which tools, how often each, which arguments are fixed, and where the others come from.

    `pinned` are the literals of the plan; `sources` names the references of the arguments that hold one. A model step
    without either has all arguments open; with them, it may fill in those in `sources` and no others.
    """

    step: str
    tools: tuple[str, ...]
    calls: int
    pinned: Mapping[str, JsonValue]
    sources: Mapping[str, tuple[str, ...]]
    by_model: bool

    @classmethod
    def of(cls, step: Step) -> "Grant":
        """Return what approving a plan gives one of its steps: one call to a tool, or a model's calls."""
        found = {name: tuple(map(str, references)) for name, references in step.argument_references().items()}
        return cls(
            step=step.id,
            tools=step.tool_names,
            calls=1 if step.tool is not None else step.max_calls or 1,
            pinned=step.fixed_args(),
            sources={name: references for name, references in found.items() if references},
            by_model=step.tool is None,
        )

    def check(self, tool: str, made: Counter[str]) -> None:
        """Check that one more call of a tool is granted, after those that were `made`.

        Raises:
            Refused: It is another step's tool, nobody's, or was called as often as it may be.
        """
        if tool not in self.tools:
            raise Refused(f"{self.step} may not call {tool!r}; it has {', '.join(self.tools) or 'no tools'}")
        if made[tool] >= self.calls:
            raise Refused(f"{tool} may be called {self.calls} time(s) in this step; answer with what you have")

    def bound(self, asked: Mapping[str, JsonValue], takes: Any) -> dict[str, JsonValue]:
        """Return the arguments of a call, the plan's literals filled in.

        Args:
            asked: What the call is to be made with.
            takes: Says whether the tool has an argument of a name.

        Raises:
            Refused: A literal differs from the plan's, or the plan leaves an argument no room.
        """
        args = dict(asked)
        for name, literal in self.pinned.items():
            if takes(name) and not is_same(args.setdefault(name, literal), literal):
                raise Refused(f"{name} is fixed by the plan to {to_text(literal)}")
        extra = [name for name in args if name not in self.pinned and name not in self.sources]
        if extra and (self.pinned or self.sources or not self.by_model):
            raise Refused(f"the plan leaves no argument {', '.join(extra)} open")
        return args

    def to_json(self) -> dict[str, Any]:
        """Return the grant as reviews and the audit show it."""
        return {
            "step": self.step,
            "tools": list(self.tools),
            "calls": self.calls,
            "pinned": dict(self.pinned),
            "sources": {name: list(references) for name, references in self.sources.items()},
        }


def is_same(given: JsonValue, literal: JsonValue) -> bool:
    """Whether two values are the same JSON: to Python 1 and true are equal, to a tool they are not."""
    if type(given) is type(literal) and not isinstance(given, dict | list):
        return given == literal
    try:
        return canonical_json(given) == canonical_json(literal)
    except (ValueError, TypeError, RecursionError):  # what a model gave is no JSON at all
        return False
