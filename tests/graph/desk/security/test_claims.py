"""The person whom the claims of a provider name."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from planner_executor.graph.desk.security.claims import Oidc, claim, person_of
from planner_executor.graph.errors import SignInError
from planner_executor.graph.record.person import Person

BY_MAIL = Oidc("https://id.example.org", "desk")
BY_NAME = Oidc("https://id.example.org", "desk", name="who.login", roles="groups")


@pytest.mark.parametrize(
    ("claims", "value"),
    [
        ({"a.b": 1, "a": {"b": 2}}, 1),
        ({"a": {"b": 2}}, 2),
        ({"a": {"b.c": 3}}, None),
        ({"a": "text"}, None),
        ({"a": None}, None),
        ({}, None),
    ],
)
def test_a_claim_is_found_by_its_name_or_by_a_path_of_names(claims: dict[str, Any], value: object) -> None:
    assert claim(claims, "a.b") == value


def test_a_claim_without_a_path_is_not_looked_for_inside_of_itself() -> None:
    assert claim({"a": {"": 1}}, "b") is None
    assert claim({"a": {"": 1}}, "a.") is None


@pytest.mark.parametrize(("verified", "counts"), [(True, True), ("true", True), (False, False), (None, False)])
def test_a_mail_address_counts_only_if_the_provider_has_verified_it(verified: object, counts: bool) -> None:
    claims = {"email": "ada@example.org", "email_verified": verified}

    if counts:
        assert person_of(BY_MAIL, claims) == Person("ada@example.org")
    else:
        with pytest.raises(SignInError, match="has not verified your mail address"):
            person_of(BY_MAIL, claims)


@pytest.mark.parametrize(
    ("groups", "roles"),
    [(["finance", "staff"], ("finance", "staff")), ("finance", ("finance",)), ({"finance": True}, ()), (None, ())],
)
def test_a_name_and_roles_come_from_the_claims_that_the_settings_name(groups: object, roles: tuple[str, ...]) -> None:
    assert person_of(BY_NAME, {"who": {"login": "ada"}, "groups": groups}) == Person("ada", roles)


def test_claims_have_no_roles_unless_the_settings_name_their_claim() -> None:
    assert person_of(BY_MAIL, {"email": "ada@x", "email_verified": True, "roles": ["boss"]}) == Person("ada@x")


def test_claims_without_a_name_name_nobody() -> None:
    with pytest.raises(SignInError, match=r"'who\.login'; set desk\.oidc\.name"):
        person_of(BY_NAME, {"who": {"login": ""}, "groups": []})


@pytest.mark.parametrize(
    ("oidc", "claims", "lacks"),
    [
        (BY_MAIL, {"email": "ada@x"}, False),
        (BY_MAIL, {"sub": "1"}, True),
        (BY_NAME, {"who": {"login": "ada"}, "groups": []}, False),
        (BY_NAME, {"who": {"login": "ada"}}, True),
        (BY_NAME, {"groups": []}, True),
    ],
)
def test_a_short_token_lacks_the_name_or_the_roles(oidc: Oidc, claims: dict[str, Any], lacks: bool) -> None:
    assert oidc.lacks(claims) == lacks


@pytest.mark.parametrize(("written", "secret"), [("env:DESK_CLIENT_SECRET", "hush"), ("hush", None)])
def test_the_secret_of_the_client_comes_from_the_environment_alone(
    written: str, secret: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_CLIENT_SECRET", "hush")
    settings = {"issuer": "https://id.example.org", "client_id": "desk", "client_secret": written}

    if secret is None:
        with pytest.raises(ValidationError, match="takes a variable of the environment"):
            TypeAdapter(Oidc).validate_python(settings)
    else:
        assert TypeAdapter(Oidc).validate_python(settings).client_secret == secret


@pytest.mark.parametrize(("issuer", "is_taken"), [("https://id.example.org", True), ("http://id.example.org", False)])
def test_a_provider_has_an_https_address(issuer: str, is_taken: bool) -> None:
    settings = {"issuer": issuer, "client_id": "desk"}

    if is_taken:
        assert TypeAdapter(Oidc).validate_python(settings).issuer == issuer
    else:
        with pytest.raises(ValidationError, match="takes an https address"):
            TypeAdapter(Oidc).validate_python(settings)


def test_the_secret_of_the_client_is_not_shown() -> None:
    assert "hush" not in repr(Oidc("https://id.example.org", "desk", "hush"))
