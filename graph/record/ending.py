"""The end of a run: status and reason are derived from the steps, never from a model's account of them."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.references import SKIPPED, references_in, resolve, without
from planner_executor.graph.plan.schedule import last_steps, waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_status import EndStatus
from planner_executor.graph.words.name_list import listed


class Ending(NamedTuple):
    """The end of a run, its reason in one sentence, and its answer."""

    status: EndStatus
    reason: str
    answer: JsonValue = None


def ending_of(
    plan: Plan,
    results: Mapping[str, StepResult],
    values: Mapping[str, JsonValue],
    dropped: Sequence[str] = (),
    lacking: Mapping[str, Sequence[str]] = MappingProxyType({}),
    unjudged: Sequence[str] = (),
    untaken: Collection[str] = (),
) -> Ending:
    """Return the end of a run that cannot start another step.

    The status is `partial` if there is an answer although steps are missing, and `failed` without an answer.

    Args:
        plan: The plan in force.
        results: Step id -> its result.
        values: Step id -> the value of each step that succeeded.
        dropped: Failed steps that revisions removed or changed without a replacement.
        lacking: Step id -> missing parts of a succeeded step, such as items that failed.
        unjudged: Succeeded steps whose natural-language criterion nobody judged; the reason names them.
        untaken: Steps that were skipped because their condition is false; what they would have given is not missing.
    """
    skipped = skipped_in(plan, results)
    needed = [step for step in plan.steps if step.id not in skipped]
    missing = [_missing(step.id, results.get(step.id)) for step in needed if step.id not in values]
    missing += [_dropped(step, results.get(step), is_there=step in plan.by_id) for step in dropped]
    missing += [what for step in plan.steps if step.id in values for what in lacking.get(step.id, ())]
    # A false condition is the plan's own doing; a step that a person skipped may leave the answer short.
    by_people = skipped_in(plan, {step: result for step, result in results.items() if step not in untaken})
    lost = [step for step in by_people if step in answer_steps(plan)]
    try:
        answer, answered = answer_of(plan, values, skipped)
    except UnresolvedReferenceError as error:
        return Ending("failed", f"the answer cannot be given: {error}")
    told = f"; skipped: {_listed(skipped)}" if skipped else ""
    if not answered and not missing and by_people:
        return Ending("partial", f"a skipped step was needed for the answer{told}")
    if not answered and missing:
        return Ending("failed", f"{listed(missing)}{told}")
    missing += [f"what {listed(lost)} would have given to the answer"] if lost else []
    told += f"; success criteria that nobody judged: {listed(unjudged)}" if unjudged else ""
    if missing:
        return Ending("partial", f"missing: {listed(missing)}{told}", answer)
    count = len(plan.steps)
    done = f"{len(needed)} of {count} steps succeeded{told}" if count else "answered without a plan"
    return Ending("succeeded", done, answer)


def answer_of(plan: Plan, values: Mapping[str, JsonValue], skipped: Collection[str] = ()) -> tuple[JsonValue, bool]:
    """Return the run's answer and whether there is one; only succeeded steps contribute to it.

    In the plan's answer null stands for what a skipped step would have given; if that is all of it, there is no answer.
    Without an answer in the plan, the answer is the result of the steps that no step depends on but skipped ones.

    Raises:
        UnresolvedReferenceError: The plan's answer refers to a missing part of a result.
    """
    if plan.answer is not None:
        left = without(plan.answer, skipped)
        known = {**values, **dict.fromkeys(skipped, SKIPPED)}
        try:
            return (None, False) if left is None else (resolve(left, known, plan.param_values), True)
        except UnresolvedReferenceError:
            # With a step missing, it is that step the answer lacks; with all of them there, the reference is wrong.
            if len(values) == len(plan.steps):
                raise
            return None, False
    last = last_steps(waits_for(step for step in plan.steps if step.id not in skipped))
    if len(last) == 1:
        return values.get(last[0]), last[0] in values
    found = {step: values[step] for step in last if step in values}
    return found, bool(found)


def answer_steps(plan: Plan) -> frozenset[str]:
    """Return the steps that the plan's answer refers to."""
    return frozenset(reference.step for reference in references_in(plan.answer))


def _dropped(step: str, result: StepResult | None, *, is_there: bool) -> str:
    how = "failed, and what took its place does not make up for it" if is_there else "failed and was dropped"
    return f"{step} {how}" + (f": {result.error}" if result is not None and result.error else "")


def _listed(skipped: Mapping[str, StepResult]) -> str:
    return listed([f"{step} ({result.error})" for step, result in skipped.items()])


def _missing(step: str, result: StepResult | None) -> str:
    if result is None:
        return f"{step} did not run"
    return f"{step} {result.status}" + (f": {result.error}" if result.error else "")
