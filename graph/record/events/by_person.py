"""Events by which a person changes what is left of a run, outside of a review."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.events.met import Met, met_in, met_json
from planner_executor.graph.record.events.payload import Json, Payload, given


@dataclass(frozen=True, kw_only=True, slots=True)
class StepSkipped(Payload):
    """A step is left out, and with it the steps that need it: `approver` is the user who said so, `why` the reason."""

    kind: ClassVar[Literal["step_skipped"]] = "step_skipped"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    why: str = ""
    approver: str

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"why": self.why, "approver": self.approver}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(why=raw["why"], approver=raw["approver"], checkpoint=raw.get("checkpoint"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultSupplied(Payload):
    """A user, `approver`, gave the result of a step; it still has to meet the step's checks.

    `met` maps the tools of the calls that it reaches to the rules on people that the user met.
    """

    kind: ClassVar[Literal["result_supplied"]] = "result_supplied"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    result: Content
    approver: str
    met: Met | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {**self.result.to_json(), "approver": self.approver, **given(met=met_json(self.met))}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        result, at = Content.from_json(raw), raw.get("checkpoint")
        return cls(result=result, approver=raw["approver"], met=met_in(raw), checkpoint=at)
