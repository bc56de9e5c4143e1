"""The terms of a run: which executors a plan may name, and what an approval binds to."""

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms, ShownFor
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import Policy, ToolRule

TOOLS = {"look": ToolSpec("look", "", {}, effect="read")}


def thinks(executor: str | None) -> Plan:
    return Plan(steps=(Step(id="think", objective="o", executor=executor),))


def test_a_step_may_name_an_executor_that_there_is_or_none() -> None:
    terms = ExecutionTerms(TOOLS, executors=("small", "large"))

    assert terms.issues(thinks("large")) == terms.issues(thinks(None)) == []


def test_an_executor_that_nobody_gave_is_an_issue_that_names_those_that_there_are() -> None:
    (some,), (none,) = (ExecutionTerms(TOOLS, executors=given).issues(thinks("huge")) for given in (("a", "b"), ()))

    assert (some.step, some.field) == ("think", "executor")
    assert some.message == "unknown executor 'huge'; known executors: a, b"
    assert none.message == "unknown executor 'huge'; known executors: none"


def test_what_the_policy_forbids_is_an_issue_beside_an_unknown_executor() -> None:
    terms = ExecutionTerms(TOOLS, policy=Policy(tools={"look": ToolRule("deny")}))
    plan = Plan(steps=(*thinks("huge").steps, Step(id="look", objective="o", tool="look")))

    assert [(issue.step, issue.field) for issue in terms.issues(plan)] == [("think", "executor"), ("look", "tool")]


def test_terms_stay_the_same_terms_once_they_were_asked_for_a_binding() -> None:
    asked, terms = ExecutionTerms(TOOLS), ExecutionTerms(TOOLS)

    assert asked.binding(thinks(None)) == terms.binding(thinks(None))
    asked.binding(thinks("small"))
    assert asked == terms


MAIL, LOOK = ToolSpec("mail", "", {}, "external"), ToolSpec("look", "", {}, "read")


@pytest.mark.parametrize(
    ("mode", "policy", "tools", "shown"),
    [
        ("always", Policy(), ["look"], ShownFor("always")),
        ("side_effects", Policy(), ["look"], ShownFor()),
        ("side_effects", Policy(), ["look", "mail"], ShownFor("effects", ("mail",))),
        ("never", Policy(), ["mail"], ShownFor()),
        ("never", Policy(tools={"look": ToolRule("review")}), ["mail", "look"], ShownFor("policy", ("look",))),
        ("side_effects", Policy(tools={"mail": ToolRule("allow")}), ["mail"], ShownFor()),
    ],
)
def test_a_plan_is_shown_for_its_mode_for_a_rule_or_for_its_effects(
    mode: ApprovalMode, policy: Policy, tools: list[str], shown: ShownFor
) -> None:
    plan = Plan(steps=tuple(Step(id=name, objective="o", tool=name) for name in tools))

    assert ExecutionTerms({"mail": MAIL, "look": LOOK}, mode, policy).shown_for(plan) == shown


@pytest.mark.parametrize(
    ("value", "is_new"),
    [
        ("{a_result.x[0]} {a_result.y[*].z} {x: 1}", False),
        ("{length(a_result)}", True),
        ("{a_result.x || b_result}", True),
        ("{a_result[?n == b_result]}", True),
        ("{return a_result}", True),
        ("{a_result.x || total}", True),
    ],
)
def test_an_approval_by_earlier_rules_of_references_covers_no_plan_that_is_read_otherwise(
    value: str, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (Step(id=name, objective="o") for name in "ab")

    def bindings() -> list[str]:
        plans = [
            Plan(steps=(a, b), answer={"x": [value]}),
            Plan(steps=(a, b, Step(id="c", objective="o", tool="look", args={"q": value}))),
            Plan(steps=(a, b, Step(id="c", objective="o", gather=value))),
        ]
        return [ExecutionTerms(TOOLS).binding(plan) for plan in plans]

    now = bindings()
    monkeypatch.setattr(Plan, "is_read_anew", False)
    before = bindings()

    assert [one != other for one, other in zip(now, before, strict=True)] == [is_new] * 3
    literal = Step(id="c", objective="o", tool="look", args={"q": value}, literal=("q",))
    monkeypatch.undo()
    assert not Plan(steps=(a, b, literal)).is_read_anew
