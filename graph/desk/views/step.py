"""One step: what it should do, what its calls were given, where each value came from, and what was checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.desk.records import ShownRun
from graph.plan.checks import describe_check
from graph.plan.kinds.table import kind_spec
from graph.plan.references import references_in
from graph.plan.schema import Step
from graph.record.call import Call
from graph.record.events import StepChecked
from graph.record.results import StepResult
from graph.record.step_costs import StepCost, step_costs
from graph.sanitize import visible_json
from graph.text.drawing.labels import waits_within


@dataclass(frozen=True)
class Argument:
    """An argument as planned and as the last call was given it; `sources` are the steps whose results are in it."""

    name: str
    planned: str
    given: str | None
    sources: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class StepView:
    """A step of the plan in force, for its page."""

    step: Step
    status: str
    result: StepResult | None
    doer: str
    waits: tuple[str, ...]
    awaited_by: tuple[str, ...]
    arguments: Sequence[Argument]
    calls: Sequence[Call]
    checks: Sequence[tuple[str, bool | None, str]]
    cost: StepCost | None
    fields: Mapping[str, str]


SHOWN_APART = ("id", "objective", "args", "tool", "tools", "depends_on", "success_criteria", "checks")


def step_view(shown: ShownRun, name: str) -> StepView | None:
    """Return a step of the plan in force, None if there is none."""
    plan = shown.run.plan
    if plan is None or name not in plan.by_id:
        return None
    step, waits = plan.by_id[name], waits_within(plan)
    calls = shown.record.calls.of_step(name)
    others = {key: visible_json(value) for key, value in step.to_json().items() if key not in SHOWN_APART}
    return StepView(
        step=step,
        status=shown.run.step_status[name],
        result=shown.run.results.get(name),
        doer=kind_spec(step.kind).doer(step, str),
        waits=waits[name],
        awaited_by=tuple(after for after, befores in waits.items() if name in befores),
        arguments=list(_arguments(shown, step, calls)),
        calls=calls,
        checks=list(_checks(shown, step)),
        cost=step_costs(shown.events).get(name),
        fields=others,
    )


def _arguments(shown: ShownRun, step: Step, calls: Sequence[Call]) -> Iterator[Argument]:
    """Yield the arguments of the plan, and beside them those of the step's own last call."""
    own = next((call for call in reversed(calls) if call.is_the_step), None)
    given: Mapping[str, Any] = own.args if own is not None else {}
    held = next((one for one in shown.record.review_state.held.values() if one.step == step.id), None)
    for name in dict.fromkeys((*step.args, *given)):
        planned = step.args.get(name)
        found = () if name in step.literal else references_in(planned)
        label = held.labels.get(name) if held is not None else None
        words = f"{label.trust}: {', '.join(label.sources)}" if label is not None else ""
        yield Argument(
            name,
            visible_json(planned) if name in step.args else "chosen by the model",
            visible_json(given[name]) if name in given else None,
            tuple(dict.fromkeys(reference.step for reference in found)),
            words,
        )


def _checks(shown: ShownRun, step: Step) -> Iterator[tuple[str, bool | None, str]]:
    """Yield the checks of a step with what was seen at the last one, None for what was not checked yet."""
    seen = [event.data for event in shown.events if event.kind == "step_checked" and event.step == step.id]
    last = seen[-1] if seen and isinstance(seen[-1], StepChecked) else None
    if last is None:
        yield from ((describe_check(check), None, "") for check in step.checks)
        if step.success_criteria:
            yield step.success_criteria, None, ""
        return
    yield from ((describe_check(one.check), one.met, one.seen) for one in last.checks)
    if last.judged is not None:
        yield last.judged.criterion, last.judged.met, last.judged.why
    elif step.success_criteria:
        yield step.success_criteria, None, "nobody judged it"
