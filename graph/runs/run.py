"""A run, read from its events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import NothingToDecideError
from planner_executor.graph.plan.schedule import blocked_by
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import BY_FACADE
from planner_executor.graph.record.recorded_plans import RecordedPlans
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult, StepStatus
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.run_status import ENDS, RunStatus
from planner_executor.graph.record.said import spent_since
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.runs.taking import taking
from planner_executor.graph.text.drawing.labels import waits_within
from planner_executor.graph.text.event_text.standing import ahead_line
from planner_executor.graph.text.event_text.values import until_text
from planner_executor.graph.text.expectation import said_and_spent

UNDER_WAY: tuple[RunStatus, ...] = ("running", "planning")


@dataclass(frozen=True)
class Run:
    """A run at the time it was read.

    `request` is the open review request, if the run waits for a decision and was read with its graph. `results` has an
    entry for each step that has begun. Times are Unix seconds. `setup` is the data that the facade recorded to resume
    the run elsewhere; `unproven_setup` is from an older record, in which a client may have written it. `said` is the
    expectation for the first plan that a person approved (`graph.review.expectation`), `spent` what was spent since;
    both are None without one. `standing` are the standing approvals that let calls of the run through.
    `refused` says why the decision with which the run was resumed does not count, if its author may not decide.
    """

    id: str
    thread: str
    n: int
    goal: str
    constraints: tuple[str, ...]
    status: RunStatus
    reason: str | None
    answer: JsonValue
    plan: Plan | None
    revision: int
    results: Mapping[str, StepResult]
    setup: Mapping[str, Any]
    unproven_setup: Mapping[str, Any]
    started_at: float
    updated_at: float
    request: Mapping[str, Any] | None = None
    said: Mapping[str, Any] | None = None
    spent: Mapping[str, float] | None = None
    standing: Sequence[StandingUse] = ()
    refused: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self.status in ENDS

    @property
    def told(self) -> dict[str, JsonValue]:
        """What another agent may be told of the run: `run`, `status`, `asks`, `answer`, `reason` (decision 0155).

        `asks` names what people are asked for, if the run waits. No plan, argument or digest is in it: who reads it can
        neither decide nor repeat what strangers wrote into the request.
        """
        asks = [action["name"] for action in self.request["action_requests"]] if self.request else []
        return {"run": self.id, "status": self.status, "asks": asks, "answer": self.answer, "reason": self.reason}

    @property
    def step_status(self) -> dict[str, StepStatus]:
        """Step id -> status, for every step of the plan."""
        waits = waits_within(self.plan) if self.plan else {}
        known: dict[str, StepStatus] = {
            step: self.results[step].status if step in self.results else "pending" for step in waits
        }
        failed = [step for step, status in known.items() if status == "failed"]
        blocked = blocked_by(waits, failed) if failed else {}
        blocked_status: dict[str, StepStatus] = {step: "blocked" for step in blocked if known[step] == "pending"}
        skipped = skipped_in(self.plan, self.results) if self.plan else {}
        return {**known, **blocked_status, **dict.fromkeys(skipped, "skipped")}

    @property
    def compared(self) -> str:
        """What was expected against what it took, in words; empty before the end, and if nothing was said."""
        return said_and_spent(self.said or {}, self.spent or {}) if self.ended else ""

    @property
    def approved_ahead(self) -> Sequence[str]:
        """A line for each standing approval that let calls of the run through."""
        return [ahead_line(use) for use in self.standing]

    @taking(ReviewResponse)
    def decide(self, response: ReviewResponse) -> dict[str, Any]:
        """Return a response to the open review request, bound to its digest, for `resume`.

        The arguments are the fields of `graph.review.response.ReviewResponse`: `approve=True`,
        `answers={"step_2": "Oslo"}`, `happened=[True]`, `limits={"tool_calls": 40}`, `feedback="..."`, ...

        Raises:
            NothingToDecideError: The run does not wait for a decision.
            InputError: An action that was asked about has no answer, or an answer matches no such action.
        """
        return build_response(self.open_request, response)

    @property
    def open_request(self) -> Mapping[str, Any]:
        """The open review request.

        Raises:
            NothingToDecideError: The run does not wait for a decision.
        """
        if self.request is None:
            raise NothingToDecideError(self.id, self.status)
        return self.request

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show the run in a notebook: goal, status, answer and errors, and its plan with the status of each step."""
        from planner_executor.graph.text.review.screen import screen_descriptions  # most runs are read in no notebook
        from planner_executor.graph.text.run_view import RunView

        view = RunView(
            name=self.id,
            goal=self.goal,
            constraints=self.constraints,
            status=self.status,
            reason=self.reason,
            answer=self.answer,
            plan=self.plan,
            statuses=self.step_status,
            results=self.results,
            asked=screen_descriptions(self.request) if self.request else (),
            error=self.request["error"] if self.request else None,
            compared=self.compared,
            ahead=self.approved_ahead,
        )
        return view.bundle()

    def with_request(self, request: Mapping[str, Any]) -> "Run":
        """Return the run with its open review request."""
        return replace(self, request=request)


def is_under_way(record: RunState) -> bool:
    """Whether a run, or a step of it, goes on if a process executes it, and is paused or cut off if none does."""
    return record.status in UNDER_WAY or bool(_unfinished(record, worked_on=True))


def run_of(record: RunState, worked_on: bool, plans: RecordedPlans | None = None) -> Run:
    """Return a run from its recorded state; `worked_on` means that a process executes it, if it is under way.

    `plans` has the models of its plans, as far as they were made.
    """
    ended, raw, plans = record.ended, record.plan_state.plan, plans or RecordedPlans()
    plan = plans.plan_of(raw) if raw is not None else None
    return Run(
        id=record.id,
        thread=record.assignment.started.thread,
        n=record.assignment.started.n,
        goal=record.assignment.started.goal,
        constraints=record.assignment.constraints,
        # By its record it goes on; that its process is gone is on no record.
        status="paused" if record.status in UNDER_WAY and not worked_on else record.status,
        reason=ended.reason if ended is not None else _waits_for_cap(record),
        answer=ended.answer.shown if ended is not None else None,
        plan=plan,
        revision=record.plan_state.revision,
        results={**record.steps.results, **_unfinished(record, worked_on), **_uncertain(record)},
        setup=record.assignment.setup if record.assignment.setup_by == BY_FACADE else {},
        unproven_setup=record.assignment.setup if record.assignment.setup_by != BY_FACADE else {},
        started_at=record.started_at,
        updated_at=record.updated_at,
        said=record.said.takes if record.said is not None else None,
        spent=_spent(record, plan),
        standing=record.standing.used_here,
    )


def _spent(record: RunState, plan: Plan | None) -> Mapping[str, float] | None:
    if record.said is None or plan is None:
        return None
    return spent_since(record.said, plan, record.steps.results, record.spending.total)


def _waits_for_cap(record: RunState) -> str | None:
    """Return why a run is paused until a cap across runs allows its next call, None if it is not."""
    pause = record.paused if record.status == "paused" else None
    return f"{pause.reason}{until_text(pause.due_at)}" if pause is not None and pause.due_at is not None else None


def _unfinished(record: RunState, worked_on: bool) -> dict[str, StepResult]:
    """Return the steps that have begun and not ended: in progress, or interrupted, perhaps with an uncertain call."""
    cut = dict.fromkeys(record.spending.begun - set(record.steps.ran), "interrupted")
    open_calls = [call for call in record.calls.by_key.values() if call.result is None and not call.nothing_happened]
    # The uncertain ones last: of a step with several calls that is what people have to know.
    for call in sorted(open_calls, key=lambda call: call.is_uncertain):
        if record.steps.is_settled(call.step):
            continue  # an earlier revision made it, or another attempt came to a result
        if not call.is_uncertain and record.steps.has_failed(call.step):
            continue  # the step's time limit cut it off
        cut[call.step] = "uncertain" if call.is_uncertain else "interrupted"
    return {step: StepResult("running" if worked_on else word) for step, word in cut.items()}  # type: ignore[arg-type]


def _uncertain(record: RunState) -> dict[str, StepResult]:
    """Return the steps that wait for a person to settle a call."""
    return dict.fromkeys(record.uncertain_calls, StepResult("uncertain"))
