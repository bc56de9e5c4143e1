"""Trust labels: where a value comes from, and so whether it may steer what happens.

Labels follow references, and what a model writes after it has read untrusted data is untrusted. Of a tool that does not
say whether its output may be trusted, an approval covers the results that the plan hands on by reference, as the review
says; not what a model makes of them in a call that is known to have an effect.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Step

Trust = Literal["user", "trusted", "undeclared", "untrusted"]
ORDER: tuple[Trust, ...] = ("user", "trusted", "undeclared", "untrusted")


@dataclass(frozen=True)
class TrustLabel:
    """How far a value may be believed, and the names of the tools that made it so; a plan may stand in for them."""

    trust: Trust = "user"
    sources: tuple[str, ...] = ()

    @property
    def untrusted(self) -> bool:
        """Whether the value may steer no effect unseen."""
        return self.trust == "untrusted"

    @property
    def by_model(self) -> "TrustLabel":
        """The label of arguments written by a model that has read this value; no approval covers them."""
        return TrustLabel("untrusted", self.sources) if self.trust == "undeclared" else self

    def to_json(self) -> dict[str, JsonValue]:
        """Return the label as the ledger has it."""
        return {"trust": self.trust, "sources": list(self.sources)}

    @classmethod
    def of(cls, payload: Mapping[str, JsonValue]) -> "TrustLabel":
        """Read a label from the ledger; one that a redaction changed is the least trusted."""
        sources = payload.get("sources")
        trust = next((word for word in ORDER if word == payload["trust"]), ORDER[-1])
        return cls(trust, tuple(map(str, sources if isinstance(sources, list) else ())))


USER = TrustLabel()
PLAN = TrustLabel("untrusted", ("a plan made after reading untrusted results",))
"""Label of values that a model wrote into a plan after it had read untrusted results."""


def joined(labels: Iterable[TrustLabel]) -> TrustLabel:
    """Return the label of what is made from several values: the least trusted of them.

    Sources that say nothing of themselves stay named beside untrusted ones: a model that read them made the value too.

    >>> joined([USER, TrustLabel("untrusted", ("web",)), TrustLabel("trusted", ("clock",))])
    TrustLabel(trust='untrusted', sources=('web',))
    """
    found = list(labels)
    worst = max((label.trust for label in found), key=ORDER.index, default=USER.trust)
    sources = [source for label in found if label.trust in (worst, "undeclared") for source in label.sources]
    return TrustLabel(worst, tuple(dict.fromkeys(sources)))


def label_of_tool(tool: ToolSpec) -> TrustLabel:
    """Return the label of a tool's output."""
    return TrustLabel(tool.trust, (tool.name,))


def argument_labels(step: Step, results: Mapping[str, TrustLabel], *, tainted: bool = False) -> dict[str, TrustLabel]:
    """Return argument -> label, for the arguments that a plan gives a step.

    Args:
        step: The step.
        results: Step id -> label of its result, for the steps it refers to.
        tainted: Whether a model wrote the step after it had read untrusted results.
    """
    own = PLAN if tainted else USER
    return {
        name: joined([own, *(results[ref.step] for ref in references if ref.step in results)])
        for name, references in step.argument_references().items()
    }
