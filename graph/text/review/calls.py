"""The review of a call: one that is held until a person has seen it, and one whose effect is uncertain."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.review.content import CallContent, Given, UncertainContent
from planner_executor.graph.review.request_json import GATE
from planner_executor.graph.text.literal_text import text_note
from planner_executor.graph.text.review.criteria import Judged, criteria_blocks
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, sentence, words
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.previews import preview_blocks
from planner_executor.graph.text.review.values import value_lines
from planner_executor.graph.words.name_list import counted, listed

UNDONE = {
    False: "; this cannot be undone",
    None: "; it is not known whether this can be undone",
    True: "; this can be undone",
}
GIVEN = {"answer": "an answer", "result": "a result", "edit": "arguments", "words": "a rejection"}
"""What people may give, in words."""


def held_blocks(call: CallContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the question whether to make a call that may have happened before or has untrusted arguments."""
    tool, called = call.tool, name(asked["tool"])
    yield Prose(f"{name(call.step)} is about to call {called}{_does(call.does)}.")
    if call.before:
        yield Prose(f"The same call happened in {listed([sentence(run) for run in call.before])}; make it again?")
    if call.why:
        yield Prose(f"It is shown because {sentence(call.why)}.")
    if call.given:
        yield Prose("Given by people who may not decide about it alone:")
        yield from (Prose(f"{ITEM}{_value(one)}") for one in call.given)
    if call.args:
        yield Prose("Untrusted arguments, which strangers may have written:")
        for argument, found in call.args.items():
            yield Prose(f"{ITEM}{name(argument)}, from {listed([name(source) for source in found.sources])}")
    effect = f" ({tool.effect})" if tool is not None else ""
    # A tool that is gone counts as one with an effect.
    undone = "" if tool is not None and not tool.acts else UNDONE[tool.reversible if tool is not None else None]
    told = "the model is told it as its answer" if call.by_model else "the step fails with it"
    yield Prose(
        f"If you approve it, {called}{effect} is called once with exactly these arguments{undone}. Edit the "
        f"arguments to change them. If you reject it with a reason, {told}; without one, the run ends."
    )
    yield _call(call.step, asked)
    if call.preview is not None:
        yield from preview_blocks([call.preview])
    if call.checks or call.criteria:
        yield from criteria_blocks([Judged(call.step, call.criteria, call.judged_by, True, call.checks)])


def new_blocks(call: CallContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the question whether a step may make a call that no approved plan had."""
    called = name(asked["tool"])
    effect = f" ({call.tool.effect})" if call.tool is not None else ""
    yield Prose(f"New in this plan: {name(call.step)} calls {called}{effect}{_does(call.does)}.")
    yield Prose(
        "No plan that was approved had this call, and a model planned it after it had read results that strangers may "
        "have written. Ask yourself whether you want it: approving the plan does not approve it."
    )
    # Said beforehand: one approval covers every item.
    each = f", for up to {call.most_items} items" if call.most_items is not None else ""
    often = counted(call.most_calls or 1, "time")
    by_model = f" A model makes it, {often} at most, with arguments of its own choice" if call.by_model else ""
    open_args = " beside these." if by_model and asked["args"] else "." if by_model else ""
    # A tool that only reads changes nothing that one would undo.
    undone = "" if call.tool is None or not call.tool.acts else UNDONE[call.tool.reversible]
    told = "the model is told it as the tool's answer" if call.by_model else "the step fails with it"
    yield Prose(
        f"If you approve it, {called} is called with these arguments{each}{undone}.{by_model}{open_args} Edit the "
        f"arguments to change them. If you reject it with a reason, {told}; without one, the run ends."
    )
    if call.objective is not None:
        yield Prose(f"The step: {words(call.objective)}")
    yield _call(call.step, asked)


def uncertain_blocks(call: UncertainContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the question whether a call took effect."""
    where = f"In run {name(call.run)}, " if call.run else ""
    effect = f" ({call.tool.effect})" if call.tool is not None else ""
    made = f"{where}{name(call.step)} called {name(asked['tool'])}{effect}{_does(call.does)}"
    if call.took_effect:
        yield Prose(f"{made}. It took effect, but {sentence(call.failure)}.")
    else:
        yield Prose(f"{made}, and nobody knows whether it took effect: {words(call.failure)}")
        yield Prose("Before you answer, look where the effect would show.")
        if call.may_live:
            yield Prose("Set happened to false only if its process is dead: one that lives may yet do it.")
    if call.due_in:
        yield Prose(f"The same call is due in {listed([name(step) for step in call.due_in])}.")
    yield Prose(f"{_what_to_settle(call)} Reject to stop the run.")
    yield _call(call.step, asked)


def _does(does: str | None) -> str:
    return f": {words(does)}" if does is not None else ""


def _value(given: Given) -> str:
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


def _what_to_settle(call: UncertainContent) -> str:
    if call.run:
        return (
            "If it happened, set happened to true; you are then asked whether to make it again. If not, set it to "
            "false and it is called."
        )
    if call.took_effect:
        return "Set happened to true (with its result) to accept it as it is, or to false to have it called once more."
    return (
        "If it happened, set happened to true, with its result, which then stands for this call in the whole run. If "
        "not, set it to false and it is called."
    )


def _call(step: str, asked: Mapping[str, Any]) -> Data:
    values: dict[str, JsonValue] = dict(asked["args"])
    lines = [*entry(f"{step}: {escaped(asked['tool'])}"), *(value_lines(values) or ["    no arguments"])]
    if note := text_note(values):
        lines += entry(note.strip(" ()"), lead="    ")
    return Data(tuple(lines))
