"""The plan: what to do, in which order, and how to tell that it worked."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

from graph.plan.canonical import canonical_json, digest
from graph.plan.checks import CHECK_SCHEMA
from graph.plan.references import Reference, references_in, renamed, resolve
from graph.plan.step_kind import StepKind, kind_of

ITEM = "item"
"""What a step that is done for each item of a list calls the item: `{item_result}`, `{item_result.url}`."""
MAX_ITEMS = 20

StepId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Step(BaseModel):
    """One piece of work, and the sentence that says whether it succeeded.

    With `tool` it is deterministic: one call with `args`, no model. With `ask` a person answers a question, with `gate`
    a person looks at what there is and lets the run go on, with `refine` a planner makes steps of it when it is ready,
    with `gather` it puts earlier results together. Otherwise the executor model does it and may call `tools`, none for
    pure reasoning, and has to call `required_tools`. With `for_each` a tool or model step is done for each item of a
    list. `parent` names the step that it was made of, `replaces` the failed step of an earlier revision that it stands
    in for. `literal` names the arguments in which nothing is a reference. `checks` is what a machine finds out about
    its result, see `graph.plan.checks`; `success_criteria` is for a judge, where there is one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: StepId
    objective: str = Field(min_length=1)
    tool: str | None = None
    tools: tuple[str, ...] = ()
    args: dict[str, JsonValue] = Field(default_factory=dict)
    literal: tuple[str, ...] = ()
    success_criteria: str | None = None
    checks: tuple[Annotated[dict[str, JsonValue], WithJsonSchema(CHECK_SCHEMA)], ...] = ()
    depends_on: tuple[StepId, ...] = ()
    max_calls: int | None = Field(default=None, ge=1, strict=True)
    required_tools: tuple[str, ...] = ()
    output: Literal["json"] | dict[str, JsonValue] | None = None
    executor: str | None = None
    for_each: JsonValue = None
    max_items: int | None = Field(default=None, ge=1, strict=True)
    max_failures: int | None = Field(default=None, ge=0, strict=True)
    ask: str | None = Field(default=None, min_length=1)
    gate: str | None = Field(default=None, min_length=1)
    refine: bool = Field(default=False, strict=True)
    gather: JsonValue = None
    parent: StepId | None = None
    replaces: StepId | None = None

    @property
    def kind(self) -> StepKind:
        """What makes it the step it is, see `graph.plan.kinds`."""
        return kind_of(self.__dict__)

    @property
    def most_items(self) -> int:
        """How often it is done at most."""
        return 1 if self.for_each is None else self.max_items or MAX_ITEMS

    def references(self) -> Iterator[Reference]:
        """Yield the references to other steps."""
        own = () if self.for_each is None else (ITEM,)
        yield from (ref for found in self.argument_references().values() for ref in found if ref.step not in own)
        yield from references_in([self.for_each, self.gather])

    def argument_references(self) -> dict[str, tuple[Reference, ...]]:
        """Return argument -> the references in it; to an item too, and none if the argument is literal."""
        literal = set(self.literal)
        return {name: () if name in literal else references_in(value) for name, value in self.args.items()}

    def fixed_args(self) -> dict[str, JsonValue]:
        """Return the arguments that hold no reference, as a tool gets them."""
        found = self.argument_references()
        return self._filled({name: value for name, value in self.args.items() if not found[name]}, {})

    def filled_args(self, results: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments with the values of their references.

        Raises:
            UnresolvedReferenceError: A reference has no value.
        """
        return self._filled(self.args, results)

    def renamed_args(self, names: Mapping[str, str]) -> dict[str, JsonValue]:
        """Return the arguments with the references to some steps made references to others."""
        literal = set(self.literal)
        return {name: value if name in literal else renamed(value, names) for name, value in self.args.items()}

    def _filled(self, args: Mapping[str, JsonValue], results: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        literal = set(self.literal)
        filled: Any = resolve({name: value for name, value in args.items() if name not in literal}, results)
        return {name: filled.get(name, value) for name, value in args.items()}

    def references_of_items(self) -> Iterator[Reference]:
        """Yield the references that the list of items is made of."""
        yield from references_in(self.for_each)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools this step may call, in plan order."""
        return (self.tool,) if self.tool is not None else self.tools

    def same_as(self, other: "Step | None") -> bool:
        """Whether nothing differs, as JSON sees it: to Python, 1 and true are equal."""
        return self == other and canonical_json(self.to_json()) == canonical_json(other.to_json())

    def to_json(self) -> dict[str, JsonValue]:
        """Return the step as JSON, defaults left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Plan(BaseModel):
    """A DAG of steps and what the run returns."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Step, ...] = ()
    answer: JsonValue = None

    @cached_property
    def by_id(self) -> Mapping[str, Step]:
        """The steps by their ids."""
        return {step.id: step for step in self.steps}

    def above(self, step: Step) -> Iterator[Step]:
        """Yield the steps that a step was made of, the nearest first."""
        passed = {step.id}
        while (parent := self.by_id.get(step.parent or "")) is not None and parent.id not in passed:
            yield (step := parent)
            passed.add(step.id)

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 of the canonical JSON: what an approval is about."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON, defaults left out; `read_plan` takes it back."""
        plan: dict[str, Any] = {"steps": [step.to_json() for step in self.steps]}
        return plan if self.answer is None else {**plan, "answer": self.answer}
