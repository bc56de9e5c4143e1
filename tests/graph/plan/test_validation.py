"""Section 4, "A plan is refused as a whole, before approval, with every issue listed"."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import Catalog, ToolSpec
from planner_executor.graph.plan.draft import StepDraft
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.validation import graph_issues

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
TOOLS = {"search": ToolSpec("search", "", SEARCH), "any": ToolSpec("any", "", ANY)}


def step(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"do {name}", **fields}


def read(*steps: Any, answer: Any = None, max_steps: int = 10_000) -> ParsedPlan:
    return read_plan({"steps": list(steps), "answer": answer}, TOOLS, max_steps)


def places(reading: ParsedPlan) -> set[tuple[str | None, str]]:
    assert reading.plan is None
    return {(issue.step, issue.field) for issue in reading.issues}


def test_every_fault_of_a_plan_is_listed_at_once() -> None:
    reading = read(
        step("twice"),
        step("twice"),
        step("self", depends_on=["self"]),
        step("dangling", depends_on=["gone"]),
        step("refers", args={"x": "{nowhere_result}"}),
        step("into_itself", args={"x": "{into_itself_result}"}),
        step("unknown", tool="teleport"),
        step("misfit", tool="search", args={"query": 5}),
        step("missing", tool="search"),
        step("extra", tool="search", args={"query": "x", "limit": 3}),
        step("both", tool="search", tools=["any"], args={"query": "x"}),
        step("left", depends_on=["right"]),
        step("right", depends_on=["left"]),
        step("one", depends_on=["two"]),
        step("two", args={"x": "{one_result}"}),
        step("wide", args={"n": 2**64}),
        step("nul", objective="a\0b"),
        step("half", success_criteria="\ud800"),
        step("path", args={"x": "{left_result[?}"}),
        step("odd", colour="blue"),
        step("bad id"),
        {"id": "silent"},
        step("calls", tools=["search"], max_calls=0),
        step("shape", output={"type": "nonsense"}),
        "no object",
        answer="{gone_result}",
    )

    assert places(reading) == {
        ("twice", "id"),
        ("self", "depends_on"),
        ("dangling", "depends_on"),
        ("refers", "args.x"),
        ("into_itself", "args.x"),
        ("unknown", "tool"),
        ("misfit", "args.query"),
        ("missing", "args.query"),
        ("extra", "args"),
        ("both", "tool"),
        ("left", "depends_on"),
        ("one", "depends_on"),
        ("wide", "args.n"),
        ("nul", "objective"),
        ("half", "success_criteria"),
        ("path", "args.x"),
        ("odd", "colour"),
        ("bad id", "id"),
        ("silent", "objective"),
        ("calls", "max_calls"),
        ("shape", "output"),
        (None, "steps[24]"),
        (None, "answer"),
    }


def test_issues_can_be_kept_by_every_record_whatever_they_quote() -> None:
    reading = read_plan([{"id": "\ud800", "\udfff": 1, "objective": "o", "args": {"\ud800": {"\0": "\ud800"}}}], TOOLS)

    for issue in reading.issues:
        json.dumps(issue.to_json(), ensure_ascii=False).encode()
        assert "\0" not in str(issue)


@pytest.mark.parametrize("raw", [[], {}, {"steps": []}, {"steps": None}, {"steps": [], "answer": None}, {"plan": None}])
def test_no_steps_and_no_answer_is_an_empty_plan(raw: Any) -> None:
    assert places(read_plan(raw, TOOLS)) == {(None, "steps")}


@pytest.mark.parametrize("empty", [{}, {"id": None}, {"objective": None, "tool": None}])
def test_a_step_without_fields_is_missed_and_not_dropped(empty: dict[str, Any]) -> None:
    assert places(read(step("a"), empty)) == {("steps[1]", "id"), ("steps[1]", "objective")}


def test_a_step_without_an_id_is_called_by_its_place_and_checked_all_the_same() -> None:
    faulty = {"objective": "o", "tool": "search", "args": {"q": 5}, "depends_on": ["step_1"]}

    issues = [str(issue) for issue in read(step("a", depends_on=["b"]), faulty).issues]

    assert [issue.partition(":")[0] for issue in issues] == [
        "steps[1].id",
        "steps[1].args",
        "steps[1].args.query",
        "a.depends_on",
        "steps[1].depends_on",
    ]
    assert issues[-1].endswith("the steps are a; steps[1] without an id")


@pytest.mark.parametrize("answer", ["", 0, False, [], {}, "42", {"a": [None]}])
def test_any_answer_but_null_makes_a_direct_answer(answer: Any) -> None:
    assert read_plan({"steps": [], "answer": answer}, TOOLS).plan == Plan(answer=answer)


def test_a_direct_answer_refers_to_nothing() -> None:
    assert places(read(answer="{step_1_result}")) == {(None, "answer")}


@pytest.mark.parametrize("steps", ["text", 5, {"a": 1}, True])
def test_steps_that_are_no_list_are_a_fault(steps: Any) -> None:
    assert (None, "steps") in places(read_plan({"steps": steps}, TOOLS))


@pytest.mark.parametrize("item", ["a", 1, None, ["a"]])
def test_a_step_that_is_no_object_is_named_by_its_place(item: Any) -> None:
    assert places(read(step("a"), item)) == {(None, "steps[1]")}


def test_one_step_more_than_allowed_is_too_many() -> None:
    assert read(step("a"), step("b"), max_steps=2).plan is not None
    assert places(read(step("a"), step("b"), step("c"), max_steps=2)) == {(None, "steps")}


def test_several_circles_are_each_named_once() -> None:
    reading = read(
        step("a", depends_on=["b"]),
        step("b", depends_on=["a"]),
        step("c", depends_on=["e"]),
        step("d", depends_on=["c"]),
        step("e", depends_on=["d"]),
        step("free"),
        step("behind", depends_on=["a"]),
    )

    circles = [issue.message for issue in reading.issues]
    assert len(circles) == 2
    assert all(name in " ".join(circles) for name in "abcde")
    assert not any("free" in circle or "behind" in circle for circle in circles)


def test_a_reference_closes_a_circle_as_a_dependency_does() -> None:
    assert places(read(step("a", args={"x": "{b_result}"}), step("b", depends_on=["a"]))) == {("a", "depends_on")}


def test_a_reference_deep_in_the_arguments_counts() -> None:
    assert places(read(step("a", args={"x": [{"y": ["{gone_result}"]}]}))) == {("a", "args.x")}


def test_references_in_keys_objectives_and_criteria_are_plain_text() -> None:
    plain = "{gone_result}"

    reading = read(step("a", objective=plain, success_criteria=plain, tool="any", args={plain: "x"}))

    assert reading.plan is not None


def test_a_literal_reference_needs_no_step() -> None:
    assert read(step("a", args={"x": "{{gone_result}}"})).plan is not None


def test_an_unknown_tool_is_named_with_those_that_are_known() -> None:
    reading = read(step("a", tool="serach"))

    assert "'serach'" in reading.issues[0].message
    assert "search" in reading.issues[0].message


def test_a_tool_that_is_not_installed_is_named_with_the_extra_that_brings_it() -> None:
    tools = Catalog(TOOLS, {"run_python": "it needs: the extra sandbox", "search": "unused"})
    reading = read_plan({"steps": [step("one", tool="run_python"), step("two", tool="search")]}, tools)

    messages = [issue.message for issue in reading.issues if issue.field == "tool"]
    assert messages == ["tool 'run_python' is not installed; it needs: the extra sandbox"]


def test_every_unknown_tool_of_a_grant_is_named() -> None:
    assert [issue.field for issue in read(step("a", tools=["x", "search", "y"])).issues] == ["tools", "tools"]


@pytest.mark.parametrize("name", ["", " ", "Search", "search ", "a/b.c", "工具"])
def test_a_tool_name_is_looked_up_to_the_letter(name: str) -> None:
    assert places(read(step("a", tool=name))) == {("a", "tool")}


def test_tool_names_may_hold_anything() -> None:
    odd = "mcp/server.工具 {step_1_result} none?"

    reading = read_plan([step("a", tool=odd)], {odd: ToolSpec(odd, "", ANY)})

    assert reading.plan is not None


@pytest.mark.parametrize("field", ["max_calls", "output"])
def test_a_step_with_one_tool_takes_no_model_settings(field: str) -> None:
    value = 2 if field == "max_calls" else "json"

    assert places(read(step("a", tool="any", **{field: value}))) == {("a", field)}


@pytest.mark.parametrize("calls", [0, -1, 1.0, 1.5, True, "2"])
def test_max_calls_counts_from_one(calls: Any) -> None:
    assert ("a", "max_calls") in places(read(step("a", tools=["any"], max_calls=calls)))


@pytest.mark.parametrize("output", ["json", {}, {"type": "string"}, {"$schema": "https://unknown.example/schema"}])
def test_an_output_is_json_or_a_schema(output: Any) -> None:
    assert read(step("a", output=output)).plan is not None


@pytest.mark.parametrize(
    "output", ["text", 5, True, [], {"type": "nonsense"}, {"$schema": []}, {"$schema": 5}, {"$ref": "#"}]
)
def test_an_output_that_is_no_schema_is_a_fault(output: Any) -> None:
    assert {field.split(".")[0] for _, field in places(read(step("a", output=output)))} == {"output"}


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/schema", "#/nope", "other.json", "#anchor", "file:///etc/passwd", "https://["]
)
def test_an_output_schema_stands_for_itself(reference: str) -> None:
    nested = {"properties": {"a": {"items": {"anyOf": [{"$ref": reference}]}}}}

    assert places(read(step("a", output=nested))) == {("a", "output")}


def test_an_output_schema_may_refer_to_its_own_parts() -> None:
    tree = {
        "$defs": {"T": {"items": {"$ref": "#/$defs/T"}}},
        "properties": {"t": {"$ref": "#/$defs/T"}, "me": {"$ref": "#"}},
    }

    assert read(step("a", output=tree)).plan is not None


@pytest.mark.parametrize("field", ["depends_on", "tools", "args"])
@pytest.mark.parametrize("value", [5, True, [["a"]], [{}], [None]])
def test_a_field_of_another_form_is_a_fault_and_no_error(field: str, value: Any) -> None:
    assert field in {place.split(".")[0].split("[")[0] for _, place in places(read(step("a", **{field: value})))}


def test_an_empty_objective_is_a_fault() -> None:
    assert places(read(step("a", objective=""))) == {("a", "objective")}


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, 2**64 - 1, 0])
def test_integers_of_64_bits_are_kept(number: int) -> None:
    reading = read(step("a", tool="any", args={"n": number}))

    assert reading.plan is not None
    assert reading.plan.steps[0].args == {"n": number}


@pytest.mark.parametrize(
    "value",
    [
        2**64,
        -(2**63) - 1,
        float("nan"),
        float("inf"),
        float("-inf"),
        "\0",
        "a\ud800b",
        "\udc00",
        b"bytes",
        {1: 2},
        {"\0": 1},
        {"\ud800": 1},
        (1, 2),
        {1, 2},
        object(),
    ],
)
@pytest.mark.parametrize("where", ["args", "answer"])
def test_what_no_record_can_hold_is_refused_wherever_it_stands(value: Any, where: str) -> None:
    nested = {"list": [{"deep": value}]}

    reading = read(step("a", tool="any", args=nested)) if where == "args" else read(step("a"), answer=nested)

    assert {(issue.step, issue.field.split(".")[0]) for issue in reading.issues} == {
        ("a", "args") if where == "args" else (None, "answer")
    }


def test_whole_surrogate_pairs_and_other_odd_text_are_kept() -> None:
    odd = "\U0001f600\u2028\x7f\x1f​﻿"

    assert read(step("a", tool="any", args={"x": odd})).plan is not None


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("where", ["args", "answer", "objective", "output"])
def test_nesting_without_end_is_an_issue_and_no_stack_overflow(where: str) -> None:
    deep = nested(100_000)

    if where == "answer":
        reading = read(step("a"), answer=deep)
    else:
        reading = read(step("a", **{where: {"x": deep} if where == "args" else deep}))

    assert any("nested deeper" in issue.message for issue in reading.issues)


def test_a_hundred_levels_are_fine() -> None:
    assert read(step("a", tool="any", args={"x": nested(98)})).plan is not None


def test_many_faults_do_not_hide_the_nesting_that_the_rest_relies_on() -> None:
    args = {"deep": nested(10_000), **{f"nul_{place}": "\0" for place in range(100)}}

    reading = read(step("a", tool="any", args=args))

    assert any("nested deeper" in issue.message for issue in reading.issues)


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)

    assert any("nested deeper" in message for _, message in json_faults(ring))


@pytest.mark.parametrize(
    "path",
    [
        "[?",
        ".",
        "..a",
        ".a b",
        "{x",
        " | ",
        ".a[",
        "[" + "9" * 5000 + "]",
        " | " + "(" * 3000,
        " | " + "!" * 9000 + "a",
    ],
)
def test_a_path_that_is_no_jmespath_is_an_issue_before_approval(path: str) -> None:
    reading = read(step("a"), step("b", args={"x": f"{{a_result{path}}}"}))

    assert places(reading) == {("b", "args.x")}


def test_a_path_of_the_answer_is_checked_too() -> None:
    assert places(read(step("a"), answer=["{a_result[?}"])) == {(None, "answer")}


def test_an_issue_reads_as_one_line() -> None:
    reading = read(step("a", depends_on=["b"]))

    assert str(reading.issues[0]).startswith("a.depends_on: no step 'b'")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dangling", "circle", "pairs", "duplicates"])
def test_a_very_large_plan_is_refused_in_seconds(kind: str) -> None:
    size = 6_000
    waits = {
        "dangling": lambda place: ["gone"],
        "circle": lambda place: [f"s{(place + 1) % size}"],
        "pairs": lambda place: [f"s{place ^ 1}"],
        "duplicates": lambda place: [],
    }[kind]
    names = ["same" if kind == "duplicates" else f"s{place}" for place in range(size)]

    begun = time.process_time()
    reading = read(*(step(name, depends_on=waits(place)) for place, name in enumerate(names)))

    assert reading.issues
    assert time.process_time() - begun < 4


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
KEYS = ["id", "objective", "tool", "tools", "args", "depends_on", "output", "max_calls", "input", "dependencies", "x"]


@given(st.one_of(json_values, st.lists(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6), max_size=4)))
def test_whatever_a_model_writes_is_a_plan_or_issues_that_can_be_stored(raw: Any) -> None:
    reading = read_plan(raw, TOOLS)

    assert (reading.plan is None) == bool(reading.issues)
    json.dumps([issue.to_json() for issue in reading.issues], ensure_ascii=False).encode()


names = st.sampled_from(["a", "b", "c"])
steps = st.lists(
    st.fixed_dictionaries(
        {"id": names, "objective": st.just("o")},
        optional={
            "depends_on": st.lists(names, max_size=2),
            "args": st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["{a_result}", "{{b_result}}", 1])),
            "success_criteria": st.text(max_size=3),
            "output": st.just("json"),
        },
    ),
    max_size=3,
)


@given(steps, st.sampled_from([None, "{a_result}", {"n": [1.5, "é"]}]))
def test_a_plan_that_was_read_reads_back_as_itself(given_steps: list[Any], answer: Any) -> None:
    plan = read_plan({"steps": given_steps, "answer": answer}, TOOLS).plan
    if plan is None:
        return

    again = read_plan(json.loads(json.dumps(plan.to_json())), TOOLS).plan

    assert again is not None
    assert again.digest == plan.digest


def test_the_id_of_items_is_reserved_in_a_plan_with_lists_only() -> None:
    item, each = step("item", tool="any"), step("each", tool="any", for_each=[1])

    assert read(item, step("a")).plan is not None
    assert read(each, step("a")).plan is not None
    assert ("item", "id") in places(read(item, each, step("a")))


def test_a_check_that_cannot_be_made_is_a_fault_of_its_place() -> None:
    assert ("a", "checks[1]") in places(read(step("a", tool="any", checks=[{"non_empty": True}, {"called": "gone"}])))


def test_text_that_looks_like_a_reference_is_a_fault_unless_its_step_has_succeeded() -> None:
    drafts = [StepDraft(step("a")), StepDraft(step("b", tool="any", args={"x": "{a.url}"}))]

    assert [(issue.step, issue.field) for issue in graph_issues(drafts, None)] == [("b", "args.x")]
    drafts[1].is_settled = True
    assert graph_issues(drafts, None) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"batch": 10, "output": "json"}, "is for model steps with for_each"),
        ({"batch": 10, "for_each": [1], "tool": "any"}, "is for model steps with for_each"),
        ({"batch": 10, "for_each": [1], "ask": "Who?"}, "is for model steps with for_each"),
        ({"batch": 10, "for_each": [1], "tools": ["any"], "output": "json"}, "is for model steps without tools; "),
        ({"batch": 10, "for_each": [1]}, "needs output, the form of each value"),
        ({"batch": 1, "for_each": [1], "output": "json"}, "2"),
        ({"batch": True, "for_each": [1], "output": "json"}, "integer"),
    ],
)
def test_a_batch_is_for_items_that_a_model_gives_a_value_without_tools(fields: Any, message: str) -> None:
    found = read(step("a", **fields)).issues

    assert message in next(issue.message for issue in found if issue.field == "batch")


def test_a_batch_of_values_is_no_fault() -> None:
    assert read(step("a", batch=10, for_each=[1], output={"type": "integer"})).issues == ()


def test_a_parameter_in_the_answer_is_one_of_the_plan_if_it_has_any() -> None:
    with_params = read_plan({"steps": [], "answer": "{param.x}", "params": {"y": {"value": 1, "label": "user"}}}, TOOLS)

    assert "answer" in {issue.field for issue in with_params.issues}
    assert read(step("a"), answer="{param.x}").issues == ()
