"""The plan: what to do, in which order, and how to tell that it worked."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from graph.plan.canonical import canonical_json, digest

StepId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Step(BaseModel):
    """One piece of work, and the sentence that says whether it succeeded.

    With `tool` it is deterministic: one call with `args`, no model. Otherwise the executor model does it and may call
    `tools`, none for pure reasoning.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: StepId
    objective: str = Field(min_length=1)
    tool: str | None = None
    tools: tuple[str, ...] = ()
    args: dict[str, JsonValue] = Field(default_factory=dict)
    success_criteria: str | None = None
    depends_on: tuple[StepId, ...] = ()
    max_calls: int | None = Field(default=None, ge=1, strict=True)
    output: Literal["json"] | dict[str, JsonValue] | None = None

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

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 of the canonical JSON: what an approval is about."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON, defaults left out; `read_plan` takes it back."""
        plan: dict[str, Any] = {"steps": [step.to_json() for step in self.steps]}
        return plan if self.answer is None else {**plan, "answer": self.answer}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Draw the plan in a notebook."""
        from graph.plan.render import plan_svg, plan_text

        return {"image/svg+xml": plan_svg(self), "text/plain": plan_text(self)}
