"""Where somebody looks in a plan: for which words and statuses, and into which folds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from planner_executor.graph.desk.views.plan_folds import DRAWN, FOUND, Folds, around, by_layers, opened, unfolded
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.labels import waits_within


@dataclass(frozen=True)
class Looked:
    """The words and statuses that are looked for, empty for all; the open folds, and whether folds are wanted."""

    words: str = ""
    statuses: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    is_folded: bool = False

    @property
    def query(self) -> str:
        """The look as the end of an address."""
        pairs = [("find", self.words)] if self.words else []
        pairs += [*(("status", one) for one in self.statuses), *(("open", one) for one in self.open)]
        pairs += [("fold", "1")] if self.is_folded else []
        return f"&{urlencode(pairs)}" if pairs else ""

    def found(self, plan: Plan, statuses: Mapping[str, str]) -> Collection[str] | None:
        """Return the steps that are looked for, None for all."""
        if not self.words and not self.statuses:
            return None
        # A dictionary, since `folds` takes the first of the plan and a set has no order.
        wanted = self.words.casefold().split()
        return {
            step.id: None
            for step in plan.steps
            if (not self.statuses or statuses.get(step.id, "pending") in self.statuses) and _has(step, wanted)
        }

    def folds(self, plan: Plan, found: Collection[str] | None) -> Folds:
        """Return the steps as a drawing has them: those looked for by themselves, the others folded if need be."""
        waits = waits_within(plan)
        if len(plan.steps) <= DRAWN and not self.is_folded:
            return unfolded(waits)
        folds = by_layers(waits)
        return opened(folds, self.open) if found is None else around(folds, dict.fromkeys(list(found)[:FOUND]))


NOWHERE = Looked()


def _has(step: Step, words: Sequence[str]) -> bool:
    text = " ".join((step.id, step.objective, kind_spec(step.kind).doer(step, str))).casefold()
    return all(word in text for word in words)
