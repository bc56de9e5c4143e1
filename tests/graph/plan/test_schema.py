"""Steps and plans as values: what follows from their fields follows from those of a copy too."""

from planner_executor.graph.plan.schema import Plan, Step

STEP = Step(id="b", objective="o", tool="look", args={"q": "{a_result}"})


def test_a_copy_with_other_fields_is_read_anew() -> None:
    assert (STEP.waits, [*STEP.argument_references], STEP.kind) == (("a",), ["q"], "tool")

    copied = STEP.model_copy(update={"tool": None, "args": {"text": "{c_result}"}, "depends_on": ("d",)})

    assert (copied.waits, [*copied.argument_references], copied.kind) == (("d", "c"), ["text"], "model")


def test_a_copy_of_a_plan_has_a_digest_of_its_own() -> None:
    plan = Plan(steps=(STEP,))
    assert list(plan.by_id) == ["b"] and plan.digest

    copied = plan.model_copy(update={"steps": ()})

    assert not copied.by_id and copied.digest == Plan().digest != plan.digest


def test_two_steps_are_equal_whatever_was_asked_of_one_of_them() -> None:
    other = Step.model_validate(STEP.model_dump())
    assert STEP.waits == ("a",)

    assert other == STEP and other.to_json() == STEP.to_json()
