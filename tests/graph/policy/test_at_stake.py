"""What a decision is about, and which rules on people those who made it met."""

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.at_stake import AtStake, under_four_eyes
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.person import Approver

PAY, MAIL, LOOK = ToolSpec("pay", "", {}), ToolSpec("mail", "", {}), ToolSpec("look", "", {}, "read")
OPS, FINANCE, TWO = ApproverRule(roles=("ops",)), ApproverRule(roles=("finance",)), ApproverRule(quorum=2)
EYES = ApproverRule(roles=("audit",), four_eyes=True)
RULES = Approvers(OPS, {"pay": FINANCE}, costs=((10, TWO),))
ADA, BOB = Approver("ada", "server", ("finance",)), Approver("bob", "server", ("finance", "ops"))


def test_what_is_shown_and_what_holds_afterwards_are_judged_together() -> None:
    both = AtStake((MAIL, LOOK), cost_usd=5) | AtStake((PAY, MAIL), (PAY,), 20)

    assert (both.tools, both.calls, both.cost_usd) == ((MAIL, LOOK, PAY), (PAY,), 20)
    assert both.rules(RULES) == (OPS, FINANCE, TWO)
    assert (both | AtStake(cost_usd=None)).cost_usd is None
    assert AtStake().rules(RULES) == (OPS,) and AtStake(calls=(PAY,)).rules(RULES) == (FINANCE,)


def test_rules_are_met_tool_by_tool() -> None:
    stake = AtStake((PAY, LOOK), (MAIL,), 20)

    assert stake.met(RULES, [ADA], [], 0.0) == {"pay": (FINANCE.to_json(),), "mail": ()}
    assert stake.met(RULES, [ADA, BOB], [], 0.0) == {
        "pay": (FINANCE.to_json(), TWO.to_json()),
        "mail": (OPS.to_json(), TWO.to_json()),
    }


def test_an_escalation_lets_others_meet_the_rule_that_is_in_force_without_it() -> None:
    late = ApproverRule(roles=("boss",), time=TimeLimit(60, escalate_after_s=10, to_roles=("finance",)))
    rules, stake = Approvers(tools={"pay": late}), AtStake((PAY,))

    assert stake.met(rules, [ADA], [], 0.0) == {"pay": ()}
    assert stake.met(rules, [ADA], [], 10.0) == {"pay": (late.people().to_json(),)}


PLAN = Plan(
    steps=(
        Step(id="a", objective="o", tool="pay", args={}),
        Step(id="b", objective="o", tools=("mail", "pay", "gone")),
        Step(id="c", objective="o", tool="look", args={}),
    )
)
TOOLS = {tool.name: tool for tool in (PAY, MAIL, LOOK)}


@pytest.mark.parametrize(
    ("steps", "tools"), [(["a"], (PAY,)), (["b", "a"], (PAY, MAIL)), (["c", "d"], (LOOK,)), ([], ())]
)
def test_the_tools_of_some_steps_are_at_stake_and_one_that_is_gone_is_not(
    steps: list[str], tools: tuple[ToolSpec, ...]
) -> None:
    assert AtStake.of_steps(PLAN, steps, TOOLS, 7) == AtStake(tools, cost_usd=7)


@pytest.mark.parametrize(
    ("one", "other", "together"), [(0.0, 3.0, 3.0), (3.0, 0.0, 3.0), (None, 3.0, None), (3.0, None, None)]
)
def test_what_either_may_cost_both_may(one: float | None, other: float | None, together: float | None) -> None:
    assert (AtStake(cost_usd=one) | AtStake(cost_usd=other)).cost_usd == together


def test_a_value_reaches_calls_of_the_tools_that_a_rule_is_about() -> None:
    reach = AtStake((PAY, LOOK)).reach(RULES)

    assert reach is not None and reach.in_words("`{}`".format, str.upper) == (
        "It reaches calls of `pay`: the role FINANCE has to approve. "
        "From anybody else it stands, and these calls are shown by themselves."
    )
    assert AtStake((LOOK,)).reach(RULES) is None


def test_the_rules_in_force_are_those_on_its_calls() -> None:
    own = Approvers(OPS, calls=Approvers(TWO))

    assert AtStake((PAY, LOOK), (PAY,)).in_force(own) == {"pay": (OPS.to_json(), TWO.to_json())}


@pytest.mark.parametrize(
    ("approvers", "found"),
    [
        (Approvers(tools={"pay": EYES}), {"a", "b"}),
        (Approvers(tools={"mail": EYES}), {"b"}),
        (Approvers(tools={"mail": EYES, "pay": OPS}, costs=((10, TWO),)), {"b"}),
        (Approvers(OPS, calls=Approvers(tools={"pay": EYES})), {"a", "b"}),
        (Approvers(OPS, costs=((5, EYES),)), {"a", "b"}),
        (RULES, set()),
    ],
)
def test_a_step_is_under_four_eyes_if_a_rule_on_one_of_its_tools_takes_them(
    approvers: Approvers, found: set[str]
) -> None:
    assert under_four_eyes(PLAN, ["a", "b", "c"], TOOLS, approvers, 20) == found
    assert under_four_eyes(PLAN, ["b"], TOOLS, approvers, 20) == found & {"b"}
