"""What makes up for a failed step, over any number of revisions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan, Step
from graph.record.replacement import Replaced, replaced_in, replaces_issues
from graph.record.results import StepResult

TOOLS = {
    "look": ToolSpec("look", "", {}, effect="read"),
    "mail": ToolSpec("mail", "", {}),
    "post": ToolSpec("post", "", {}),
}
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
