"""Who does a step, with what, and which step it was made of."""

from collections.abc import Mapping
from typing import Literal

from graph.plan.schema import Plan, Step
from graph.text.drawing.labels import arguments, plain

Kind = Literal["tool", "model", "reasoning", "ask", "gate", "refine", "gather"]

ROLES: Mapping[Kind, str] = {
    "tool": "tool call",
    "model": "model with tools",
    "reasoning": "model without tools",
    "ask": "question to a person",
    "gate": "a person has to let it pass",
    "refine": "planned in detail when it is due",
    "gather": "results put together",
}


def kind_of(step: Step) -> Kind:
    """Say who does the step; a model with tools is told from one that only thinks."""
    return "reasoning" if step.kind == "model" and not step.tools else step.kind


def doer(step: Step) -> str:
    """Return who does the step, and how often at most where it is done for each item of a list.

    >>> doer(Step(id="a", objective="o", tools=("search",), executor="cheap", for_each=[1]))
    'each ≤20: cheap model(search)'
    """
    return _who(step) if step.for_each is None else f"each ≤{step.most_items}: {_who(step)}"


def checks(step: Step) -> str:
    """Return how many checks there are of its result, nothing where there are none."""
    count = len(step.checks)
    return f"{count} check{'s' * (count != 1)}" if count else ""


def material(step: Step) -> str:
    """Return what the step is done with, on one line: arguments, a question, or what is put together."""
    if words := step.ask or step.gate:
        return plain(words)
    if step.gather is not None:
        return arguments({"": step.gather}).removeprefix("=")
    return arguments({**({} if step.for_each is None else {"of": step.for_each}), **step.args}, step.literal)


def depths(plan: Plan) -> dict[str, int]:
    """Return step id -> within how many refined steps it lies; those that are made of each other lie in none."""
    found: dict[str, int] = {}
    for step in plan.steps:
        chain: dict[str, None] = {}
        above: Step | None = step
        while above is not None and above.id not in found and above.id not in chain:
            chain[above.id] = None
            above = plan.by_id.get(above.parent or "")
        names = list(chain)
        if above is not None and above.id in chain:
            circle = names.index(above.id)
            found.update(dict.fromkeys(names[circle:], 0))
            names = names[:circle]
        depth = -1 if above is None else found[above.id]
        for name in reversed(names):
            found[name] = depth = depth + 1
    return found


def _who(step: Step) -> str:
    tools = f"({', '.join(map(plain, step.tools))})" if step.tools else ""
    if step.tool is not None:
        return plain(step.tool)
    if step.kind == "model":
        return f"{plain(step.executor)} model{tools}" if step.executor else f"model{tools}"
    return {"ask": "a person answers", "gate": "a person agrees", "refine": f"planner{tools}"}.get(step.kind, "gather")
