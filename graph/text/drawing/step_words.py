"""Short texts on a step: its doer, its inputs, and its parent."""

from typing import NamedTuple

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.when import describe_when
from planner_executor.graph.text.drawing.labels import arguments, plain


class StepWords(NamedTuple):
    """The texts on a step, each on one line, from which the forms of a drawing for a terminal choose."""

    id: str
    objective: str
    call: str

    @classmethod
    def of(cls, step: Step) -> "StepWords":
        """Return the texts of a step."""
        checked = f" [{checks(step)}]" if step.checks else ""
        return cls(step.id, plain(step.objective), f"{doer(step)}{checked} {material(step)}".rstrip())


def doer(step: Step) -> str:
    """Return who does the step, under which condition, and the limit of items with `for_each`.

    >>> doer(Step(id="a", objective="o", tools=("search",), executor="cheap", for_each=[1]))
    'each ≤20: cheap model(search)'
    >>> doer(Step(id="a", objective="o", output="json", for_each=[1], batch=10))
    'each ≤20, 10 at once: model'
    >>> doer(Step(id="a", objective="o", tool="pay", when={"of": "{b_result}", "condition": "@ > `9`"}))
    'if @ > `9` of {b_result}: pay'
    """
    who = kind_spec(step.kind).doer(step, plain)
    at_once = f", {step.batch} at once" if step.batch else ""
    who = who if step.for_each is None else f"each ≤{step.most_items}{at_once}: {who}"
    return who if step.when is None else f"if {plain(describe_when(step.when))}: {who}"


def checks(step: Step) -> str:
    """Return the number of checks on its result, empty if there are no checks."""
    count = len(step.checks)
    return f"{count} check{'s' * (count != 1)}" if count else ""


def material(step: Step) -> str:
    """Return the inputs of the step on one line: arguments, a question, or the gathered value."""
    given = kind_spec(step.kind).material(step)
    return plain(given) if isinstance(given, str) else arguments(given, step.literal).removeprefix("=")


def depths(plan: Plan) -> dict[str, int]:
    """Return step id -> number of refined steps that it is nested in; 0 for a circle of parents."""
    found: dict[str, int] = {}
    for step in plan.steps:
        chain: dict[str, None] = {}
        above: Step | None = step
        # Parents are as a model or a caller wrote them: one may be missing, and several may form a circle.
        while above is not None and above.id not in found and above.id not in chain:
            chain[above.id] = None
            above = plan.by_id.get(above.parent or "")
        names = list(chain)
        if above is not None and above.id in chain:
            circle = names.index(above.id)
            found.update(dict.fromkeys(names[circle:], 0))
            names = names[:circle]
        depth = -1 if above is None else found[above.id]
        # From the outermost in: each is one deeper than the one around it.
        for name in reversed(names):
            found[name] = depth = depth + 1
    return found
