"""Which runs of a playbook a standing approval lets pass."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.playbook_approval import covers_run, face_of, playbook_fault, subject_of
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.events import Draft, Event, PlanRevised, RunForked, RunStarted
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.standing_approval import StandingApproval, StandingUse

NOW = 1_000_000.0
PAY = ToolSpec("pay", "", {"properties": {"to": {}, "amount": {}}}, effect="external")
TERMS = ExecutionTerms({"pay": PAY})
RAN = {"name": "bills", "version": 1, "digest": "d" * 64}


def plan(amount: int = 5, label: str = "user", **more: Any) -> Plan:
    steps = [{"id": "pay", "objective": "Pay", "tool": "pay", "args": {"amount": "{param.amount}", **more}}]
    return Plan.model_validate({"steps": steps, "params": {"amount": {"value": amount, "label": label}}})


def run(plan: Plan, by: str = "os:ada", author: str = "caller", revision: int = 1, **started: Any) -> RunState:
    begun = RunStarted(goal="g", thread="t", n=1, started_by=by, **{"playbook": RAN, **started})
    revised = PlanRevised(
        revision=revision, author=author, reason="", plan=plan.to_json(), digest=plan.digest, binding=""
    )
    return project([Event.written(1, NOW, Draft(begun)), Event.written(2, NOW, Draft(revised))])


def approval(terms: ExecutionTerms = TERMS, **changed: Any) -> StandingApproval:
    known = plan()
    found = StandingApproval(
        "sa", "", {"amount": {"below": 100}}, 2, face_of(known, terms), terms.policy.digest, ("os:ada",), NOW,
        until=NOW + 60, roles={"os:ada": ()}, of_givers=True, playbook=subject_of(run(known), known),
    )  # fmt: skip
    return found._replace(**changed)


def is_covered(
    use: StandingApproval | StandingUse, plan: Plan, record: RunState | None = None, terms: ExecutionTerms = TERMS
) -> bool:
    found = use if isinstance(use, StandingUse) else StandingUse(use)
    return covers_run(found, record or run(plan), plan, terms, NOW)


def test_values_within_the_bounds_are_covered_and_others_are_not() -> None:
    assert is_covered(approval(), plan(99)) and is_covered(StandingApproval.from_json(approval().to_json()), plan(99))
    assert not is_covered(approval(), plan(100))
    assert not is_covered(approval(), plan(5, "untrusted"))
    assert not is_covered(approval(), plan(5, to="eve"))


@pytest.mark.parametrize(
    "started",
    [
        {"author": "planner"},
        {"revision": 2},
        {"by": "os:eve"},
        {"by": "schedule:nightly"},
        {"playbook": {}},
        {"playbook": {**RAN, "digest": "e" * 64}},
        {"playbook": {**RAN, "goal": "given"}},
        {"constraints": ("be rude",)},
    ],
)
def test_a_run_that_is_another_one_is_not_covered(started: dict[str, Any]) -> None:
    assert not is_covered(approval(), plan(), run(plan(), **started))


def test_a_fork_is_not_covered() -> None:
    known = plan()
    forked = run(known)
    forked.assignment = forked.assignment.run_forked(RunForked(source="other.1"))

    assert not is_covered(approval(), known, forked)


def test_a_run_without_a_plan_or_of_which_another_plan_was_asked_for_is_not_covered() -> None:
    known, stays, stalls = plan(), run(plan()), run(plan())
    stays.plan_state.unchanged, stalls.plan_state.stalled = "it is right", "no progress"
    begun = Event.written(1, NOW, Draft(RunStarted(goal="g", playbook=RAN)))

    for record in (stays, stalls, project([begun])):
        assert playbook_fault(record, known) is not None and not is_covered(approval(), known, record)


def test_a_value_of_which_nobody_vouches_is_covered_by_no_approval_also_of_a_plan_with_such_values() -> None:
    known = plan(5, "untrusted")

    assert not is_covered(approval(playbook=subject_of(run(known), known)), known)


def test_a_run_is_played_again_under_the_approval_of_its_playbook_whatever_the_time() -> None:
    over = StandingUse(approval(until=0.0), is_replayed=True)

    assert is_covered(over, plan()) and not is_covered(over._replace(is_replayed=False), plan())
    assert not is_covered(over, plan(), run(plan(), playbook={**RAN, "version": 2}))


def test_an_approval_of_calls_covers_no_run_and_one_trusted_value_vouches_for_no_other() -> None:
    assert not is_covered(StandingUse(approval(playbook=None), is_replayed=True), plan())

    mixed = plan().to_json() | {
        "params": {"amount": {"value": 5, "label": "user"}, "n": {"value": 1, "label": "untrusted"}}
    }
    known = Plan.model_validate(mixed)
    any_n = {"amount": {"below": 100}, "n": {}}
    assert not is_covered(approval(args=any_n, playbook=subject_of(run(known), known)), known)


def test_a_plan_has_another_face_without_one_of_its_tools() -> None:
    assert face_of(plan(), ExecutionTerms({})) != face_of(plan(), TERMS)


def test_since_when_a_playbook_has_changed_makes_it_no_other_one() -> None:
    assert is_covered(approval(), plan(), run(plan(), playbook={**RAN, "changed_since": 2}))


def test_the_last_run_is_counted_and_a_run_that_was_counted_passes_again_unless_it_is_revoked() -> None:
    spent = StandingUse(approval(), frozenset({"a.1", "t.1"}))

    assert is_covered(spent, plan())
    assert not is_covered(spent._replace(calls=frozenset({"a.1", "b.1"})), plan())
    assert not is_covered(spent._replace(revoked_by="os:ada"), plan())
    assert not is_covered(approval(until=NOW - 1), plan())
    assert not is_covered(approval(until=None), plan())
    assert not is_covered(approval(args={"amount": "[redacted]"}), plan())


def test_a_tool_or_a_policy_that_changed_ends_it() -> None:
    assert not is_covered(approval(), plan(), terms=ExecutionTerms({"pay": replace(PAY, effect="write")}))
    assert not is_covered(approval(), plan(), terms=replace(TERMS, policy=replace(NO_POLICY, new_effects="deny")))


def test_under_rules_people_who_meet_them_consent_for_a_schedule_and_four_eyes_take_one_of_them() -> None:
    rule = ApproverRule(names=("os:ada",), four_eyes=True)
    terms = replace(TERMS, policy=Policy(approvers=Approvers(tools={"pay": rule})))
    given = approval(terms, of_givers=False)

    assert is_covered(given, plan(), run(plan(), by="schedule:nightly"), terms)
    assert is_covered(given, plan(), run(plan(), by="server:ben"), terms)
    assert not is_covered(given, plan(), run(plan(), by="os:ada"), terms)
    assert not is_covered(given, plan(), run(plan(), by="claimed:ben"), terms)
    finance = replace(terms, policy=Policy(approvers=Approvers(tools={"pay": ApproverRule(roles=("finance",))})))
    assert not is_covered(approval(finance, of_givers=False), plan(), run(plan(), by="server:ben"), finance)
