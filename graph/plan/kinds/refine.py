"""A step that a planner expands into steps once its dependencies have succeeded."""

from planner_executor.graph.plan.kinds.spec import (
    KindSpec,
    StepStyle,
    arguments,
    asks_nothing,
    calls_of_model,
    granted,
    no_faults,
    no_tools,
)

LOOK = StepStyle("refine", "planned in detail when it is due", "branches", "subroutine", dashed=True)

SPEC = KindSpec(
    fields=("tools", "checks"),
    misplaced="does not go with refine",
    tools=no_tools,
    faults=no_faults,
    done_by="planner",
    prompt='"refine": true is planned in detail once it is due, with the "tools" it may use',
    look=lambda _: LOOK,
    doer=lambda step, show: f"planner({', '.join(map(show, step.tools))})" if step.tools else "planner",
    material=arguments,
    work=lambda fields, _: f"a planner, when it is due, with {granted(fields)}",
    calls=calls_of_model,
    asks=asks_nothing,
)
