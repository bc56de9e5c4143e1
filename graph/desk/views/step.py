"""One step: objective, arguments of its calls with their origins, attempts and checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.origins import Argument, Label, origins_of
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.cost import StepCost
from planner_executor.graph.record.events import CallFinished, CallStarted, PlanRevised, StepChecked
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.text.drawing.labels import waits_within

MOST_CALLS = 100
"""Calls on the page of a step; of more, the latest."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a call: its arguments as JSON, and its result, None if there is none on record.

    `began_at` is in Unix seconds. `is_earlier`: a revision has changed the step since.
    """

    started: CallStarted
    began_at: float
    args: str
    result: StepResult | None
    is_uncertain: bool
    is_earlier: bool = False


@dataclass(frozen=True)
class StepView:
    """A step of the plan in force, for its page; `calls` are the latest attempts, `earlier` the number of others."""

    step: Step
    status: str
    result: StepResult | None
    doer: str
    waits: tuple[str, ...]
    awaited_by: tuple[str, ...]
    arguments: Sequence[Argument]
    result_label: Label
    calls: Sequence[Attempt]
    earlier: int
    checks: Sequence[tuple[str, bool | None, str]]
    cost: StepCost | None
    fields: Mapping[str, str]

    @property
    def is_called(self) -> bool:
        """Whether the step as it is now has made a call."""
        return any(not one.is_earlier for one in self.calls)

    @property
    def has_other_calls(self) -> bool:
        """Whether there are calls beside the one whose arguments are shown: those of a model, or of items."""
        return any(one.started.call or one.started.item is not None for one in self.calls)


SHOWN_APART = ("id", "objective", "args", "tool", "tools", "depends_on", "success_criteria", "checks")


def step_view(shown: ShownRun, name: str, tools: Mapping[str, ToolSpec]) -> StepView | None:
    """Return a step of the plan in force, None if there is none; `tools` are those that the run was configured with."""
    plan = shown.run.plan
    if plan is None or name not in plan.by_id:
        return None
    step, waits = plan.by_id[name], waits_within(plan)
    calls, attempts = shown.record.calls.of_step(name), _attempts(shown, name)
    # If the last attempt is an earlier one, none of these calls made the result that stands.
    made = [call for call in calls if call.is_the_step] if attempts and not attempts[-1].is_earlier else []
    origins = origins_of(shown, plan, step, made[-1] if made else None, tools)
    others = {key: visible_json(value) for key, value in step.to_json().items() if key not in SHOWN_APART}
    return StepView(
        step=step,
        status=shown.run.step_status[name],
        result=shown.run.results.get(name),
        doer=kind_spec(step.kind).doer(step, str),
        waits=waits[name],
        awaited_by=tuple(after for after, befores in waits.items() if name in befores),
        arguments=origins.arguments,
        result_label=origins.result,
        calls=attempts[-MOST_CALLS:],
        earlier=max(0, len(attempts) - MOST_CALLS),
        checks=list(_checks(shown, step)),
        # Of this step's events alone: costs of a run of thousands are not added up for one page.
        cost=step_costs(event for event in shown.events if event.step == name).get(name),
        fields=others,
    )


def _attempts(shown: ShownRun, step: str) -> list[Attempt]:
    """Return the attempts at the calls of a step, in the order in which they began."""
    found: list[Attempt] = []
    last: dict[tuple[int, int | None], int] = {}
    for event in shown.events:
        data = event.data_if_known
        # A step that a revision changed is another one, and its attempts before were made for that.
        if isinstance(data, PlanRevised) and step in data.diff.changed:
            found = [replace(one, is_earlier=True) for one in found]
        if event.step != step:
            continue
        if isinstance(data, CallStarted):
            # An outcome names no attempt: it is that of the latest one with its number and item.
            last[data.call, data.item] = len(found)
            call = shown.record.calls.by_key[data.key]
            is_uncertain = call.is_uncertain and call.begun_seq == event.seq
            found.append(Attempt(data, event.at, visible_json(data.args.shown), None, is_uncertain))
        elif isinstance(data, CallFinished):
            place = last[data.call, data.item]
            found[place] = replace(found[place], result=data.result)
    return found


def _checks(shown: ShownRun, step: Step) -> Iterator[tuple[str, bool | None, str]]:
    """Yield the checks of a step with what was seen at the last one, None for what was not checked yet."""
    own = (event.data_if_known for event in shown.events if event.step == step.id)
    seen = [data for data in own if isinstance(data, StepChecked)]
    if not seen:
        yield from ((describe_check(check), None, "") for check in step.checks)
        if step.success_criteria:
            yield step.success_criteria, None, ""
        return
    # Earlier checks were of results that the step has replaced since.
    last = seen[-1]
    yield from ((describe_check(one.check), one.met, one.seen) for one in last.checks)
    if last.judged is not None:
        yield last.judged.criterion, last.judged.met, last.judged.why
    elif step.success_criteria:
        yield step.success_criteria, None, "nobody judged it"
