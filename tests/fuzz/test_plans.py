"""Plans, schemas, references and answers from anywhere: read or refused in words, in time."""

import json
from typing import Any

import pytest
from bounded import fuzzed, in_time, odd_texts, odd_values
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import ExpressionError, UnresolvedReferenceError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.expressions import evaluate, expression_fault
from planner_executor.graph.plan.inline_schema import inline_schema_fault, schema_errors
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.references import references_in, resolve
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.decision import InvalidResponse, read_answer
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import ALLOWED
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of JMESPath, for odd literals
TOOLS = {
    "search": ToolSpec("search", "d", {"type": "object", "properties": {"q": {"type": "string"}}}, effect="read"),
    "send": ToolSpec("send", "d", {"type": "object", "properties": {"to": {"pattern": "^(a+)+$"}}, "required": ["to"]}),
}
KEYWORDS = (
    "type", "properties", "patternProperties", "additionalProperties", "items", "prefixItems", "allOf", "anyOf",
    "oneOf",
    "not", "if", "then", "else", "$ref", "$defs", "enum", "const", "pattern", "uniqueItems", "contains", "minimum",
    "multipleOf", "required", "dependentSchemas", "dependentRequired", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems", "$schema", "$id", "$anchor", "$dynamicRef", "format", "minLength", "definitions",
)  # fmt: skip
schemas = st.recursive(
    st.one_of(st.booleans(), st.sampled_from(["string", "#", "#/$defs/a", "^(a+)+$", "a"]), odd_values),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
        st.dictionaries(st.sampled_from(["a", "b", "^(a+)+$"]), inner, max_size=3),
        st.lists(inner, max_size=4),
    ),
    max_leaves=10,
)
ids = st.sampled_from(["a", "b", "c", "item", "step_1", 1, "1"])
checks = st.fixed_dictionaries(
    {}, optional={"schema": schemas, "condition": odd_texts, "of": odd_texts, "matches": odd_texts}
)
fields: dict[str, Any] = {
    "id": st.one_of(ids, odd_values),
    "objective": st.one_of(st.just("o"), odd_values),
    "tool": st.one_of(st.sampled_from(["search", "send", "none", "gone"]), odd_values),
    "tools": st.one_of(st.lists(st.sampled_from(["search", "send"]), max_size=2), odd_values),
    "args": st.one_of(st.dictionaries(st.sampled_from(["q", "to", "x"]), odd_values, max_size=3), odd_values),
    "depends_on": st.one_of(st.lists(ids, max_size=3), odd_values),
    "output": st.one_of(st.just("json"), schemas, odd_values),
    "checks": st.one_of(st.lists(checks, max_size=2), odd_values),
    "for_each": st.one_of(st.just("{a_result}"), odd_values),
    "ask": odd_values, "gate": odd_values, "refine": odd_values, "gather": odd_values, "max_calls": odd_values,
}  # fmt: skip
few_fields = st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True)
steps = few_fields.flatmap(
    lambda names: st.fixed_dictionaries(
        {"id": ids, "objective": st.just("o"), **{name: fields[name] for name in names}}
    )
)
plans = st.one_of(
    st.fixed_dictionaries({"steps": st.lists(steps, max_size=5)}, optional={"answer": odd_values, "keep": odd_values}),
    odd_values,
)


@fuzzed
@given(plans)
def test_a_plan_is_read_or_refused(raw: Any) -> None:
    with in_time():
        reading = read_plan(raw, TOOLS)
        assert (reading.plan is None) is bool(reading.issues)
        for issue in reading.issues:
            json.dumps(issue.to_json())
        if reading.plan is not None:
            assert read_plan(reading.plan.to_json(), TOOLS).plan == reading.plan
            assert reading.plan.digest and plan_text(reading.plan) and plan_svg(reading.plan)


@fuzzed
@given(plans)
def test_a_revision_is_read_or_refused(raw: Any) -> None:
    current = Plan.model_validate({"steps": [{"id": "a", "objective": "o"}, {"id": "b", "objective": "o"}]})

    with in_time():
        reading = read_revision(raw, current, ["a"], TOOLS)

    assert (reading.plan is None) is bool(reading.issues)


@fuzzed
@given(schemas, odd_values)
def test_a_schema_is_refused_or_says_what_is_wrong(schema: Any, value: Any) -> None:
    with in_time():
        fault = inline_schema_fault(schema) if isinstance(schema, dict) else None
        if isinstance(schema, dict) and fault is None:
            assert all(isinstance(words, str) for words in schema_errors(schema, value))
            ToolSpec("t", "d", schema).argument_faults({"a": value})


@fuzzed
@given(st.text(alphabet="{}ab_result.[]0@|\"'`*? ", max_size=60), odd_values)
def test_references_are_filled_in_or_said_to_be_without_a_value(text: str, value: Any) -> None:
    with in_time():
        references_in(text)
        try:
            resolve(text, {"a": value if not json_faults(value) else None, "b": {"0": [text]}})
        except UnresolvedReferenceError as error:
            assert error.reference


@fuzzed
@given(st.one_of(odd_texts, st.text(alphabet="ab@.[]|{}:*`&?,()'\"0 1!=<>", max_size=60)), odd_values)
def test_an_expression_finds_something_or_says_why_not(expression: str, value: Any) -> None:
    with in_time():
        if expression_fault(expression) is None:
            try:
                evaluate(expression, value)
            except ExpressionError as error:
                assert str(error)


edited = st.dictionaries(
    st.sampled_from(["plan", "answer", "happened", "budget", "step"]), st.one_of(plans, odd_values), max_size=3
)
decisions = st.fixed_dictionaries(
    {"type": st.one_of(st.sampled_from(["approve", "edit", "reject"]), odd_values)},
    optional={
        "edited_action": st.one_of(
            st.fixed_dictionaries({"name": st.sampled_from(sorted(ALLOWED)), "args": edited}), odd_values
        ),
        "message": odd_values,
        "final": odd_values,
        "digest": odd_values,
    },
)
answers = st.one_of(
    decisions,
    st.fixed_dictionaries({"decisions": st.lists(decisions, min_size=1, max_size=2)}),
    plans,
    odd_texts,
    plans.map(repr),
    st.integers(1, 4_000).map(lambda levels: "[" * levels + "]" * levels),
)
requests: dict[str, dict[str, Any]] = {
    "run_plan": {"plan": {"steps": []}},
    "run_step": {"step": "a", "tool": "send", "args": {}},
    "answer_question": {"step": "a", "question": "?", "answer": None},
    "settle_effect": {"step": "a", "tool": "send", "args": {}, "happened": None, "result": None},
    "raise_budget": {"budget": {}, "spent": {}},
}


@fuzzed
@given(answers, st.sampled_from(sorted(requests)))
def test_an_answer_is_a_decision_or_is_asked_for_again(answer: Any, name: Any) -> None:
    action = ReviewAction(name, requests[name], name)
    request = ReviewRequest(run="t.1", revision=1, digest="d" * 64, binding="b" * 64, actions=(action,))

    with in_time():
        try:
            (decision,) = read_answer(answer, request)
        except InvalidResponse as error:
            assert str(error)
            return
        assert decision.type in ALLOWED[action.name]
        json.dumps(decision.to_json())
        if decision.args and "plan" in decision.args:
            read_plan(decision.args["plan"], TOOLS)
