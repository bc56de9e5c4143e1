"""The plan format as a JSON Schema: it takes what prompts explain, and no unknown tool or argument."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_schema import MAX_TOOLS, plan_schema, revision_schema
from planner_executor.graph.plan.reading import read_plan

NODE = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}
ARGUMENTS: dict[str, Any] = {
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 9},
        "order": {"enum": ["up", "down"]},
        "words": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
        "node": {"$ref": "#/$defs/Node"},
        "since": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
    },
    "required": ["query"],
    "additionalProperties": False,
    "$defs": {"Node": NODE},
}
SEARCH, WRITE = ToolSpec("search", "Search.", ARGUMENTS), ToolSpec("write", "Write.", {"properties": {"text": {}}})
TOOLS = (SEARCH, WRITE)
PLAN: dict[str, Any] = {
    "steps": [
        {"id": "a", "objective": "o", "tool": "search", "args": {"query": "wind", "node": {"name": "n", "next": {}}}},
        {"id": "b", "objective": "o", "tools": ["write"], "depends_on": ["a"], "max_calls": 2, "output": "json"},
        {"id": "c", "objective": "o", "success_criteria": "some", "output": {"type": "object"}},
        {"id": "d", "objective": "o", "ask": "Which?"},
        {"id": "e", "objective": "o", "refine": True, "tools": ["write"]},
        {"id": "f", "objective": "o", "gather": {"all": ["{a_result}"]}},
        {"id": "g", "objective": "o", "gate": "Look"},
        {"id": "h", "objective": "o", "tool": "write", "for_each": "{a_result}", "args": {"text": "{item_result}"}},
    ],
    "answer": {"text": "{c_result}"},
}


def fits(*steps: dict[str, Any], tools: tuple[ToolSpec, ...] = TOOLS) -> bool:
    return Draft202012Validator(plan_schema(tools)).is_valid({"steps": [{"objective": "o", **step} for step in steps]})


def test_a_plan_with_every_kind_of_step_fits() -> None:
    Draft202012Validator.check_schema(plan_schema(TOOLS))
    Draft202012Validator(plan_schema(TOOLS)).validate(PLAN)
    assert read_plan(PLAN, {tool.name: tool for tool in TOOLS}).issues == ()


def test_a_revision_may_keep_steps() -> None:
    Draft202012Validator(revision_schema(TOOLS)).validate({"keep": ["a"], **PLAN})


@pytest.mark.parametrize(
    "args",
    [
        {"limit": 9},
        {"limit": "{b_result.n}"},
        {"order": "up"},
        {"order": "{b_result}"},
        {"words": [1, "{b_result}"]},
        {"words": "{b_result}"},
        {"node": {"next": "{b_result}"}},
        {"since": None},
        {"since": "{b_result}"},
    ],
    ids=str,
)
def test_an_argument_has_its_type_or_is_a_reference(args: dict[str, Any]) -> None:
    assert fits({"id": "a", "tool": "search", "args": {"query": "q", **args}})


@pytest.mark.parametrize(
    "step",
    [
        {"id": "a", "tool": "serch", "args": {"query": "q"}},
        {"id": "a", "tools": ["serch"]},
        {"id": "a", "query": "x"},
        {"id": "1"},
        {"id": "a", "tool": "search", "args": {}},
        {"id": "a", "tool": "search", "args": {"query": "q", "n": 1}},
        {"id": "a", "tool": "search", "args": {"query": "q", "limit": 10}},
        {"id": "a", "tool": "search", "args": {"query": "q", "limit": "10"}},
        {"id": "a", "tool": "search", "args": {"query": "q", "order": "sideways"}},
        {"id": "a", "tool": "search", "args": {"query": "q", "words": [1, "two"]}},
        {"id": "a", "tool": "search", "args": {"query": "q", "node": {"next": {"name": 5}}}},
        {"id": "a", "tool": "write", "args": {"query": "q"}},
        {"id": "a", "ask": "Which?", "tool": "write", "args": {}},
        {"id": "a", "timeout_s": 0},
    ],
    ids=str,
)
def test_unknown_tools_and_arguments_and_wrong_values_do_not_fit(step: dict[str, Any]) -> None:
    assert not fits(step)


def test_its_keywords_are_those_of_json_schema_and_its_lists_are_bounded() -> None:
    text = json.dumps(plan_schema(TOOLS))

    assert '"gt"' not in text and '"exclusiveMinimum": 0' in text
    assert all("maxItems" in part for part in parts(plan_schema(TOOLS)) if part.get("type") == "array")


def parts(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [part for item in node for part in parts(item)]
    return [node, *parts(list(node.values()))] if isinstance(node, dict) else []


def test_it_has_the_title_that_servers_want() -> None:
    assert plan_schema(TOOLS)["title"] == "plan" and revision_schema(TOOLS)["title"] == "revision"


def test_past_a_number_of_tools_one_form_stands_for_all() -> None:
    many = tuple(ToolSpec(f"tool_{number}", "", ARGUMENTS) for number in range(MAX_TOOLS + 1))

    assert fits({"id": "a", "tool": "tool_7", "args": {"any": 1}}, tools=many)
    assert not fits({"id": "a", "tool": "tool_99", "args": {}}, tools=many)
    assert len(json.dumps(plan_schema(many))) < 8_000


def test_tools_that_are_shown_in_short_have_one_form_together() -> None:
    schema = Draft202012Validator(plan_schema((SEARCH, WRITE), in_short={"write"}))

    def takes(tool: str, **args: Any) -> bool:
        return schema.is_valid({"steps": [{"id": "a", "objective": "o", "tool": tool, "args": args}]})

    assert takes("search", query="q") and not takes("search", any=1)
    assert takes("write", any=1) and not takes("other", any=1)
    assert schema.is_valid({"steps": [{"id": "a", "objective": "o", "tools": ["search", "write"]}]})


def test_the_names_of_very_many_tools_are_left_out() -> None:
    many = tuple(ToolSpec(f"tool_{number}", "", {}) for number in range(1_000))

    assert "tool_7" not in json.dumps(plan_schema(many))


VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=2))
SCHEMAS = st.recursive(
    st.sampled_from(
        [{}, {"type": "string"}, {"type": "integer", "minimum": 1}, {"enum": [1, "a"]}, {"const": "x"}, True]
    ),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner)
        | st.builds(lambda part: {"type": "object", "properties": {"p": part}}, inner)
        | st.builds(lambda part: {"allOf": [part]}, inner)
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS, value=VALUES)
def test_what_the_schema_of_an_argument_takes_fits(schema: Any, value: Any) -> None:
    if Draft202012Validator(schema).is_valid(value):
        tool = ToolSpec("t", "", {"properties": {"a": schema}})

        assert fits({"id": "a", "tool": "t", "args": {"a": value}}, tools=(tool,))


def look_args(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the arguments with which a planner may look with a tool: no value is a reference."""
    whole = plan_schema((), (ToolSpec("t", "", schema),))
    assert "reference" not in whole["$defs"]
    return dict(whole["properties"]["look"]["items"]["anyOf"][0]["properties"]["args"])


INTEGER, NULL = {"type": "integer"}, {"type": "null"}
OPEN, CLOSED = {"additionalProperties": True}, {"additionalProperties": False}


@pytest.mark.parametrize(
    ("given", "copy"),
    [
        ({"type": "integer", "minimum": 1, "default": 1, "examples": [2]}, {"type": "integer", "minimum": 1}),
        ({"const": "x"}, {"enum": ["x"]}),
        (True, {}),
        ({"allOf": [INTEGER], "type": "integer"}, {}),
        ({"oneOf": [INTEGER, INTEGER, NULL]}, {"anyOf": [INTEGER, NULL]}),
        ({"anyOf": [{"anyOf": [INTEGER, NULL]}, {"type": "string"}]}, {"anyOf": [INTEGER, NULL, {"type": "string"}]}),
        ({"anyOf": [INTEGER, {}]}, {}),
        ({"items": {"const": 1}}, {"items": {"enum": [1]}}),
        ({"properties": {"p": INTEGER}, "required": ["p"]}, {"properties": {"p": INTEGER}, "required": ["p"], **OPEN}),
        ({"properties": {}, "additionalProperties": False}, {"properties": {}, "required": [], **CLOSED}),
        ({"properties": {}, "additionalProperties": {}}, {"properties": {}, "required": [], **OPEN}),
        ({"properties": []}, {}),
        ({"$ref": "#/$defs/n"}, {"$ref": "#/$defs/part_0"}),
        ({"$ref": "#/definitions/m"}, {"$ref": "#/$defs/part_0"}),
        ({"$ref": "#/$defs/m"}, {}),
        ({"$ref": "n"}, {}),
        ({"$ref": "https://a.example/n"}, {}),
    ],
)  # fmt: skip
def test_the_schema_of_an_argument_is_copied_as_far_as_servers_know_it(given: Any, copy: dict[str, Any]) -> None:
    whole = {"properties": {"a": given}, "required": ["a"], "$defs": {"n": INTEGER}, "definitions": {"m": INTEGER}}

    found = look_args(whole)

    assert found == {"type": "object", "properties": {"a": copy}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("more", "args"),
    [
        *(({word: []}, {"type": "object"}) for word in ("anyOf", "oneOf", "allOf")),
        ({"$ref": "#/$defs/n"}, {"type": "object"}),
        ({"additionalProperties": {}}, {"type": "object", "properties": {}, "required": [], **OPEN}),
        ({"additionalProperties": False}, {"type": "object", "properties": {}, "required": [], **CLOSED}),
    ],
)  # fmt: skip
def test_arguments_of_any_shape_are_an_object(more: dict[str, Any], args: dict[str, Any]) -> None:
    assert look_args(more) == args


def test_beside_each_type_but_text_stands_a_reference() -> None:
    tool = ToolSpec("t", "", {"properties": {"n": INTEGER, "text": {"type": "string"}, "any": {}}})

    whole = plan_schema((tool,), (tool,))

    form = whole["properties"]["steps"]["items"]["anyOf"][0]["properties"]
    reference = {"$ref": "#/$defs/reference"}
    assert form["args"]["properties"] == {"n": {"anyOf": [INTEGER, reference]}, "text": {"type": "string"}, "any": {}}
    assert form["objective"] == {"minLength": 1, "type": "string"} and form["depends_on"] == {
        "$ref": "#/$defs/depends_on"
    }
    assert form["max_items"] == {"minimum": 1, "type": "integer"} and form["run_if"] == {
        "enum": ["any"],
        "type": "string",
    }
    assert whole["$defs"]["output"]["anyOf"][0] == {"enum": ["json"], "type": "string"}


def test_a_plan_may_be_a_look_instead() -> None:
    looks, plain = plan_schema((), TOOLS), plan_schema(())

    calls = {"anyOf": [looks["properties"]["look"]["items"]["anyOf"][place] for place in (0, 1)]}
    assert looks["properties"]["look"] == {"type": "array", "minItems": 1, "maxItems": 8, "items": calls}
    assert [one["properties"]["tool"]["enum"] for one in calls["anyOf"]] == [["search"], ["write"]]
    assert (looks["required"], plain["required"], plain["additionalProperties"]) == ([], ["steps"], False)
    assert (
        list(plain["properties"]) == ["steps", "answer", "cannot"] and plain["properties"]["steps"]["maxItems"] == 100
    )
    assert plain["$defs"]["depends_on"]["maxItems"] == 50


def test_a_plan_may_be_a_playbook_or_have_one_as_a_step() -> None:
    schema = Draft202012Validator(plan_schema(TOOLS, playbooks=("p",)))
    use = {"id": "a", "objective": "o", "playbook": "p", "params": {"n": 1}, "depends_on": ["b"]}

    assert schema.is_valid({"playbook": "p", "params": {}}) and not schema.is_valid({"playbook": "q"})
    assert schema.is_valid({"steps": [use]}) and not schema.is_valid({"steps": [{**use, "playbook": "q"}]})
    assert not fits(use)


def called(count: int, **more: Any) -> list[dict[str, Any]]:
    """The names in the forms of calls of so many tools."""
    whole = plan_schema([ToolSpec(f"t{number}", "", {}) for number in range(count)], **more)
    forms = [form["properties"] for form in whole["properties"]["steps"]["items"]["anyOf"]]
    return [form["tool"] for form in forms if "tool" in form]


def test_each_tool_has_a_form_if_there_are_few_and_a_name_if_there_are_not_very_many() -> None:
    assert called(60) == [{"enum": [f"t{number}"]} for number in range(60)]
    assert called(61) == [{"enum": [f"t{number}" for number in range(61)]}]
    assert len(called(200)[0]["enum"]) == 200 and called(201) == [{"type": "string"}] and called(0) == []
    assert called(3, in_short=("t1",)) == [{"enum": ["t0"]}, {"enum": ["t2"]}, {"enum": ["t1"]}]
