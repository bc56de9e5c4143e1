"""Events by which a person changes what is left of a run, outside of a review."""

from dataclasses import dataclass

from planner_executor.graph.record.codec import Inline, Needed
from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepSkipped(Payload, is_control=True, must_last=True):
    """A step is left out, and with it the steps that need it: `approver` is the user who said so, `why` the reason."""

    why: Needed[str] = ""
    approver: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ResultSupplied(Payload, is_control=True, must_last=True):
    """A user, `approver`, gave the result of a step; it still has to meet the step's checks.

    `met` maps the tools of the calls that it reaches to the rules on people that the user met.
    """

    result: Inline[Content]
    approver: str
    met: Met | None = None
