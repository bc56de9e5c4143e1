"""People as they are named, and as the ledger keeps them."""

from typing import Any

import pytest

from planner_executor.graph.record.person import NOBODY, Approver, Person, exact_name, same_name


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


def test_people_are_the_same_whatever_proves_it() -> None:
    assert Person("ada", proof="a token") == Person("ada", proof="another")


@pytest.mark.parametrize("roles", ["lead", ["lead"], ("lead",)])
def test_one_role_may_be_a_text_and_several_are_kept_as_a_tuple(roles: Any) -> None:
    assert Person("ada", roles).roles == ("lead",)


@pytest.mark.parametrize(
    ("name", "exact"),
    [(" Ada@Example.org", "ada@example.org"), ("\u212aate", "\u212aate"), ("STRASSE", "strasse"), ("Straße", "straße")],
)
def test_rules_compare_names_without_case_letter_by_letter(name: str, exact: str) -> None:
    assert exact_name(name) == exact


def test_a_name_may_have_200_characters() -> None:
    assert Person("x" * 200).name == "x" * 200


@pytest.mark.parametrize(
    ("label", "is_known", "person"),
    [
        ("server:Ada", True, "ada"),
        ("schedule:Nightly", True, "schedule:nightly"),
        ("claimed:ada", False, "ada"),
        ("unverified", False, ""),
    ],
)
def test_a_schedule_is_known_and_is_no_person_of_its_name(label: str, is_known: bool, person: str) -> None:
    found = Approver.of_label(label)

    assert (found.is_known, found.person) == (is_known, person)
