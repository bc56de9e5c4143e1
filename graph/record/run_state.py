"""The state of a run: eight values, each with the events that change it and its queries."""

from dataclasses import dataclass, field

from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.budget import Budget, Usage, read_budget
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.events import Paused, RunEnded, RunStarted
from planner_executor.graph.record.people import People
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.review_state import ReviewState
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_status import RunStatus
from planner_executor.graph.record.said import Said
from planner_executor.graph.record.spending import Spending
from planner_executor.graph.record.standing_approval import StandingApprovals
from planner_executor.graph.record.steps import Steps


@dataclass
class RunState:
    """The state of a run that nodes need; only `project` and `apply_events` change it.

    `control_seq` is the number of the last event that changes what is allowed, `last_kind` the kind of the last event
    that is not aside. `checkpoints` are those at which events were written, `paused` is the last pause, which the run
    may have left since, `said` what the first plan that a person approved may take. Times are Unix seconds.
    """

    assignment: Assignment = field(default_factory=Assignment)
    plan_state: PlanState = field(default_factory=PlanState)
    review_state: ReviewState = field(default_factory=ReviewState)
    calls: Calls = field(default_factory=Calls)
    steps: Steps = field(default_factory=Steps)
    spending: Spending = field(default_factory=Spending)
    people: People = field(default_factory=People)
    standing: StandingApprovals = field(default_factory=StandingApprovals)
    seq: int = 0
    control_seq: int = 0
    last_kind: str = ""
    checkpoints: set[str] = field(default_factory=set)
    started_at: float = 0.0
    updated_at: float = 0.0
    ended: RunEnded | None = None
    paused: Paused | None = None
    said: Said | None = None

    @property
    def id(self) -> str:
        """The name of the run: thread and number."""
        return self.assignment.key.id

    @property
    def size(self) -> int:
        """The events and the steps of the plan, with which work on the run grows."""
        return self.seq + len((self.plan_state.plan or {}).get("steps", ()))

    @property
    def status(self) -> RunStatus:
        """The status as far as the ledger shows it, which does not include whether a process executes the run."""
        if self.ended:
            return self.ended.status
        if self.review_state.waits:
            return "waiting"
        if self.last_kind in ("", RunStarted.kind):
            return "planning"
        return "paused" if self.last_kind == Paused.kind else "running"

    @property
    def bounds(self) -> Budget:
        """The effective budget: the run's own within the hard limits of the policy on record."""
        return self.spending.budget.within(read_budget(self.assignment.configuration.limits)[0])

    @property
    def spent(self) -> Usage:
        """What was spent, in the units of the effective budget."""
        return self.spending.spent_under(self.bounds)

    def is_due(self, now: float) -> bool:
        """Whether something is due for the open request, at a time in Unix seconds."""
        request = self.review_state.request
        if self.ended or request is None or request.shown.deadline is None or not self.review_state.waits:
            return False
        return request.shown.deadline.next_due(request.handled_s) <= now

    def close_review(self) -> None:
        """Close the open request without a decision, and the votes on it."""
        self.review_state.close()
        self.people.closed()

    @property
    def lacks_plan(self) -> bool:
        """Whether the run has no plan to execute because the budget does not allow a planner call."""
        is_to_plan = self.plan_state.awaits_plan or (self.plan_state.steered and self.spending.prevents_planning)
        return bool(is_to_plan) and self.spending.shortage is not None

    @property
    def waiting_calls(self) -> list[HeldCall]:
        """Calls of the plan in force that are held for review, in the order of the plan, of items and of calls.

        The order in which they were held depends on which step was faster.
        """
        review = self.review_state
        waiting = [
            held
            for held in review.held.values()
            if held.event.key not in review.seen
            and review.rejection(held.event.key, held.within) is None
            and self._is_to_do(held.step, held.within)
        ]
        if len(waiting) < 2:
            return waiting
        place = {step["id"]: at for at, step in enumerate((self.plan_state.plan or {}).get("steps", ()))}
        return sorted(waiting, key=lambda held: (place.get(held.step, 0), held.event.item or 0, held.event.call))

    @property
    def asking_calls(self) -> list[Call]:
        """Calls of the plan in force that ended with questions which have no answers yet."""
        return [
            call
            for call in self.calls.by_key.values()
            if call.asked is not None
            and call.asked.forms is None
            and not call.asked.resumed
            and self._is_to_do(call.step, call.asked.within)
        ]

    @property
    def uncertain_calls(self) -> dict[str, list[Call]]:
        """Step id -> calls that a person has to settle before the step goes on, for steps of the plan in force."""
        found: dict[str, list[Call]] = {}
        for waiting in self.review_state.uncertain.values():
            if self._is_to_do(waiting.step, waiting.within):
                calls = [call for key in waiting.keys if (call := self.calls.find(key)) is not None]
                found.setdefault(waiting.step, []).extend(call for call in calls if call.is_uncertain)
        return {step: calls for step, calls in found.items() if calls}

    def begins_anew(self, step: str, item: int | None) -> int:
        """Return how often a model starts a step, or an item of it, again after a final failure.

        If a call had an effect, or may have had one, only a person lets it, by a retry: another conversation might make
        other calls. Those that it makes again are answered from the record (`asked_again`).
        """
        return self.steps.times_failed(step, item, before_reopening=self.calls.may_have_acted(step, item))

    def asked_again(self, step: str, item: int | None, tool: str, args_digest: str) -> set[int]:
        """Return the numbers of the calls on record that a model has made, or was to make, with these arguments."""
        made = {
            call.number
            for call in self.calls.of_step(step)
            if call.number and (call.item, call.tool, call.args_digest) == (item, tool, args_digest)
        }
        return made | {
            held.event.call
            for held in self.review_state.held.values()
            if held.event.call
            and (held.step, held.event.item, held.event.tool) == (step, item, tool)
            # A person may have had it made with other arguments than the model asked for.
            and held.event.args.digest == args_digest
        }

    def _is_to_do(self, step: str, within: Pass) -> bool:
        """Whether a step that has waited since this pass still has to run in the one of now."""
        plan = self.plan_state
        return not plan.awaits_plan and within == plan.current_pass and not self.steps.is_settled(step)
