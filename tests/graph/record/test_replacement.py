"""What makes up for a failed step, over any number of revisions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.replacement import (
    Replaced,
    ReplacementStatus,
    replaced_in,
    replaced_in_words,
    replaces_issues,
)
from planner_executor.graph.record.results import StepResult

TOOLS = {
    "look": ToolSpec("look", "", {}, effect="read"),
    "mail": ToolSpec("mail", "", {}),
    "post": ToolSpec("post", "", {}),
}
STANDINGS: tuple[ReplacementStatus, ...] = ("asked", "open", "made_up")
FAILED, DONE = StepResult("failed", error="down"), StepResult("succeeded", 1)


def step(name: str, tool: str, replaces: str | None = None, **more: Any) -> Step:
    return Step(id=name, objective="o", tool=tool, replaces=replaces, **more)


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps)


def told(before: Plan, after: Plan, *earlier: Replaced, **results: StepResult) -> list[tuple[str, Any]]:
    found = replaced_in(after, before, results or {"a": FAILED}, earlier, TOOLS)
    return [(one.step, one.standing) for one in found]


MAIL = plan(step("a", "mail"))


def test_a_failed_step_that_stays_as_it_is_needs_nobody_in_its_place() -> None:
    assert told(MAIL, plan(step("a", "mail"), step("b", "look"))) == []


def test_a_step_that_did_not_fail_may_be_dropped() -> None:
    assert told(MAIL, plan(), a=DONE) == told(MAIL, plan(), b=FAILED) == []


def test_a_step_in_place_of_one_that_failed_again_answers_for_both() -> None:
    posts = plan(step("b", "post", "a"))
    (asked,) = replaced_in(posts, MAIL, {"a": FAILED}, (), TOOLS)
    assert asked == Replaced("a", ("mail",), ("b",), "asked")

    reads = told(posts, plan(step("c", "look", "b")), asked.approved(), a=FAILED, b=FAILED)
    posts_again = told(posts, plan(step("c", "post", "b")), asked.approved(), a=FAILED, b=FAILED)
    mails = told(posts, plan(step("c", "mail", "a"), step("d", "post", "b")), asked.approved(), a=FAILED, b=FAILED)

    assert reads == [("a", "open"), ("b", "open")]
    assert posts_again == [("a", "asked"), ("b", "made_up")]
    assert mails == [("a", "made_up"), ("b", "made_up")]


def test_what_a_person_approved_holds_as_long_as_the_steps_stay() -> None:
    posts = plan(step("b", "post", "a"))
    approved = Replaced("a", ("mail",), ("b",), "made_up")

    assert told(posts, plan(step("b", "post", "a"), step("c", "look")), approved, a=FAILED) == [("a", "made_up")]
    assert told(posts, plan(step("b", "post", "a", args={"to": "x"})), approved, a=FAILED) == [("a", "asked")]
    assert told(posts, plan(step("c", "look")), approved, a=FAILED) == [("a", "open")]


def test_what_has_succeeded_is_done_with() -> None:
    posts = plan(step("b", "post", "a"))

    assert told(posts, posts, Replaced("a", ("mail",), ("b",), "made_up"), a=FAILED, b=DONE) == []


def test_a_later_revision_may_make_up_for_what_an_earlier_one_dropped() -> None:
    reads = plan(step("c", "look"))

    assert told(reads, plan(step("d", "mail", "a")), Replaced("a", ("mail",)), a=FAILED) == [("a", "made_up")]
    assert told(reads, plan(step("a", "mail")), Replaced("a", ("mail",)), a=FAILED) == [("a", "made_up")]


def test_several_steps_may_do_together_what_one_was_to_do() -> None:
    both = plan(Step(id="a", objective="o", tools=("mail", "post", "look")))

    assert told(both, plan(step("b", "mail", "a"), step("c", "post", "a"))) == [("a", "made_up")]
    assert told(both, plan(step("b", "mail", "a"))) == [("a", "asked")]


def test_a_step_that_was_to_be_planned_might_have_called_any_tool() -> None:
    vague = plan(Step(id="a", objective="o", refine=True))

    assert told(vague, plan(step("b", "look", "a"))) == [("a", "open")]
    assert told(vague, plan(step("b", "mail", "a"))) == [("a", "asked")]
    assert told(vague, plan(Step(id="b", objective="o", refine=True, replaces="a"))) == [("a", "made_up")]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([*TOOLS]), st.sampled_from([None, *"ab"])), max_size=3)
)
def test_no_plan_without_an_effect_makes_up_for_one(steps: list[tuple[str, str, str | None]]) -> None:
    by_id = {name: step(name, tool, replaces) for name, tool, replaces in steps}

    found = replaced_in(plan(*by_id.values()), MAIL, {"a": FAILED}, (), TOOLS)

    acting = {tool for one in by_id.values() if "a" in (one.id, one.replaces) for tool in [one.tool] if tool != "look"}
    expected = "made_up" if "mail" in acting else "asked" if acting else "open"
    stays = "a" in by_id and by_id["a"].same_as(MAIL.steps[0])
    assert [one.standing for one in found] == ([] if stays else [expected])


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (plan(step("b", "mail", "z")), "no earlier revision has a step 'z'"),
        (plan(step("a", "mail"), step("b", "mail", "a")), "a is still in the plan"),
        (plan(step("c", "look"), step("b", "mail", "c")), "c succeeded"),
    ],
)
def test_a_step_replaces_one_that_was_planned_and_is_there_no_more(after: Plan, words: str) -> None:
    (issue,) = replaces_issues(after, {"a", "c"}, {"c"})

    assert (issue.step, issue.field) == ("b", "replaces") and words in issue.message


def test_a_step_that_replaces_a_failed_one_is_in_order() -> None:
    assert replaces_issues(plan(step("b", "mail", "a")), {"a"}, set()) == []


def test_approval_makes_up_for_what_was_asked_and_for_nothing_that_is_open() -> None:
    asked, open_one, made_up = (Replaced("a", ("mail",), ("b",), standing) for standing in STANDINGS)

    assert [one.approved() for one in (asked, open_one, made_up)] == [made_up, open_one, made_up]


def test_before_the_first_plan_nothing_was_there_to_fail() -> None:
    assert replaced_in(MAIL, None, {"a": FAILED}, (), TOOLS) == []


def test_one_of_two_steps_in_place_of_a_failed_one_is_not_enough() -> None:
    both = plan(step("b", "mail", "a"), step("c", "mail", "a"))
    approved = Replaced("a", ("mail",), ("b", "c"), "made_up")

    assert told(both, both, approved, a=FAILED, b=DONE) == [("a", "made_up")]
    assert told(both, both, approved, a=FAILED, b=DONE, c=DONE) == []


def test_one_of_two_steps_that_a_person_approved_may_not_change_unseen() -> None:
    both = plan(step("b", "post", "a"), step("c", "post", "a"))
    changed = plan(step("b", "post", "a"), step("c", "post", "a", args={"to": "x"}))

    assert told(both, changed, Replaced("a", ("mail",), ("b", "c"), "made_up"), a=FAILED) == [("a", "asked")]


def test_a_step_that_failed_again_keeps_what_was_known_to_stand_in_its_place() -> None:
    again = plan(step("a", "mail"), step("b", "mail"))

    assert told(again, plan(step("b", "mail")), Replaced("a", ("mail",), ("a", "b"))) == [("a", "made_up")]


def test_a_failed_read_is_made_up_for_by_a_read_and_not_by_nothing() -> None:
    read = plan(step("a", "look"))

    assert told(read, plan(step("b", "look", "a"))) == [("a", "made_up")]
    assert told(read, plan()) == [("a", "open")]


def test_a_step_without_tools_could_not_act() -> None:
    assert told(plan(Step(id="a", objective="think")), plan(step("b", "look", "a"))) == [("a", "made_up")]


def test_a_tool_that_has_gone_is_not_known_to_act() -> None:
    assert told(plan(step("a", "gone")), plan(step("b", "look", "a"))) == [("a", "made_up")]


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (
            Replaced("a", ("mail",), (), "open"),
            "Nothing here makes up for the failed a (mail): the run cannot end as succeeded.",
        ),
        (Replaced("a", (), (), "open"), "Nothing here makes up for the failed a: the run cannot end as succeeded."),
        (
            Replaced("a", ("mail",), ("b", "gone"), "asked"),
            "b (post) instead of the failed a (mail). If you approve the plan, this makes up for it.",
        ),
        (Replaced("a", (), ("think",), "made_up"), "think instead of the failed a."),
    ],
)
def test_a_review_says_what_stands_in_place_of_a_failed_step(one: Replaced, line: str) -> None:
    after = plan(step("b", "post", "a"), Step(id="think", objective="o"))

    assert replaced_in_words([one], after) == [line]


@pytest.mark.parametrize("standing", STANDINGS)
def test_what_was_replaced_is_read_as_it_was_told(standing: ReplacementStatus) -> None:
    one = Replaced("a", ("mail",), ("b",), standing)

    assert Replaced.from_json(one.to_json()) == one


def test_a_standing_that_was_taken_out_of_the_record_makes_up_for_nothing() -> None:
    assert Replaced.from_json({"step": "a", "tools": [], "by": [], "standing": "[redacted]"}).standing == "open"
