"""The goal and the settings of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.events import (
    BY_FACADE,
    NO_CONFIGURATION,
    Configuration,
    Configured,
    Content,
    RunForked,
    RunReopened,
    RunStarted,
    Steered,
    TakeOverAsked,
)
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.words.name_list import listed


def lowered(budget: Budget, playbook: Mapping[str, Any]) -> Budget:
    """Return a budget within the limits of a playbook, as the record of its run names it."""
    limits = playbook.get("limits")
    return budget.within(Budget.from_json(limits)) if limits else budget


NOT_STARTED = RunStarted(goal="")
"""The start of a run that has none yet."""


@dataclass(frozen=True)
class Assignment:
    """The goal of a run as it was `started` with, its amended constraints, and the terms that it is under.

    `setup` is the data to resume the run elsewhere. It comes from the facade only if `setup_by` is `BY_FACADE`; older
    records have no `setup_by`, and a client may have written their setup. `attached` has the pictures beside the goal,
    `forked_from` names the run that this one is a fork of. `invocation` is a graph server's id of the invocation that
    began or reopened the run. `configuration` and `budget` are the terms; the run's own budget may have been raised
    since. `take_overs` has who asked to take the run over since its terms changed last. `narrowable` are the
    constraints that a step may leave out: those of the goal that were not given again while the run was under way.
    """

    started: RunStarted = NOT_STARTED
    constraints: tuple[str, ...] = ()
    narrowable: frozenset[str] = frozenset()
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    attached: Content | None = None
    configuration: Configuration = NO_CONFIGURATION
    budget: Budget = NO_BUDGET
    take_overs: tuple[TakeOverAsked, ...] = ()
    forked_from: str | None = None
    invocation: str | None = None

    @property
    def key(self) -> RunKey:
        """The run in the ledger."""
        return RunKey(self.started.thread, self.started.n)

    @property
    def origin(self) -> str | None:
        """Who started the run, see `RunStarted`; older records say it by who wrote their setup."""
        return self.started.origin or self.started.setup_by

    @property
    def goal(self) -> Goal:
        """The goal, with its constraints as they are now."""
        return Goal(self.started.goal, self.constraints)

    @property
    def own_goal(self) -> bool:
        """Whether a run of a playbook was given another goal than the playbook's description."""
        return "goal" in self.started.playbook

    def run_started(self, data: RunStarted) -> "Assignment":
        """Return the assignment at the start of the run; settings already on record stay if the event has none."""
        return Assignment(
            data,
            data.constraints,
            frozenset(data.constraints),
            data.setup,
            data.setup_by,
            data.attached,
            data.configured or self.configuration,
            data.budget,
            invocation=data.invocation,
        )

    def run_reopened(self, data: RunReopened) -> "Assignment":
        """Return the assignment of a run that an invocation has reopened."""
        return replace(self, invocation=data.invocation)

    def run_forked(self, data: RunForked) -> "Assignment":
        """Return the assignment of a fork."""
        return replace(self, forked_from=data.source, attached=data.attached or self.attached)

    def configured(self, data: Configured) -> "Assignment":
        """Return the assignment under other terms."""
        budget = self.budget if data.budget is None else self.budget.within(data.budget)
        found = replace(self, configuration=data.configuration, budget=budget, take_overs=())
        # A facade alone takes a run over.
        return found if data.setup is None else replace(found, setup=data.setup, setup_by=BY_FACADE)

    def take_over_asked(self, data: TakeOverAsked) -> "Assignment":
        """Return the assignment with one more person who asked to take the run over."""
        return replace(self, take_overs=(*self.take_overs, data))

    def steered(self, data: Steered) -> "Assignment":
        """Return the assignment with the amended constraints."""
        return replace(self, constraints=data.constraints, narrowable=self.narrowable - set(data.added))

    def left_out_of(self, step: Step) -> tuple[str, ...]:
        """Return the constraints that the model of a step is not told."""
        if step.constraints is None:
            return ()
        return tuple(one for one in self.constraints if one in self.narrowable and one not in step.constraints)

    def told_to(self, step: Step) -> tuple[str, ...]:
        """Return the constraints that the model of a step is told."""
        left_out = self.left_out_of(step)
        return tuple(one for one in self.constraints if one not in left_out)

    def constraint_issues(self, plan: Plan) -> list[Issue]:
        """Return the issues with constraints of steps that are none of the goal's."""
        known = dict.fromkeys((*self.constraints, *sorted(self.narrowable)))  # also those that were withdrawn since
        words = listed([*map(repr, known)]) or "none"
        return [
            Issue(step.id, "constraints", f"{one!r} is no constraint of the goal; it has {words}")
            for step in plan.steps
            for one in step.constraints or ()
            if one not in known
        ]
