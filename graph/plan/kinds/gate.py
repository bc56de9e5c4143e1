"""A gate: the run waits for a person's consent."""

from planner_executor.graph.plan.kinds.person import person_spec
from planner_executor.graph.plan.kinds.spec import StepStyle

SPEC = person_spec(
    "gate",
    StepStyle("gate", "a person has to let it pass", "barrier", "hexagon"),
    fields=(),
    prompt='"gate": "<what to look at>" waits for the user\'s consent',
    doer="a person agrees",
    question="a gate",
)
