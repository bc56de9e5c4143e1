"""The rules of a plan: what holds of each step and between steps; every fault is listed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from graph.errors import listed
from graph.plan.catalog import ToolSpec
from graph.plan.checks import check_faults
from graph.plan.draft import StepDraft
from graph.plan.inline_schema import schema_fault
from graph.plan.issues import Issue
from graph.plan.json_values import json_faults
from graph.plan.kinds.fields import field_faults
from graph.plan.kinds.table import kind_spec
from graph.plan.lookalikes import lookalike_faults
from graph.plan.references import references_in
from graph.plan.schedule import cycles
from graph.plan.schema import ITEM
from graph.plan.shortening import value_in_words
from graph.plan.suggestions import Known


def step_issues(draft: StepDraft, tools: Mapping[str, ToolSpec]) -> list[Issue]:
    """Return what is wrong within a step beyond the types of its fields: fields, tools, arguments, checks."""
    fields = [Issue(draft.id, place, message) for place, message in field_faults(draft.fields)]
    return [*fields, *_tool_issues(draft, tools), *_check_issues(draft)]


def graph_issues(drafts: list[StepDraft], answer: Any, finished: frozenset[str] = frozenset()) -> list[Issue]:
    """Return what is wrong between steps: ids, dependencies, references, circles, and the answer.

    Args:
        drafts: The steps as far as they could be read.
        answer: The plan's answer.
        finished: Ids of steps outside `drafts` that may be referred to.
    """
    counts = Counter(draft.id for draft in drafts if draft.id is not None)
    issues = [
        Issue(step, "id", f"{count} steps have this id; ids are unique") for step, count in counts.items() if count > 1
    ]
    if ITEM in counts and any(draft.is_repeated for draft in drafts):
        issues.append(Issue(ITEM, "id", "a step with for_each calls its item so; give this step another id"))
    known = Known(tuple(counts), sorted(finished))
    for draft in drafts:
        issues += _edge_issues(draft, known)
    waits = {draft.id: tuple(b for b in draft.waits if b != draft.id) for draft in drafts if draft.id is not None}
    issues += [
        Issue(circle[0], "depends_on", f"steps wait for each other: {' -> '.join(circle)}; remove one dependency")
        for circle in cycles(waits)
    ]
    faults = json_faults(answer)
    if faults:
        return issues + [Issue(None, "answer" + path, message) for path, message in faults]
    dangling = [message for ref in references_in(answer) for message in _reference_faults(ref, known)]
    return issues + [Issue(None, "answer", message) for message in (*dangling, *lookalike_faults(answer, known.ids))]


def _tool_issues(draft: StepDraft, tools: Mapping[str, ToolSpec]) -> list[Issue]:
    tool, granted = draft.fields.get("tool"), draft.listed("tools")
    names = [tool] if isinstance(tool, str) else granted
    unknown = [name for name in names if name not in tools]
    if unknown:
        known = f"known tools: {listed(list(tools), 30) or 'none'}"
        where = "tool" if tool is not None else "tools"
        return [Issue(draft.id, where, f"unknown tool {value_in_words(name)}; {known}") for name in unknown]
    faults = kind_spec(draft.kind).faults(draft, tools)
    return [*_output_issues(draft), *(Issue(draft.id, place, message) for place, message in faults)]


def _output_issues(draft: StepDraft) -> list[Issue]:
    output = draft.fields.get("output")
    fault = schema_fault(output) if isinstance(output, dict) else None
    return [Issue(draft.id, "output", f"no JSON Schema: {fault}")] if fault else []


def _check_issues(draft: StepDraft) -> Iterator[Issue]:
    checks, tools = draft.fields.get("checks"), kind_spec(draft.kind).tools(draft)
    for place, check in enumerate(checks if isinstance(checks, list) else ()):
        if isinstance(check, dict):
            yield from (Issue(draft.id, f"checks[{place}]", fault) for fault in check_faults(check, tools))


def _edge_issues(draft: StepDraft, known: Known) -> list[Issue]:
    issues = []
    for before in dict.fromkeys(draft.listed("depends_on")):
        if before == draft.id:
            hint = known.instead_of_itself(before, "%s")
            issues.append(Issue(draft.id, "depends_on", f"{before} waits for itself; {hint}"))
        elif before not in known.ids:
            issues.append(
                Issue(draft.id, "depends_on", f"no step {value_in_words(before)}; {known.instead_of(before, draft.id)}")
            )
    for where, reference in draft.references():
        if reference.step == draft.id:
            hint = known.instead_of_itself(reference.step, "{%s_result}")
            issues.append(Issue(draft.id, where, f"{reference} refers to the step it stands in; {hint}"))
        else:
            faults = _reference_faults(reference, known, draft.id)
            issues += [Issue(draft.id, where, message) for message in faults]
    written = () if draft.is_settled else draft.lookalikes(known)
    return issues + [Issue(draft.id, where, message) for where, message in written]


def _reference_faults(reference: Any, known: Known, step: str | None = None) -> list[str]:
    if reference.step not in known.ids:
        return [f"{reference} refers to no step; {known.instead_of(reference.step, step)}"]
    return [reference.fault] if reference.fault else []
