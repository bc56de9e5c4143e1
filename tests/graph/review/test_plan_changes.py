"""What became of the steps of a plan, as data."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.review.plan_changes import changes_between

WEB = Step(id="look", objective="o", tool="web", args={"at": 1, "of": "x"})
STEPS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, True, 1.0, "1", None]), max_size=3)


def plan(values: dict[str, Any], answer: Any = None) -> Plan:
    return Plan(
        steps=tuple(Step(id=name, objective="o", tool="t", args={"n": value}) for name, value in values.items()),
        answer=answer,
    )


def told(before: Plan | None, after: Plan) -> list[Any]:
    return [one.model_dump(mode="json", exclude_defaults=True) for one in changes_between(before, after)]


@given(STEPS, STEPS, st.sampled_from([None, "x"]), st.sampled_from([None, "x"]))
def test_it_names_the_steps_that_the_difference_names_each_with_what_differs(
    was: dict[str, Any], now: dict[str, Any], first: Any, last: Any
) -> None:
    before, after = plan(was, first), plan(now, last)
    found, diff = changes_between(before, after), difference(before, after)

    named = {kind: tuple(one.step for one in found if one.change == kind and one.step != "answer") for kind in
             ("added", "changed", "removed")}  # fmt: skip
    assert named == {"added": diff.added, "changed": diff.changed, "removed": diff.removed}
    assert any(one.step == "answer" for one in found) == diff.answer
    assert all(bool(one.fields) == (one.change != "added") for one in found)


def test_a_changed_step_has_the_fields_that_differ_and_each_argument_is_a_field() -> None:
    after = WEB.model_copy(update={"objective": "p", "args": {"at": True, "of": "x", "in": []}})

    assert told(Plan(steps=(WEB,)), Plan(steps=(Step.model_validate(after.to_json()),))) == [
        {"step": "look", "change": "changed", "fields": [
            {"field": "objective", "was": {"value": "o"}, "now": {"value": "p"}},
            {"field": "args.at", "was": {"value": 1}, "now": {"value": True}},
            {"field": "args.in", "now": {"value": []}},
        ]}
    ]  # fmt: skip


def test_a_removed_step_has_what_it_was_but_its_id() -> None:
    assert told(Plan(steps=(WEB,)), Plan()) == [
        {"step": "look", "change": "removed", "fields": [
            {"field": "objective", "was": {"value": "o"}},
            {"field": "tool", "was": {"value": "web"}},
            {"field": "args.at", "was": {"value": 1}},
            {"field": "args.of", "was": {"value": "x"}},
        ]}
    ]  # fmt: skip


def test_an_answer_that_is_not_given_is_left_out() -> None:
    assert told(None, plan({}, "x")) == [
        {"step": "answer", "change": "changed", "fields": [{"field": "answer", "now": {"value": "x"}}]}
    ]
    assert told(plan({}, "x"), plan({}))[0]["fields"] == [{"field": "answer", "was": {"value": "x"}}]
