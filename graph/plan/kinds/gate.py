"""A gate: the run waits for a person's consent."""

from graph.plan.kinds.spec import KindSpec, StepStyle, no_calls, no_faults, no_tools

LOOK = StepStyle("gate", "a person has to let it pass", "barrier", "hexagon")

SPEC = KindSpec(
    fields=(),
    misplaced="does not go with gate",
    tools=no_tools,
    faults=no_faults,
    done_by="person",
    prompt='"gate": "<what to look at>" waits for the user\'s consent',
    look=lambda _: LOOK,
    doer=lambda _, __: "a person agrees",
    material=lambda step: str(step.gate),
    work=lambda fields, _: f"a person, about {fields['gate']!r}",
    calls=no_calls,
    asks=lambda step: f"a gate: {step.gate}",
)
