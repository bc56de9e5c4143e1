"""Conditions of `ask_when`: what cannot be judged is shown."""

from typing import Any

import pytest

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.conditions import in_words, may_meet, met_condition
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.policy_file import policy_from


@pytest.mark.parametrize(
    ("condition", "met", "unmet"),
    [
        (Constraint(above=100), [101, "1e3", True, None, [1, 101]], [100, 5.5, [], [1, 2]]),
        (Constraint(below=0, minimum=-5), [-5, "-1"], [0, -6]),
        (Constraint(domains=("rival.example",)), ["a@rival.example", "<@x:a@b.c>", 7], ["a@example.org"]),
        (
            Constraint(domains=("10.0.0.1",)),
            ["http://10.0.0.1/", "http://0x0a000001/", "http://167772161/", "http://10.1/", "http://[::ffff:a00:1]/"],
            ["http://10.0.0.2/", "http://[::1]/", "http://a.example/"],
        ),
        (Constraint(within=("contracts",)), ["contracts/a", "x/../contracts/a", "/srv/contracts/a"], ["notes/a"]),
        (Constraint(one_of=("EUR", 1)), ["EUR", 1], ["USD", True, "1"]),
        (Constraint(pattern="https:.*"), ["https://a.example/x"], ["http://a.example/x"]),
        (Constraint(pattern="[0-9]+", above=5), ["77", 6], ["x", 5]),
        (Constraint(pattern="[0-9]+"), ["a" * 100_001, "\ud800"], ["a" * 100_000]),
    ],
)
def test_a_value_meets_a_condition_or_cannot_be_judged(condition: Constraint, met: list[Any], unmet: list[Any]) -> None:
    assert [value for value in met if not may_meet(condition, value)] == []
    assert [value for value in unmet if may_meet(condition, value)] == []


PAY = ToolSpec("pay", "", {"properties": {"amount": {"default": 500}, "to": {}}}, "external")
CONDITIONS = {"to": Constraint(domains=("other.example", "rival.example")), "amount": Constraint(above=100, below=900)}


@pytest.mark.parametrize(
    ("args", "met"),
    [
        ({"to": "a@rival.example", "amount": 500}, "to is at other.example or rival.example"),
        ({"to": "a@friend.example", "amount": 500}, "amount is above 100 and is below 900"),
        ({"to": "a@friend.example"}, "amount is above 100 and is below 900"),
        ({"to": "a@friend.example", "amount": 5}, None),
        ({"amount": 5}, None),
        ({"amount": 5, "note": "above"}, None),
    ],
    ids=["the first", "another", "a default", "none", "left out", "not conditional"],
)
def test_the_first_condition_that_a_call_meets_is_named(args: Any, met: str | None) -> None:
    assert met_condition(CONDITIONS, PAY, args) == met


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Constraint(within=("a", "b")), "is within a or b"),
        (Constraint(one_of=("EUR", 1)), "is one of EUR, 1"),
        (Constraint(domains=("a.example", "b.example")), "is at a.example or b.example"),
        (Constraint(pattern="x+", minimum=1), "is at least 1 and matches x+"),
        (Constraint(pattern=""), "matches "),
    ],
)
def test_a_condition_is_read_after_the_name_of_its_argument(condition: Constraint, words: str) -> None:
    assert in_words(condition) == words


@pytest.mark.parametrize(
    ("folder", "met", "unmet"),
    [
        ("/srv", ["/srv/a", "/srv/../srv/a", "../srv/a", "a\\b", "srv/a"], ["/etc/a"]),
        ("srv", ["srv/a", "srv%2fa/../..", "/srv", "%73rv/a", "%2e/srv/a", "\uff53rv/a", "SRV/a"], ["etc/a", "a"]),
        ("Reports/2026", ["reports/2026/a", "REPORTS%2f2026"], ["reports/2027"]),
    ],
)
def test_a_path_that_cannot_be_compared_with_a_folder_is_shown(folder: str, met: list[str], unmet: list[str]) -> None:
    condition = Constraint(within=(folder,))

    assert [path for path in met if not may_meet(condition, path)] == []
    assert [path for path in unmet if may_meet(condition, path)] == []
    assert may_meet(condition, 7)


def test_one_of_several_folders_is_enough() -> None:
    condition = Constraint(within=("contracts", "offers"))

    assert may_meet(condition, "offers/a") and not may_meet(condition, "notes/a")


def test_an_empty_condition_is_refused_with_what_there_is_to_give() -> None:
    with pytest.raises(PolicyError, match=r"is empty; give some of (?!.*(optional|untrusted_from)).*maximum"):
        policy_from({"tools": {"pay": {"ask_when": {"amount": {}}}}})
    assert policy_from({"tools": {"pay": {"ask_when": {"amount": {"above": 1}}}}}).tools["pay"].ask_when
