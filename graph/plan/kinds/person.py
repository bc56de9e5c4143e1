"""Steps that a person does: the run waits for an answer or for consent."""

from planner_executor.graph.plan.kinds.spec import KindSpec, StepStyle, no_calls, no_faults, no_tools


def person_spec(
    kind: str, style: StepStyle, *, fields: tuple[str, ...], prompt: str, doer: str, question: str
) -> KindSpec:
    """Return the specification of a kind whose text for the person is in the field of the kind's name.

    Args:
        kind: The name of the kind.
        style: How drawings show it.
        fields: Fields allowed besides the one that names the kind.
        prompt: Explanation for planners.
        doer: Who does the step, in a few words.
        question: What the text is, for the review.
    """
    return KindSpec(
        fields=fields,
        misplaced=f"does not go with {kind}",
        tools=no_tools,
        faults=no_faults,
        done_by="person",
        prompt=prompt,
        look=lambda _: style,
        doer=lambda _, __: doer,
        material=lambda step: str(step.told(getattr(step, kind))),
        work=lambda raw, _: f"a person, about {raw[kind]!r}",
        calls=no_calls,
        asks=lambda step: f"{question}: {step.told(getattr(step, kind))}",
    )
