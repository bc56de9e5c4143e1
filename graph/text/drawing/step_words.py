"""Who does a step, with what, and which step it was made of."""

from graph.plan.kinds.table import kind_spec
from graph.plan.schema import Plan, Step
from graph.text.drawing.labels import arguments, plain


def doer(step: Step) -> str:
    """Return who does the step, and how often at most where it is done for each item of a list.

    >>> doer(Step(id="a", objective="o", tools=("search",), executor="cheap", for_each=[1]))
    'each ≤20: cheap model(search)'
    """
    who = kind_spec(step.kind).doer(step, plain)
    return who if step.for_each is None else f"each ≤{step.most_items}: {who}"


def checks(step: Step) -> str:
    """Return how many checks there are of its result, nothing where there are none."""
    count = len(step.checks)
    return f"{count} check{'s' * (count != 1)}" if count else ""


def material(step: Step) -> str:
    """Return what the step is done with, on one line: arguments, a question, or what is put together."""
    given = kind_spec(step.kind).material(step)
    return plain(given) if isinstance(given, str) else arguments(given, step.literal).removeprefix("=")


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
