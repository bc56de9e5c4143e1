"""Section 4: text that looks like a reference to a step of this plan, in another spelling, is a fault of the plan."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.lookalikes import lookalikes_in
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.references import Reference, resolve
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan

TOOL = ToolSpec("use", "Use it.", {"type": "object", "properties": {}, "additionalProperties": True}, effect="read")
TOOLS = {"use": TOOL}
STEPS = ["step_1", "step_2", "date", "h1", "a", "a_output"]


def found(text: str, steps: list[str] = STEPS) -> list[tuple[str, str]]:
    return [(one.written, str(one.meant)) for one in lookalikes_in(text, steps)]


def step(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "objective": "do it", "tool": "use", **fields}


def read(*steps: dict[str, Any], answer: Any = None) -> ParsedPlan:
    return read_plan({"steps": [step("step_1"), *steps], **({} if answer is None else {"answer": answer})}, TOOLS)


def faults(*steps: dict[str, Any], answer: Any = None) -> list[str]:
    return [str(issue) for issue in read(*steps, answer=answer).issues]


SPELLINGS = {
    "{step_1}": "{step_1_result}",
    "{ step_1 }": "{step_1_result}",
    "{step_1.url}": "{step_1_result.url}",
    "{step_1[0]}": "{step_1_result[0]}",
    "{step_1['url']}": "{step_1_result.url}",
    '{step_1["a b"].c}': '{step_1_result."a b".c}',
    "{step_1.items[?n=='1'].url}": "{step_1_result.items[?n=='1'].url}",
    "{step_1.result}": "{step_1_result}",
    "{step_1.output.url}": "{step_1_result.url}",
    "{step_1_output}": "{step_1_result}",
    "{step_1_output.url}": "{step_1_result.url}",
    "{step_1_results[0]}": "{step_1_result[0]}",
    "{ step_1_result }": "{step_1_result}",
    "{1_result.url}": "{step_1_result.url}",
    "{{step_1}}": "{step_1_result}",
    "{{step_1.url}}": "{step_1_result.url}",
    "{{ step_1_result.url }}": "{step_1_result.url}",
    "{{ step_1.url | upper }}": "{step_1_result.url}",
    "{{ steps.step_1.output.url }}": "{step_1_result.url}",
    "{{steps['step_1'].url}}": "{step_1_result.url}",
    "{results.step_1.url}": "{step_1_result.url}",
    "{state.results.step_1}": "{step_1_result}",
    "$step_1": "{step_1_result}",
    "$step_1.url": "{step_1_result.url}",
    "$step_1_result[0]": "{step_1_result[0]}",
    "$results.step_1.url": "{step_1_result.url}",
    "$.steps.step_1.output.url": "{step_1_result.url}",
    "$(step_1.url)": "{step_1_result.url}",
    "${step_1.url}": "{step_1_result.url}",
    "${step_1}": "{step_1_result}",
    "${{ steps.step_1.outputs.url }}": "{step_1_result.url}",
    "${step_1_result.price}": "{step_1_result.price}",
    "<step_1_result>": "{step_1_result}",
    "<step_1>": "{step_1_result}",
    "<step_1.url>": "{step_1_result.url}",
    "#E1": "{step_1_result}",
    "#E2.url": "{step_2_result.url}",
    "$date": "{date_result}",
    "{date}": "{date_result}",
    "<date_output>": "{date_result}",
    "{a_output}": "{a_output_result}",
}

PLAIN = [
    "",
    "{}",
    "{0}",
    "{1}",
    "$5 #9 <h1> <date> {{x}} $1 #1",
    '{"step_1": {"a": [1]}}',
    "{'step_1': 1}",
    "{step_1: 5}",
    "{step_1, step_2}",
    "{step_1 + 1}",
    "{step_1(2)}",
    "{date|time}",
    "{step_12}",
    "$step_12",
    "$step_1x",
    "<step_12_result>",
    "#E12",
    "#E1E1E1",
    "page#E1",
    "&#E1;",
    "E1",
    "step_1",
    "step_1_result",
    "step_1.url",
    "see step_1_result.txt",
    "{step_1_result",
    "step_1_result}",
    "{step_1.url",
    "{step_1_foo}",
    "{STEP_1}",
    "$(date)",
    "$.date",
    "<step_1_result>{step_1_result}</step_1_result>",
    "$${step_1_result.price}",
    "$$$${step_1_result.price}",
    "{step_1_result}",
    "{{step_1_result}}",
    "${{step_1_result}}",
    "{{{step_1_result}}}",
    "{step_1_result.a_b[?x=='{step_2}']}",
    "{step_9}",
    "{\n step_1 \n}",
]


@pytest.mark.parametrize(("written", "meant"), SPELLINGS.items())
def test_another_spelling_is_found_anywhere_in_a_text_and_the_right_one_is_named(written: str, meant: str) -> None:
    assert found(written) == [(written, meant)]
    assert found(f"Read {written}, then\n{written}!") == [(written, meant)] * 2


@pytest.mark.parametrize("text", PLAIN)
def test_all_other_braces_and_signs_are_text(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("text", "price"), [("$${a_result.price}", "$12.5"), ("{{a_result}}", "{a_result}")])
def test_what_a_fault_tells_to_write_gives_what_was_meant(text: str, price: str) -> None:
    assert resolve(text, {"a": {"price": 12.5}}) == price


@pytest.mark.parametrize("written", SPELLINGS)
def test_in_every_field_that_may_hold_references_a_look_alike_is_a_fault(written: str) -> None:
    others = [step(name) for name in STEPS[1:]]
    meant = SPELLINGS[written]
    nested = {"list": [{"{step_1}": ["x", f"see {written}"]}]}

    in_args = faults(*others, step("b", args={"text": nested}))
    in_model = faults(*others, {"id": "b", "objective": "o", "tools": ["use"], "args": {"text": nested}})
    in_items = faults(*others, step("b", for_each=[nested]))
    gathered = faults(*others, {"id": "b", "objective": "o", "gather": nested})
    in_answer = faults(*others, answer=nested)

    expected = "write $$" + meant if written.startswith("${step_1_") else f"write {meant}"
    for issues, place in [(in_args, "b.args.text"), (in_model, "b.args.text"), (in_items, "b.for_each")]:
        assert [issue.startswith(f"{place}: ") and expected in issue for issue in issues] == [True]
    for issues, place in [(gathered, "b.gather"), (in_answer, "answer")]:
        assert [issue.startswith(f"{place}: ") and expected in issue for issue in issues] == [True]
    assert '"literal": ["text"]' in in_args[0]
    assert not any("literal" in issue for issue in (in_items + gathered + in_answer))


def test_a_single_dollar_before_a_reference_is_a_fault_that_names_both_ways_out() -> None:
    (fault,) = faults(step("b", args={"price": "for ${step_1_result.price}"}))

    assert "single $" in fault
    assert "write $${step_1_result.price}" in fault
    assert '"literal": ["price"]' in fault


@pytest.mark.parametrize(
    "written", ["{item}", "{{ item.url }}", "$item.url", "{item_output}", "<item_result>", "${item_result}"]
)
def test_an_item_has_look_alikes_only_in_a_step_that_is_done_for_each(written: str) -> None:
    args = {"text": written}
    each = faults(step("b", for_each=["x"], args=args))

    assert len(each) == 1 and each[0].startswith("b.args.text: ")
    assert written == "${item_result}" or faults(step("b", args=args)) == []


def test_a_literal_argument_holds_whatever_is_written_there() -> None:
    code = "\n".join([*SPELLINGS, *PLAIN, "{nobody_result}", "{step_1_result[}"])
    plan = read(step("b", args={"code": [code], "url": "{step_1_result.url}"}, literal=["code"])).plan

    assert plan is not None
    assert plan.by_id["b"].filled_args({"step_1": {"url": "u"}}) == {"code": [code], "url": "u"}
    assert [ref.step for ref in plan.by_id["b"].references()] == ["step_1"]
    assert plan.by_id["b"].fixed_args() == {"code": [code]}
    assert plan.by_id["b"].renamed_args({"step_1": "x"}) == {"code": [code], "url": "{x_result.url}"}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_literal_argument_comes_through_unchanged(text: str) -> None:
    plan = read(step("b", args={"code": {"deep": [text]}, "x": text}, literal=["code", "x"])).plan

    assert plan is not None
    assert plan.by_id["b"].filled_args({}) == {"code": {"deep": [text]}, "x": text}
    assert Plan.model_validate(plan.to_json()).digest == plan.digest


@given(
    st.lists(
        st.sampled_from(["{", "}", "$", "<", ">", "#", "E1", "step_2", "x", ".", "[0]", " ", "0", "_result", "é", '"']),
        max_size=20,
    ).map("".join)
)
def test_a_plan_that_is_read_passes_all_text_without_references_on_unchanged(text: str) -> None:
    reading = read(step("b", args={"text": text}))
    if reading.plan is None:
        assert any(mark in text for mark in ("_result", "#E1"))
    elif "{{" not in text:
        assert reading.plan.by_id["b"].filled_args({}) == {"text": text}


@pytest.mark.parametrize(
    ("literal", "fault"),
    [(["other"], "b.literal: 'other' is not among its args"), ("text", "b.literal: "), ([["text"]], "b.literal[0]: ")],
)
def test_literal_names_arguments_that_are_there(literal: Any, fault: str) -> None:
    issues = faults(step("b", args={"text": "x"}, literal=literal))

    assert issues and all(issue.startswith(fault) for issue in issues)


@pytest.mark.parametrize("fields", [{"ask": "Which?"}, {"gate": "Look"}, {"gather": "x"}, {"refine": True}])
def test_only_steps_with_arguments_take_literal(fields: dict[str, Any]) -> None:
    assert any(
        issue.startswith("b.literal: ") for issue in faults({"id": "b", "objective": "o", "literal": ["x"], **fields})
    )


def test_a_plan_without_literal_arguments_keeps_its_digest() -> None:
    plan = read(step("b", args={"x": 1}, literal=[])).plan

    assert plan is not None
    assert "literal" not in plan.by_id["b"].to_json()


def test_a_revision_is_held_to_the_same_and_what_succeeded_is_left_alone() -> None:
    current = read(step("b", args={"text": "{late.url}"}), step("c", args={"text": "{late.url}"})).plan
    assert current is not None
    revision = {"keep": ["c"], "steps": [step("late"), step("d", args={"text": "{b.url}"})]}

    issues = read_revision(revision, current, {"step_1", "b"}, TOOLS).issues

    assert {issue.step: "{b_result.url}" in issue.message for issue in issues} == {"c": False, "d": True}
    assert read_revision({"steps": [step("late")]}, current, {"step_1", "b"}, TOOLS).plan is not None


def test_of_many_look_alikes_in_one_argument_a_few_are_named() -> None:
    issues = faults(step("b", args={"text": " ".join(f"{{step_1.x{n}}}" for n in range(1_000))}))

    assert len(issues) == 6
    assert all(len(issue) < 400 for issue in issues)


def seconds_to_look(text: str) -> float:
    begun = time.process_time()
    list(lookalikes_in(text, STEPS))
    return time.process_time() - begun


@pytest.mark.parametrize(
    "hostile",
    [
        "{step_1",
        "{ ",
        "{{{{",
        "$$$$",
        "$step_1.a",
        "<step_1",
        "#E1",
        "{step_1.a ",
        "{step_1[",
        "_result",
        "$a[",
        "{a \t ",
        "</a",
        "{a.b | ",
        "${a_result}",
    ],
)
def test_hostile_text_is_looked_through_in_time_in_proportion_to_its_length(hostile: str) -> None:
    assert seconds_to_look(hostile * 20_000) < 100 * (seconds_to_look(hostile * 1_000) + 0.005)


def test_a_long_space_is_looked_through_in_time() -> None:
    spaced = seconds_to_look("{step_1" + " " * 400_000 + "| x}") + seconds_to_look("{" + " " * 400_000)
    assert spaced < 5


def test_a_reference_that_is_suggested_can_be_used() -> None:
    assert found("{step_1.a-b!}") == [("{step_1.a-b!}", "{step_1_result}")]
    assert all(one.meant.fault is None for text in SPELLINGS for one in lookalikes_in(text, STEPS))
    assert found("{step_1." + "x" * 5_000 + "}")[0][1] == str(Reference("step_1", ""))
