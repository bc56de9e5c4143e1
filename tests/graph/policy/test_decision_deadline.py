"""How long people have to decide: what a policy may say, which time counts, and who decides later."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.policy.duration import seconds_in, written
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from, policy_from_toml
from planner_executor.graph.text.policy import deciders

PAY, MAIL, READ = (
    ToolSpec("pay", "", {}, "write"),
    ToolSpec("mail", "", {}, "external"),
    ToolSpec("look", "", {}, "read"),
)
HOUR = 3_600.0
WHOLE = """
[approvers]
decide_within = "2d"

[approvers.tools.pay]
roles = ["finance"]
decide_within = "24h"
remind_before = ["1h", "4h"]
escalate_after = "12h"
escalate_to = { roles = ["lead"], names = ["cy"] }
on_expire = "end"

[approvers.effects.external]
roles = ["staff"]

[[approvers.cost]]
above_usd = 10
roles = ["lead"]
decide_within = "6h"
escalate_after = "1h"
escalate_to = { names = ["boss"] }
"""


def rules() -> Approvers:
    return policy_from_toml(WHOLE).approvers


@pytest.mark.parametrize(
    ("tools", "cost", "hours", "on_expire"),
    [
        ([READ], 1.0, 48, "reject"),
        ([MAIL], 1.0, 48, "reject"),
        ([PAY], 1.0, 24, "end"),
        ([PAY, MAIL], 1.0, 24, "end"),
        ([PAY], 20.0, 6, "reject"),
        ([READ], None, 6, "reject"),
    ],
)
def test_the_shortest_time_counts_and_a_rule_without_one_has_that_at_the_top(
    tools: list[ToolSpec], cost: float | None, hours: float, on_expire: str
) -> None:
    deadline = rules().deadline(tools, cost, 1_000.0)

    assert deadline is not None and (deadline.until, deadline.on_expire) == (1_000.0 + hours * HOUR, on_expire)


def test_moments_ascend_and_none_is_after_the_end() -> None:
    deadline = rules().deadline([PAY], 1.0, 0.0)
    assert deadline is not None and (deadline.reminders_s, deadline.escalations_s) == (
        (20 * HOUR, 23 * HOUR),
        (12 * HOUR,),
    )
    assert [deadline.next_due(handled * HOUR) / HOUR for handled in (0, 12, 20, 23)] == [12, 20, 23, 24]
    dear = rules().deadline([PAY], 20.0, 0.0)
    assert dear is not None and dear.escalations_s == (HOUR,), "the other rule would escalate after the end"


def test_each_rule_escalates_to_its_own_people_and_not_before() -> None:
    def people(escalated_s: float) -> list[str]:
        return [str(rule) for rule in rules().rules([PAY], 20.0, escalated_s)]

    assert people(0.0) == ["the role finance", "the role lead"]
    assert people(HOUR) == ["the role finance", "boss or the role lead"]
    assert people(12 * HOUR)[0] == "cy, the role finance or the role lead"


def test_time_alone_says_nothing_of_people() -> None:
    rules = policy_from_toml('[approvers]\ndecide_within = "1d"').approvers

    assert rules.rules([PAY], None) == () and rules.deadline([PAY], None, 0.0) is not None


def test_without_a_time_there_is_no_deadline() -> None:
    assert policy_from_toml('[approvers]\nroles = ["ops"]').approvers.deadline([PAY], 1.0, 0.0) is None


def test_the_policy_as_data_is_the_same_policy() -> None:
    policy = policy_from_toml(WHOLE)

    assert policy_from(policy.to_json()) == policy and policy.digest != Policy().digest
    shown = "\n".join(deciders(policy))
    assert "anybody who can answer, within 2 days, or it counts as rejected" in shown
    assert "within 1 day, or the run ends as rejected; a reminder 4 hours and 1 hour before; after 12 hours cy" in shown


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ({"decide_within": "soon"}, "decide_within must be a duration"),
        ({"decide_within": 60}, "decide_within must be a duration"),
        ({"decide_within": "0s"}, "decide_within must be a duration"),
        ({"decide_within": "53w"}, "decide_within must be a duration"),
        ({"on_expire": "reject"}, "on_expire needs decide_within"),
        ({"remind_before": ["1h"]}, "remind_before needs decide_within"),
        ({"decide_within": "1h", "remind_before": "30m"}, "remind_before must be a list"),
        ({"decide_within": "1h", "remind_before": []}, "remind_before must be a list"),
        ({"decide_within": "1h", "remind_before": ["1h"]}, "shorter than decide_within"),
        ({"decide_within": "1h", "escalate_after": "1h", "escalate_to": {"roles": ["a"]}}, "shorter than"),
        ({"decide_within": "1h", "escalate_after": "1m"}, "belong together"),
        ({"decide_within": "1h", "escalate_to": {"roles": ["a"]}}, "belong together"),
        ({"decide_within": "1h", "escalate_after": "1m", "escalate_to": ["a"]}, "must name people"),
        ({"decide_within": "1h", "escalate_after": "1m", "escalate_to": {"quorum": 1}}, "must name people"),
        ({"decide_within": "1h", "escalate_after": "1m", "escalate_to": {"roles": [" "]}}, "must name people"),
        ({"decide_within": "1h", "on_expire": "approve"}, "on_expire is 'approve'; it must be one of reject, end"),
        ({"decide_inside": "1h"}, "decide_inside is unknown"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("table", [(), ("tools", "pay"), ("effects", "write")])
def test_what_is_not_understood_is_refused(table: tuple[str, ...], entries: Any, fault: str) -> None:
    raw = entries
    for name in reversed(table):
        raw = {name: raw}

    with pytest.raises(PolicyError, match=fault):
        policy_from({"approvers": raw})


@given(st.integers(1, 10**9).map(lambda millionths: millionths / 1_000), st.sampled_from("wdhms"))
def test_a_duration_is_read_as_it_is_written(seconds: float, unit: str) -> None:
    assert seconds_in(written(seconds)) == pytest.approx(seconds)
    assert seconds_in(f"1{unit}") == seconds_in(f"1 {unit}") is not None


def test_a_time_alone_is_said_in_few_words() -> None:
    alone = TimeLimit(3_600.0)

    assert str(alone) == "within 1 hour, or it counts as rejected"
    assert alone.to_json() == {"decide_within": "1h"}
    assert TimeLimit(3_600.0, on_expire="end").to_json() == {"decide_within": "1h", "on_expire": "end"}


def test_durations_that_a_redaction_took_out_of_the_record_count_as_none() -> None:
    gone = {"decide_within": "[redacted]", "remind_before": ["[redacted]", "1h"]}

    assert TimeLimit.of(gone) == TimeLimit(0.0, (HOUR, 0.0))
