"""What a decision is about, and which rules on people those who made it met."""

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approvers import ApproverRule, Approvers
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.person import Approver

PAY, MAIL, LOOK = ToolSpec("pay", "", {}), ToolSpec("mail", "", {}), ToolSpec("look", "", {}, "read")
OPS, FINANCE, TWO = ApproverRule(roles=("ops",)), ApproverRule(roles=("finance",)), ApproverRule(quorum=2)
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
