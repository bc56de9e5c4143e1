"""What a request says as data: of a plan, of calls, and of what is behind a gate."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.record.events import Arguments, EarlierCall, StepHeld, ValueShown
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.review.content import LARGEST_VALUE, Preview
from planner_executor.graph.review.plan_review import PlanReview, Reason
from planner_executor.graph.review.planned_call import PlannedCall
from planner_executor.graph.text.review.content import (
    calls_through,
    held_content,
    new_content,
    plan_content,
    uncertain_content,
)

PAY = ToolSpec(
    "pay", "", {"properties": {"to": {}, "amount": {}}}, trusted=True, summary="pay {amount} to {to}", reversible=False
)
WEB = ToolSpec("web", "", {}, "read", trusted=False)
TOOLS = {tool.name: tool for tool in (PAY, WEB)}
LOOK = Step(id="look", objective="o", tool="web", args={"at": "x"})
PAID = Step(id="paid", objective="o", tool="pay", args={"to": "ann", "amount": "{look_result.n}"})
BY_MODEL = Step(id="think", objective="o", tools=("pay",), args={"to": "ann", "amount": "{look_result}"})
EACH = Step(id="each", objective="o", tool="pay", args={"to": "{item_result}", "amount": 1}, for_each="{look_result}")
TERMS = ExecutionTerms(TOOLS, "always", policy_from({}))
CALL = Call("k", "paid", "pay", {"to": "ann", "amount": 9}, "d", False, Pass(1, 0), 0)


def held_call(step: str = "paid", args: Any = CALL.args, **fields: Any) -> HeldCall:
    return HeldCall(step, StepHeld(key="k", tool="pay", args=Arguments(args), revision=1, **fields), Pass(1, 0))


def told(content: Any) -> Any:
    return content.model_dump(mode="json", exclude_defaults=True)


def reviewed(*steps: Step, **more: Any) -> Any:
    return told(plan_content(PlanReview(Plan(steps=steps), 1, TERMS, **more)))


def test_each_argument_says_where_it_comes_from_and_how_far_it_is_trusted() -> None:
    look, paid, think, each = reviewed(LOOK, PAID, BY_MODEL, EACH)["steps"]
    web = {"trust": "untrusted", "sources": ["web"], "asked": True}

    assert look["args"] == {"web": {"at": {"origin": "plan", "trust": "user"}}}
    assert paid["args"]["pay"] == {
        "to": {"origin": "plan", "trust": "user"},
        "amount": {"origin": "result", "steps": ["look"], **web},
    }
    assert think["args"]["pay"]["to"] == {"origin": "plan", "trust": "user"}
    assert think["args"]["pay"]["amount"] == {"origin": "model", "steps": ["look"], **web}
    assert each["args"]["pay"]["to"] == {"origin": "item", **web} and each["most_items"] == 20
    assert paid["does"] == {"pay": "pay [look_result.n] to ann"} and "does" not in look


def test_nothing_is_said_of_the_work_of_a_step_that_is_done() -> None:
    look, paid = reviewed(LOOK, replace_checks(PAID), done={"paid": "succeeded"})["steps"]

    assert paid == {"id": "paid", "status": "succeeded", "done_by": "tool", "acts": True}
    assert look["status"] == "pending"


def replace_checks(step: Step) -> Step:
    return Step.model_validate({**step.to_json(), "checks": [{"matches": "x"}], "success_criteria": "good"})


@pytest.mark.parametrize(("has_judge", "by"), [(True, "model"), (False, "nobody")])
def test_it_says_who_judges_and_what_code_checks(has_judge: bool, by: str) -> None:
    _, paid = reviewed(LOOK, replace_checks(PAID), has_judge=has_judge)["steps"]
    checks = Step.model_validate({**PAID.to_json(), "checks": [{"matches": "x"}]})

    assert paid["judged_by"] == by and len(paid["checks"]) == 1
    assert reviewed(LOOK, checks)["steps"][1]["judged_by"] == "code"


def test_a_revision_says_what_changed_by_step_and_field_and_what_became_of_comments() -> None:
    old = Step(id="old", objective="o", tool="web")
    before = Plan(steps=(LOOK, old, PAID), answer="{paid_result}")
    long = Step.model_validate({**PAID.to_json(), "args": {"to": "x" * LARGEST_VALUE, "amount": 1}})

    found = told(
        plan_content(
            PlanReview(
                Plan(steps=(LOOK, long, EACH)),
                2,
                TERMS,
                why=Reason("replanner", "failure", "look failed", (("look", "no"),)),
                before=before,
                before_revision=1,
                was_seen=False,
                comments=(Comment("old", "why?"), Comment("paid", "less"), Comment("look", "fine")),
                left_out={"paid": ["be brief"]},
            )
        )
    )

    assert found["why"] == {
        "author": "replanner", "cause": "failure", "reason": "look failed", "failed": {"look": "no"}
    }  # fmt: skip
    assert (found["since"], found["was_seen"]) == (1, False)
    assert [(one["step"], one["change"]) for one in found["changes"]] == [
        ("each", "added"), ("paid", "changed"), ("old", "removed"), ("answer", "changed"),
    ]  # fmt: skip
    to, amount = found["changes"][1]["fields"]
    assert (to["field"], to["was"]) == ("args.to", {"value": "ann"}) and set(to["now"]) == {
        "length", "digest", "preview", "end"
    }  # fmt: skip
    assert amount == {"field": "args.amount", "was": {"value": "{look_result.n}"}, "now": {"value": 1}}
    assert found["changes"][3]["fields"] == [{"field": "answer", "was": {"value": "{paid_result}"}}]
    assert [one["became"] for one in found["comments"]] == ["gone", "changed", "unchanged"]
    assert found["steps"][1]["left_out"] == ["be brief"]


def test_a_held_call_says_what_it_does_and_what_of_it_is_not_trusted() -> None:
    label, given = TrustLabel("untrusted", ("web",)), ValueShown("answer", ("os:ann",), "q", "9")
    before = (EarlierCall("k", "t.1"),)
    held = held_call(labels={"to": label}, before=before, asked="the policy asks", values=(given,))

    found = told(held_content(held, PAY, replace_checks(PAID), has_judge=True))

    assert found["does"] == "pay 9 to ann" and found["tool"] == {
        "name": "pay",
        "effect": "external",
        "trust": "trusted",
        "reversible": False,
    }
    assert found["args"] == {"to": {"origin": "result", "trust": "untrusted", "sources": ["web"]}}
    assert found["given"] == [{"what": "answer", "by": ["os:ann"], "step": "q", "value": "9"}]
    assert (found["before"], found["why"], found["judged_by"]) == (["t.1"], "the policy asks", "model")
    bare = told(held_content(held_call(), None))
    assert bare == {"name": "run_step", "kind": "call", "step": "paid"}


def test_a_call_of_a_model_says_so_what_for_and_by_which_criteria() -> None:
    held = held_call("think")
    by_model, by_plan = (told(held_content(held, PAY, replace_checks(step))) for step in (BY_MODEL, PAID))

    assert (by_model["by_model"], by_model["criteria"]) == (True, "good") and "by_model" not in by_plan
    new, each = told(new_content(BY_MODEL, PAY, "d")), told(new_content(EACH, PAY, "d"))
    assert (new["by_model"], new["objective"], each["most_items"]) == (True, "o", 20)
    assert not {"by_model", "objective"} & each.keys() and "most_items" not in new


def test_a_new_call_has_a_digest_of_its_own() -> None:
    found = told(new_content(PAID, PAY, "d" * 64))

    assert (found["new"], found["digest"], found["does"]) == (True, "d" * 64, "pay [look_result.n] to ann")
    assert told(new_content(PAID, None, "d")) == {
        "name": "run_step", "kind": "call", "step": "paid", "digest": "d", "new": True
    }  # fmt: skip


def test_an_uncertain_call_says_what_is_known_of_it() -> None:
    found = told(uncertain_content(CALL, PAY, ["paid", "again"]))

    assert found["failure"].startswith("no outcome is on record") and found["may_live"]
    assert (found["does"], found["due_in"]) == ("pay 9 to ann", ["again"])
    unmet = told(uncertain_content(CALL._replace(unmet="it is too much", run="t.1"), None, ["paid"]))
    assert (unmet["failure"], unmet["took_effect"], unmet["run"], unmet["due_in"]) == (
        "it is too much", True, "t.1", ["paid"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "values", "args", "items"),
    [
        (PAID, {}, "{look_result.n}", None),
        (PAID, {"look": {"n": 9}}, 9, None),
        (PAID, {"look": {}}, "{look_result.n}", None),
        (EACH, {"look": ["a", "b"]}, 1, 2),
        (EACH, {"look": "no list"}, 1, None),
        (EACH, {}, 1, None),
        (BY_MODEL, {"look": 5}, 5, None),
    ],
)
def test_behind_a_gate_is_shown_what_is_known_by_now(step: Step, values: Any, args: Any, items: int | None) -> None:
    (found,) = calls_through(step, TOOLS, values)

    assert (told(found.args["amount"]), found.items) == ({"value": args}, items)
    assert found.does is not None and found.tool.name == "pay"


def test_a_read_behind_a_gate_is_no_effect_and_a_long_argument_is_cut() -> None:
    long = Step.model_validate({**PAID.to_json(), "args": {"to": "x" * LARGEST_VALUE, "amount": 1}})

    assert list(calls_through(LOOK, TOOLS, {})) == []
    assert isinstance(next(calls_through(long, TOOLS, {})).args["to"], Preview)
    assert next(calls_through(PAID, {"pay": replace(PAY, summary=None)}, {})).does is None


def test_the_first_plan_has_no_differences_whatever_was_before() -> None:
    before, comments = Plan(steps=(PAID, LOOK)), (Comment("look", "why?"),)

    found = reviewed(LOOK, before=before, before_revision=1, was_seen=False, estimate={"steps": 1}, comments=comments)

    assert not {"since", "was_seen", "changes", "comments"} & set(found) and found["work"] == {"steps": 1}


def test_a_revision_of_which_no_plan_was_seen_has_added_all() -> None:
    comments = (Comment("look", "why?"),)

    found = told(plan_content(PlanReview(Plan(steps=(LOOK,), answer="x"), 2, TERMS, comments=comments)))

    assert found["changes"] == [
        {"step": "look", "change": "added"},
        {"step": "answer", "change": "changed", "fields": [
            {"field": "answer", "now": {"value": "x"}}
        ]},
    ]  # fmt: skip
    assert not {"since", "was_seen"} & set(found) and [one["became"] for one in found["comments"]] == ["changed"]


def test_a_field_that_was_not_given_is_left_out_of_a_change() -> None:
    was, now = (
        Step.model_validate({**LOOK.to_json(), **more}) for more in ({"tool": "web"}, {"checks": [{"matches": "x"}]})
    )

    def changed(before: Step, after: Step) -> Any:
        review = PlanReview(Plan(steps=(after,)), 2, TERMS, before=Plan(steps=(before,)), before_revision=1)
        return told(plan_content(review))["changes"][0]["fields"]

    assert changed(was, now) == [{"field": "checks", "now": {"value": [{"matches": "x"}]}}]
    assert changed(now, was) == [{"field": "checks", "was": {"value": [{"matches": "x"}]}}]


def test_tools_with_effects_name_the_steps_left_that_may_call_them() -> None:
    found = reviewed(LOOK, PAID, replace_id(PAID, "more"), done={"paid": "succeeded"}, left_out={"paid": ["x"]})

    assert found["tools"] == [
        {"name": "pay", "effect": "external", "trust": "trusted", "reversible": False, "steps": ["more"]},
        {"name": "web", "effect": "read", "trust": "untrusted"},
    ]
    assert "left_out" not in found["steps"][1]


def replace_id(step: Step, name: str) -> Step:
    return Step.model_validate({**step.to_json(), "id": name})


@pytest.mark.parametrize(
    ("author", "cause", "said"),
    [("planner", "failure", ""), ("planner", "refined", "refined"), ("replanner", "x", "x")],
)
def test_a_cause_is_that_of_a_revision(author: Any, cause: str, said: str) -> None:
    assert reviewed(LOOK, why=Reason(author, cause))["why"].get("cause", "") == said


def test_a_step_acts_if_one_of_its_tools_does_and_one_without_calls_has_no_arguments() -> None:
    both = Step(id="both", objective="o", tools=("web", "pay"))
    refined = Step(id="plan", objective="o", refine=True, tools=("pay",), success_criteria="good")

    found, later = reviewed(both, refined, has_judge=True)["steps"]

    assert found["acts"] and set(found["args"]) == {"pay"}
    assert found["args"]["pay"]["to"]["origin"] == "model" and "judged_by" not in found
    assert "args" not in later and later["judged_by"] == "nobody"


def test_under_never_no_argument_is_asked_about_again() -> None:
    terms = ExecutionTerms(TOOLS, "never", policy_from({}))

    found = told(plan_content(PlanReview(Plan(steps=(LOOK, PAID)), 1, terms)))

    assert "asked" not in found["steps"][1]["args"]["pay"]["amount"]


def test_a_tool_without_words_has_none_and_one_that_is_gone_is_left_out() -> None:
    silent = replace(PAY, summary=None)
    held = held_call(args={"to": "{look_result.n}"})

    assert "does" not in told(held_content(held, silent)) and "does" not in told(new_content(PAID, silent, "d"))
    assert told(held_content(held, PAY))["does"] == "pay [not given] to {look_result.n}"
    assert "judged_by" not in told(held_content(held, PAY, PAID))
    assert told(held_content(held, PAY, replace_checks(PAID)))["judged_by"] == "nobody"
    assert len(told(held_content(held, PAY, replace_checks(PAID)))["checks"]) == 1
    assert told(new_content(PAID, PAY, "d"))["tool"]["name"] == "pay"
    assert told(uncertain_content(CALL, PAY, []))["tool"]["name"] == "pay" and "run" not in told(
        uncertain_content(CALL, PAY, [])
    )
    assert list(calls_through(PAID, {}, {})) == []


def test_of_several_references_all_have_to_be_known() -> None:
    two = Step(
        id="two", objective="o", tool="pay", args={"to": "{look_result} {more_result}", "amount": "{look_result}"}
    )
    by_model = Step(id="think", objective="o", tools=("pay",), args={"to": "ann"})

    (found,) = calls_through(two, TOOLS, {"look": 1})

    assert told(found.args["to"]) == {"value": "{look_result} {more_result}"}
    assert [one.does for one in calls_through(by_model, TOOLS, {})] == ["pay [chosen by the model] to ann"]
    assert reviewed(by_model)["steps"][0]["does"] == {"pay": "pay [chosen by the model] to ann"}
    assert [one.does for one in calls_through(replace_id(PAID, "x"), TOOLS, {})] == ["pay [look_result.n] to ann"]


def test_an_effect_names_the_tools_without_declared_trust_whose_results_nobody_sees() -> None:
    silent = replace(WEB, trusted=None)
    terms = ExecutionTerms({"web": silent, "pay": PAY}, "always", policy_from({}))

    look, paid = told(plan_content(PlanReview(Plan(steps=(LOOK, PAID)), 1, terms)))["steps"]

    assert paid["unchecked"] == ["web"] and "unchecked" not in look
    assert "unchecked" not in reviewed(LOOK, PAID)["steps"][1]
    again = Step(id="again", objective="o", tool="web", args={"at": "{look_result}"})
    asked = Step(id="asked", objective="o", tool="pay", args={"to": "{look_result}", "amount": "{page_result}"})
    tools = {"web": silent, "pay": PAY, "page": replace(WEB, name="page")}
    page = Step(id="page", objective="o", tool="page")
    steps = told(plan_content(PlanReview(Plan(steps=(LOOK, page, again, asked)), 1, replace(terms, tools=tools))))

    assert not any("unchecked" in step for step in steps["steps"])


@pytest.mark.parametrize("label", ["undeclared", "untrusted"])
def test_a_parameter_is_no_tool_without_declared_trust(label: Any) -> None:
    by_param = replace_args(PAID, to="{param.who}", amount="{look_result}")
    plan = Plan.model_validate({"steps": [LOOK, by_param], "params": {"who": {"value": "ann", "label": label}}})

    found = told(plan_content(PlanReview(plan, 1, ExecutionTerms(TOOLS, "never", policy_from({})))))

    assert "unchecked" not in found["steps"][1] and found["steps"][1]["args"]["pay"]["to"]["params"] == ["who"]


def replace_args(step: Step, **args: Any) -> Step:
    return Step.model_validate({**step.to_json(), "args": args})


def test_a_step_says_why_the_policy_asks_and_which_calls_of_items_are_settled() -> None:
    here = Step(id="here", objective="o", tool="pay", args={"to": "ann", "amount": 1})
    calls = (
        PlannedCall("here", "pay", "w", None, {"k": "here"}, {"here": {"to": "ann"}}, (ApproverRule(roles=("cfo",)),)),
        PlannedCall("each", "pay", "w", None, {"k": "each[0]"}, {"each[0]": {"to": "ben"}}),
        PlannedCall("paid", "pay", "v", "unknown"),
        PlannedCall("both", "web", "w"),
        PlannedCall("both", "pay", "v", "unknown"),
    )
    both = Step(id="both", objective="o", tools=("web", "pay"), when={"of": "{look_result}", "condition": "@"})

    first, each, _, later, mixed = reviewed(here, EACH, LOOK, PAID, both, calls=calls)["steps"]

    assert (first["settled"], first["asks"], first["settled_by"]) == (True, {"pay": "w"}, [{"roles": ["cfo"]}])
    assert "settles" not in first and each["settles"] == {"each[0]": {"to": "ben"}}
    assert (later["asked_later"], later["asks"]) == ("unknown", {"pay": "v"}) and "settled" not in later
    assert (mixed["asked_later"], mixed["settled"], mixed["when"]) == ("unknown", True, "@ of {look_result}")
    assert "most_items" not in mixed
