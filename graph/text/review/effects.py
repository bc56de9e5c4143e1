"""What will happen if a plan is approved: what cannot be undone, and each effect with its arguments."""

from collections.abc import Iterator, Mapping, Sequence

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.call_words import call_words
from planner_executor.graph.plan.catalog import UNDECLARED, ToolSpec, is_undeclared
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.sources import CallSources, call_sources
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.values import shown, value_lines
from planner_executor.graph.words.name_list import counted, listed

REVERSIBLE = {
    False: "that cannot be undone:",
    None: "not known to be reversible:",
    True: "that can be undone:",
}
"""Whether the effect of a tool can be undone, in words, the worst first."""
PLAN_CHOICES = "Edit it, reject it with a reason to have it planned again, or reject it without one to end the run."


def outcome(left: Sequence[Step], is_begun: bool, specs: Mapping[str, ToolSpec]) -> Prose:
    """Return one sentence on what an approval lets happen and what cannot be undone, and the other decisions."""
    count = f"{counted(len(left), 'more step' if is_begun else 'step')} {'runs' if len(left) == 1 else 'run'}"
    acting = acting_tools(left, specs)
    if not acting:
        only = "which only reads" if len(left) == 1 else "which only read"
        return Prose(f"If you approve it, {count}, {only}: nothing is changed. {PLAN_CHOICES}")
    folders = listed([words(folder) for folder in dict.fromkeys(tool.folder for tool in acting) if folder])
    where = f" Files are changed in {folders}." if folders else ""
    told = "; ".join(
        f"{undone} {listed([f'{name(tool.name)} ({tool.effect})' for tool in found])}"
        for reversible, undone in REVERSIBLE.items()
        if (found := [tool for tool in acting if tool.reversible is reversible])
    )
    return Prose(f"If you approve it, {count}, with effects {told}.{where} {PLAN_CHOICES}")


def acting_tools(steps: Sequence[Step], specs: Mapping[str, ToolSpec]) -> list[ToolSpec]:
    """Return the tools with effects that steps may call, by name."""
    names = sorted({tool for step in steps for tool in step.tool_names})
    return [specs[tool] for tool in names if specs[tool].acts]


def effect_blocks(left: Sequence[Step], plan: Plan, terms: ExecutionTerms) -> Iterator[Block]:
    """Yield the steps with effects and their whole arguments, and what is known of the trust in them."""
    specs = terms.tools
    acting = [step for step in left if any(specs[tool].acts for tool in step.tool_names)]
    if acting:
        sources = call_sources(plan, terms)
        yield Prose("The effects, with their arguments:")
        yield Data(tuple(line for step in acting for line in _effect(step, specs, sources[step.id])))
        if unseen := sorted({tool for step in acting for tool in sources[step.id].unseen}):
            tools = listed([name(tool) for tool in unseen])
            declaring = f"The tool {tools} does" if len(unseen) == 1 else f"The tools {tools} do"
            using = listed([name(step.id) for step in acting if sources[step.id].unseen])
            yield Prose(
                f"{declaring} not declare whether the results can be trusted; if you approve the plan, these steps "
                f"use them unchecked: {using}."
            )
    yield from _undeclared(left, specs)


def _effect(step: Step, specs: Mapping[str, ToolSpec], sources: CallSources) -> Iterator[str]:
    spec = kind_spec(step.kind)
    yield from entry(f"{step.id}: {spec.calls(step, lambda tool: f'{escaped(tool)} ({specs[tool].effect})')}")
    for tool in (specs[one] for one in step.tool_names):
        if tool.summary is not None:
            yield from entry(escaped(summary_of(step, tool)), lead="    ")
    if step.for_each is not None:
        yield from entry(f"once for each of {shown(step.for_each)}, {step.most_items} at most", lead="    ")
    if sources.unseen:
        yield from entry(f"gets what {escaped(', '.join(sources.unseen))} returns", lead="    ")
    if sources.shown:
        shown_first = "is" if spec.done_by == "tool" else "may be"
        told = f"{shown_first} shown again before it is made, with the values that come from "
        yield from entry(told + escaped(", ".join(sources.shown)), lead="    ")
    if step.args:
        yield from value_lines(step.args)
    else:
        yield "    no arguments" if spec.done_by == "tool" else "    with arguments that the model chooses"


def summary_of(step: Step, tool: ToolSpec) -> str:
    """Return what a step's call of a tool does, in the words of the tool's declaration."""
    by_model = kind_spec(step.kind).done_by != "tool"
    return call_words(tool.summary or "", step.args, tool.schema, by_model=by_model)


def _undeclared(steps: Sequence[Step], specs: Mapping[str, ToolSpec]) -> Iterator[Block]:
    """Yield the undeclared tools that a model may call, with the steps that grant them."""
    granted: dict[str, list[str]] = {}
    for step in steps:
        for tool in step.tools:
            if is_undeclared(specs[tool]):
                granted.setdefault(tool, []).append(step.id)
    for tool, ids in sorted(granted.items()):
        yield Prose(f"Warning: {name(tool)} in {listed([name(step) for step in ids])}: {UNDECLARED}.")
