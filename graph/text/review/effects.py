"""What will happen if a plan is approved: what cannot be undone, and each effect with its arguments."""

from collections.abc import Iterator, Mapping, Sequence

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.catalog import UNDECLARED
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.review.content import PlanContent, StepContent, Tool
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.values import MAX_CHARACTERS, cut, shown, value_lines
from planner_executor.graph.words.name_list import counted, enumerated, listed

REVERSIBLE = {
    False: "that cannot be undone:",
    None: "not known to be reversible:",
    True: "that can be undone:",
}
"""Whether the effect of a tool can be undone, in words, the worst first."""
PLAN_CHOICES = "Otherwise edit it, reject it with a reason for a new plan, or reject it without one to end the run."


def outcome(content: PlanContent) -> Prose:
    """Return one sentence on what an approval lets happen and what cannot be undone, and the other decisions."""
    left = len(content.left)
    what = "more step" if left < len(content.steps) else "step"
    count = f"{counted(left, what)} {'runs' if left == 1 else 'run'}"
    # The tools that steps left may call, so what has run already is not said to happen.
    acting = [tool for tool in content.tools if tool.acts]
    if not acting:
        only = "which only reads" if left == 1 else "which only read"
        return Prose(f"If you approve it, {count}, {only}: nothing is changed. {PLAN_CHOICES}")
    folders = listed([words(folder) for folder in dict.fromkeys(tool.folder for tool in acting) if folder])
    where = f" Files are changed in {folders}." if folders else ""
    told = "; ".join(
        f"{undone} {listed([f'{name(tool.name)} ({tool.effect})' for tool in found])}"
        for reversible, undone in REVERSIBLE.items()
        if (found := [tool for tool in acting if tool.reversible is reversible])
        # By identity: `None` is not known, and is no `False`.
    )
    return Prose(f"If you approve it, {count}, with effects {told}.{where} {PLAN_CHOICES}")


def effect_blocks(content: PlanContent, plan: Plan) -> Iterator[Block]:
    """Yield the steps with effects and their whole arguments, and what is known of the trust in them."""
    tools = {tool.name: tool for tool in content.tools}
    if acting := [step for step in content.left if step.acts]:
        yield Prose("The effects, with their arguments:")
        yield Data(tuple(line for step in acting for line in _effect(step, plan.by_id[step.id], tools)))
        # Shown even where the policy asks nothing: the approval of the plan is all that these calls pass.
        if unseen := sorted({tool for step in acting for tool in step.unchecked}):
            named = listed([name(tool) for tool in unseen])
            declaring = f"The tool {named} does" if len(unseen) == 1 else f"The tools {named} do"
            whose = "its" if len(unseen) == 1 else "their"
            using = listed([name(step.id) for step in acting if step.unchecked])
            yield Prose(
                f"{declaring} not declare whether {whose} results can be trusted; these steps use them unchecked: "
                f"{using}."
            )
    yield from _undeclared(content, plan, tools)


def _effect(content: StepContent, step: Step, tools: Mapping[str, Tool]) -> Iterator[str]:
    spec = kind_spec(step.kind)
    yield from entry(f"{step.id}: {spec.calls(step, lambda tool: f'{escaped(tool)} ({tools[tool].effect})')}")
    for tool in step.tool_names:
        if tool in content.does:
            yield from entry(escaped(content.does[tool]), lead="    ")
    yield from _conditions(content)
    if step.for_each is not None:
        yield from entry(
            f"once for each of {shown(step.told(step.for_each))}, {content.most_items} at most", lead="    "
        )
    if content.unchecked:
        yield from entry(escaped(uses(content.unchecked)), lead="    ")
    # Which values come from untrusted data is only known when the call is due, so the plan says it ahead.
    asked = {source for args in content.args.values() for one in args.values() if one.asked for source in one.sources}
    if asked:
        shown_first = "is" if content.done_by == "tool" else "may be"
        told = f"{shown_first} shown again before it is made, with the values that come from "
        yield from entry(told + escaped(", ".join(sorted(asked))), lead="    ")
    yield from _arguments(content, step)


def uses(tools: Sequence[str]) -> str:
    """Return which results a step uses."""
    return f"uses what {enumerated(tools)} {'returns' if len(tools) == 1 else 'return'}"


def _conditions(content: StepContent) -> Iterator[str]:
    if content.when is not None:
        yield from entry(f"only if {cut(plain(content.when), MAX_CHARACTERS)}", lead="    ")
    if content.decided_by:
        told = f"whether it runs depends on values from {listed([*map(escaped, content.decided_by)])}"
        yield from entry(f"{told}, which are not declared to be trusted", lead="    ")


def _arguments(content: StepContent, step: Step) -> Iterator[str]:
    if step.args:
        yield from value_lines({name: step.told_arg(name) for name in step.args})
        for arg in step.args:
            # A value made of parameters is the caller's and not the planner's; a reader is told which.
            if held := dict.fromkeys(one.name for one in step.parameters_of(arg)):
                yield from entry(
                    f"{escaped(arg)} is made of {listed([f'{{param.{one}}}' for one in held])}", lead="    "
                )
    else:
        yield "    no arguments" if content.done_by == "tool" else "    with arguments that the model chooses"


def _undeclared(content: PlanContent, plan: Plan, tools: Mapping[str, Tool]) -> Iterator[Block]:
    """Yield the undeclared tools that a model may call, with the steps that grant them."""
    granted: dict[str, list[str]] = {}
    for step in content.left:
        for tool in plan.by_id[step.id].tools:
            # A tool that declares its effect has said what it does; one with
            # neither is named to whoever grants it to a model.
            if not tools[tool].declared and tools[tool].trust == "undeclared":
                granted.setdefault(tool, []).append(step.id)
    for tool, ids in sorted(granted.items()):
        yield Prose(f"Warning: {name(tool)} in {listed([name(step) for step in ids])}: {UNDECLARED}.")
