"""What the rest of a plan may take, as ranges: seconds, tokens and US dollars, from like steps, prompts and prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schedule import critical_path
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.budget import Price
from planner_executor.graph.record.expected import Expected, Range, Took

NOTHING: Range = (0.0, 0.0)


@dataclass(frozen=True)
class Basis:
    """What an expectation rests on: likenesses by step, prices by model, and how many steps run at a time.

    `first` are the models that steps are given to; others may answer in their place.
    """

    likeness: Mapping[str, str]
    first: Mapping[str, str]
    prices: Mapping[str, Price]
    concurrency: int


def expectation(plan: Plan, left: Sequence[Step], expected: Expected, basis: Basis) -> dict[str, Any]:
    """Return `seconds`, `tokens` and `cost_usd`, each with `low` and `high`, and what has no history in `unknown`.

    `high` is missing if a step has no history; `cost_usd` is missing if a model has no price, and with `tokens` if no
    model works on the plan. The time of people, retries and revisions is not part of it.
    """
    kinds = {step.id: kind_spec(step.kind) for step in left}
    works = [step for step in left if kinds[step.id].calls_tools or kinds[step.id].done_by == "planner"]
    took = {step.id: expected.took.get(basis.likeness.get(step.id, "")) for step in works}
    unknown = list(dict.fromkeys(_name(step) for step in works if took[step.id] is None))
    found: dict[str, Any] = {"seconds": _shown(_seconds(plan, works, took, basis.concurrency), unknown)}
    if models := [step for step in works if step.id in basis.first]:
        by_model = [_tokens(step, took[step.id], expected.prompts.get(step.id, 0), basis) for step in models]
        not_known = [_name(step) for step in models if took[step.id] is None]
        found["tokens"] = _shown(
            _sum([part for tokens in by_model for one in tokens.values() for part in one]), not_known, 0
        )
        named = {model for tokens in by_model for model in tokens}
        # Without the price of one model a cost would say less than the plan may cost.
        if named <= basis.prices.keys():
            costs = [_cost(basis.prices[model], *one) for tokens in by_model for model, one in tokens.items()]
            found["cost_usd"] = _shown(_sum(costs), not_known, 6)
    return {**found, **({"unknown": unknown} if unknown else {})}


def _seconds(plan: Plan, works: Sequence[Step], took: Mapping[str, Took | None], concurrency: int) -> Range:
    """Return the time along the longest chain; at most that of all steps, if only so many run at a time."""
    order, waits, known = plan.order, plan.waits, {step.id: took[step.id] for step in works}
    items = {step.id: _items(step)[1] for step in works}
    low = {step: one.seconds[0] if (one := known.get(step)) is not None else 0.0 for step in waits}
    high = {step: one.seconds[1] * items[step] if (one := known.get(step)) is not None else 0.0 for step in waits}
    # Items run side by side, as far as there are places.
    at_once = {step: high[step] / min(items.get(step, 1.0), concurrency) for step in waits}
    # Work that no dependency holds back may still wait for a free place.
    longest = max(critical_path(order, waits, at_once)[0], sum(high.values()) / concurrency)
    return critical_path(order, waits, low)[0], longest


def _tokens(step: Step, took: Took | None, prompt: int, basis: Basis) -> dict[str, tuple[Range, Range]]:
    """Return the tokens of prompts and answers by model; the first prompt is known in any case."""
    least, most = _items(step)
    if took is None or not took.tokens:
        # Items of a batch share one prompt.
        low, high = (prompt * ceil(items / (step.batch or 1)) for items in (least, most))
        return {basis.first[step.id]: ((low, high), NOTHING)}
    return {
        model: ((read[0] * least, read[1] * most), (written[0] * least, written[1] * most))
        for model, (read, written) in took.tokens.items()
    }


def _items(step: Step) -> Range:
    """Return how many items a step has, at least and at most; a list that stands in the plan is counted."""
    count = len(step.for_each) if isinstance(step.for_each, list) and not list(step.references_of_items()) else None
    return (1.0, float(step.most_items)) if count is None else (float(count), float(count))


def _cost(price: Price, read: Range, written: Range) -> Range:
    low, high = ((price.input * read[end] + price.output * written[end]) / 1_000_000 for end in (0, 1))
    return low, high


def _sum(ranges: Sequence[Range]) -> Range:
    return sum(low for low, _ in ranges), sum(high for _, high in ranges)


def _shown(found: Range, unknown: Sequence[str], digits: int = 1) -> dict[str, float]:
    low, high = (round(end, digits) if digits else round(end) for end in found)
    return {"low": low, **({} if unknown else {"high": high})}


def _name(step: Step) -> str:
    return step.tool if step.tool is not None else step.id
