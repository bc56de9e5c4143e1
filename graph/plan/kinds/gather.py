"""A step that combines earlier results: JSON with references, no work of its own."""

from planner_executor.graph.plan.kinds.spec import KindSpec, StepStyle, asks_nothing, no_calls, no_faults, no_tools

LOOK = StepStyle("gather", "results put together", "junction", "trapezoid")

SPEC = KindSpec(
    fields=("checks",),
    misplaced="does not go with gather",
    tools=no_tools,
    faults=no_faults,
    done_by="nobody",
    prompt='"gather": <JSON with references> puts results together',
    look=lambda _: LOOK,
    doer=lambda _, __: "gather",
    material=lambda step: {"": step.gather},
    work=lambda fields, show: f"put together {show(fields['gather'])}",
    calls=no_calls,
    asks=asks_nothing,
)
