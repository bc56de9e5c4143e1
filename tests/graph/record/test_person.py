"""People as they are named, and as the ledger keeps them."""

from typing import Any

import pytest

from planner_executor.graph.record.person import NOBODY, Approver, Person, same_name


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, "\ud800", "ada\ufe0f", 7, None])
def test_a_name_that_no_line_of_a_record_can_hold_names_nobody(name: Any) -> None:
    with pytest.raises(ValueError, match="names nobody"):
        Person(name)
    with pytest.raises(ValueError, match="names nobody"):
        Person("ada", roles=[name])


def test_a_proof_is_not_shown() -> None:
    assert "secret" not in repr(Person("ada", proof="secret"))


@pytest.mark.parametrize("label", ["server:ada@example.org", "os:ada", "claimed:server:ada", "unverified"])
def test_a_label_names_the_same_person_again(label: str) -> None:
    assert str(Approver.of_label(label)) == label


@pytest.mark.parametrize("label", ["", "policy", "admin:ada", "server:"])
def test_a_label_of_another_form_is_verified_by_nobody(label: str) -> None:
    assert Approver.of_label(label) == NOBODY and not NOBODY.is_verified


@pytest.mark.parametrize(
    "other", [" ADA@example.org", "\uff41da@example.org", "ada@example\u00ad.org", "ada@example.org\u00a0"]
)
def test_spellings_of_a_name_are_no_two_people(other: str) -> None:
    assert same_name(other) == same_name("ada@example.org")
    assert same_name("jose\u0301") == same_name("jos\u00e9")
