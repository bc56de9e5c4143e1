"""The origin of each value of a step (a step, a person, the plan or a model), and the trust label that follows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import ITEM, Plan, Step
from planner_executor.graph.policy.inheritance import result_labels
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.plan_marks import plan_marks
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import PLAN, USER, TrustLabel, argument_labels, joined
from planner_executor.graph.text.drawing.labels import waits_within

TRUST: Mapping[str, str] = {
    "user": "from people",
    "trusted": "trusted",
    "undeclared": "trust not declared",
    "untrusted": "untrusted",
}


@dataclass(frozen=True)
class Origin:
    """The origin of a value or of a part of it; `step` is set for the result of a step."""

    kind: Literal["plan", "step", "model", "person", "default"]
    step: str = ""


@dataclass(frozen=True)
class Label:
    """A trust label in words; `is_warning`: an effect may not rest on the value without a review."""

    words: str
    is_warning: bool


@dataclass(frozen=True)
class Argument:
    """An argument as the plan has it and as the call got it, each None if absent, with its origins: several steps, or
    one that is none.
    """

    name: str
    planned: str | None
    given: str | None
    origins: Sequence[Origin]
    label: Label

    @property
    def is_labelled(self) -> bool:
        """Whether the label says more than the origins do."""
        return self.label.words != TRUST["user"] or self.origins[0].kind == "step"

    @property
    def is_as_planned(self) -> bool:
        """Whether the call got just what the plan says."""
        return self.given is not None and self.given == self.planned


@dataclass(frozen=True)
class Origins:
    """The arguments of one step, and the label of its result."""

    arguments: Sequence[Argument]
    result: Label


def origins_of(shown: ShownRun, plan: Plan, step: Step, call: Call | None, tools: Mapping[str, ToolSpec]) -> Origins:
    """Return the origins of the values of a step.

    Args:
        shown: The run.
        plan: Its plan in force.
        step: The step.
        call: The call whose arguments are shown, None if there was none.
        tools: The tools that the run was configured with, by name.
    """
    labels = result_labels(shown.record, plan, tools)
    return Origins(list(_arguments(shown, plan, step, call, labels)), label_in_words(labels[step.id]))


def label_in_words(label: TrustLabel) -> Label:
    """Return a label in words.

    >>> label_in_words(TrustLabel("untrusted", ("fetch_page",))).words
    'untrusted: fetch_page'
    """
    sources = ", ".join(label.sources) if label.trust in ("undeclared", "untrusted") else ""
    return Label(f"{TRUST[label.trust]}{sources and ': '}{sources}", label.trust == "untrusted")


def _arguments(
    shown: ShownRun, plan: Plan, step: Step, call: Call | None, results: Mapping[str, TrustLabel]
) -> Iterator[Argument]:
    record, given = shown.record, call.args if call is not None else {}
    known, read = _known(record, step, results), _read(record, step, results, waits_within(plan)[step.id])
    # A held call has the labels of its own arguments; an argument that a person edited is the person's.
    held = record.review_state.held.get(call.key) if call is not None else _held(shown, step)
    edited = _edited(held.event.args.shown, held.edited) if held is not None and held.edited is not None else ()
    for name in dict.fromkeys((*step.args, *given, *(held.args if held is not None else ()))):
        label = USER if name in edited else (held.labels.get(name) if held is not None else None)
        values = given if call is not None else held.args if held is not None else {}
        yield Argument(
            name,
            visible_json(step.args[name]) if name in step.args else None,
            visible_json(values[name]) if name in values else None,
            (Origin("person"),) if name in edited else tuple(_origins(step, name)),
            label_in_words(label or known.get(name, read.by_model if step.tool is None else USER)),
        )


def input_label(record: RunState, step: Step, results: Mapping[str, TrustLabel], waits: Sequence[str]) -> TrustLabel:
    """Return the label of all that a step gets: the arguments of its call, or what its model reads."""
    if step.tool is not None:
        return joined(_known(record, step, results).values())
    return _read(record, step, results, waits) if step.kind == "model" else USER


def _known(record: RunState, step: Step, results: Mapping[str, TrustLabel]) -> Mapping[str, TrustLabel]:
    return argument_labels(step, results, plan_marks(record, step))


def _read(record: RunState, step: Step, results: Mapping[str, TrustLabel], waits: Sequence[str]) -> TrustLabel:
    tainted = step.id in record.plan_state.tainted
    return joined([PLAN if tainted else USER, *(results[before] for before in waits)])


def _held(shown: ShownRun, step: Step) -> Any:
    return next((held for held in shown.record.waiting_calls if held.step == step.id), None)


def _edited(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    return {name for name in after if name not in before or before[name] != after[name]}


def _origins(step: Step, name: str) -> Iterator[Origin]:
    if name not in step.args:
        yield Origin("default" if step.tool is not None else "model")
        return
    references = step.argument_references[name]
    named = [ref.step for ref in references if ref.step != ITEM or step.for_each is None]
    if len(named) < len(references):  # the item of a list: it comes from wherever the list does
        named += [ref.step for ref in step.references_of_items()]
    yield from (Origin("step", one) for one in dict.fromkeys(named))
    if not named:
        yield Origin("plan")
