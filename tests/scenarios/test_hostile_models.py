"""Models that obey every order they find in a tool's words: nothing off the plan, whoever looks or only says yes."""

import pytest
from attacks import ATTACKS
from hostile import evils, looks, run, says_yes, unwanted, wrongs

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
