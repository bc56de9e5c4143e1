from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.params import MAX_CHARACTERS, MOST
from planner_executor.graph.plan.reading import ParsedPlan, read_plan
from planner_executor.graph.plan.revision import difference, read_revision
from planner_executor.graph.plan.schema import Plan

MAIL = ToolSpec(
    name="mail",
    description="",
    effect="external",
    schema={"type": "object", "properties": {"to": {"type": "string"}, "copies": {"type": "integer"}}},
)


def mail(**args: Any) -> dict[str, Any]:
    return {"id": "a", "objective": "Write to {param.who}", "tool": "mail", "args": args}


def read(*steps: Any, answer: Any = None, **values: Any) -> ParsedPlan:
    params = {name: {"value": value, "label": "user"} for name, value in values.items()}
    return read_plan({"steps": list(steps), "answer": answer, "params": params}, {"mail": MAIL})


def plan(*steps: Any, **values: Any) -> Plan:
    parsed = read(*steps, **values)
    assert parsed.plan is not None, parsed.issues
    return parsed.plan


def test_a_parameter_is_filled_in_and_alone_keeps_its_type() -> None:
    step = plan(
        mail(to="{param.who.name} <{param.who.at}>", copies="{param.n}"), who={"name": "Ann", "at": "a@b"}, n=3
    ).steps[0]

    assert step.fixed_args() == {"to": "Ann <a@b>", "copies": 3}
    assert step.args["copies"] == "{param.n}"


def test_a_plan_without_parameters_takes_them_for_text() -> None:
    parsed = read_plan({"steps": [mail(to="{param.who}")]}, {"mail": MAIL})

    assert parsed.plan is not None
    assert parsed.plan.steps[0].fixed_args() == {"to": "{param.who}"}


@pytest.mark.parametrize("written", ["{{param.who}}", "{param .who}", "param.who", "{param}"])
def test_another_spelling_is_text(written: str) -> None:
    step = plan(mail(to=written), who="ann").steps[0]

    assert step.fixed_args() == {"to": written.replace("{{", "{").replace("}}", "}")}


def test_an_argument_without_references_to_fill_in_is_left_alone() -> None:
    assert plan({**mail(to="{param.who}"), "literal": ["to"]}, who="ann").steps[0].fixed_args() == {"to": "{param.who}"}


@given(st.text(st.sampled_from(list("{}$a_result.param.who b[0]\"'`\\"))))
def test_the_value_of_a_parameter_is_never_read_as_plan_text(value: str) -> None:
    step = {"id": "b", "objective": "o", "gather": ["{param.who}", "<{param.who}{a_result}>"]}
    read = plan(mail(to="x"), step, who=value).by_id["b"]

    assert read.waits == ("a",)
    assert read.resolved(read.gather, {"a": "{param.who}"}) == [value, f"<{value}{{param.who}}>"]


def test_both_the_notation_and_the_values_are_in_the_digest() -> None:
    ann, bob = plan(mail(to="{param.who}"), who="ann"), plan(mail(to="{param.who}"), who="bob")
    written = plan(mail(to="ann"), who="ann")

    assert len({ann.digest, bob.digest, written.digest}) == 3
    assert Plan.model_validate(ann.to_json()).digest == ann.digest
    assert difference(ann, bob).changed == ("a",)


def test_a_step_is_the_same_as_long_as_its_own_parameters_are() -> None:
    before, after = plan(mail(to="{param.who}"), who="ann", n=1), plan(mail(to="{param.who}"), who="ann", n=2)

    assert difference(before, after).changed == ()


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (mail(to="{param.whom}"), "a.args.to: {param.whom} names no parameter; the plan has who"),
        (mail(to="{param.who.at}"), "a.args.to: "),
        (
            mail(to="{param.who[*].at}"),
            "a.args.to: {param.who[*].at} has a path that is no chain of fields and indexes",
        ),
        (mail(copies="{param.who}"), "a.args.copies: "),
        ({"id": "a", "objective": "o", "gather": "{b_result[?n == '{param.who}']}"}, "a.gather: "),
        ({"id": "a", "objective": "for {param.whom}"}, "a.objective: {param.whom} names no parameter"),
    ],
)
def test_what_stands_for_nothing_is_a_fault(step: Any, fault: str) -> None:
    found = [str(issue) for issue in read(step, {"id": "b", "objective": "o"}, who="ann").issues]

    assert any(issue.startswith(fault) for issue in found), found


@pytest.mark.parametrize(
    "params",
    [
        [],
        {"1": {"value": 1, "label": "user"}},
        {1: {"value": 1, "label": "user"}},
        {"a": 1},
        {"a": {"value": 1}},
        {"a": {"value": 1, "label": "mine"}},
        {"a": {"value": "\ud800", "label": "user"}},
        {"a": {"value": "x" * MAX_CHARACTERS, "label": "user"}},
        {"a": {"value": 2**70, "label": "user"}},
        {f"a{n}": {"value": 1, "label": "user"} for n in range(MOST + 1)},
    ],
)
def test_parameters_that_cannot_be_kept_are_a_fault(params: Any) -> None:
    issues = read_plan({"steps": [mail(to="x")], "params": params}, {"mail": MAIL}).issues

    assert issues and all(issue.field.startswith("params") for issue in issues)


def test_as_many_parameters_and_as_long_ones_as_there_may_be_are_kept() -> None:
    longest = "x" * (MAX_CHARACTERS - len('""'))

    assert len(plan(mail(to="x"), **{f"a{n}": n for n in range(MOST - 1)}, who=longest).params) == MOST


def test_an_answer_may_name_parameters() -> None:
    assert read(mail(to="x"), answer={"for": "{param.who}"}, who="ann").plan is not None
    assert [issue.field for issue in read(mail(to="x"), answer="{param.n}", who="ann").issues] == ["answer"]


def test_a_revision_keeps_the_parameters_and_cannot_change_them() -> None:
    current = plan(mail(to="{param.who}"), who="ann")
    new = {"id": "b", "objective": "o", "tool": "mail", "args": {"to": "{param.who}!"}}

    revised = read_revision({"keep": ["a"], "steps": [new]}, current, [], {"mail": MAIL}).plan
    repeated = read_revision(
        {"keep": ["a"], "steps": [new], "params": {"who": {"value": "ann", "label": "user"}}},
        current,
        [],
        {"mail": MAIL},
    )
    changed = read_revision(
        {"keep": ["a"], "steps": [new], "params": {"who": {"value": "eve", "label": "user"}}},
        current,
        [],
        {"mail": MAIL},
    )

    assert revised is not None and revised.by_id["b"].fixed_args() == {"to": "ann!"}
    assert repeated.plan == revised
    assert [issue.field for issue in changed.issues] == ["params"]


def test_a_planner_brings_no_parameters_of_its_own() -> None:
    raw = {"steps": [mail(to="x")], "params": {"who": {"value": "eve", "label": "user"}}}

    assert [issue.field for issue in read_plan(raw, {"mail": MAIL}, params={}).issues] == ["params"]
