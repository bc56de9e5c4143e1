"""Section 4, "Field names above are ours": every accepted spelling, and what is said of the others."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.normalization import (
    CALL_KEYS,
    COMMENTARY,
    PLAN_KEYS,
    called_tool,
    group_notes,
    looks_like_plan,
    name_of,
    read_fields,
    read_ids,
    unwrap,
)
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.schema import Plan, Step


def tool(name: str, properties: dict[str, Any] | None = None, required: tuple[str, ...] = ()) -> ToolSpec:
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return ToolSpec(name, "a tool", schema)


TEXT = {"type": "string"}
TOOLS = {
    "search": tool("search", {"query": TEXT}, ("query",)),
    "optional": tool("optional", {"query": TEXT}),
    "second": tool("second", {"limit": {"type": "integer"}, "query": TEXT}, ("query",)),
    "two": tool("two", {"a": TEXT, "b": TEXT}, ("a", "b")),
    "free": tool("free", {"a": TEXT, "b": TEXT}),
    "nothing": tool("nothing"),
}


def read(raw: Any) -> ParsedPlan:
    return read_plan(raw, TOOLS)


def plan_of(raw: Any) -> Plan:
    reading = read(raw)
    assert reading.plan is not None, reading.issues
    return reading.plan


def only_step(**fields: Any) -> Step:
    return plan_of([fields]).steps[0]


def faults(raw: Any) -> set[tuple[str | None, str]]:
    return {(issue.step, issue.field) for issue in read(raw).issues}


def test_every_name_in_common_use_is_brought_to_ours() -> None:
    given = {
        "subgoal_id": "b",
        "description": "Ask",
        "required_tools": ["search"],
        "input": {"query": "{a_result}"},
        "dependencies": ["a"],
    }

    plan = plan_of([{"id": "a", "objective": "First"}, given])

    assert plan.steps[1] == Step(
        id="b",
        objective="Ask",
        tools=("search",),
        required_tools=("search",),
        args={"query": "{a_result}"},
        depends_on=("a",),
    )


def test_tools_that_have_to_be_called_may_be_some_of_those_that_may_be() -> None:
    both = only_step(id="a", objective="o", tools=["search", "two"], required_tools=["two"])

    assert (both.tools, both.required_tools) == (("search", "two"), ("two",))
    assert faults([{"id": "a", "objective": "o", "tools": ["search"], "required_tools": ["two"]}]) == {
        ("a", "required_tools")
    }


def test_the_digest_does_not_tell_which_names_were_used() -> None:
    ours = {"steps": [{"id": "step_1", "objective": "Ask", "tool": "search", "args": {"query": "x"}}]}
    theirs = {"plan": [{"input": "x", "tool": "search", "description": "Ask", "subgoal_id": 1, "dependencies": []}]}

    assert plan_of(ours).digest == plan_of(theirs).digest


def test_integer_ids_count_steps_in_ids_and_in_dependencies() -> None:
    plan = plan_of([{"id": 1, "objective": "a"}, {"id": 2, "objective": "b", "depends_on": [1]}])

    assert [step.id for step in plan.steps] == ["step_1", "step_2"]
    assert plan.steps[1].depends_on == ("step_1",)


def test_numbers_as_text_count_steps_too() -> None:
    plan = plan_of(
        [
            {"id": "1", "objective": "a"},
            {"id": "2", "objective": "b", "depends_on": ["1"], "tool": "search", "input": "{step_1_result}"},
            {"id": "3", "objective": "c", "depends_on": "2"},
        ]
    )

    assert [step.id for step in plan.steps] == ["step_1", "step_2", "step_3"]
    assert [step.depends_on for step in plan.steps] == [(), ("step_1",), ("step_2",)]


def test_a_number_is_no_name_in_a_reference() -> None:
    raw = {"id": "1", "objective": "a", "tool": "search", "args": {"query": "{1_result}"}}

    (issue,) = read([raw]).issues
    assert (issue.step, issue.field) == ("step_1", "args.query") and "write {step_1_result}" in issue.message


@pytest.mark.parametrize(("given", "read_as"), [("a", ("a",)), (1, ("step_1",)), ("1", ("step_1",))])
def test_one_id_in_depends_on_needs_no_list(given: Any, read_as: tuple[str, ...]) -> None:
    before = [{"id": "a", "objective": "o"}, {"id": 1, "objective": "o"}]

    assert plan_of([*before, {"id": "b", "objective": "o", "depends_on": given}]).steps[2].depends_on == read_as


@pytest.mark.parametrize("given", ["a, c", "", "none", True, {"a": 1}, 1.5])
def test_what_is_not_one_id_in_depends_on_is_a_fault(given: Any) -> None:
    steps = [{"id": name, "objective": "o"} for name in ("a", "c")]

    assert ("b", "depends_on") in faults([*steps, {"id": "b", "objective": "o", "depends_on": given}])


@pytest.mark.parametrize("name", ["input", "arguments", "parameters", "tool_input"])
def test_arguments_have_many_names(name: str) -> None:
    assert only_step(id="a", objective="o", tool="search", **{name: {"query": "x"}}).args == {"query": "x"}


def test_arguments_may_be_json_text_as_in_calls_of_tools() -> None:
    assert only_step(id="a", objective="o", tool="search", arguments='{"query": "x"}').args == {"query": "x"}
    assert only_step(id="a", objective="o", tool="search", arguments="x").args == {"query": "x"}
    assert only_step(id="a", objective="o", tool="search", arguments="{'query'").args == {"query": "{'query'"}
    assert only_step(id="a", objective="o", tool="search", input='{"query": "x"}').args == {"query": '{"query": "x"}'}


@pytest.mark.parametrize(
    "text",
    [
        '{"query": "a\\u0000"}',
        '{"query": NaN}',
        '{"query": ' + "[" * 300 + "]" * 300 + "}",
        '{"query": 1' + "0" * 30 + "}",
        '{"query": "a", "limit": "\\ud800"}',
    ],
)
def test_json_text_holds_what_plans_may_hold_and_nothing_else(text: str) -> None:
    fields = {field for _, field in faults([{"id": "a", "objective": "o", "tool": "search", "arguments": text}])}

    assert any(field.startswith("args") for field in fields)


@pytest.mark.parametrize("other", ["input", "arguments", "parameters", "tool_input"])
def test_arguments_that_differ_under_two_names_are_never_chosen_from(other: str) -> None:
    step = {"id": "a", "objective": "o", "tool": "search", "args": {"query": "x"}, other: {"query": "y"}}

    assert ("a", "args") in faults([step])


STEPS = [{"id": "a", "objective": "o"}]


@pytest.mark.parametrize(
    "raw",
    [
        {"goal": "g", "thought": {"n": 1}, "reasoning": ["r"], "steps": STEPS},
        {"reasoning": "r", "plan": STEPS},
        {"name": "plan", "arguments": {"steps": STEPS}},
        {"name": "create_plan", "parameters": {"reasoning": "r", "plan": {"steps": STEPS}}},
        {
            "type": "function",
            "id": "1",
            "function": {"name": "plan", "arguments": '{"steps": [{"id": "a", "objective": "o"}]}'},
        },
        {"tool_calls": [{"name": "plan", "args": {"steps": STEPS}}]},
    ],
)
def test_what_models_write_beside_and_around_a_plan_is_left_out_and_told(raw: Any) -> None:
    reading = read(raw)

    assert reading.plan == Plan(steps=(Step(id="a", objective="o"),))
    assert reading.notes


@pytest.mark.parametrize(
    "raw",
    [
        {"name": "search", "arguments": {"steps": STEPS}},
        {"name": "other", "arguments": {"answer": "x"}},
        {"name": "plan", "arguments": {"steps": STEPS}, "parameters": {"steps": []}},
        {"name": "plan", "arguments": {"steps": STEPS}, "more": 1},
        {"tool_calls": [{"name": "plan", "args": {"steps": STEPS}}] * 2},
        {"function": "plan", "arguments": {"steps": STEPS}},
        {"goal": "g"},
        {"steps": STEPS, "Thought": "x"},
        {"name": "plan", "arguments": "{" * 5000},
    ],
)
def test_what_could_mean_something_else_is_a_fault(raw: Any) -> None:
    assert read(raw).issues


def test_what_was_read_otherwise_than_written_is_told_once_with_its_steps() -> None:
    steps = [{"id": number, "description": "o", "dependencies": []} for number in range(1, 6)]

    assert read({"goal": "g", "steps": steps}).notes == (
        "goal beside the plan was left out",
        "description was read as objective, in step_1, step_2, step_3 and 2 more",
        "dependencies was read as depends_on, in step_1, step_2, step_3 and 2 more",
        "a number as id was read as step_<number>, in step_1, step_2, step_3 and 2 more",
    )


def test_of_a_plan_in_our_own_words_nothing_is_told() -> None:
    step = {"id": "a", "objective": "o", "tool": "search", "args": {"query": "x"}, "depends_on": [], "tools": None}

    assert read({"steps": [step], "answer": "{a_result}"}).notes == ()


def test_however_much_is_read_otherwise_little_is_told() -> None:
    specs = {f"t{n}": tool(f"t{n}", {f"p{n}": TEXT}, (f"p{n}",)) for n in range(100)}
    steps = [{"id": f"s{n}", "objective": "o", "tool": f"t{n}", "input": "x"} for n in range(100)]

    notes = read_plan(steps, specs).notes

    assert len(notes) == 21
    assert notes[-1] == "and 82 more"


def test_integer_ids_and_their_text_name_the_same_step() -> None:
    plan = plan_of([{"id": "step_1", "objective": "a"}, {"id": 2, "objective": "b", "dependencies": [1, "step_1"]}])

    assert plan.steps[1].depends_on == ("step_1", "step_1")


def test_the_same_step_counted_and_named_is_a_duplicate() -> None:
    assert faults([{"id": 1, "objective": "a"}, {"id": "step_1", "objective": "b"}]) == {("step_1", "id")}


def test_zero_is_a_count() -> None:
    assert only_step(id=0, objective="a").id == "step_0"


@pytest.mark.parametrize(
    "odd", [True, False, 1.5, -1, "-1", "01", "\u0661", "1.0", " 1", "", "a b", "_a", "a-b", "é", "a\n", [], {}]
)
def test_an_id_that_is_no_name_and_no_count_is_a_fault(odd: Any) -> None:
    assert "id" in {field for _, field in faults([{"id": odd, "objective": "a"}])}


@pytest.mark.parametrize(
    "raw",
    [
        [{"id": "a", "objective": "o"}],
        {"steps": [{"id": "a", "objective": "o"}]},
        {"plan": [{"id": "a", "objective": "o"}]},
        {"plan": {"steps": [{"id": "a", "objective": "o"}]}},
        {"plan": {"steps": [{"id": "a", "objective": "o"}], "answer": None}, "answer": None},
    ],
)
def test_a_plan_may_be_a_list_an_object_or_wrapped(raw: Any) -> None:
    assert plan_of(raw) == Plan(steps=(Step(id="a", objective="o"),))


def test_the_answer_inside_a_wrapped_plan_is_kept() -> None:
    assert plan_of({"plan": {"steps": [], "answer": {"n": 1}}}).answer == {"n": 1}


def test_something_beside_a_wrapped_plan_is_named() -> None:
    reading = read({"plan": {"steps": []}, "reason": "because"})

    assert {issue.field for issue in reading.issues} == {"plan", "reason"}


@pytest.mark.parametrize("raw", [None, "", "text", 5, True, 1.5])
def test_what_is_no_plan_at_all_is_an_issue_and_no_error(raw: Any) -> None:
    assert [issue.field for issue in read(raw).issues] == ["plan"]


@pytest.mark.parametrize("spelling", ["none", "None", "NONE", " none "])
def test_the_tool_none_is_no_tool(spelling: str) -> None:
    assert only_step(id="a", objective="Think", tool=spelling) == Step(id="a", objective="Think")


def test_the_tool_none_leaves_room_for_tools() -> None:
    assert only_step(id="a", objective="Think", tool="none", tools=["search"]).tools == ("search",)


@pytest.mark.parametrize(
    ("name", "args"),
    [("search", {"query": "x"}), ("optional", {"query": "x"}), ("second", {"query": "x"})],
)
def test_plain_text_goes_to_the_only_or_the_first_required_parameter(name: str, args: dict[str, Any]) -> None:
    assert only_step(id="a", objective="o", tool=name, input="x").args == args


def test_plain_text_goes_to_the_first_of_several_required_parameters_and_the_other_is_missed() -> None:
    reading = read([{"id": "a", "objective": "o", "tool": "two", "input": "x"}])

    assert [issue.message for issue in reading.issues] == ["'b' is a required property"]


@pytest.mark.parametrize("name", ["free", "nothing"])
def test_plain_text_that_fits_no_parameter_is_a_fault(name: str) -> None:
    assert faults([{"id": "a", "objective": "o", "tool": name, "input": "x"}]) == {("a", "args")}


def test_plain_text_without_a_tool_is_for_the_model() -> None:
    assert only_step(id="a", objective="o", input="x").args == {"input": "x"}


def test_plain_text_goes_to_the_only_granted_tool_too() -> None:
    assert only_step(id="a", objective="o", tools=["search"], args="x").args == {"query": "x"}


def test_plain_text_for_several_granted_tools_is_a_fault() -> None:
    assert faults([{"id": "a", "objective": "o", "tools": ["search", "two"], "args": "x"}]) == {("a", "args")}


def test_plain_text_with_a_reference_is_a_reference() -> None:
    plan = plan_of(
        [{"id": 1, "objective": "a"}, {"id": 2, "objective": "b", "tool": "search", "input": "{step_1_result}"}]
    )

    assert plan.steps[1].args == {"query": "{step_1_result}"}


@pytest.mark.parametrize(
    ("ours", "theirs", "value"),
    [
        ("objective", "description", "o"),
        ("args", "input", {"query": "x"}),
        ("depends_on", "dependencies", []),
        ("id", "subgoal_id", "a"),
        ("args", "arguments", {"query": "x"}),
        ("args", "tool_input", {"query": "x"}),
    ],
)
def test_a_field_under_both_names_is_a_fault_even_if_both_say_the_same(ours: str, theirs: str, value: Any) -> None:
    step = {"id": "a", "objective": "o", ours: value, theirs: value}

    assert ("a", ours) in faults([step])


@pytest.mark.parametrize("ours_is_null", [True, False])
def test_of_two_names_one_may_be_null(ours_is_null: bool) -> None:
    names = {"objective": None, "description": "o"} if ours_is_null else {"objective": "o", "description": None}

    assert only_step(id="a", **names).objective == "o"


@pytest.mark.parametrize("key", ["goal", "Tool", "args ", "result", "why", ""])
def test_an_unknown_key_of_a_step_is_named(key: str) -> None:
    reading = read([{"id": "a", "objective": "o", key: 1}])

    assert [(issue.step, issue.field) for issue in reading.issues] == [("a", key)]
    assert repr(key) in reading.issues[0].message


def test_an_unknown_key_of_a_plan_is_named() -> None:
    assert [issue.field for issue in read({"steps": [], "answer": 1, "goals": "x"}).issues] == ["goals"]


def test_every_unknown_key_is_named_at_once() -> None:
    reading = read({"x": 1, "steps": [{"id": "a", "objective": "o", "y": 1, "z": 2}]})

    assert {issue.field for issue in reading.issues} == {"x", "y", "z"}


def test_null_and_an_absent_key_mean_the_same_for_every_field_of_a_step() -> None:
    nulls = dict.fromkeys(
        ("tool", "tools", "args", "success_criteria", "depends_on", "max_calls", "output", "input", "required_tools")
    )

    plan = plan_of({"steps": [{"id": "a", "objective": "o", **nulls, "unheard_of": None}], "answer": None, "x": None})

    assert plan.digest == plan_of([{"id": "a", "objective": "o"}]).digest


def test_null_for_a_required_field_is_a_missing_field() -> None:
    assert faults([{"id": None, "objective": None}]) == {("steps[0]", "id"), ("steps[0]", "objective")}


def test_null_steps_with_an_answer_are_a_direct_answer() -> None:
    assert plan_of({"steps": None, "answer": "42"}) == Plan(answer="42")


def test_null_inside_arguments_is_a_value() -> None:
    assert only_step(id="a", objective="o", args={"x": None}).args == {"x": None}


@given(
    st.permutations(["id", "objective", "tool", "args", "success_criteria", "depends_on"]),
    st.dictionaries(st.sampled_from(["tools", "max_calls", "output"]), st.none()),
)
def test_neither_the_order_of_keys_nor_null_ones_change_the_digest(order: list[str], nulls: dict[str, None]) -> None:
    step = {
        "id": "a",
        "objective": "o",
        "tool": "search",
        "args": {"query": "x"},
        "success_criteria": "c",
        "depends_on": [],
    }

    assert plan_of([{**nulls, **{name: step[name] for name in order}}]).digest == plan_of([step]).digest


@pytest.mark.parametrize(
    ("spelt", "read_as"),
    [(2, ("step_2", None)), ("2", ("step_2", None)), ("load", ("load", None)), ("Load it", (None, "Load it"))],
)
def test_step_is_an_id_if_it_can_be_one_and_else_the_objective(spelt: Any, read_as: tuple[str, str]) -> None:
    found = read_fields({"step": spelt}, {}, "steps[0]").values

    assert (found.get("id"), found.get("objective")) == read_as


CALL = {"name": "make", "arguments": {"steps": []}}
ADD = {"name": "add", "arguments": {}}


@pytest.mark.parametrize(
    "raw",
    [
        *([{"objective": "o"}], [{"tool": "t"}, {"description": "o", "id": 1}], [{"description": "o", "step": 1}]),
        *({"steps": []}, {"keep": []}, {"plan": []}, {"plan": {}}, {"look": []}, {"answer": 1}, {"cannot": "no"}),
        *({"answer": 1, "goal": "g"}, dict.fromkeys([*PLAN_KEYS, *COMMENTARY], "x"), {"playbook": "p"}),
        dict.fromkeys(["playbook", "params", *COMMENTARY], "x"),
        *(CALL, {"tool_calls": [CALL]}, {"type": "function", "id": 1, "function": CALL}),
        *({"name": "plan", "input": {"answer": 1}}, {"name": "make", "args": {"keep": []}}),
        {"name": "make", "arguments": '{"plan": {}}'},
    ],
)
def test_what_looks_like_a_plan(raw: Any) -> None:
    assert looks_like_plan(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *([], [{}], [{"objective": "o"}, {}], [{"objective": "o"}, 5], ["objective"], [{"description": "o"}]),
        [{"id": 1}],
        *(5, "steps", {}, {"steps": "x"}, {"plan": "x"}, {"look": "x"}, {"look": [], "more": 1}),
        {"answer": 1, "more": 1},
        *({"goal": "g"}, {"playbook": 5}, {"playbook": "p", "tool": "t"}, {"name": 5, "arguments": {"steps": []}}),
        *({**CALL, "more": 1}, {**CALL, "input": {}}, {"tool_calls": [CALL], "more": 1}, {"tool_calls": {0: CALL}}),
        *({"tool_calls": ["steps"]}, {"tool_calls": [CALL, CALL]}, {"function": CALL, "more": 1}),
        *({"name": "make", "arguments": {"answer": 1}}, {"name": "plan", "arguments": {"more": 1}}),
        *({"name": "plan", "arguments": "[1]"}, {"name": "plan", "arguments": "{"}),
    ],
)  # fmt: skip
def test_what_does_not_look_like_a_plan(raw: Any) -> None:
    assert not looks_like_plan(raw)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (ADD, "add"),
        ([ADD], "add"),
        ({"tool_calls": [ADD]}, "add"),
        (dict.fromkeys(CALL_KEYS, "add"), "add"),
        ({"tool": "add", "args": {}}, "add"),
        ([{"tool": "add", "args": {}}], None),
        ({"tool": "add", "args": {}, "id": "a"}, None),
        ([ADD, ADD], None),
        ({"name": "add"}, None),
        ({**ADD, "more": 1}, None),
        ({**ADD, "name": ["add"]}, None),
        ({**ADD, "name": "subtract"}, None),
        ([], None),
        ("a", None),
    ],
)
def test_a_call_of_a_tool_in_the_place_of_a_plan_is_seen(raw: Any, name: str | None) -> None:
    assert called_tool(raw, {"add"}) == name


def test_so_many_wrappers_are_taken_off_and_told() -> None:
    said = "the value of plan was read as the plan"

    assert unwrap({"plan": {"plan": {"plan": {"plan": {"steps": []}}}}}) == ({"steps": []}, [said] * 4)
    assert unwrap({"plan": {"plan": {"plan": {"plan": {"plan": {}}}}}}) == ({"plan": {}}, [said] * 4)
    assert unwrap({"goal": 1, "more": 2}) == ({"goal": 1, "more": 2}, [])
    assert unwrap({"goal": 1, "steps": []}) == ({"steps": []}, ["goal beside the plan was left out"])


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ("a", ["a"]),
        (1, ["step_1"]),
        (0, ["step_0"]),
        ([1, "2", "0", "01", "\u00b2", "b"], ["step_1", "step_2", "step_0", "01", "\u00b2", "b"]),
        ("", ""),
        (True, True),
        (-1, -1),
        (None, None),
    ],
)
def test_ids_are_a_list_of_names(given: Any, ids: Any) -> None:
    assert read_ids(given) == ids


def test_the_id_of_a_step_is_found_under_any_name() -> None:
    assert name_of({"objective": "o", "id": None, "step": 1}) == "step_1"
    assert name_of({"tool": "t", "subgoal_id": "a"}) == "a" and name_of({"tool": "t", "id": ["a"]}) is None


def test_notes_are_few_and_their_steps_short() -> None:
    notes = [(None, str(number)) for number in range(21)]

    assert group_notes([("s" * 90, "a")]) == (f"a, in {'s' * 80}",)
    assert len(group_notes(notes[:20])) == 20 and group_notes(notes)[20:] == ("and 1 more",)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"max_calls": 1}, {}),
        ({"max_calls": 2}, {"max_calls": 2}),
        ({"max_calls": True}, {"max_calls": True}),
        ({"tool": "t", "max_calls": 1}, {"tool": "t", "max_calls": 1}),
        ({"for_each": [1], "max_items": 20, "max_failures": 0}, {"for_each": [1]}),
        ({"for_each": [1], "max_failures": 1}, {"for_each": [1], "max_failures": 1}),
        ({"max_items": 20}, {"max_items": 20}),
        ({"id": 1, "replaces": "step_1"}, {"id": "step_1"}),
        ({"id": 2, "replaces": 1}, {"id": "step_2", "replaces": "step_1"}),
        ({"tools": "search", "args": "x"}, {"tools": "search", "args": {"input": "x"}}),
        ({"tools": [["search"]], "args": "x"}, {"tools": [["search"]]}),
    ],
)
def test_fields_that_say_nothing_are_left_out(given: dict[str, Any], left: dict[str, Any]) -> None:
    assert read_fields(given, TOOLS, "s").values == left


@pytest.mark.parametrize(
    ("given", "notes"),
    [
        ({"depends_on": "a"}, ["one id in depends_on was read as a list of it"]),
        ({"depends_on": [1]}, ["numbers in depends_on were read as step_<number>"]),
        ({"depends_on": {}}, []),
        ({"depends_on": ["a"]}, []),
        ({"args": "{}"}, ["a plain text was read as the argument input"]),
        ({"arguments": "{}"}, ["arguments was read as args", "the JSON text in arguments was read as the arguments"]),
        ({"args": "x"}, ["a plain text was read as the argument input"]),
    ],
)  # fmt: skip
def test_what_is_read_otherwise_is_noted(given: dict[str, Any], notes: list[str]) -> None:
    assert read_fields(given, TOOLS, "s").notes == notes
