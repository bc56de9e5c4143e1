"""A step as far as it can be read, with its faults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.lookalikes import lookalike_faults
from planner_executor.graph.plan.params import Params
from planner_executor.graph.plan.references import Reference, parameter_faults, references_in
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.plan.step_kind import StepKind, kind_of
from planner_executor.graph.plan.suggestions import KnownSteps
from planner_executor.graph.plan.when import of_when


@dataclass
class StepDraft:
    """A step's fields as given, and its issues; `step` is None if its own fields are at fault.

    A settled draft is a step that has succeeded: it never changes, whichever ids later steps have. `place` is its name
    in issues if it has no id.
    """

    fields: dict[str, Any]
    issues: list[Issue] = field(default_factory=list)
    step: Step | None = None
    notes: list[str] = field(default_factory=list)
    is_settled: bool = False
    params: Params = field(default_factory=dict)
    place: str | None = None

    @property
    def kind(self) -> StepKind:
        """The kind of step, determined by its fields."""
        return kind_of(self.fields)

    @property
    def id(self) -> str | None:
        """The step's id, if it is text."""
        given = self.fields.get("id")
        return given if isinstance(given, str) else None

    @property
    def name(self) -> str | None:
        """What issues call the step: its id, or else its place."""
        return self.id if self.id is not None else self.place

    def listed(self, name: str) -> list[str]:
        """Return the strings of a list field; other items are ignored."""
        given = self.fields.get(name)
        return [item for item in given if isinstance(item, str)] if isinstance(given, list) else []

    @property
    def is_repeated(self) -> bool:
        """Whether the step has `for_each`."""
        return self.fields.get("for_each") is not None

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, empty if they cannot be read."""
        given = self.fields.get("args")
        return given if isinstance(given, dict) else {}

    @property
    def waits(self) -> tuple[str, ...]:
        """The ids this step waits for, named or implied."""
        if self.step is not None:
            return self.step.waits
        implied = (reference.step for _, reference in self.references())
        return tuple(dict.fromkeys([*self.listed("depends_on"), *implied]))

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield (field, reference) for the references to other steps."""
        own = (ITEM,) if self.is_repeated else ()
        for name, found in self.argument_references().items():
            yield from ((f"args.{name}", ref) for ref in found if ref.step not in own)
        for name, value in self._other_values():
            yield from ((name, ref) for ref in references_in(value))

    def argument_references(self) -> Mapping[str, tuple[Reference, ...]]:
        """Return argument -> references in its value; a literal argument has none."""
        if self.step is not None:
            return self.step.argument_references
        literal = set(self.listed("literal"))
        return {name: () if name in literal else references_in(value) for name, value in self.args.items()}

    @property
    def known_args(self) -> dict[str, Any]:
        """The arguments, those without a reference with the values of their parameters."""
        return {**self.args, **self.step.fixed_args()} if self.step is not None and self.step.params else self.args

    def parameter_faults(self) -> Iterator[tuple[str, str]]:
        """Yield (field, fault) for each parameter that stands for nothing, and those within a reference."""
        literal = set(self.listed("literal")) if self.params else ()
        texts = [(name, self.fields.get(name)) for name in ("objective", "success_criteria", "ask", "gate")]
        args = [(f"args.{name}", value) for name, value in self.args.items() if name not in literal]
        for name, value in [*texts, *args, *self._other_values()] if self.params else ():
            yield from ((name, fault) for fault in parameter_faults(value, self.params))

    def lookalikes(self, known: KnownSteps) -> Iterator[tuple[str, str]]:
        """Yield (field, fault) for text that looks like a reference to a known step."""
        literal = set(self.listed("literal"))
        named = known.ids_and_item if self.is_repeated else known.ids
        for name, value in self.args.items():
            if name not in literal:
                yield from ((f"args.{name}", fault) for fault in lookalike_faults(value, named, name))
        for name, value in self._other_values():
            yield from ((name, fault) for fault in lookalike_faults(value, known.ids))

    def _other_values(self) -> Iterator[tuple[str, Any]]:
        """Yield (field, value) for what may hold references beside the arguments."""
        yield from ((name, self.fields.get(name)) for name in ("for_each", "gather"))
        yield "when.of", of_when(self.fields.get("when"))
