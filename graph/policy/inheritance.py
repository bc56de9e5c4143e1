"""What a fork takes over from another run: results that do not depend on what is done anew, and calls that were made.

A fork inherits who asked and what people gave (decision 136). It inherits no approval and no decision, so that a passed
gate is asked about again as long as something is left that waits for it (decision 0059).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schedule import blocked_by
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.new_effects import stained_by
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.events import Arguments, CallInherited, Draft, Inherited, RunForked
from planner_executor.graph.record.plan_marks import plan_marks
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import (
    USER,
    TrustLabel,
    argument_labels,
    joined,
    label_of_result,
    label_of_tool,
)


def steps_anew(plan: Plan, begun: Collection[str]) -> list[str]:
    """Return the steps that a fork does anew, in plan order: those named, and all that depend on one of them."""
    anew = {*begun, *blocked_by(plan.waits, begun)}
    return [step.id for step in plan.steps if step.id in anew]


def inherited(record: RunState, plan: Plan, anew: Collection[str], tools: Mapping[str, ToolSpec]) -> list[Draft]:
    """Return the events with which a fork begins.

    Args:
        record: The run that is forked.
        plan: Its plan.
        anew: The steps that are done anew.
        tools: The tools of that run, by name.
    """
    results, labels = record.steps.results, result_labels(record, plan, tools)
    kept = [name for name in _kept(plan, anew) if record.steps.is_settled(name) and name not in record.steps.untaken]
    tainted, attached = tuple(sorted(record.plan_state.tainted)), record.assignment.attached
    stained = stained_by(plan, tainted)
    new = {step: names for step, names in record.plan_state.new_effects.items() if step in stained}
    forked = RunForked(
        source=record.id,
        again=tuple(anew),
        tainted=tainted,
        new_effects=new,
        attached=attached,
        askers=record.people.askers,
        values=_values(record, kept),
    )
    copies = [
        Draft(
            Inherited(
                source=record.id,
                seq=record.seq,
                result=results[name],
                label=labels[name],
                missing=record.steps.missing.get(name, ()),
            ),
            name,
        )
        for name in kept
    ]
    return [Draft(forked), *copies, *(_call(call, record.id) for call in _effects(record))]


def _values(record: RunState, kept: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return what people gave the run; of a step that is done anew only what models wrote after it rests on it.

    Gates are asked about again, and a fork begins without limits that were raised.
    """
    return {
        name: (value if value.step in kept else replace(value, step=None)).to_json()
        for name, value in record.people.values.items()
        if value.kind not in ("gate", "limit")
    }


def _kept(plan: Plan, anew: Collection[str]) -> Iterator[str]:
    """Yield the steps that may keep their results; a gate keeps none while a step that waits for it is done anew."""
    guards = {before for name in anew for before in plan.waits[name]}
    return (step.id for step in plan.steps if step.id not in anew and not (step.kind == "gate" and step.id in guards))


def _effects(record: RunState) -> Iterator[Call]:
    """Yield the calls that may not be repeated and happened, or may have: in the run, or in runs it was forked from."""
    own = (call for call in record.calls.by_key.values() if not (call.repeatable or call.nothing_happened))
    yield from own
    yield from record.calls.inherited_calls


def _call(call: Call, source: str) -> Draft:
    error = call.result.error if call.result is not None else None
    return Draft(
        CallInherited(
            source=call.run or source,
            seq=call.begun_seq,
            at=call.begun_at,
            key=call.key,
            tool=call.tool,
            args=Arguments(call.args, call.args_digest if call.args_artifact is not None else None),
            happened=not call.is_uncertain,
            error=error,
            unmet=call.unmet,
            left_by=call.left_by,
        ),
        call.step,
    )


def result_labels(record: RunState, plan: Plan, tools: Mapping[str, ToolSpec]) -> dict[str, TrustLabel]:
    """Return the label of each step's result; the record has none for a step that is one call."""
    labels: dict[str, TrustLabel] = {}
    for name in plan.order:
        step = plan.by_id[name]
        if name in record.steps.labels or step.tool is None:
            labels[name] = label_of_result(step, record.steps.labels.get(name, USER))
            continue
        spec = tools.get(step.tool)
        # A tool that is gone may have declared anything, so its results count as untrusted.
        own = label_of_tool(spec) if spec is not None else TrustLabel("untrusted", (step.tool,))
        given = argument_labels(step, labels, plan_marks(record, step))
        labels[name] = joined([own, *given.values()])
    return labels
