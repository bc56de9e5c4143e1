"""Signing in with an OpenID Connect provider, against a small real one on loopback."""

import html
import re
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import pytest
from desk_server import PLAN, DeskServer, Visit, kept_in, query, served
from joserfc.jwk import OctKey
from oidc_provider import ADA, CLIENT, SECRET, OidcProvider, key_of, provided

from planner_executor.graph.desk.pages.login import ID_TOKEN
from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.people import People, Permissions
from planner_executor.graph.desk.security.rate import ATTEMPTS
from planner_executor.graph.desk.settings import DeskSettings

FINANCE = Permissions(People.of([], ["finance"]), People.of([], ["staff"]))


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with provided() as running:
        yield running


@pytest.fixture
def server(provider: OidcProvider, tmp_path: Path) -> Iterator[DeskServer]:
    oidc = Oidc(provider.issuer, CLIENT, SECRET, roles="groups")
    settings = DeskSettings(oidc=oidc, links=False, permissions=FINANCE)
    with served(tmp_path / "runs.db", settings=settings) as running:
        running.desk.door.provider.redirect = f"{running.url}/login/callback"
        yield running


@pytest.fixture
def browser(server: DeskServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers={"Origin": server.url}, timeout=20) as client:
        yield client


def signed_in(browser: httpx.Client, to: str = "/") -> httpx.Response:
    """Go to the provider and come back; return what the desk answers then."""
    there = browser.get("/login/start", params={"to": to})
    back = httpx.get(there.headers["location"])
    return browser.get(back.headers["location"])


def test_who_signs_in_decides_by_the_roles_of_the_provider_and_is_on_record(
    server: DeskServer, browser: httpx.Client, provider: OidcProvider
) -> None:
    with server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id
    wanted = query("/review", run)

    answer = signed_in(browser, wanted)
    Visit(browser, kept_in(answer)).send(wanted, query("/decide", run), decision="approve")
    for future in list(server.desk.drives._going.values()):
        future.result(20)
    with server.agent() as agent:
        (decided,) = [event.payload for event in agent.log(run).events if event.kind == "decided"]

    assert answer.status_code == 303 and answer.headers["location"].partition("#")[0] == wanted
    assert decided["approver"] == "server:Ada@example.org" and decided["roles"] == ["finance", "staff"]
    assert provider.seen[0]["authorization"].startswith("Basic ") and SECRET not in str(provider.seen)


def test_a_role_that_only_reads_decides_nothing_and_who_has_none_does_not_come_in(
    server: DeskServer, browser: httpx.Client, provider: OidcProvider
) -> None:
    provider.person["groups"] = ["staff"]
    signed_in(browser)
    reader = browser.get("/").text
    browser.cookies.clear()
    provider.person["groups"] = "guests"
    stranger = signed_in(browser)

    assert "Ada@example.org" in reader and "read only" in reader
    assert stranger.status_code == 403 and "may not come in" in stranger.text
    assert browser.get("/").status_code == 303


HOUR = 3600
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("another audience", {"aud": "another"}),
    ("another audience beside a right party", {"aud": ["another"], "azp": CLIENT}),
    ("several audiences and another party", {"aud": [CLIENT, "another"], "azp": "another"}),
    ("another issuer", {"iss": "https://evil.example"}),
    ("expired", {"exp": int(time.time()) - HOUR}),
    ("no expiry", {"exp": None}),
    ("of tomorrow", {"iat": int(time.time()) + 24 * HOUR}),
    ("another nonce", {"nonce": "replayed"}),
    ("no nonce", {"nonce": None}),
    ("another access token", {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
    ("no verified address", {"email_verified": False}),
    ("an address that nobody vouches for", {"email_verified": None}),
    ("no name", {"email": None}),
    ("a name that is no line", {"email": "a\u202eb@example.org"}),
]


@pytest.mark.parametrize("changed", [changed for _, changed in FAULTS], ids=[name for name, _ in FAULTS])
def test_an_id_token_that_is_not_for_this_sign_in_opens_nothing(
    browser: httpx.Client, provider: OidcProvider, changed: dict[str, Any]
) -> None:
    provider.changed = changed
    provider.person |= {name: changed[name] for name in changed if name.startswith("email")}

    answer = signed_in(browser)

    assert answer.status_code == 401 and "You could not be signed in" in answer.text
    assert browser.get("/").status_code == 303


@pytest.mark.parametrize("how", ["by a stranger", "by the client's secret", "by a published secret", "not at all"])
def test_an_id_token_that_another_has_signed_opens_nothing(
    browser: httpx.Client, provider: OidcProvider, how: str
) -> None:
    provider.published = provider.key
    if how == "by a stranger":
        provider.key = key_of("another")
    else:
        provider.algorithm = "none" if how == "not at all" else "HS256"
        provider.key = OctKey.import_key(SECRET * 2, {"kid": provider.published.kid})
        provider.published = None if how == "by a published secret" else provider.published

    assert signed_in(browser).status_code == 401


def test_an_answer_counts_once_and_in_the_browser_that_asked_alone(
    server: DeskServer, browser: httpx.Client, provider: OidcProvider
) -> None:
    there = browser.get("/login/start")
    back = httpx.get(there.headers["location"]).headers["location"]
    with httpx.Client(base_url=server.url) as other:
        other.get("/login/start")
        stolen = other.get(back)
    forged = browser.get(back.replace("state=", "state=x"))
    browser.get("/login/start")  # the attempt that failed is over
    late = browser.get(back)

    assert [stolen.status_code, forged.status_code, late.status_code] == [401, 401, 401]
    assert "does not belong to a sign-in" in stolen.text and provider.seen == []


def test_a_code_without_the_verifier_of_its_sign_in_is_worth_nothing(
    server: DeskServer, browser: httpx.Client, provider: OidcProvider
) -> None:
    begun = httpx.get(f"{server.url}/login/start").headers["location"]
    theirs = httpx.get(begun).headers["location"]
    own = browser.get("/login/start").headers["location"]
    code = httpx.URL(theirs).params["code"]

    answer = browser.get("/login/callback", params={"code": code, "state": httpx.URL(own).params["state"]})

    assert answer.status_code == 401 and "invalid_grant" in answer.text


def test_an_error_of_the_provider_is_told_without_its_words(server: DeskServer, browser: httpx.Client) -> None:
    state = httpx.URL(browser.get("/login/start").headers["location"]).params["state"]

    told = browser.get(
        "/login/callback", params={"error": "access_denied", "error_description": "call 555", "state": state}
    )

    assert told.status_code == 401 and "access_denied" in told.text and "555" not in told.text


def test_a_provider_that_keeps_its_token_short_is_asked_for_the_rest(
    browser: httpx.Client, provider: OidcProvider
) -> None:
    provider.short = True
    provider.changed = {"email_verified": None}

    assert signed_in(browser).status_code == 303 and "Ada@example.org" in browser.get("/").text


@pytest.mark.parametrize(
    ("discovered", "words"),
    [({"issuer": "https://evil.example"}, "calls itself"), ({"token_endpoint": "http://evil.example/t"}, "not https")],
)
def test_a_provider_that_describes_itself_wrongly_is_not_used(
    browser: httpx.Client, provider: OidcProvider, discovered: dict[str, str], words: str
) -> None:
    provider.discovered = discovered

    answer = browser.get("/login/start")

    assert answer.status_code == 401 and words in answer.text


def test_failed_sign_ins_are_limited_and_those_that_work_are_not(browser: httpx.Client, provider: OidcProvider) -> None:
    worked = [signed_in(browser).status_code for _ in range(ATTEMPTS + 1)]
    failed = [browser.get("/login/callback").status_code for _ in range(ATTEMPTS + 1)]

    assert set(worked) == {303} and failed == [401] * ATTEMPTS + [429]


def test_signing_out_ends_the_session_for_every_copy_of_its_cookie(browser: httpx.Client) -> None:
    token = kept_in(signed_in(browser))
    copy = dict(browser.cookies)
    out = browser.post("/logout", data={"token": token})
    with httpx.Client(base_url=browser.base_url, cookies=copy) as thief:
        again = thief.get("/")

    assert out.headers["location"] == "/login" and again.status_code == 303
    assert "Sign in" in browser.get("/login").text


def test_signing_out_leads_to_the_provider_if_it_signs_people_out_and_back_to_the_login(
    server: DeskServer, browser: httpx.Client, provider: OidcProvider
) -> None:
    provider.discovered = {"end_session_endpoint": f"{provider.issuer}/end?from=desk"}
    token = kept_in(signed_in(browser))
    names = [cookie.path for cookie in browser.cookies.jar if cookie.name == ID_TOKEN]
    out = browser.post("/logout", data={"token": token})
    (led,) = set(re.findall(r'(?:href|url)="?=?([^"]*/end[^"]*)"', html.unescape(out.text)))
    asked = dict(httpx.URL(led).params)

    assert names == ["/logout"] and out.status_code == 200 and "location" not in out.headers
    assert asked.pop("id_token_hint").count(".") == 2
    back = f"{server.url}/login"
    assert asked == {"from": "desk", "client_id": CLIENT, "post_logout_redirect_uri": back}
    assert not browser.cookies and browser.get("/runs").status_code == 303


@pytest.mark.parametrize("published", [{}, {"end_session_endpoint": "http://evil.example/end"}])
def test_a_provider_that_signs_nobody_out_is_not_asked_to(
    browser: httpx.Client, provider: OidcProvider, published: dict[str, Any]
) -> None:
    provider.discovered = published
    token = kept_in(signed_in(browser))

    out = browser.post("/logout", data={"token": token})

    assert out.headers["location"] == "/login"


def test_a_link_opens_nothing_beside_a_provider(server: DeskServer, browser: httpx.Client) -> None:
    opened = browser.get("/login", params={"token": server.desk.door.links.issue()})
    written = browser.post("/link")

    assert opened.status_code == 401 and written.status_code == 403 and "set-cookie" not in opened.headers


def test_more_roles_than_a_session_holds_are_refused_in_a_sentence(
    browser: httpx.Client, provider: OidcProvider
) -> None:
    provider.person["groups"] = ["finance", *(token_hex(20) for _ in range(200))]

    answer = signed_in(browser)

    assert answer.status_code == 403 and "more roles" in answer.text and ADA["email"] not in answer.text
