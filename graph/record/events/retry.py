"""Events by which an ended run goes on."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.budget import Budget, read_budget
from planner_executor.graph.record.events.met import Met, met_in, met_json
from planner_executor.graph.record.events.payload import Json, Payload, given


@dataclass(frozen=True, kw_only=True, slots=True)
class RunReopened(Payload):
    """An ended run goes on: the failed steps named by `again` are tried again, `approver` is the user who asked.

    `roles` are those that a server or an adapter knew of the user. If the user raised the budget, `budget` is the run's
    own from here on, `binding` binds the approval to it, and `met` maps the tools of the plan to the rules on people
    that the user met. `invocation` is a graph server's id of the invocation.
    """

    kind: ClassVar[Literal["run_reopened"]] = "run_reopened"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    again: tuple[str, ...] = ()
    approver: str
    budget: Budget | None = None
    binding: str | None = None
    invocation: str | None = None
    roles: tuple[str, ...] = ()
    met: Met | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        raised = given(budget=self.budget and self.budget.to_json(), binding=self.binding, met=met_json(self.met))
        known = given(invocation=self.invocation, roles=list(self.roles) or None)
        return {"again": list(self.again), "approver": self.approver, **raised, **known}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            again=tuple(raw["again"]),
            approver=raw["approver"],
            budget=read_budget(raw["budget"])[0] if raw.get("budget") is not None else None,
            binding=raw.get("binding"),
            invocation=raw.get("invocation"),
            roles=tuple(raw.get("roles", ())),
            met=met_in(raw),
            checkpoint=raw.get("checkpoint"),
        )
