"""The rules of a plan, within each step and between steps; every fault is listed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec, unknown_tool
from planner_executor.graph.plan.checks import check_faults
from planner_executor.graph.plan.draft import StepDraft
from planner_executor.graph.plan.inline_schema import inline_schema_fault
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.kinds.fields import field_faults
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.lookalikes import lookalike_faults
from planner_executor.graph.plan.params import NO_PARAMS, Params
from planner_executor.graph.plan.references import parameter_faults, references_in
from planner_executor.graph.plan.schedule import cycles
from planner_executor.graph.plan.schema import ITEM
from planner_executor.graph.plan.shortening import short_repr
from planner_executor.graph.plan.suggestions import KnownSteps
from planner_executor.graph.plan.when import when_faults


def step_issues(draft: StepDraft, tools: Mapping[str, ToolSpec]) -> list[Issue]:
    """Return the issues within a step, beyond the types of its fields: fields, tools, arguments, checks."""
    fields = [Issue(draft.name, place, message) for place, message in field_faults(draft.fields)]
    when = [Issue(draft.name, place, message) for place, message in when_faults(draft.fields.get("when"))]
    return [*fields, *_tool_issues(draft, tools), *_check_issues(draft), *when]


def graph_issues(
    drafts: list[StepDraft], answer: Any, finished: frozenset[str] = frozenset(), params: Params = NO_PARAMS
) -> list[Issue]:
    """Return the issues between steps: ids, dependencies, references, cycles, and the answer.

    Args:
        drafts: The steps as far as they could be read.
        answer: The plan's answer.
        finished: Ids of steps outside `drafts` that may be referred to.
        params: The plan's parameters.
    """
    counts = Counter(draft.id for draft in drafts if draft.id is not None)
    issues = [
        Issue(step, "id", f"{count} steps have this id; make ids unique") for step, count in counts.items() if count > 1
    ]
    if ITEM in counts and any(draft.is_repeated for draft in drafts):
        issues.append(Issue(ITEM, "id", "this id is reserved for the item of for_each; give the step another id"))
    known = KnownSteps(tuple(counts), sorted(finished), [str(draft.place) for draft in drafts if draft.id is None])
    for draft in drafts:
        issues += _edge_issues(draft, known)
    # A step that depends on itself has an issue already; as a cycle it would be reported twice.
    waits = {draft.id: tuple(b for b in draft.waits if b != draft.id) for draft in drafts if draft.id is not None}
    issues += [
        Issue(cycle[0], "depends_on", f"steps wait for each other: {' -> '.join(cycle)}; remove one dependency")
        for cycle in cycles(waits)
    ]
    faults = json_faults(answer)
    if faults:
        return issues + [Issue(None, "answer" + path, message) for path, message in faults]
    dangling = [message for ref in references_in(answer) for message in _reference_faults(ref, known)]
    dangling += parameter_faults(answer, params) if params else ()
    return issues + [Issue(None, "answer", message) for message in (*dangling, *lookalike_faults(answer, known.ids))]


def _tool_issues(draft: StepDraft, tools: Mapping[str, ToolSpec]) -> list[Issue]:
    tool, granted = draft.fields.get("tool"), draft.listed("tools")
    names = [tool] if isinstance(tool, str) else granted
    unknown = [name for name in names if name not in tools]
    if unknown:
        field = "tool" if tool is not None else "tools"
        return [Issue(draft.name, field, unknown_tool(name, tools)) for name in unknown]
    faults = kind_spec(draft.kind).faults(draft, tools)
    return [*_output_issues(draft), *(Issue(draft.name, place, message) for place, message in faults)]


def _output_issues(draft: StepDraft) -> list[Issue]:
    output = draft.fields.get("output")
    fault = inline_schema_fault(output) if isinstance(output, dict) else None
    return [Issue(draft.name, "output", f"not a usable JSON Schema: {fault}")] if fault else []


def _check_issues(draft: StepDraft) -> Iterator[Issue]:
    checks, tools = draft.fields.get("checks"), kind_spec(draft.kind).tools(draft)
    for place, check in enumerate(checks if isinstance(checks, list) else ()):
        if isinstance(check, dict):
            yield from (Issue(draft.name, f"checks[{place}]", fault) for fault in check_faults(check, tools))


def _edge_issues(draft: StepDraft, known: KnownSteps) -> list[Issue]:
    issues = []
    for before in dict.fromkeys(draft.listed("depends_on")):
        if before == draft.id:
            hint = known.hint_for_itself(before, "%s")
            issues.append(Issue(draft.name, "depends_on", f"{before} waits for itself; {hint}"))
        elif before not in known.ids:
            issues.append(
                Issue(draft.name, "depends_on", f"no step {short_repr(before)}; {known.hint_for(before, draft.id)}")
            )
    for field, reference in draft.references():
        if reference.step == draft.id:
            hint = known.hint_for_itself(reference.step, "{%s_result}")
            issues.append(Issue(draft.name, field, f"{reference} refers to its own step; {hint}"))
        else:
            faults = _reference_faults(reference, known, draft.id)
            issues += [Issue(draft.name, field, message) for message in faults]
    # A settled step cannot change: an id added later must not make a look-alike of text that has already been used.
    written = () if draft.is_settled else draft.lookalikes(known)
    return issues + [Issue(draft.name, field, message) for field, message in written]


def _reference_faults(reference: Any, known: KnownSteps, step: str | None = None) -> list[str]:
    if reference.step not in known.ids:
        return [f"{reference} refers to no step; {known.hint_for(reference.step, step)}"]
    return [reference.fault] if reference.fault else []
