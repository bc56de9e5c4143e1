"""Trust labels: the sources of a value, and so whether it may determine effects.

Labels follow references, and everything that a model writes after reading untrusted data is untrusted. If a tool does
not declare whether its output may be trusted, an approval covers results that the plan passes on by reference, as
the review states; not text that a model makes of them, in a call of its own or as the result of its step (decision 18).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, get_args

from pydantic import JsonValue

from planner_executor.graph.plan.params import Trust
from planner_executor.graph.plan.references import parameters_in
from planner_executor.graph.plan.schema import ITEM, Step

if TYPE_CHECKING:
    from planner_executor.graph.plan.catalog import ToolSpec

ORDER: tuple[Trust, ...] = get_args(Trust)


class TrustLabel(NamedTuple):
    """The trust in a value, and the names of the tools that lowered it; a plan may be among them."""

    trust: Trust = "user"
    sources: tuple[str, ...] = ()

    @property
    def untrusted(self) -> bool:
        """Whether the value may not determine an effect without review."""
        return self.trust == "untrusted"

    @property
    def unvouched(self) -> tuple[str, ...]:
        """The sources for which nobody declared that they may be trusted."""
        return tuple(sorted(self.sources)) if self.trust in ("undeclared", "untrusted") else ()

    @property
    def by_model(self) -> "TrustLabel":
        """The label of text by a model that has read this value; no approval covers it."""
        return TrustLabel("untrusted", self.sources) if self.trust == "undeclared" else self

    def to_json(self) -> dict[str, JsonValue]:
        """Return the label as the ledger has it."""
        return {"trust": self.trust, "sources": list(self.sources)}

    @classmethod
    def from_json(cls, payload: Mapping[str, JsonValue]) -> "TrustLabel":
        """Read a label from the ledger; a redacted one is the least trusted."""
        sources = payload.get("sources")
        trust = next((word for word in ORDER if word == payload["trust"]), ORDER[-1])
        return cls(trust, tuple(map(str, sources if isinstance(sources, list) else ())))


USER = TrustLabel()
PLAN = TrustLabel("untrusted", ("a plan made after reading untrusted results",))
"""Label of values that a model wrote into a plan after it had read untrusted results."""

NO_MARKS: Mapping[str, TrustLabel] = MappingProxyType({})


def joined(labels: Iterable[TrustLabel]) -> TrustLabel:
    """Return the label of a value made from several values: the least trusted one.

    Sources without declared trust stay named beside untrusted ones, because a model that read them contributed too.

    >>> joined([USER, TrustLabel("untrusted", ("web",)), TrustLabel("trusted", ("clock",))])
    TrustLabel(trust='untrusted', sources=('web',))
    """
    found = [label for label in labels if label is not USER]  # which adds nothing
    if not found:
        return USER
    worst = max((label.trust for label in found), key=ORDER.index)
    sources = [source for label in found if label.trust in (worst, "undeclared") for source in label.sources]
    return TrustLabel(worst, tuple(dict.fromkeys(sources)))


def label_of_tool(tool: "ToolSpec") -> TrustLabel:
    """Return the label of a tool's output."""
    return TrustLabel(tool.trust, (tool.name,))


def label_of_result(step: Step, label: TrustLabel) -> TrustLabel:
    """Return the label of a step's result in other steps; `label` is that of all that the step read and called."""
    return label.by_model if step.kind == "model" else label


def argument_labels(
    step: Step, results: Mapping[str, TrustLabel], marks: Mapping[str, TrustLabel] = NO_MARKS
) -> dict[str, TrustLabel]:
    """Return argument -> label, for the arguments of a step in the plan.

    Args:
        step: The step.
        results: Step id -> label of its result, for the steps it refers to; an item of its list has the list's label.
        marks: Argument -> label of what the plan itself says there, see `graph.record.plan_marks`.
    """
    if step.for_each is not None:
        named = (ref.step for found in step.argument_references.values() for ref in found)
        results = {**{one: results[one] for one in named if one in results}, ITEM: label_of_item(step, results)}
    return {
        name: joined(
            [
                marks.get(name, USER),
                label_of_params(step, step.open_args.get(name)),
                *(results[ref.step] for ref in references if ref.step in results),
            ]
        )
        for name, references in step.argument_references.items()
    }


def label_of_params(step: Step, *values: JsonValue) -> TrustLabel:
    """Return the joint label of the parameters in these values of a step, by default of all its parameters."""
    if not step.params:
        return USER
    named = {one.name for one in parameters_in([*values])} if values else step.params.keys()
    given = ((name, step.params[name].label) for name in sorted(named))
    return joined(TrustLabel(trust, (f"the parameter {name}",)) for name, trust in given if trust != USER.trust)


def label_of_item(step: Step, results: Mapping[str, TrustLabel]) -> TrustLabel:
    """Return the label of an item of the step's list."""
    named = (results[ref.step] for ref in step.references_of_items() if ref.step in results)
    return joined([label_of_params(step, step.for_each), *named])
