"""The schema of an answer that is a step's result."""

from typing import Any

import pytest

from planner_executor.graph.plan.inline_schema import inline_schema_fault, schema_errors
from planner_executor.graph.plan.result_schema import result_in, result_schema


@pytest.mark.parametrize("output", [{"type": "integer"}, {"type": "array", "items": {}}, {"properties": {"n": {}}}])
def test_a_result_of_any_form_is_a_part_of_an_object_beside_the_words_that_it_cannot_be(output: Any) -> None:
    schema = result_schema(output)

    assert schema is not None and schema["type"] == "object" and inline_schema_fault(schema) is None
    assert schema["properties"]["result"] == output
    assert schema_errors(schema, {"cannot": "why"}) == [] != schema_errors(schema, {"n": 1})


@pytest.mark.parametrize(
    "output",
    [
        None,
        "json",
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}},
        {"$schema": "x"},
        {"properties": {"a": {"$ref": "#"}}},
    ],
    ids=str,
)
def test_there_is_none_for_any_json_and_for_a_schema_with_references(output: Any) -> None:
    assert result_schema(output) is None


def test_equal_outputs_have_the_same_schema() -> None:
    assert result_schema({"type": "integer"}) is result_schema({"type": "integer"})


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"result": 3}, 3),
        ({"result": 3, "cannot": ""}, 3),
        ({"result": 3, "cannot": "why"}, {"result": 3, "cannot": "why"}),
        ({"result": 3, "n": 1}, {"result": 3, "n": 1}),
        ({"cannot": ""}, {"cannot": ""}),
        (["result"], ["result"]),
        ({}, {}),
    ],
    ids=str,
)
def test_the_result_is_taken_out_of_an_answer_that_keeps_to_the_schema_alone(answer: Any, result: Any) -> None:
    assert result_in(answer) == result
