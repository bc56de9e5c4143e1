"""An OpenID Connect provider, asked by the desk's own client; a small real one on loopback answers."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from httpx2 import ReadTimeout
from joserfc.jwk import OctKey
from oidc_provider import ADA, CLIENT, SECRET, OidcProvider, key_of, provided

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.oidc import KEPT_S, LEEWAY_S, Provider, SignedIn, _words
from planner_executor.graph.desk.security.sign_ins import SignIn
from planner_executor.graph.errors import SignInError
from planner_executor.graph.record.person import Person

BACK = "http://127.0.0.1:1/login/callback"
key_of()  # it takes a quarter of a second


@pytest.fixture(scope="module")
def running() -> Iterator[OidcProvider]:
    with provided() as provider:
        yield provider


@pytest.fixture
def provider(running: OidcProvider) -> OidcProvider:
    """The provider as it was at first."""
    vars(running).update(vars(OidcProvider(running.issuer.rstrip("/"))))
    return running


@pytest.fixture
def client(provider: OidcProvider) -> Provider:
    return Provider(Oidc(provider.issuer, CLIENT, SECRET, roles="groups"), BACK)


def begun(client: Provider) -> tuple[SignIn, dict[str, str]]:
    """Begin a sign-in; return it and what the provider answers."""
    address, sign_in = asyncio.run(client.begin("/runs"))
    return sign_in, dict(httpx.URL(httpx.get(address).headers["location"]).params)


def signed_in(client: Provider) -> SignedIn:
    sign_in, answer = begun(client)
    return asyncio.run(client.finish(sign_in, answer["code"]))


def test_a_sign_in_has_random_values_of_its_own_that_come_back(client: Provider) -> None:
    (first, answer), (second, _) = begun(client), begun(client)

    assert answer["state"] == first.state and first.to == "/runs"
    assert [len(value) for value in (first.state, first.nonce, first.verifier)] == [48, 48, 64]
    assert len({first.state, first.nonce, first.verifier, second.state, second.nonce, second.verifier}) == 6


def test_the_provider_vouches_for_a_person(client: Provider, provider: OidcProvider) -> None:
    found = signed_in(client)

    assert found.person == Person("Ada@example.org", ("finance", "staff"))
    assert found.id_token.count(".") == 2 and found.id_token not in repr(found)
    assert provider.seen[0]["authorization"].startswith("Basic ")


@pytest.mark.parametrize("name", ["iss", "aud", "exp", "nonce"])
def test_a_token_that_lacks_what_ties_it_to_this_sign_in_does_not_count(
    client: Provider, provider: OidcProvider, name: str
) -> None:
    provider.changed = {name: None}

    with pytest.raises(SignInError, match=f"the answer of {provider.issuer} does not count"):
        signed_in(client)


@pytest.mark.parametrize(("late_s", "counts"), [(LEEWAY_S - 30, True), (LEEWAY_S + 30, False)])
def test_clocks_may_differ_by_a_minute(client: Provider, provider: OidcProvider, late_s: int, counts: bool) -> None:
    provider.changed = {"exp": int(time.time()) - late_s}

    if counts:
        assert LEEWAY_S == 60 and signed_in(client).person.name == "Ada@example.org"
    else:
        with pytest.raises(SignInError, match="does not count"):
            signed_in(client)


def test_a_header_of_a_token_that_nobody_knows_is_left_alone(client: Provider, provider: OidcProvider) -> None:
    provider.header = {"tenant": "a"}

    assert signed_in(client).person.name == "Ada@example.org"


def test_a_new_key_of_the_provider_is_found_and_one_that_it_does_not_publish_signs_nothing(
    client: Provider, provider: OidcProvider
) -> None:
    signed_in(client)
    provider.key = key_of(name="two")
    again = signed_in(client)
    provider.published, provider.key = provider.key, key_of(name="three")

    assert again.person.name == "Ada@example.org"
    with pytest.raises(SignInError, match="signs with a key that it does not publish"):
        signed_in(client)


@pytest.mark.parametrize(
    ("offered", "algorithm", "counts"),
    [
        (["RS384"], "RS384", True),
        (["RS384"], "RS256", False),
        (None, "RS256", True),
        (None, "RS384", False),
        (["HS256", "RS256"], "RS256", True),
        (["HS256"], "HS256", False),
    ],
)
def test_a_token_is_checked_by_an_algorithm_that_the_provider_offers(
    client: Provider, provider: OidcProvider, offered: list[str] | None, algorithm: str, counts: bool
) -> None:
    provider.discovered = {"id_token_signing_alg_values_supported": offered}
    provider.algorithm = algorithm
    if algorithm == "HS256":  # signed with what everybody can read
        provider.key = OctKey.import_key(SECRET * 2, {"kid": provider.key.kid})

    if counts:
        assert signed_in(client).person.name == "Ada@example.org"
    else:
        with pytest.raises(SignInError, match="does not count"):
            signed_in(client)


@pytest.mark.parametrize(
    ("methods", "secret", "sent"),
    [
        (None, SECRET, "basic"),
        (["client_secret_post", "client_secret_basic"], SECRET, "basic"),
        (["client_secret_post"], SECRET, "post"),
        (["client_secret_post"], "", "none"),
        (None, "", "none"),
    ],
)
def test_the_client_proves_itself_as_the_provider_wants_it(
    client: Provider, provider: OidcProvider, methods: list[str] | None, secret: str, sent: str
) -> None:
    provider.discovered = {"token_endpoint_auth_methods_supported": methods}
    client.oidc = replace(client.oidc, client_secret=secret)
    signed_in(client)
    (seen,) = provider.seen
    basic, post = bool(seen["authorization"]), "client_secret" in seen

    assert (basic, post) == (sent == "basic", sent == "post") and ("client_id" in seen) == (sent != "basic")


def test_a_token_that_says_everything_is_enough(client: Provider, provider: OidcProvider) -> None:
    provider.userinfo_of = {**ADA, "groups": ["boss"], "picture": "a.png"}
    provider.discovered = {"userinfo_endpoint": "http://example.org/userinfo"}

    assert signed_in(client).person.roles == ("finance", "staff")


@pytest.mark.parametrize(
    ("about", "published", "name"),
    [
        (ADA, {}, "Ada@example.org"),
        ({**ADA, "sub": "2"}, {}, None),
        (ADA, {"userinfo_endpoint": None}, None),
        (ADA, {"userinfo_endpoint": "http://example.org/userinfo"}, None),
    ],
)
def test_a_short_token_is_completed_by_what_the_provider_says_of_the_same_person(
    client: Provider, provider: OidcProvider, about: dict[str, Any], published: dict[str, Any], name: str | None
) -> None:
    provider.short, provider.userinfo_of, provider.discovered = True, about, published

    if name is not None:
        assert signed_in(client).person.name == name
    else:
        with pytest.raises(SignInError):
            signed_in(client)


def test_unsigned_words_change_nothing_that_the_token_says(client: Provider, provider: OidcProvider) -> None:
    provider.changed = {"groups": None}  # so that the rest is asked for
    provider.userinfo_of = {**ADA, "email": "eve@example.org"}

    assert signed_in(client).person == Person("Ada@example.org", ("finance", "staff"))


@pytest.mark.parametrize(
    ("discovered", "words"),
    [
        ({"issuer": "https://evil.example"}, "calls itself 'https://evil.example'; set issuer to that"),
        ({"authorization_endpoint": "http://evil.example/a"}, "'http://evil.example/a' is not https"),
        ({"token_endpoint": "http://evil.example/t"}, "'http://evil.example/t' is not https"),
        ({"jwks_uri": None}, "'None' is not https"),
        ({"jwks_uri": "{issuer}/nowhere"}, "404"),
        ({"jwks_uri": "{issuer}/list"}, "its answer is no JSON object"),
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(
    client: Provider, provider: OidcProvider, discovered: dict[str, Any], words: str
) -> None:
    provider.discovered = {
        name: value and value.replace("{issuer}", provider.issuer) for name, value in discovered.items()
    }

    with pytest.raises(SignInError, match=words):
        await client.begin("/")


def test_a_slash_at_the_end_of_an_issuer_is_a_part_of_its_name(client: Provider, provider: OidcProvider) -> None:
    provider.issuer += "/"
    client.oidc = replace(client.oidc, issuer=provider.issuer)
    provider.discovered = {
        f"{name}_endpoint": f"{provider.issuer}{name}" for name in ("authorization", "token", "userinfo")
    } | {"authorization_endpoint": f"{provider.issuer}authorize", "jwks_uri": f"{provider.issuer}keys"}

    assert signed_in(client).person.name == "Ada@example.org"


@pytest.mark.parametrize(("age_s", "is_asked"), [(KEPT_S - 60, False), (KEPT_S + 1, True)])
def test_a_provider_is_asked_for_its_addresses_once_an_hour(
    client: Provider, provider: OidcProvider, age_s: float, is_asked: bool
) -> None:
    asyncio.run(client.begin("/"))
    assert client._found is not None and KEPT_S == 3600
    client._found.at_s -= age_s
    provider.discovered = {"issuer": "https://evil.example"}

    if is_asked:
        with pytest.raises(SignInError, match="calls itself"):
            asyncio.run(client.begin("/"))
    else:
        asyncio.run(client.begin("/"))


def test_long_words_of_a_provider_are_cut(client: Provider, provider: OidcProvider) -> None:
    provider.refusal = {"error": "x" * 500}

    with pytest.raises(SignInError) as caught:
        signed_in(client)

    assert str(caught.value) == f"the answer of {provider.issuer} does not count ({'x' * 300}); sign in again"


def test_an_error_without_words_is_named() -> None:
    assert _words(ReadTimeout("")) == "ReadTimeout" and _words(ValueError("odd")) == "odd"


@pytest.mark.parametrize("id_token", ["a.b.c", None])
async def test_signing_out_leads_to_the_provider_and_back_to_the_login(
    client: Provider, provider: OidcProvider, id_token: str | None
) -> None:
    provider.discovered = {"end_session_endpoint": f"{provider.issuer}/end?from=desk"}

    asked = dict(httpx.URL(str(await client.sign_out(id_token))).params)

    assert asked.pop("id_token_hint", None) == id_token
    assert asked == {
        "from": "desk",
        "client_id": CLIENT,
        "post_logout_redirect_uri": "http://127.0.0.1:1/login",
    }


@pytest.mark.parametrize(
    "discovered",
    [{}, {"end_session_endpoint": "http://evil.example/end"}, {"issuer": "https://evil.example"}],
)
async def test_a_provider_that_signs_nobody_out_is_not_asked_to(
    client: Provider, provider: OidcProvider, discovered: dict[str, str]
) -> None:
    provider.discovered = discovered

    assert await client.sign_out("a.b.c") is None
