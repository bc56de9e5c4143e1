"""Reading the table of those who decide: what is not understood is refused by its place."""

from typing import Annotated, Any

import pytest

from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.approvers_file import ApproversTable
from planner_executor.graph.words.tables import Faults, Shape, read

WHOLE: dict[str, Any] = {
    "roles": ["ops"],
    "four_eyes": True,
    "tools": {"pay": {"names": ["ada", "bob"], "quorum": 2}},
    "effects": {"external": {"roles": ["ops"]}},
    "cost": [{"above_usd": 0, "roles": ["lead"]}, {"above_usd": 2.5, "quorum": 20}],
}


def approvers_of(table: dict[str, Any]) -> Approvers:
    found, faults = read(Annotated[ApproversTable, Shape()], table)
    assert not faults
    approvers: Approvers = found.approvers
    return approvers


def approver_faults(table: dict[str, Any]) -> Faults:
    return read(Annotated[ApproversTable, Shape()], table)[1]


def test_a_table_is_read_as_it_is_written() -> None:
    found = approvers_of(WHOLE)

    assert found == Approvers(
        ApproverRule(roles=("ops",), four_eyes=True),
        {"pay": ApproverRule(("ada", "bob"), quorum=2)},
        {"external": ApproverRule(roles=("ops",))},
        ((0, ApproverRule(roles=("lead",))), (2.5, ApproverRule(quorum=20))),
    )
    assert found.to_json() == WHOLE
    assert approver_faults(WHOLE) == []
    assert approvers_of({}) == Approvers()


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ({"role": ["ops"]}, "role"),
        ({"above_usd": 5}, "above_usd"),
        ({"names": "ada"}, "names"),
        ({"names": []}, "names"),
        ({"roles": [" "]}, "roles"),
        ({"roles": ["ops", 1]}, "roles"),
        ({"four_eyes": 1}, "four_eyes"),
        ({"quorum": 0}, "quorum"),
        ({"quorum": 21}, "quorum"),
        ({"quorum": True}, "quorum"),
        ({"quorum": 2.0}, "quorum"),
        ({"names": ["ada"], "quorum": 2.5}, "quorum"),
        ({"names": ["ada"], "quorum": 2}, "quorum"),
        ({"names": "ada", "quorum": 5}, "names"),
        ({"names": ["ada", "ADA"], "quorum": 2}, "quorum"),
        ({"quorum": 2, "roles": ["ops"], "tools": {"pay": {"names": ["ada"]}}}, "tools.pay.quorum"),
        ({"names": ["server:ada"]}, "names"),
        ({"effects": {"write": {"names": ["bob", "claimed:ada"]}}}, "effects.write.names"),
        ({"tools": []}, "tools"),
        ({"tools": {"pay": {"remind_before": ["1h"]}}}, "tools.pay.remind_before"),
        ({"tools": {"pay": ["ada"]}}, "tools.pay"),
        ({"tools": {"pay": {"tools": {}}}}, "tools.pay.tools"),
        ({"effects": {"extern": {}}}, "effects.extern"),
        ({"effects": {"write": {"quorum": 0}}}, "effects.write.quorum"),
        ({"calls": ["ada"]}, "calls"),
        ({"calls": {"effects": {}}}, "calls.effects"),
        ({"calls": {"names": []}}, "calls.names"),
        ({"calls": {"tools": ["pay"]}}, "calls.tools"),
        ({"calls": {"tools": {"pay": {"name": "ada"}}}}, "calls.tools.pay.name"),
        ({"calls": {"quorum": 2, "roles": ["ops"], "tools": {"pay": {"names": ["ada"]}}}}, "calls.tools.pay.quorum"),
        ({"calls": {"tools": {"pay": {"remind_before": ["1h"]}}}}, "calls.tools.pay.remind_before"),
        ({"cost": {"above_usd": 5}}, "cost"),
        ({"cost": ["lead"]}, "cost"),
        ({"cost": [{"above_usd": 5, "names": ["ada"]}], "quorum": 2, "roles": ["ops"]}, "cost.quorum"),
        ({"effects": {"write": {"names": ["ada"]}}, "quorum": 2, "roles": ["ops"]}, "effects.write.quorum"),
        ({"names": None}, "names"),
        ({"cost": [{"roles": ["lead"]}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": True}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": -1}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": float("nan")}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": float("inf")}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": "5"}]}, "cost.above_usd"),
        ({"cost": [{"above_usd": 5, "rolls": ["lead"]}]}, "cost.rolls"),
    ],
)
def test_one_fault_is_named_by_its_place(table: dict[str, Any], path: str) -> None:
    assert [".".join(map(str, place)) for place, _ in approver_faults(table)] == [path]


def test_a_name_may_have_the_source_os_or_be_called_as_another_source_is() -> None:
    assert approver_faults({"names": ["os:ada", "server", "claimed:"]}) == []


@pytest.mark.parametrize(
    "rule",
    [
        {"names": ["ada"]},
        {"names": ["ada"], "roles": ["ops"], "quorum": 2},
        {"names": ["ada", "b"], "quorum": 2},
        {"quorum": 1},
        {"quorum": 2, "calls": {"names": ["ada"]}},
    ],
)
def test_a_quorum_may_take_all_who_are_named_and_more_by_role(rule: dict[str, Any]) -> None:
    assert approver_faults(rule) == []


def test_times_that_cannot_be_read_are_faults_and_rules_by_cost_are_a_list() -> None:
    timed = {"roles": ["ops"], "decide_within": "soon", "remind_before": ["later"], "escalate_after": "x",
             "escalate_to": {"roles": ["lead"]}}  # fmt: skip

    assert {place[0] for place, _ in approver_faults(timed)} == {"decide_within", "remind_before", "escalate_after"}
    ((place, why),) = approver_faults({"cost": 5})
    assert (place, why) == (("cost",), "must be a list of rules: [[approvers.cost]]")


def test_a_request_is_escalated_to_somebody() -> None:
    timed = {"roles": ["ops"], "decide_within": "2h", "escalate_after": "1h", "escalate_to": {}}

    assert [place for place, _ in approver_faults(timed)] == [("escalate_to",)]


def test_rules_on_calls_that_are_asked_about_by_themselves_are_read() -> None:
    calls = Approvers(ApproverRule(("ada",)), {"pay": ApproverRule(roles=("lead",))})

    table = {"roles": ["ops"], "calls": {"names": ["ada"], "tools": {"pay": {"roles": ["lead"]}}}}
    assert approvers_of(table).calls == calls and approvers_of({"roles": ["ops"], "calls": {}}).calls is None
