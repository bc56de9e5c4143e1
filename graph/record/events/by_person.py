"""Events by which a person changes what is left of a run, outside of a review."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from planner_executor.graph.record.codec import Inline, Needed
from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepSkipped(Payload):
    """A step is left out, and with it the steps that need it: `approver` is the user who said so, `why` the reason."""

    kind: ClassVar[Literal["step_skipped"]] = "step_skipped"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    why: Needed[str] = ""
    approver: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ResultSupplied(Payload):
    """A user, `approver`, gave the result of a step; it still has to meet the step's checks.

    `met` maps the tools of the calls that it reaches to the rules on people that the user met.
    """

    kind: ClassVar[Literal["result_supplied"]] = "result_supplied"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    result: Inline[Content]
    approver: str
    met: Met | None = None
