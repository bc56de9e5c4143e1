"""Requests of the desk's own pages, and those of other sites."""

import pytest

from planner_executor.graph.desk.security.origin import EMBEDDED, address_parts, leads_here, origin_refusal, own_path
from planner_executor.graph.serving.access import RequestHead
from planner_executor.graph.serving.hosts import Host

HOSTS = frozenset({Host("desk.example.org", None)})
OWN = ("host", "desk.example.org")


def head(method: str, *headers: tuple[str, str]) -> RequestHead:
    return RequestHead(method, headers)


@pytest.mark.parametrize(
    ("hosts", "is_allowed"),
    [
        (["localhost:2024"], True),
        (["desk.example.org:8443"], True),
        (["evil.example.org"], False),
        (["desk.example.org", "localhost"], False),
        ([], False),
    ],
)
def test_only_this_machine_and_the_hosts_of_the_settings_are_answered(hosts: list[str], is_allowed: bool) -> None:
    refused = origin_refusal(head("GET", *(("host", host) for host in hosts)), HOSTS)

    assert (refused is None) == is_allowed
    assert refused is None or (refused.status, "--host-name" in refused.reason) == (421, True)


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ([("origin", "https://desk.example.org")], True),
        ([("origin", "https://desk.example.org:8443")], False),
        ([("origin", "https://evil.example.org")], False),
        ([("origin", "null")], False),
        ([("origin", "https://[")], False),
        ([("origin", "https://desk.example.org")] * 2, False),
        ([("origin", "https://evil.example.org"), ("sec-fetch-site", "same-origin")], False),
        ([("origin", "https://desk.example.org"), ("origin", "x"), ("sec-fetch-site", "same-origin")], False),
        ([("sec-fetch-site", "same-origin")], True),
        ([("sec-fetch-site", "same-site")], False),
        ([], False),
    ],
)
def test_a_form_must_come_from_a_page_of_the_same_host(headers: list[tuple[str, str]], is_own: bool) -> None:
    refused = origin_refusal(head("POST", OWN, *headers), HOSTS)

    assert (None if refused is None else refused.status) == (None if is_own else 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "is_embedded"),
    [
        ([("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")], False),
        ([("sec-fetch-mode", "navigate")], False),
        ([("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")], True),
        ([("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "document")], True),
        ([("sec-fetch-mode", "no-cors")], True),
    ],
)
def test_a_page_of_another_site_may_lead_here_and_embed_nothing(
    site: str, mode: list[tuple[str, str]], is_embedded: bool
) -> None:
    asked = head("GET", OWN, ("sec-fetch-site", site), *mode)

    assert origin_refusal(asked, HOSTS) == (EMBEDDED if is_embedded else None)
    assert EMBEDDED.status == 403
    assert leads_here(asked) == (site == "cross-site" and not is_embedded)


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_of_the_desk_may_ask_for_pictures_of_it(site: str) -> None:
    asked = head("GET", OWN, ("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"))

    assert origin_refusal(asked, HOSTS) is None and not leads_here(asked)


@pytest.mark.parametrize(
    ("to", "path"),
    [
        ("/run?run=a.1", "/run?run=a.1"),
        ("//example.org", "/"),
        ("https://example.org", "/"),
        ("run", "/"),
        ("", "/"),
        ("/\\example.org", "/"),
        ("/\t/example.org", "/"),
    ],
)
def test_a_path_to_go_on_to_never_leads_to_another_host(to: str, path: str) -> None:
    assert own_path(to) == path


def test_an_address_that_cannot_be_read_has_no_parts() -> None:
    assert address_parts("https://desk.example.org/run?a=1").path == "/run"
    assert not any(address_parts("https://["))
