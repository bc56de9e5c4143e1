"""Section 4, "Revision": the replanner answers with a plan of what is left."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.revision import difference, read_revision
from planner_executor.graph.plan.schema import Plan, Step

TOOLS = {"search": ToolSpec("search", "", {"properties": {"q": {"type": "string"}}, "required": ["q"]})}
CURRENT = Plan(
    steps=(
        Step(id="step_1", objective="find", tool="search", args={"q": "x"}),
        Step(id="step_2", objective="failed", depends_on=("step_1",)),
        Step(id="step_3", objective="behind", args={"x": "{step_2_result}"}),
        Step(id="step_4", objective="aside"),
    ),
    answer={"found": "{step_1_result}", "rest": "{step_3_result}"},
)


def revise(raw: Any, succeeded: tuple[str, ...] = ("step_1",), current: Plan = CURRENT, **options: Any) -> ParsedPlan:
    return read_revision(raw, current, succeeded, TOOLS, **options)


def revised(raw: Any, *succeeded: str) -> Plan:
    reading = revise(raw, succeeded or ("step_1",))
    assert reading.plan is not None, reading.issues
    return reading.plan


def ids(plan: Plan) -> list[str]:
    return [step.id for step in plan.steps]


def places(reading: ParsedPlan) -> set[tuple[str | None, str]]:
    assert reading.plan is None
    return {(issue.step, issue.field) for issue in reading.issues}


def new(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "objective": "new", **fields}


def test_a_revision_brings_no_parameters() -> None:
    params = {"who": {"value": "ann", "label": "user"}}

    assert places(revise({"keep": ["step_4"], "params": params})) == {(None, "params")}


def test_what_succeeded_stays_without_being_named() -> None:
    assert ids(revised({"keep": ["step_4"]})) == ["step_1", "step_4"]


def test_what_is_neither_kept_nor_given_is_dropped() -> None:
    assert ids(revised({"steps": [new("other")]})) == ["step_1", "other"]


def test_keep_may_be_left_out_or_null() -> None:
    assert revised({"keep": None, "steps": [new("other")]}) == revised([new("other")])


@pytest.mark.parametrize(
    "raw", [[new("other")], {"plan": {"steps": [new("other")], "keep": []}}, {"plan": [new("other")]}]
)
def test_a_revision_is_spelled_as_freely_as_a_plan(raw: Any) -> None:
    assert ids(revised(raw)) == ["step_1", "other"]


@pytest.mark.parametrize("keep", [[4], ["step_4"], [4, "step_4", "step_4"]])
def test_keep_takes_integer_ids(keep: list[Any]) -> None:
    assert ids(revised({"keep": keep})) == ["step_1", "step_4"]


def test_a_given_step_takes_the_place_of_one_that_failed_so_that_references_hold() -> None:
    plan = revised({"keep": [3, 4], "steps": [new("step_2")]})

    assert ids(plan) == ["step_1", "step_2", "step_3", "step_4"]
    assert plan.by_id["step_2"].objective == "new"
    assert plan.by_id["step_3"] == CURRENT.by_id["step_3"]


def test_a_given_step_takes_the_place_of_one_that_has_not_run() -> None:
    assert revised({"steps": [new("step_4")]}).by_id["step_4"].objective == "new"


def test_a_step_that_succeeded_never_changes() -> None:
    assert places(revise({"steps": [new("step_1")], "keep": [4]})) == {("step_1", "id")}


@pytest.mark.parametrize("args", [{"q": "y"}, {"q": True}, {"q": 1}])
def test_not_even_its_arguments(args: dict[str, Any]) -> None:
    same = {"id": 1, "objective": "find", "tool": "search", "args": args}

    assert ("step_1", "id") in places(revise({"steps": [same], "keep": [4]}))


def test_one_and_true_are_not_the_same_argument() -> None:
    current = Plan(steps=(Step(id="a", objective="o", args={"n": 1}), Step(id="b", objective="o")))

    reading = revise({"steps": [{"id": "a", "objective": "o", "args": {"n": True}}], "keep": ["b"]}, ("a",), current)

    assert places(reading) == {("a", "id")}


def test_a_step_that_succeeded_may_be_repeated_as_it_is_in_any_spelling() -> None:
    same = {"subgoal_id": 1, "description": "find", "tool": "search", "input": "x"}

    assert revised({"steps": [same, new("other")]}) == revised({"steps": [new("other")]})


def test_a_step_is_not_both_kept_and_given() -> None:
    assert ("step_4", "keep") in places(revise({"keep": ["step_4"], "steps": [new("step_4")]}))


@pytest.mark.parametrize("name", ["gone", "", 9, None, True, 1.5, [], {}, "step_4 "])
def test_keep_names_steps_of_the_plan(name: Any) -> None:
    assert (None, "keep") in places(revise({"keep": [name], "steps": [new("other")]}))


@pytest.mark.parametrize("keep", ["step_4", 4, {"step_4": True}, True])
def test_keep_is_a_list(keep: Any) -> None:
    assert (None, "keep") in places(revise({"keep": keep, "steps": [new("other")]}))


def test_a_kept_step_whose_dependency_was_dropped_is_an_issue() -> None:
    assert places(revise({"keep": ["step_3"], "answer": "x"})) == {("step_3", "args.x")}


def test_a_kept_step_with_a_dropped_depends_on_is_an_issue() -> None:
    assert places(revise({"keep": ["step_2"]}, ())) == {("step_2", "depends_on")}


@pytest.mark.parametrize("raw", [{}, [], {"steps": []}, {"keep": [], "steps": None, "answer": None}, {"plan": {}}])
def test_an_empty_revision_is_refused(raw: Any) -> None:
    assert places(revise(raw)) == {(None, "steps")}


@pytest.mark.parametrize("raw", [None, "text", 5, True])
def test_what_is_no_revision_is_an_issue(raw: Any) -> None:
    assert places(revise(raw)) == {(None, "plan")}


def test_an_answer_alone_is_the_word_done() -> None:
    assert revised({"steps": [], "answer": "{step_1_result}"}) == Plan(
        steps=CURRENT.steps[:1], answer="{step_1_result}"
    )


def test_the_old_answer_holds_while_its_steps_are_left() -> None:
    assert revised({"keep": [3], "steps": [new("step_2")]}).answer == CURRENT.answer


def test_the_old_answer_goes_with_the_step_it_refers_to() -> None:
    assert revised({"keep": ["step_4"]}).answer is None


def test_a_new_answer_takes_the_place_of_the_old_one() -> None:
    assert revised({"keep": ["step_4"], "answer": "{step_4_result}"}).answer == "{step_4_result}"


def test_a_new_answer_must_refer_to_steps_that_are_left() -> None:
    assert places(revise({"keep": ["step_4"], "answer": "{step_3_result}"})) == {(None, "answer")}


def test_new_steps_come_last_and_kept_ones_in_their_old_order() -> None:
    plan = revised({"keep": [4], "steps": [new("z"), new("step_2"), new("a")]})

    assert ids(plan) == ["step_1", "step_2", "step_4", "z", "a"]


def test_given_steps_are_checked_like_those_of_a_plan_all_at_once() -> None:
    reading = revise(
        {
            "keep": ["gone"],
            "steps": [
                new("a", tool="search", args={"q": 5}),
                new("a"),
                new("b", depends_on=["b"]),
                new("c", colour=1),
                {},
            ],
            "why": "because",
        }
    )

    assert places(reading) == {
        (None, "keep"),
        (None, "why"),
        ("a", "args.q"),
        ("a", "id"),
        ("b", "depends_on"),
        ("c", "colour"),
        ("steps[4]", "id"),
        ("steps[4]", "objective"),
    }


def test_two_given_steps_with_one_old_id_are_a_duplicate() -> None:
    assert ("step_4", "id") in places(revise({"steps": [new("step_4"), new("step_4")]}))


def test_a_new_step_may_not_close_a_circle_with_a_kept_one() -> None:
    reading = revise({"keep": [3], "steps": [new("step_2", depends_on=["step_3"])]})

    assert [field for _, field in places(reading)] == ["depends_on"]


def test_the_bound_on_steps_holds_for_the_whole_plan() -> None:
    assert revise({"steps": [new("a"), new("b")]}, max_steps=3).plan is not None
    assert places(revise({"steps": [new("a"), new("b"), new("c")]}, max_steps=3)) == {(None, "steps")}


def test_the_difference_names_what_was_added_changed_and_removed() -> None:
    after = revised({"steps": [new("step_2"), new("fresh")], "answer": "done"})

    assert difference(CURRENT, after) == PlanDiff(("fresh",), ("step_2",), ("step_3", "step_4"), answer=True)
    assert str(difference(CURRENT, after)) == ("added: fresh; changed: step_2; removed: step_3, step_4; answer changed")


def test_a_plan_does_not_differ_from_itself() -> None:
    assert difference(CURRENT, CURRENT) == PlanDiff()
    assert str(PlanDiff()) == "nothing changed"


def test_against_no_plan_everything_is_added() -> None:
    assert difference(None, CURRENT).added == ("step_1", "step_2", "step_3", "step_4")


def test_the_difference_sees_what_python_takes_for_equal() -> None:
    before = Plan(steps=(Step(id="a", objective="o", args={"n": 1}),), answer=[0])
    after = Plan(steps=(Step(id="a", objective="o", args={"n": True}),), answer=[False])

    assert difference(before, after) == PlanDiff(changed=("a",), answer=True)


old_ids = [step.id for step in CURRENT.steps]
any_id = st.sampled_from([*old_ids, "fresh"])
revisions = st.fixed_dictionaries(
    {},
    optional={
        "keep": st.lists(any_id, max_size=4),
        "steps": st.lists(
            st.builds(new, any_id, depends_on=st.lists(any_id, max_size=2), args=st.just({})), max_size=4
        ),
        "answer": st.sampled_from(["x", "{step_3_result}", None]),
    },
)


@given(revisions, st.sets(st.sampled_from(old_ids)))
def test_no_revision_changes_or_loses_what_succeeded(raw: dict[str, Any], succeeded: set[str]) -> None:
    plan = revise(raw, tuple(succeeded)).plan
    if plan is None:
        return

    assert [step for step in CURRENT.steps if step.id in succeeded] == [
        step for step in plan.steps if step.id in succeeded
    ]
    allowed = succeeded | set(raw.get("keep", ())) | {step["id"] for step in raw.get("steps", ())}
    assert set(ids(plan)) <= allowed


def test_a_difference_is_read_as_it_was_told() -> None:
    found = PlanDiff(("a",), ("b",), ("c", "d"), answer=True)

    assert PlanDiff.from_json(found.to_json()) == found
    assert PlanDiff.from_json({}) == PlanDiff()


def test_a_revision_that_keeps_what_is_not_there_is_told_so_once() -> None:
    assert places(revise({"keep": ["gone"]})) == {(None, "keep")}
    assert places(revise({"keep": ["fresh"], "steps": [new("fresh")]})) == {(None, "keep")}


def test_a_step_that_is_kept_and_given_is_there_twice() -> None:
    assert places(revise({"keep": ["step_4"], "steps": [new("step_4")]})) == {("step_4", "keep"), ("step_4", "id")}


def test_a_step_that_succeeded_with_a_tool_that_has_gone_cannot_be_given_again() -> None:
    current = Plan(steps=(Step(id="a", objective="o", tool="gone"), Step(id="b", objective="o")))
    reading = revise({"steps": [{"id": "a", "objective": "o", "tool": "gone"}], "keep": ["b"]}, ("a",), current)

    assert places(reading) == {("a", "tool"), ("a", "id")}


def test_what_looks_like_a_reference_is_told_of_steps_that_are_still_to_run_only() -> None:
    written = Step(id="b", objective="o", args={"x": "{a.result}"}, depends_on=("a",))
    current = Plan(steps=(Step(id="a", objective="o"), written, Step(id="c", objective="o")))

    assert places(revise({"keep": ["b"]}, ("a",), current)) == {("b", "args.x")}
    assert revise({"keep": ["c"]}, ("a", "b"), current).plan == current
