"""A question that a person answers; the answer is the step's result."""

from planner_executor.graph.plan.kinds.person import person_spec
from planner_executor.graph.plan.kinds.spec import StepStyle

SPEC = person_spec(
    "ask",
    StepStyle("ask", "question to a person", "question", "parallelogram"),
    fields=("output",),
    prompt='"ask": "<question>" is answered by the user',
    doer="a person answers",
    question="a question",
)
