"""A step as far as it can be read, whatever is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graph.plan.issues import Issue
from graph.plan.lookalikes import lookalike_faults
from graph.plan.references import Reference, references_in
from graph.plan.schema import ITEM, Step
from graph.plan.step_kind import StepKind, kind_of
from graph.plan.suggestions import Known


@dataclass
class StepDraft:
    """A step's fields as they were given, and its issues; `step` is None if its own fields are at fault.

    One that `is_settled` has succeeded: it never changes, whatever ids other steps are given later.
    """

    fields: dict[str, Any]
    issues: list[Issue] = field(default_factory=list)
    step: Step | None = None
    notes: list[str] = field(default_factory=list)
    is_settled: bool = False

    @property
    def kind(self) -> StepKind:
        """The kind of step that its fields name."""
        return kind_of(self.fields)

    @property
    def id(self) -> str | None:
        """The step's id, if it is text."""
        given = self.fields.get("id")
        return given if isinstance(given, str) else None

    def listed(self, name: str) -> list[str]:
        """Return the texts of a list field, whatever else it holds."""
        given = self.fields.get(name)
        return [item for item in given if isinstance(item, str)] if isinstance(given, list) else []

    @property
    def is_repeated(self) -> bool:
        """Whether it is done for each item of a list."""
        return self.fields.get("for_each") is not None

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, empty if they cannot be read."""
        given = self.fields.get("args")
        return given if isinstance(given, dict) else {}

    @property
    def waits(self) -> tuple[str, ...]:
        """The ids this step waits for, named or implied."""
        implied = (reference.step for _, reference in self.references())
        return tuple(dict.fromkeys([*self.listed("depends_on"), *implied]))

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield (field, reference) for the references to other steps."""
        own = (ITEM,) if self.is_repeated else ()
        for name, found in self.argument_references().items():
            yield from ((f"args.{name}", ref) for ref in found if ref.step not in own)
        for name in ("for_each", "gather"):
            yield from ((name, ref) for ref in references_in(self.fields.get(name)))

    def argument_references(self) -> dict[str, tuple[Reference, ...]]:
        """Return argument -> the references in it; in one that is literal there are none."""
        literal = set(self.listed("literal"))
        return {name: () if name in literal else references_in(value) for name, value in self.args.items()}

    def lookalikes(self, known: Known) -> Iterator[tuple[str, str]]:
        """Yield (field, fault) for text that looks like a reference to a known step."""
        literal = set(self.listed("literal"))
        named = known.ids_and_item if self.is_repeated else known.ids
        for name, value in self.args.items():
            if name not in literal:
                yield from ((f"args.{name}", fault) for fault in lookalike_faults(value, named, name))
        for name in ("for_each", "gather"):
            yield from ((name, fault) for fault in lookalike_faults(self.fields.get(name), known.ids))
