"""Grants: the tools, arguments and calls that an approval gives a step."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.values import to_text
from planner_executor.graph.words.name_list import counted


class Refused(Exception):
    """A call is not granted. It becomes an error of the model's call or of the step, and never leaves the node."""


class RejectedByPerson(Refused):
    """A person rejected this very call, with words for whoever asked for it."""


@dataclass(frozen=True)
class Grant:
    """The calls that one step may make: tools, number of calls, fixed arguments, and sources of the others.

    `pinned` are the plan's literals; `sources` maps arguments to the references in them. A model step with neither has
    all arguments open; otherwise the model may fill in the arguments in `sources` only.
    """

    step: str
    tools: tuple[str, ...]
    calls: int
    pinned: Mapping[str, JsonValue]
    sources: Mapping[str, tuple[str, ...]]
    by_model: bool

    @classmethod
    def of(cls, step: Step) -> "Grant":
        """Return the grant that an approved plan gives one of its steps: one call, or a model's calls."""
        found = {name: tuple(map(str, references)) for name, references in step.argument_references.items()}
        return cls(
            step=step.id,
            tools=step.tool_names,
            calls=1 if step.tool is not None else step.max_calls or 1,
            pinned=step.fixed_args(),
            sources={name: references for name, references in found.items() if references},
            by_model=step.tool is None,
        )

    def check(self, tool: str, made: Counter[str]) -> None:
        """Check that one more call of a tool is granted, given the number `made` so far.

        Raises:
            Refused: The tool is not the step's, or its calls are used up.
        """
        if tool not in self.tools:
            raise Refused(f"{self.step} may not call {tool!r}; it has {', '.join(self.tools) or 'no tools'}")
        if made[tool] >= self.calls:
            often = counted(self.calls, "time")
            raise Refused(f"{tool} may be called {often} in this step; answer with the results you have")

    def bound(self, asked: Mapping[str, JsonValue], takes: Any) -> dict[str, JsonValue]:
        """Return the arguments of a call with the plan's literals filled in.

        Args:
            asked: The requested arguments.
            takes: Whether the tool has an argument of this name.

        Raises:
            Refused: A value differs from the plan's literal, or an argument is not open.
        """
        args = dict(asked)
        for name, literal in self.pinned.items():
            if takes(name) and not json_equal(args.setdefault(name, literal), literal):
                raise Refused(f"{name} is fixed by the plan: use {to_text(literal)}")
        # One argument in the plan closes all that are not: a model must not add a recipient to a mail that was approved
        # with its body. A model step without any has been approved with all of them open.
        extra = [name for name in args if name not in self.pinned and name not in self.sources]
        if extra and (self.pinned or self.sources or not self.by_model):
            raise Refused(f"the plan leaves no argument {', '.join(extra)} open")
        return args

    def to_json(self) -> dict[str, Any]:
        """Return the grant as JSON for reviews and the audit."""
        return {
            "step": self.step,
            "tools": list(self.tools),
            "calls": self.calls,
            "pinned": dict(self.pinned),
            "sources": {name: list(references) for name, references in self.sources.items()},
        }


def json_equal(given: JsonValue, literal: JsonValue) -> bool:
    """Whether two values are equal as JSON; in Python alone, 1 and true are equal."""
    if type(given) is type(literal) and not isinstance(given, dict | list):
        return given == literal
    try:
        return canonical_json(given) == canonical_json(literal)
    except (ValueError, TypeError, RecursionError):  # a model's value need not be JSON
        return False
