"""Models that obey every order they find in a tool's words: nothing off the plan, whoever is asked, or nobody."""

import pytest
from attacks import ATTACKS
from hostile import beyond, evils, looks, run, says_yes, unwanted, wrongs

EACH = [(name, mode) for name, attack in ATTACKS.items() for mode in attack.modes]


@pytest.mark.parametrize(("name", "mode"), EACH)
def test_with_a_person_who_looks_no_effect_is_an_attackers(name: str, mode: str) -> None:
    outcome = run(ATTACKS[name], looks(ATTACKS[name]), mode)

    assert wrongs(outcome) == [] and evils(outcome) == [] and unwanted(ATTACKS[name], outcome) == []


@pytest.mark.parametrize(("name", "mode"), EACH)
def test_with_a_person_who_only_says_yes_nothing_runs_that_was_not_shown_or_is_beyond_the_hard_limits(
    name: str, mode: str
) -> None:
    outcome = run(ATTACKS[name], says_yes, mode)

    assert wrongs(outcome) == []


NEVER_LEFT_OUT = {"raise_budget", "settle_effect", "run_step"}
"""What is asked where nobody approves plans: a limit, a call that may have happened, and a gate of the plan."""


@pytest.mark.parametrize("name", ATTACKS)
def test_where_nobody_is_asked_nothing_is_off_the_plan_denied_or_beyond_the_hard_limits(name: str) -> None:
    outcome = run(ATTACKS[name], says_yes, "never")

    asked = [action for request in outcome.asked for action in request["action_requests"]]
    assert beyond(outcome) == [] and {action["name"] for action in asked} <= NEVER_LEFT_OUT
    assert [action for action in asked if action["name"] == "run_step" and action["args"]["tool"] != "gate"] == []
