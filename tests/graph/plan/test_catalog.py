"""Arguments against a tool's JSON Schema: no coercion, no silent dropping, nothing fetched."""

import socket
from typing import Any

import pytest

from planner_executor.graph.plan import bounded_schema
from planner_executor.graph.plan.catalog import Catalog, ToolSpec, absent_in, is_undeclared, unknown_tool
from planner_executor.graph.plan.reading import read_plan


def spec(schema: dict[str, Any], **declared: Any) -> ToolSpec:
    return ToolSpec("tool", "a tool", schema, **declared)


def takes(properties: dict[str, Any], *required: str, **more: Any) -> ToolSpec:
    return spec({"type": "object", "properties": properties, "required": list(required), **more})


INTEGER = takes({"n": {"type": "integer"}}, "n")


@pytest.mark.parametrize("value", ["5", "", True, None, 1.5, [5], {"n": 5}])
def test_nothing_is_coerced_to_an_integer(value: Any) -> None:
    assert [place for place, _ in INTEGER.argument_faults({"n": value})] == ["args.n"]


@pytest.mark.parametrize("value", [5, 0, -1, 1.0])
def test_json_schema_counts_a_number_without_fraction_as_an_integer(value: Any) -> None:
    assert INTEGER.argument_faults({"n": value}) == []


def test_a_missing_argument_is_named() -> None:
    (place, message), *others = INTEGER.argument_faults({})

    assert (place, others) == ("args.n", [])
    assert "'n'" in message


def test_an_extra_argument_that_the_tool_would_drop_is_a_fault() -> None:
    (place, message), *others = INTEGER.argument_faults({"n": 1, "limit": 3})

    assert (place, others) == ("args", [])
    assert "'limit'" in message
    assert "n" in message


def test_an_extra_argument_is_named_once_even_if_the_schema_forbids_it_outright() -> None:
    assert len(takes({"n": {}}, additionalProperties=False).argument_faults({"x": 1, "y": 2})) == 2


@pytest.mark.parametrize("outright", [True, {}, {"type": "integer"}])
def test_extras_are_allowed_where_the_schema_says_so_outright_and_known_to_fit_at_once(
    outright: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = takes({"n": {}}, additionalProperties=outright)
    with monkeypatch.context() as without:
        without.delattr(bounded_schema, "bounded_errors")
        assert tool.argument_faults({"x": 1}) == []
    unresolved = tool.argument_faults({"x": "{y_result}"}, ["x"])
    assert unresolved == []


def test_extras_fit_the_schema_they_are_allowed_by() -> None:
    tool = takes({"n": {}}, additionalProperties={"type": "integer"})

    assert [place for place, _ in tool.argument_faults({"x": "1"})] == ["args.x"]


def test_extras_may_match_a_pattern() -> None:
    tool = takes({"n": {}}, patternProperties={"^x_": {"type": "integer"}})

    assert tool.argument_faults({"x_1": 1}) == []
    assert [place for place, _ in tool.argument_faults({"x_1": "1"})] == ["args.x_1"]


@pytest.mark.parametrize("more", [{}, {"additionalProperties": False}])
def test_extras_that_match_no_pattern_are_a_fault(more: dict[str, Any]) -> None:
    tool = takes({"n": {}}, patternProperties={"^x_": {}}, **more)

    assert [place for place, _ in tool.argument_faults({"y": 1})] == ["args"]


def test_all_faults_of_a_call_are_listed() -> None:
    tool = takes({"a": {"type": "string"}, "b": {"enum": [1, 2]}, "c": {"minimum": 0}}, "a", "d")

    places = [place for place, _ in tool.argument_faults({"a": 1, "b": 3, "c": -1, "z": 0})]

    assert sorted(places) == ["args", "args.a", "args.b", "args.c", "args.d"]


def test_a_fault_deep_inside_is_named_by_its_place() -> None:
    tool = takes({"a": {"type": "array", "items": {"properties": {"b": {"type": "string"}}}}})

    assert [place for place, _ in tool.argument_faults({"a": [{}, {"b": 1}]})] == ["args.a[1].b"]


NESTED = {
    "type": "object",
    "properties": {"who": {"$ref": "#/$defs/Person"}},
    "required": ["who"],
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "friends": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
            },
            "required": ["name"],
        }
    },
}


def test_definitions_are_followed_as_deep_as_the_arguments_go() -> None:
    person: dict[str, Any] = {"name": 5}
    for _ in range(20):
        person = {"name": "x", "friends": [person]}

    (place, _), *others = spec(NESTED).argument_faults({"who": person})

    assert others == []
    assert place == "args.who" + ".friends[0]" * 20 + ".name"


ALTERNATIVES = {
    "anyOf": [
        {"properties": {"url": {"type": "string"}}, "required": ["url"]},
        {"properties": {"path": {"type": "string"}}, "required": ["path"]},
    ]
}


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_arguments_may_stand_in_alternatives_at_the_root(word: str) -> None:
    tool = spec({word: ALTERNATIVES["anyOf"]})

    assert tool.parameters == ("url", "path")
    assert tool.argument_faults({"path": "x"}) == []
    assert len(tool.argument_faults({"path": 1})) == 1
    assert len(tool.argument_faults({})) == 1
    assert len(tool.argument_faults({"path": "x", "other": 1})) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Args", "$defs": {"Args": {"properties": {"q": {"type": "string"}}, "required": ["q"]}}},
        {"allOf": [{"$ref": "#/$defs/a~1b"}], "$defs": {"a/b": {"properties": {"q": {"type": "string"}}}}},
        {"if": {}, "then": {"properties": {"q": {"type": "string"}}}},
    ],
)
def test_arguments_may_stand_behind_a_reference_at_the_root(schema: dict[str, Any]) -> None:
    tool = spec(schema)

    assert tool.first_parameter == "q"
    assert tool.argument_faults({"q": "x"}) == []
    assert tool.argument_faults({"q": 1})
    assert tool.argument_faults({"q": "x", "other": 1})


def test_one_part_of_a_schema_may_forbid_what_another_names() -> None:
    tool = spec({"allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}]})

    assert tool.argument_faults({"a": 1}) == []
    assert tool.argument_faults({"b": 1})


def test_an_argument_with_a_reference_is_not_checked_yet_but_counts_as_given() -> None:
    assert INTEGER.argument_faults({"n": "{a_result}"}, {"n"}) == []


def test_only_the_argument_with_the_reference_is_left_unchecked() -> None:
    tool = takes({"a": {"type": "integer"}, "b": {"type": "integer"}}, "a", "b", "c")

    places = [place for place, _ in tool.argument_faults({"a": "{x_result}", "b": "5"}, {"a"})]

    assert sorted(places) == ["args.b", "args.c"]


def test_an_extra_argument_with_a_reference_is_still_extra() -> None:
    assert len(INTEGER.argument_faults({"n": 1, "x": "{a_result}"}, {"x"})) == 1


def test_a_rule_over_all_arguments_waits_for_the_reference() -> None:
    tool = spec(ALTERNATIVES)

    assert tool.argument_faults({"path": ["{a_result}"]}, {"path"}) == []
    assert len(tool.argument_faults({"path": ["resolved"]})) == 1


def test_a_plan_finds_references_inside_nested_arguments() -> None:
    tools = {"tool": takes({"n": {"type": "array", "items": {"type": "integer"}}})}
    before = {"id": "a", "objective": "o"}

    def read(items: list[Any]) -> Any:
        return read_plan([before, {"id": "b", "objective": "o", "tool": "tool", "args": {"n": items}}], tools)

    assert read(["{a_result}"]).plan is not None
    assert read(["{{a_result}}"]).plan is None


def test_a_grant_pins_only_arguments_that_some_tool_takes() -> None:
    tools = {"a": takes({"x": {"type": "integer"}}, "x", "y"), "b": takes({"z": {"type": "string"}})}

    def read(args: dict[str, Any]) -> Any:
        return read_plan([{"id": "s", "objective": "o", "tools": ["a", "b"], "args": args}], tools)

    assert read({"x": 1, "z": "w"}).plan is not None
    assert [issue.field for issue in read({"x": "1"}).issues] == ["args.x"]
    assert [issue.field for issue in read({"other": 1}).issues] == ["args"]


def test_a_schema_that_points_at_the_network_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        tool = takes({"a": {"$ref": f"http://127.0.0.1:{server.getsockname()[1]}/schema"}})

        faults = tool.argument_faults({"a": 1})

        assert [place for place, _ in faults] == ["args"]
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_schema_that_points_at_the_network_does_not_stop_other_arguments() -> None:
    tool = takes({"a": {"$ref": "http://127.0.0.1:9/schema"}, "b": {"type": "integer"}})

    assert tool.argument_faults({"b": 1}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": []},
        {"required": "a"},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"minimum": "0"}}},
        {"$ref": "#"},
        {"properties": {"a": {"default": float("nan")}}},
        {"properties": {"a": {"default": object()}}},
        {"title": "\ud800"},
    ],
)
def test_a_schema_that_is_none_is_found_before_any_plan(schema: dict[str, Any]) -> None:
    assert spec(schema).schema_fault()


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        NESTED,
        ALTERNATIVES,
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"exclusiveMinimum": True, "minimum": 1}},
        },
        {"$schema": "https://nobody.example/dialect", "properties": {}},
    ],
)
def test_a_schema_of_any_dialect_is_taken(schema: dict[str, Any]) -> None:
    assert spec(schema).schema_fault() is None


def test_the_dialect_of_a_schema_decides() -> None:
    rule = {"properties": {"a": {"exclusiveMinimum": True, "minimum": 1}}}

    assert spec({"$schema": "http://json-schema.org/draft-04/schema#", **rule}).argument_faults({"a": 1})
    assert spec(rule).schema_fault()


@pytest.mark.parametrize(
    ("schema", "first"),
    [
        ({"properties": {"a": {}}}, "a"),
        ({"properties": {"a": {}, "b": {}}, "required": ["b"]}, "b"),
        ({"properties": {"a": {}, "b": {}}, "required": ["b", "a"]}, "a"),
        ({"properties": {"a": {}, "b": {}}}, None),
        ({"properties": {}}, None),
        ({}, None),
    ],
)
def test_a_plain_text_is_meant_for_the_only_or_the_first_required_parameter(schema: Any, first: str | None) -> None:
    assert spec(schema).first_parameter == first


@pytest.mark.parametrize(
    ("declared", "repeatable"),
    [
        ({}, False),
        ({"effect": "read"}, True),
        ({"effect": "write"}, False),
        ({"effect": "external"}, False),
        ({"effect": "write", "idempotent": True}, True),
        ({"effect": "external", "idempotent": True}, True),
    ],
)
def test_only_what_is_declared_harmless_may_be_repeated(declared: dict[str, Any], repeatable: bool) -> None:
    assert spec({}, **declared).repeatable is repeatable


@pytest.mark.parametrize(
    "other",
    [
        spec({"type": "object"}, effect="write"),
        spec({"type": "object"}, effect="read", idempotent=True),
        spec({"type": "object", "properties": {"a": {}}}, effect="read"),
        spec({"type": "object"}, effect="read", summary="reads"),
        spec({"type": "object"}, effect="read", reversible=False),
    ],
)
def test_a_tool_that_changes_schema_or_effect_changes_its_face(other: ToolSpec) -> None:
    assert other.fingerprint != spec({"type": "object"}, effect="read").fingerprint


def test_a_tool_that_changes_its_words_keeps_its_face() -> None:
    assert ToolSpec("a", "new words", {}, timeout_s=3).fingerprint == ToolSpec("a", "old words", {}).fingerprint


@pytest.mark.parametrize(
    ("schema", "may_have"),
    [
        ({"properties": {"to": {"type": "string"}}}, False),
        ({"properties": {"to": {"type": "string", "description": 'text with "default": in it'}}}, False),
        ({"properties": {"copies": {"default": 1}}}, True),
        (
            {"properties": {"how": {"$ref": "#/$defs/how"}}, "$defs": {"how": {"properties": {"n": {"default": 2}}}}},
            True,
        ),
        ({"properties": {"how": {"anyOf": [{"type": "null"}, {"items": {"default": None}}]}}}, True),
    ],
)
def test_a_default_is_found_at_any_depth_of_a_schema(schema: dict[str, Any], may_have: bool) -> None:
    assert spec(schema).may_have_defaults is may_have


def test_what_is_known_of_a_schema_is_not_said_of_another_that_is_equal_to_python() -> None:
    bound = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"minimum": 0}}}

    assert spec({**bound, "properties": {"a": {"minimum": 0, "exclusiveMinimum": True}}}).schema_fault() is None
    assert spec({**bound, "properties": {"a": {"minimum": 0, "exclusiveMinimum": 1}}}).schema_fault()


def test_the_face_of_a_tool_is_that_of_records_of_before() -> None:
    assert (
        spec({"type": "object"}, effect="read").fingerprint
        == "962b04194948357f63971179507b1bbd6a34af47122bb9bb63f8d6d926608edf"
    )
    assert (
        spec({}, summary="{a}", reversible=True).fingerprint
        == "ae6541c3ab7bd8e24a83bc73890b4a0aa5ecafb2e2ade3edfc7584da3caddc8a"
    )


@pytest.mark.parametrize(
    ("declared", "trust", "acts", "is_bare"),
    [
        ({}, "undeclared", True, False),
        ({"declared": False}, "undeclared", True, True),
        ({"declared": False, "trusted": True}, "trusted", True, False),
        ({"effect": "read", "trusted": False}, "untrusted", False, False),
        ({"effect": "write"}, "undeclared", True, False),
    ],
)
def test_a_tool_is_what_it_declares(declared: dict[str, Any], trust: str, acts: bool, is_bare: bool) -> None:
    tool = spec({}, **declared)

    assert (tool.trust, tool.acts, is_undeclared(tool), tool.look) == (trust, acts, is_bare, False)


def test_a_fault_within_an_argument_is_told_beside_one_of_the_arguments() -> None:
    faults = takes({"a": {"additionalProperties": False}}).argument_faults({"a": {"b": 1}, "c": 1})

    assert [place for place, _ in faults] == ["args", "args.a"]


def test_defaults_are_those_of_arguments_in_any_part() -> None:
    parts = [{"properties": {"b": {"default": 2}, "c": {}}}, {"properties": {"d": True, "default": {"default": 0}}}]
    tool = spec({"properties": {"a": {"default": None}}, "allOf": parts})

    assert tool.defaults(["a", "b", "c", "d", "e"]) == {"a": None, "b": 2}


def test_a_schema_that_leads_back_to_itself_has_its_parameters_once() -> None:
    assert spec({"properties": {"a": {}}, "anyOf": [{"$ref": "#"}]}).parameters == ("a",)


def test_what_is_there_is_not_absent() -> None:
    tools = Catalog({"tool": INTEGER}, {"tool": "a key", "other": "a key"})

    assert tools == {"tool": INTEGER} and absent_in(tools) == {"other": "a key"} and absent_in({}) == {}
    assert unknown_tool("other", tools) == "tool 'other' is not installed; a key"
    assert unknown_tool("none", tools) == "unknown tool 'none'; known tools: tool"
    assert unknown_tool("none", {}) == "unknown tool 'none'; known tools: none"
