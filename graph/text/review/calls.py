"""The review of a call: one that is held until a person has seen it, and one whose effect is uncertain."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.call_words import call_words
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.events import ValueShown
from planner_executor.graph.review.human_steps import GATE
from planner_executor.graph.text.literal_text import text_note
from planner_executor.graph.text.review.criteria import criteria_blocks
from planner_executor.graph.text.review.effects import summary_of
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, sentence, to_markdown, words
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import value_lines
from planner_executor.graph.words.name_list import counted, listed

UNDONE = {
    False: "; this cannot be undone",
    None: "; it is not known whether this can be undone",
    True: "; this can be undone",
}
GIVEN = {"answer": "an answer", "result": "a result", "edit": "arguments", "words": "a rejection"}
"""What people may give, in words."""


def held_description(
    held: HeldCall, tool: ToolSpec | None = None, step: Step | None = None, *, has_judge: bool = False
) -> str:
    """Return the question whether to make a call that may have happened before or has untrusted arguments."""
    return to_markdown(_held(held, tool, step, has_judge))


def new_effect_description(step: Step, tool: str, spec: ToolSpec | None = None) -> str:
    """Return the question whether a step may make a call that no approved plan had."""
    return to_markdown(_new_effect(step, tool, spec))


def uncertain_description(call: Call, steps: Sequence[str] = ()) -> str:
    """Return the question whether a call took effect; `steps` wait for the answer."""
    return to_markdown(_uncertain(call, steps))


def _held(held: HeldCall, tool: ToolSpec | None, step: Step | None, has_judge: bool) -> Iterator[Block]:
    does = ""
    if tool is not None and tool.summary is not None:
        does = f": {words(call_words(tool.summary, held.args, tool.schema, known=True))}"
    yield Prose(f"{name(held.step)} is about to call {name(held.tool)}{does}.")
    if held.before:
        yield Prose(f"The same call happened in {listed([sentence(run) for run in held.before])}; make it again?")
    if held.asked:
        yield Prose(f"It is shown because {sentence(held.asked)}.")
    if held.values:
        yield Prose("Given by people who may not decide about it alone:")
        yield from (Prose(f"{ITEM}{_value(one)}") for one in held.values)
    if held.labels:
        yield Prose("Not to be trusted, since strangers may have written them:")
        for argument, label in held.labels.items():
            yield Prose(f"{ITEM}{name(argument)} from {listed([name(source) for source in label.sources])}")
    effect = f" ({tool.effect})" if tool is not None else ""
    undone = "" if tool is not None and not tool.acts else UNDONE[tool.reversible if tool is not None else None]
    told = "the step fails with it" if step is None or step.tool is not None else "the model is told it as its answer"
    yield Prose(
        f"If you approve it, {name(held.tool)}{effect} is called once with exactly these arguments{undone}. Edit the "
        f"arguments to have it called with yours. If you reject it with a reason, {told}; without one, the run ends."
    )
    yield _call(held.step, held.tool, held.args)
    if step is not None and (step.checks or step.success_criteria):
        yield from criteria_blocks([step], has_judge)


def _new_effect(step: Step, tool: str, spec: ToolSpec | None) -> Iterator[Block]:
    effect = f" ({spec.effect})" if spec is not None else ""
    does = f": {words(summary_of(step, spec))}" if spec is not None and spec.summary is not None else ""
    yield Prose(f"New in this plan: {name(step.id)} calls {name(tool)}{effect}{does}.")
    yield Prose(
        "No plan that was approved had this call, and a model planned it after it had read results that strangers may "
        "have written. Ask yourself whether you want it: approving the plan does not approve it."
    )
    each = f", for up to {step.most_items} items" if step.for_each is not None else ""
    often = counted(step.max_calls or 1, "time")
    by_model = "" if step.tool is not None else f" A model makes it, {often} at most, with arguments of its own choice"
    open_args = " beside these." if by_model and step.args else "." if by_model else ""
    told = "the step fails with it" if step.tool is not None else "the model is told it as the tool's answer"
    yield Prose(
        f"If you approve it, {name(tool)} is called with these arguments{each}.{by_model}{open_args} Edit the "
        f"arguments to have it called with yours. If you reject it with a reason, {told}; without one, the run ends."
    )
    if step.tool is None:
        yield Prose(f"The step: {words(step.objective)}")
    yield _call(step.id, tool, step.args)


def _value(given: ValueShown) -> str:
    """Return a value and those who gave it, in Markdown."""
    by = listed([words(label) for label in given.by])
    match given.what:
        case "limit":
            return f"a raised limit, by {by}"
        case "plan":
            return f"an edited plan, which a model added to, by {by}"
        case "gate":
            return f"the consent of {name(given.step or GATE)}, by {by}"
        case _:
            where = f" for {name(given.step)}" if given.step is not None else ""
            return f"{GIVEN.get(given.what, given.what)}{where}, by {by}: {words(given.value or '')}"


def _uncertain(call: Call, steps: Sequence[str]) -> Iterator[Block]:
    where = f"In run {name(call.run)}, " if call.run else ""
    made = f"{where}{name(call.place)} called {name(call.tool)}"
    if call.unmet is not None:
        yield Prose(f"{made}. It took effect, but {sentence(call.unmet)}.")
    else:
        yield Prose(f"{made}, and nobody knows whether it took effect: {words(call.failure)}")
        yield Prose("Find out in the world, where the effect would be seen, before you answer.")
        if call.maker_may_live:
            yield Prose("Set happened to false only if its process is dead: one that lives may yet do it.")
    others = [step for step in steps if call.run or step != call.step]
    if others:
        yield Prose(f"The same call is due in {listed([name(step) for step in others])}.")
    yield Prose(f"{_what_to_settle(call)} Reject to stop the run.")
    yield _call(call.place, call.tool, call.args)


def _what_to_settle(call: Call) -> str:
    if call.run:
        return (
            "Set happened to true (you are then asked whether it is to be made again) or to false (it will be called)."
        )
    if call.unmet is not None:
        return "Set happened to true (with its result) to take it as it is, or to false to have it called once more."
    return (
        "Set happened to true (with its result, which then stands for this call in the whole run) or to false (it will "
        "be called)."
    )


def _call(step: str, tool: str, args: Mapping[str, JsonValue]) -> Data:
    values = dict(args)
    lines = [*entry(f"{step}: {escaped(tool)}"), *(value_lines(values) or ["    no arguments"])]
    if note := text_note(values):
        lines += entry(note.strip(" ()"), lead="    ")
    return Data(tuple(lines))
