"""Standing approvals: how many calls they let through, until when, and what ends them."""

import json
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from planner_executor.graph.record.standing_approval import LONGEST_S, StandingApproval, StandingApprovals, StandingUse

RAW: dict[str, Any] = {
    "id": "sa-1",
    "tool": "pay",
    "args": {"amount": {"below": 100}},
    "at_most": 2,
    "fingerprint": "f",
    "policy": "p",
    "given_by": ["server:ada"],
    "given_at": 5.0,
    "run": None,
    "until": 10.5,
}


def approval(**fields: Any) -> StandingApproval:
    return StandingApproval.from_json({**RAW, **fields})


def test_it_is_read_as_it_was_written() -> None:
    assert approval().to_json() == RAW
    frozen = {"amount": MappingProxyType({"below": 100})}
    assert json.dumps(approval(args=frozen).to_json()) == json.dumps(RAW)
    assert approval(run="t.1", until=None).to_json() == {**RAW, "run": "t.1", "until": None}


@pytest.mark.parametrize(
    "redacted", [{"at_most": "[redacted]"}, {"at_most": True}, {"until": "[redacted]"}, {"args": "[redacted]"}]
)
def test_one_of_which_a_bound_was_redacted_lets_nothing_through(redacted: dict[str, Any]) -> None:
    assert not StandingUse(approval(**redacted)).holds(0.0)


def test_one_of_which_the_givers_were_redacted_names_nobody_in_particular() -> None:
    assert approval(given_by="[redacted]").given_by == ("[redacted]",)
    assert (approval(args="[redacted]").args, approval(until="[redacted]").until) == ({}, None)
    assert approval(args={"amount": "[redacted]"}).to_json()["args"] == {"amount": "[redacted]"}


@pytest.mark.parametrize(
    ("calls", "revoked_by", "now", "left", "holds"),
    [
        ("", None, 0.0, 2, True),
        ("a", None, 10.4, 1, True),
        ("a", None, 10.5, 1, False),
        ("ab", None, 0.0, 0, False),
        ("abc", None, 0.0, 0, False),
        ("", "os:ada", 0.0, 0, False),
        ("", "", 0.0, 0, False),
    ],
)
def test_it_holds_until_it_is_spent_past_its_time_or_revoked(
    calls: str, revoked_by: str | None, now: float, left: int, holds: bool
) -> None:
    use = StandingUse(approval(), frozenset(calls), revoked_by)

    assert (use.left, use.holds(now)) == (left, holds)
    assert use.to_json() == {**RAW, "left": left, "revoked_by": revoked_by}


def test_one_without_a_time_holds_at_any_time() -> None:
    assert StandingUse(approval(until=None)).holds(1e12)


def test_each_call_counts_once_and_those_of_unknown_approvals_not_at_all() -> None:
    standing = StandingApprovals()
    standing.given(approval())
    for name, call in (("sa-1", "k1"), ("sa-1", "k1"), ("sa-1", "k2"), ("sa-2", "k3")):
        standing.used(name, call)
    standing.revoked("sa-2", "os:ada")

    assert {name: use.calls for name, use in standing.by_id.items()} == {"sa-1": {"k1", "k2"}}


def test_all_end_together_and_who_revoked_one_before_stays_on_record() -> None:
    standing = StandingApprovals()
    for name in ("sa-1", "sa-2"):
        standing.given(approval(id=name))
    standing.revoked("sa-1", "os:ada")
    standing.end("a retry")

    assert [use.revoked_by for use in standing.by_id.values()] == ["os:ada", "a retry"]
    assert not any(use.holds(0.0) for use in standing.by_id.values())


def test_the_roles_of_those_who_gave_it_are_kept_and_a_redacted_one_is_none() -> None:
    known = approval(roles={"server:ada": ["finance"], "server:ben": "[redacted]"})

    assert [(str(giver), giver.roles) for giver in known.givers] == [("server:ada", ("finance",))]
    assert known.to_json()["roles"] == {"server:ada": ["finance"]}
    assert [giver.roles for giver in approval().givers] == [()]
    assert approval(roles="[redacted]").roles == {}


def test_one_of_its_givers_alone_stays_so_if_that_was_redacted() -> None:
    assert approval(of_givers="[redacted]").to_json()["of_givers"] is True
    assert not StandingApproval("sa-1", "pay", {}, 1, "f", "p", ("server:ada",), 0.0).of_givers


def test_one_of_a_playbook_says_so_and_keeps_what_it_is_about() -> None:
    playbook = {"name": "onboarding", "version": 2}

    assert (approval().about, approval(playbook=playbook).about) == ("pay", "playbook onboarding 2")
    assert approval(playbook=playbook).to_json()["playbook"] == playbook
    assert approval(playbook="[redacted]").playbook == {} and "playbook" not in approval().to_json()


def test_those_are_used_here_that_let_a_call_through() -> None:
    standing = StandingApprovals()
    for name in ("sa-1", "sa-2"):
        standing.given(approval(id=name))
    standing.used("sa-2", "k1")

    assert [use.approval.id for use in standing.used_here] == ["sa-2"]
    assert not standing.used_here[0].is_replayed


def test_one_lasts_ninety_days_at_most() -> None:
    assert timedelta(seconds=LONGEST_S) == timedelta(days=90)
