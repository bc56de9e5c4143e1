"""A question that a person answers; the answer is the step's result."""

from graph.plan.kinds.spec import KindSpec, StepStyle, no_calls, no_faults, no_tools

LOOK = StepStyle("ask", "question to a person", "question", "parallelogram")

SPEC = KindSpec(
    fields=("output",),
    misplaced="does not go with ask",
    tools=no_tools,
    faults=no_faults,
    done_by="person",
    prompt='"ask": "<question>" is answered by the user',
    look=lambda _: LOOK,
    doer=lambda _, __: "a person answers",
    material=lambda step: str(step.ask),
    work=lambda fields, _: f"a person, about {fields['ask']!r}",
    calls=no_calls,
    asks=lambda step: f"a question: {step.ask}",
)
