"""The event of a response that is kept for whoever carries the run on."""

from dataclasses import dataclass

from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ResponseGiven(Payload, is_control=True, must_last=True):
    """A person responded to the open request, and a process that has the tools is to carry it out (decision 0091).

    `request` is the number of the request, `digest` that of all its actions. `approver` has these `roles`.
    """

    request: int
    digest: str
    response: Content
    approver: str
    roles: tuple[str, ...] = ()
