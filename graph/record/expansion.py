"""Refining steps when they are ready: a planner's steps replace one step, under ids that begin with its id.

How they are called is up to `graph.record.expansion_names`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.draft import StepDraft
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.normalization import unwrap
from planner_executor.graph.plan.reading import ParsedPlan, finish, read_steps
from planner_executor.graph.plan.references import references_in, renamed
from planner_executor.graph.plan.schedule import last_steps
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.validation import graph_issues
from planner_executor.graph.record.expansion_names import Naming
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import due_in


def to_refine(plan: Plan, record: RunState) -> list[Step]:
    """Return the steps to refine now: nothing that they wait for is left to do."""
    vague = [
        step
        for step in plan.steps
        if kind_spec(step.kind).done_by == "planner"
        and not record.steps.failed_in(step.id, record.plan_state.current_pass)
        and not record.steps.is_settled(step.id)
    ]
    return due_in(plan, record.steps, vague)


@dataclass(frozen=True)
class Refinement:
    """Reads a planner's refinement of one step.

    `succeeded` are the steps whose results may be referred to, `deepest` is the limit of nested refinements. `naming`
    maps the ids that the planner gave to those that the steps have in the plan.
    """

    plan: Plan
    step: Step
    succeeded: Collection[str]
    tools: Mapping[str, ToolSpec]
    max_steps: int
    deepest: int
    naming: Naming

    def read(self, raw: Any) -> ParsedPlan:
        """Return the plan with the step's refinement in place of the step, or all issues.

        The step itself stays, and combines the results of the new ones.
        """
        part, notes = unwrap(raw, self.tools)
        if not isinstance(part, dict) or set(part) - {"steps", "answer"}:
            return ParsedPlan(
                None, (Issue(None, "plan", 'a plan is an object with "steps" and "answer", nothing else'),)
            )
        # The refined step stays and only gathers what the new ones give, so it does not count.
        drafts, issues = read_steps(
            part.get("steps"), self.tools, self.max_steps - len(self.plan.steps) + 1, self.plan.params
        )
        issues += graph_issues(drafts, part.get("answer"), frozenset(self.succeeded), self.plan.params)
        issues += [Issue(d.name, "refine", self._too_deep) for d in drafts if d.fields.get("refine") and self._is_deep]
        reading = finish(drafts, part.get("answer"), issues, notes, self.plan.params)
        if reading.plan is None:
            return reading
        if not reading.plan.steps and reading.plan.answer is None:
            return ParsedPlan(None, (Issue(None, "steps", "the plan is empty: give steps, or an answer"),))
        names = self.naming([step.id for step in reading.plan.steps])
        if faults := tuple(_too_long(drafts, reading.plan.answer, names)):
            return ParsedPlan(None, faults)
        return ParsedPlan(self._put_in(reading.plan, names), notes=reading.notes)

    @property
    def _too_deep(self) -> str:
        return f"steps are refined {self.deepest} deep at most; plan it in full"

    @property
    def _is_deep(self) -> bool:
        return 1 + len(list(self.plan.above(self.step))) >= self.deepest

    def _put_in(self, part: Plan, names: Mapping[str, str]) -> Plan:
        children = [self._child(step, names) for step in part.steps]
        gathered = renamed(part.answer, names) if part.answer is not None else _all_of(part, names)
        ends = tuple(names[step] for step in last_steps(part.waits))
        whole = Step(
            id=self.step.id,
            objective=self.step.objective,
            success_criteria=self.step.success_criteria,
            checks=self.step.checks,
            gather=gathered,
            depends_on=tuple(dict.fromkeys([*self.step.depends_on, *ends])),
            parent=self.step.parent,
            # A child that its condition leaves out must not take the whole with it.
            run_if="any" if any(step.when for step in part.steps) else self.step.run_if,
        )
        steps: list[Step] = []
        for step in self.plan.steps:
            steps += [*children, whole] if step.id == self.step.id else [step]
        return Plan(steps=tuple(steps), answer=self.plan.answer, params=self.plan.params)

    def _child(self, step: Step, names: Mapping[str, str]) -> Step:
        befores = tuple(names.get(before, before) for before in step.depends_on)
        return step.model_copy(
            update={
                "id": names[step.id],
                "args": step.renamed_args(names),
                "for_each": renamed(step.for_each, names),
                "gather": renamed(step.gather, names),
                "when": step.renamed_when(names),
                "depends_on": befores or self.step.depends_on,
                # What waits for none of the new steps stands where the refined step stood, with its rule.
                "run_if": step.run_if or (None if befores else self.step.run_if),
                "parent": self.step.id,
            }
        )


def _too_long(drafts: Iterable[StepDraft], answer: JsonValue, names: Mapping[str, str]) -> Iterator[Issue]:
    """Yield an issue for each expression that the longer names of the steps make too long."""
    of_steps = ((draft.name, place, reference) for draft in drafts for place, reference in draft.references())
    of_answer = ((None, "answer", reference) for reference in references_in(answer))
    for step, place, reference in chain(of_steps, of_answer):
        if fault := reference.renamed(names).fault:
            yield Issue(step, place, f"{fault}, once its steps are named in the whole plan")


def _all_of(part: Plan, names: Mapping[str, str]) -> JsonValue:
    """Return the reference to the last step's result, or an object of references if there are several."""
    last = [names[step] for step in last_steps(part.waits)]
    found: dict[str, JsonValue] = {step: f"{{{step}_result}}" for step in last}
    return found[last[0]] if len(last) == 1 else found
