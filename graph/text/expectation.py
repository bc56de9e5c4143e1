"""What a plan may take, and what it took, in words."""

from collections.abc import Callable, Mapping
from typing import Any

from planner_executor.graph.record.budget import unit_in_words
from planner_executor.graph.text.review.frame import limit_name
from planner_executor.graph.words.name_list import counted, listed

UNITS: Mapping[str, Callable[[float], str]] = {
    "seconds": lambda amount: f"{amount:,.0f}" if amount >= 10 else f"{amount:g}",
    "tokens": lambda amount: f"{amount:,.0f}",
    "cost_usd": lambda amount: f"{amount:.2g}",
}
NAMES = {"seconds": "seconds", "tokens": "tokens", "cost_usd": "US dollars"}
MOMENT = "less than 1 second"


def estimate_text(estimate: Mapping[str, Any]) -> str:
    """Return a sentence on the remaining work and the remaining budget."""
    chain = f" (longest chain: {estimate['longest_chain']})" if estimate["longest_chain"] > 1 else ""
    by_models = f", {counted(estimate['model_steps'], 'step')} by a model" if estimate["model_steps"] else ""
    calls = counted(estimate["tool_calls"], "tool call")
    # The bounds count each attempt that limits allow, so the reader is told that most of them are for failures.
    if again := estimate.get("further_attempts"):
        calls += f", {counted(again, 'further attempt')} after failures included"
    beside = (
        f", and what comes of {counted(estimate['to_refine'], 'step')} to refine" if "to_refine" in estimate else ""
    )
    told = f"To do: {counted(estimate['steps'], 'step')}{chain}; at most {calls}{by_models}{beside}."
    left = estimate.get("budget_left", {})
    rest = ", ".join(limit_name(unit_in_words(limit, amount)) for limit, amount in left.items())
    # A limit that is absent bounds nothing, so what is estimated is compared with itself.
    over = any(estimate[one] > left.get(one, estimate[one]) for one in ("steps", "tool_calls"))
    told = f"{told} Left of the budget: {rest}." if left else told
    return f"{told} The plan may take more than that; the run then asks." if over else told


def takes_in_words(takes: Mapping[str, Any], name: Callable[[str], str] = str) -> str:
    """Return the sentences of a review on what a plan may take; `name` writes the name of a step or a tool.

    >>> takes_in_words({"seconds": {"low": 2.0, "high": 5.5}, "tokens": {"low": 1200, "high": 3400}})
    'Estimate, from earlier runs of these steps: 2 to 5.5 seconds and 1,200 to 3,400 tokens; the price is not known.'
    >>> takes_in_words({"seconds": {"low": 0.0}, "unknown": ["send"]})
    'No estimate yet: send has not run here before.'
    """
    unknown = list(map(name, takes.get("unknown", ())))
    names, have = listed(unknown, 5), "has" if len(unknown) == 1 else "have"
    told = [amount for kind in NAMES if (amount := _range(takes, kind))]
    if not told:
        return f"No estimate yet: {names} {have} not run here before." if unknown else ""
    # Tokens without a price: the sum would say less than the plan may cost, so there is none.
    priced = "" if "cost_usd" in takes or "tokens" not in takes else "; the price is not known"
    rest = f" Not counted: {names}, which {have} not run here before." if unknown else ""
    basis = "earlier runs of these steps" if _range(takes, "seconds") else "the length of the prompts"
    return f"Estimate, from {basis}: {_joined(told)}{priced}.{rest}"


def said_and_spent(takes: Mapping[str, Any], spent: Mapping[str, float]) -> str:
    """Return what was said against what was spent, for the end of a run; empty if nothing was said.

    Less than a second, as expected, is not worth a sentence.

    >>> said_and_spent({"seconds": {"low": 2.0, "high": 5.0}}, {"seconds": 4.2})
    'expected 2 to 5 seconds; took 4.2 seconds'
    """
    kinds = [kind for kind in NAMES if kind in spent]
    told = {kind: amount for kind in kinds if (amount := _range(takes, kind))}
    took = {kind: _amount(kind, spent[kind]) for kind in kinds}
    # Both say "less than 1 second": a sentence that says nothing is left out.
    if told.get("seconds") == took.get("seconds") == MOMENT:
        del told["seconds"], took["seconds"]
    return f"expected {_joined([*told.values()])}; took {_joined([*took.values()])}" if told else ""


def _amount(kind: str, amount: float) -> str:
    return MOMENT if kind == "seconds" and amount < 1 else _with_unit(UNITS[kind](amount), kind)


def _with_unit(amount: str, kind: str) -> str:
    return f"{amount} {NAMES[kind].removesuffix('s') if amount == '1' else NAMES[kind]}"


def _range(takes: Mapping[str, Any], kind: str) -> str:
    found = takes.get(kind)
    # At least nothing is no estimate.
    if found is None or ("high" not in found and not found["low"]):
        return ""
    low = UNITS[kind](found["low"])
    if "high" not in found:
        return f"at least {_with_unit(low, kind)}"
    if kind == "seconds" and found["high"] < 1:
        return MOMENT
    high = UNITS[kind](found["high"])
    return f"{low} to {high} {NAMES[kind]}" if high != low else f"about {_with_unit(low, kind)}"


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
