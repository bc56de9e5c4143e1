from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.plan.step_kind import kind_of, named_kinds

SEARCH = ToolSpec("search", "finds", {"type": "object", "properties": {"query": {"type": "string"}}}, effect="read")


def test_a_field_that_is_false_names_no_kind() -> None:
    step = Step(id="a", objective="o", tools=("search",), gather=False)

    assert step.kind == "model"


def test_a_step_that_names_a_kind_is_no_model_step_whatever_else_it_says() -> None:
    assert named_kinds({"model": "m", "tool": "search", "ask": None}) == ["tool"]


def test_the_json_of_a_step_has_the_kind_of_the_step() -> None:
    step = Step(id="a", objective="o", gate="Is it good?")

    assert kind_of(step.to_json()) == step.kind == "gate"


def test_a_step_that_is_not_to_be_refined_is_held_to_the_rules_of_a_model_step() -> None:
    step = {"id": "a", "objective": "o", "tools": ["search"], "refine": False, "args": {"colour": "red"}}

    issues = read_plan({"steps": [step]}, {"search": SEARCH}).issues

    assert [(issue.field, issue.message) for issue in issues] == [
        ("args", "none of its tools has an argument 'colour'")
    ]
