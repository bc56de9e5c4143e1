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
from planner_executor.graph.words.name_list import listed


def lowered(budget: Budget, playbook: Mapping[str, Any]) -> Budget:
    """Return a budget within the limits of a playbook, as the record of its run names it."""
    limits = playbook.get("limits")
    return budget.within(Budget.from_json(limits)) if limits else budget


@dataclass(frozen=True)
class Assignment:
    """The goal of a run, its amended constraints, and the terms that it is under.

    `setup` is the data to resume the run elsewhere. It comes from the facade only if `setup_by` is `BY_FACADE`; older
    records have no `setup_by`, and a client may have written their setup. For `origin` see `RunStarted`. `history` has
    earlier turns of the thread, `attached` the pictures beside the goal, `forked_from` names the run that this one is a
    fork of. `invocation` is a graph server's id of the invocation that began or reopened the run. `configuration` and
    `budget` are the terms; the run's own budget may have been raised since. `take_overs` has who asked to take the run
    over since its terms changed last. `narrowable` are the constraints that a step may leave out: those of the
    goal that were not given again while the run was under way. For `keeps_names` and `playbook` see `RunStarted` too.
    """

    thread: str = ""
    n: int = 0
    goal: str = ""
    constraints: tuple[str, ...] = ()
    narrowable: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    setup: Mapping[str, Any] = field(default_factory=dict)
    setup_by: str | None = None
    origin: str | None = None
    history: tuple[Mapping[str, str], ...] = ()
    attached: Content | None = None
    configuration: Configuration = NO_CONFIGURATION
    budget: Budget = NO_BUDGET
    take_overs: tuple[TakeOverAsked, ...] = ()
    forked_from: str | None = None
    invocation: str | None = None
    keeps_names: bool = False
    playbook: Mapping[str, Any] = field(default_factory=dict)

    @property
    def own_goal(self) -> bool:
        """Whether a run of a playbook was given another goal than the playbook's description."""
        return "goal" in self.playbook

    def run_started(self, data: RunStarted) -> "Assignment":
        """Return the assignment at the start of the run; settings already on record stay if the event has none."""
        return Assignment(
            thread=data.thread,
            n=data.n,
            goal=data.goal,
            constraints=data.constraints,
            narrowable=frozenset(data.constraints),
            tags=data.tags,
            setup=data.setup,
            setup_by=data.setup_by,
            origin=data.origin or data.setup_by,
            history=data.history,
            attached=data.attached,
            configuration=data.configured or self.configuration,
            budget=data.budget,
            invocation=data.invocation,
            keeps_names=data.keeps_names,
            playbook=data.playbook,
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
