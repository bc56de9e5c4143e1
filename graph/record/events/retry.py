"""Events by which an ended run goes on."""

from dataclasses import dataclass

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.codec import Needed
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RunReopened(Payload, is_control=True, must_last=True):
    """An ended run goes on: the failed steps named by `again` are tried again, `approver` is the user who asked.

    `roles` are those that a server or an adapter knew of the user. If the user raised the budget, `budget` is the run's
    own from here on, `binding` binds the approval to it, and `met` maps the tools of the plan to the rules on people
    that the user met. `invocation` is a graph server's id of the invocation.
    """

    again: Needed[tuple[str, ...]] = ()
    approver: str
    budget: Budget | None = None
    binding: str | None = None
    met: Met | None = None
    invocation: str | None = None
    roles: tuple[str, ...] = ()
