"""The plan: its steps, their dependencies and success criteria."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.canonical import canonical_json, digest
from planner_executor.graph.plan.check import CHECK_SCHEMA
from planner_executor.graph.plan.lazy import lazy
from planner_executor.graph.plan.params import Param, Params, params_json
from planner_executor.graph.plan.references import (
    Parameter,
    Reference,
    is_read_anew,
    parameters_in,
    references_in,
    renamed,
    resolve,
    with_parameters,
)
from planner_executor.graph.plan.step_kind import StepKind, kind_of
from planner_executor.graph.plan.when import WHEN_SCHEMA, When, of_when

ITEM = "item"
"""Name of the item in a step with `for_each`: `{item_result}`, `{item_result.url}`."""
MAX_STEPS = 10_000
"""Most steps of a plan."""
MAX_ITEMS = 20

_STEP_ID = r"^[A-Za-z][A-Za-z0-9_]*$"
StepId = Annotated[str, Field(pattern=_STEP_ID)]


def is_step_id(value: Any) -> bool:
    """Whether a value can be the id of a step."""
    return isinstance(value, str) and re.fullmatch(_STEP_ID, value) is not None


def free_id(name: str, taken: Collection[str]) -> str:
    """Return the name, with underscores behind it if it is taken."""
    while name in taken:
        name += "_"
    return name


class FrozenModel(BaseModel):
    """A model whose fields never change, so that what follows from them is computed once."""

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="forbid",
        ignored_types=(lazy,),
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other fields; what follows from the fields is computed anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in vars(copied).keys() - type(self).model_fields.keys():
            del vars(copied)[name]
        return copied


class Step(FrozenModel):
    """One piece of work and its success criteria.

    A step with `tool` is deterministic: one call with `args`, no model. With `ask` a person answers a question; with
    `gate` the run waits for a person's consent; with `refine` a planner expands the step when it is ready; with
    `gather` it combines earlier results. Any other step is done by the executor model, which may call `tools` and must
    call `required_tools`. With `for_each` a tool or model step runs once per item of a list; `batch` gives a model so
    many items in one request. Its model is told the constraints of the goal, or those of them in `constraints`.
    `parent` is the step that it was expanded from, `replaces` the failed step of an earlier revision that it makes up
    for. `literal` names the arguments in which nothing is a reference. A step whose condition `when` is false is
    skipped, and so is what waits for it; with `run_if` a step starts although some of what it waits for was skipped,
    see `graph.plan.when`. `checks` are evaluated by code, see
    `graph.plan.checks`; `success_criteria` by a judge model, if one is configured. `timeout_s`, `attempts` and
    `backoff_s` limit how long and how often it is tried, see `graph.plan.attempts`.
    """

    id: StepId
    objective: str = Field(min_length=1)
    tool: str | None = None
    tools: tuple[str, ...] = ()
    args: dict[str, JsonValue] = Field(default_factory=dict)
    literal: tuple[str, ...] = ()
    success_criteria: str | None = None
    checks: tuple[Annotated[dict[str, JsonValue], WithJsonSchema(CHECK_SCHEMA)], ...] = ()
    depends_on: tuple[StepId, ...] = ()
    when: Annotated[dict[str, JsonValue], WithJsonSchema(WHEN_SCHEMA)] | None = None
    run_if: Literal["any"] | None = None
    constraints: tuple[str, ...] | None = None
    max_calls: int | None = Field(default=None, ge=1, strict=True)
    timeout_s: Annotated[StrictInt | StrictFloat, Field(gt=0)] | None = None
    attempts: int | None = Field(default=None, ge=1, strict=True)
    backoff_s: Annotated[StrictInt | StrictFloat, Field(ge=0)] | None = None
    required_tools: tuple[str, ...] = ()
    output: Literal["json"] | dict[str, JsonValue] | None = None
    executor: str | None = None
    for_each: JsonValue = None
    max_items: int | None = Field(default=None, ge=1, strict=True)
    max_failures: int | None = Field(default=None, ge=0, strict=True)
    batch: int | None = Field(default=None, ge=2, strict=True)
    ask: str | None = Field(default=None, min_length=1)
    gate: str | None = Field(default=None, min_length=1)
    refine: bool = Field(default=False, strict=True)
    gather: JsonValue = None
    parent: StepId | None = None
    replaces: StepId | None = None

    _params: Params | None = PrivateAttr(default=None)

    @lazy
    def kind(self) -> StepKind:
        """The kind of step, see `graph.plan.kinds`."""
        return kind_of(self.__dict__)

    @property
    def attempt_limits(self) -> AttemptLimits:
        """How long and how often the step is tried."""
        return AttemptLimits(self.timeout_s, self.attempts, self.backoff_s)

    @property
    def params(self) -> Params:
        """The parameters of the plan that the step names, by name."""
        return self._params or {}

    def bound(self, params: Params) -> "Step":
        """Return the step with those of a plan's parameters that it names."""
        if not params and not self._params:
            return self
        texts = [self.objective, self.success_criteria, self.ask, self.gate]
        values = [*texts, *self.open_args.values(), self.for_each, self.gather, of_when(self.when)]
        named = {one.name for one in parameters_in(values)}
        found = {name: param for name, param in params.items() if name in named}
        if found == self.params:
            return self
        step = self.model_copy()
        step._params = found
        return step

    def resolved(self, value: JsonValue, results: Mapping[str, JsonValue]) -> JsonValue:
        """Return a value of the step with its references and parameters replaced.

        Raises:
            UnresolvedReferenceError: One of them has no value.
        """
        return resolve(value, results, {name: param.value for name, param in self.params.items()})

    def told(self, value: JsonValue) -> JsonValue:
        """Return a value of the step for people to read, with its parameters replaced and references as they are."""
        return with_parameters(value, {name: param.value for name, param in self.params.items()})

    def told_arg(self, name: str) -> JsonValue:
        """Return an argument for people to read."""
        return self.args[name] if name in self.literal else self.told(self.args[name])

    def parameters_of(self, name: str) -> tuple[Parameter, ...]:
        """Return the parameters in an argument."""
        return parameters_in(self.open_args.get(name)) if self._params else ()

    @property
    def most_items(self) -> int:
        """The largest number of items, 1 without `for_each`."""
        return 1 if self.for_each is None else self.max_items or MAX_ITEMS

    @lazy
    def waits(self) -> tuple[str, ...]:
        """The ids of its dependencies, named ones and those implied by references."""
        return tuple(dict.fromkeys([*self.depends_on, *(reference.step for reference in self.references())]))

    def references(self) -> Iterator[Reference]:
        """Yield the references to other steps."""
        own = () if self.for_each is None else (ITEM,)
        yield from (ref for found in self.argument_references.values() for ref in found if ref.step not in own)
        yield from references_in([self.for_each, self.gather, of_when(self.when)])

    @lazy
    def argument_references(self) -> Mapping[str, tuple[Reference, ...]]:
        """Argument -> references in its value, to items too; a literal argument has none."""
        literal = set(self.literal)
        return {name: () if name in literal else references_in(value) for name, value in self.args.items()}

    @property
    def open_args(self) -> dict[str, JsonValue]:
        """The arguments that may hold references."""
        return {name: value for name, value in self.args.items() if name not in self.literal}

    def fixed_args(self) -> dict[str, JsonValue]:
        """Return the arguments without references, escapes and parameters resolved."""
        found = self.argument_references
        return self._filled({name: value for name, value in self.args.items() if not found[name]}, {})

    def filled_args(self, results: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments with their references resolved.

        Raises:
            UnresolvedReferenceError: A reference has no value.
        """
        return self._filled(self.args, results)

    def renamed_args(self, names: Mapping[str, str]) -> dict[str, JsonValue]:
        """Return the arguments with the step ids of their references replaced."""
        literal = set(self.literal)
        return {name: value if name in literal else renamed(value, names) for name, value in self.args.items()}

    def renamed_when(self, names: Mapping[str, str]) -> When | None:
        """Return the condition with the step ids of its references replaced."""
        return None if self.when is None else {**self.when, "of": renamed(of_when(self.when), names)}

    def _filled(self, args: Mapping[str, JsonValue], results: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        literal = set(self.literal)
        filled: Any = self.resolved({name: value for name, value in args.items() if name not in literal}, results)
        return {name: filled.get(name, value) for name, value in args.items()}

    def references_of_items(self) -> Iterator[Reference]:
        """Yield the references in `for_each`."""
        yield from references_in(self.for_each)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools this step may call, in plan order."""
        return (self.tool,) if self.tool is not None else self.tools

    def same_as(self, other: "Step | None") -> bool:
        """Whether both are equal as JSON; in Python alone, 1 and true are equal."""
        return self == other and canonical_json(self.to_json()) == canonical_json(other.to_json())

    @lazy
    def json_text(self) -> str:
        """The step as JSON text, defaults left out."""
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True))

    def to_json(self) -> dict[str, JsonValue]:
        """Return the step as JSON that the caller may change, defaults left out."""
        step: dict[str, JsonValue] = json.loads(self.json_text)
        return step


class Plan(FrozenModel):
    """A DAG of steps, the answer that the run returns, and the values of its parameters."""

    params: dict[str, Param] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    answer: JsonValue = None

    @field_validator("steps")
    @classmethod
    def _bound(cls, steps: tuple[Step, ...], info: ValidationInfo) -> tuple[Step, ...]:
        """Return the steps with the parameters that they name, so that no step is read without them."""
        return tuple(step.bound(info.data.get("params", {})) for step in steps)

    @property
    def param_values(self) -> dict[str, JsonValue]:
        """Parameter -> value."""
        return {name: param.value for name, param in self.params.items()}

    @lazy
    def by_id(self) -> Mapping[str, Step]:
        """The steps by their ids."""
        return {step.id: step for step in self.steps}

    @lazy
    def waits(self) -> Mapping[str, tuple[str, ...]]:
        """Step id -> the ids of its dependencies, in plan order."""
        return {step.id: step.waits for step in self.steps}

    @lazy
    def order(self) -> tuple[str, ...]:
        """The ids of a valid plan's steps, each after those it waits for."""
        return tuple(TopologicalSorter(self.waits).static_order())

    def above(self, step: Step) -> Iterator[Step]:
        """Yield the steps that a step was expanded from, the nearest first."""
        # A plan that a caller brings may name parents in a circle.
        passed = {step.id}
        while (parent := self.by_id.get(step.parent or "")) is not None and parent.id not in passed:
            yield (step := parent)
            passed.add(step.id)

    @lazy
    def digest(self) -> str:
        """Hex SHA-256 of the canonical JSON; approvals bind to it."""
        return digest(self.to_json())

    @lazy
    def is_read_anew(self) -> bool:
        """Whether its references are read otherwise than in version 1 of their rules (decision 28)."""
        values = [self.answer]
        for step in self.steps:
            values += [step.for_each, step.gather, *step.open_args.values()]
        return is_read_anew(values, self.by_id)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON that the caller may change, defaults left out; `read_plan` takes it back."""
        plan: dict[str, Any] = {"steps": json.loads(f"[{','.join(step.json_text for step in self.steps)}]")}
        plan |= {} if self.answer is None else {"answer": self.answer}
        return {**plan, "params": params_json(self.params)} if self.params else plan
