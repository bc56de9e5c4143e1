"""The subject of a review: the plan in the state, and uncertain calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.planner_input import plan_from_form, steps_in
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.canonical import digest, digest_if_json
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.run_state import RunState


@dataclass(frozen=True)
class Subject:
    """The subject of a review: the plan in the state (`plan` is None if it is invalid), and uncertain calls.

    `planned` is false if the budget was spent before there was a plan.
    """

    raw: Any
    plan: Plan | None
    issues: tuple[Issue, ...] = ()
    uncertain: tuple[Call, ...] = ()
    planned: bool = True

    @property
    def digest(self) -> str:
        """Digest of the plan shown, valid or not."""
        if self.plan is not None:
            return self.plan.digest
        # What is no JSON needs a digest too: a decision names the plan that it is about.
        return digest_if_json(self.raw) or digest(repr(self.raw))


async def subject_of(writer: RunWriter, state: Mapping[str, Any]) -> Subject:
    """Read the plan in the state; a plan unknown to the ledger becomes a revision."""
    run, raw = writer.run, plan_in(writer.run, state)
    if raw is None or run.record.lacks_plan:
        return Subject(None, None, planned=False)
    # The plan of the ledger is not read again: that is what it is in nearly all cases.
    reading = await done_aside(steps_in(raw), lambda: _unchanged(run, raw) or read_from_outside(run, raw))
    # Whoever wrote it into the state is not known: it becomes a revision of its own, which no approval covers.
    if reading.plan is not None and reading.plan.digest != run.record.plan_state.digest:
        await writer.revise(reading.plan, "state", "the plan stood in the state", notes=reading.notes)
    # Some clients send the plan back as JSON text; the request shows it as a plan.
    if isinstance(raw, str) and reading.plan is not None:
        raw = reading.plan.to_json()
    return Subject(raw, reading.plan, reading.issues, uncertain_calls(run.record, state.get("doubts")))


def plan_in(run: RunContext, state: Mapping[str, Any]) -> Any:
    """Return the plan in the state, or the ledger's if the state has none."""
    plan = state.get("plan")
    return plan if plan is not None else run.record.plan_state.plan


def uncertain_calls(record: RunState, named: Any) -> tuple[Call, ...]:
    """Return the uncertain calls to settle before the plan goes on, including those named in the state."""
    keys = [call.key for calls in record.uncertain_calls.values() for call in calls]
    keys += [key for key in named if isinstance(key, str)] if isinstance(named, list) else []
    calls = (record.calls.find(key) for key in dict.fromkeys(keys))
    return tuple(call for call in calls if call is not None and call.is_uncertain)


def _unchanged(run: RunContext, raw: Any) -> ParsedPlan | None:
    """Return the latest revision if it equals the plan in the state and the terms are unchanged."""
    plan, state = run.recorded_plan(), run.record.plan_state
    if plan is None or digest_if_json(raw) != state.digest or state.binding != run.terms.binding(plan):
        return None
    return ParsedPlan(plan)


def read_from_outside(run: RunContext, raw: Any) -> ParsedPlan:
    """Read an untrusted plan, perhaps as JSON text; steps that succeeded cannot change."""
    raw = plan_from_form(raw)
    specs, most = run.services.toolbox.specs, run.services.settings.max_steps
    current = run.recorded_plan()
    if current is None or not run.record.steps.succeeded:
        return run.allowed(read_plan(raw, specs, most))
    return run.allowed(read_revision(raw, current, run.record.steps.succeeded, specs, most))
