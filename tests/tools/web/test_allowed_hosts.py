from ipaddress import ip_address
from typing import Any

import pytest

from planner_executor.tools.errors import ConfigInvalid, UrlRefused
from planner_executor.tools.web.allowed_hosts import AllowedHost, AllowList, hosts_from_environment
from planner_executor.tools.web.urls import checked_url

KEY = "sk-1234567890"
HOSTS = AllowList(
    (
        AllowedHost("https://api.example.org", ("GET", "POST"), {"Authorization": f"Bearer {KEY}"}),
        AllowedHost("http://localhost:8080"),
        AllowedHost("https://*.wild.example"),
        AllowedHost("http://169.254.169.254"),
        AllowedHost("http://[2001:DB8:0::1]:81"),
    )
)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://api.example.org/v1?a=b", "https://api.example.org"),
        ("https://API.example.org.:443/", "https://api.example.org"),
        ("http://localhost:8080/x", "http://localhost:8080"),
        ("https://a.wild.example/", "https://*.wild.example"),
        ("https://a.b.wild.example/", "https://*.wild.example"),
        ("http://169.254.169.254/latest", "http://169.254.169.254"),
        ("http://[2001:db8::1]:81/", "http://[2001:DB8:0::1]:81"),
    ],
)
def test_a_url_is_covered_by_its_origin(url: str, origin: str) -> None:
    assert HOSTS.entry(checked_url(url), "GET").origin == origin


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.org/",
        "https://api.example.org:8443/",
        "https://example.org/",
        "https://x.api.example.org/",
        "https://api.example.org.evil.example/",
        "https://evilapi.example.org/",
        "http://localhost/",
        "http://127.0.0.1:8080/",
        "https://wild.example/",
        "https://evilwild.example/",
        "https://a.wild.example.evil.example/",
        "http://a.wild.example/",
    ],
)
def test_everything_else_is_refused_and_what_is_allowed_is_named(url: str) -> None:
    with pytest.raises(UrlRefused) as refusal:
        HOSTS.entry(checked_url(url), "GET")

    assert "https://api.example.org (GET, POST)" in refusal.value.reason


def test_a_method_that_is_not_allowed_is_refused() -> None:
    assert HOSTS.entry(checked_url("https://api.example.org/"), "POST")
    for url, method in (("https://api.example.org/", "DELETE"), ("http://localhost:8080/", "POST")):
        with pytest.raises(UrlRefused):
            HOSTS.entry(checked_url(url), method)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "address", "port", "allowed"),
    [
        ("api.example.org", "93.184.216.34", 443, True),
        ("api.example.org", "10.0.0.1", 443, True),
        ("api.example.org", "100.64.0.1", 443, True),
        ("api.example.org", "127.0.0.1", 443, True),
        ("api.example.org", "169.254.169.254", 443, False),
        ("api.example.org", "fd00:ec2::254", 443, False),
        ("api.example.org", "169.254.1.1", 443, False),
        ("api.example.org", "::ffff:10.0.0.1", 443, False),
        ("api.example.org", "0.0.0.0", 443, False),
        ("api.example.org", "224.0.0.1", 443, False),
        ("api.example.org", "10.0.0.1", 80, False),
        ("localhost", "::1", 8080, True),
        ("a.wild.example", "93.184.216.34", 443, True),
        ("a.wild.example", "10.0.0.1", 443, False),
        ("wild.example", "127.0.0.1", 443, False),
        ("169.254.169.254", "169.254.169.254", 80, True),
        ("169.254.169.254", "169.254.169.254", 443, False),
        ("2001:db8::1", "2001:db8::1", 81, True),
    ],
)
def test_a_named_host_may_be_private_and_no_host_may_be_a_reserved_address(
    host: str, address: str, port: int, allowed: bool
) -> None:
    assert (HOSTS.rule(host, ip_address(address), port) is None) is allowed


@pytest.mark.parametrize(
    ("origin", "options"),
    [
        ("", {}),
        ("api.example.org", {}),
        ("ftp://api.example.org", {}),
        ("https://api.example.org/v1", {}),
        ("https://api.example.org?a=b", {}),
        ("https://user:secret@api.example.org", {}),
        ("https://*", {}),
        ("https://a.*.example.org", {}),
        ("https://*.0.0.1", {}),
        ("https://api.example.org", {"methods": ()}),
        ("https://api.example.org", {"methods": ("TRACE",)}),
        ("https://api.example.org", {"headers": {"X Y": "value"}}),
        ("https://api.example.org", {"headers": {"X": "secret\r\nHost: evil"}}),
        ("https://api.example.org", {"headers": {"X": "sécret"}}),
    ],
)
def test_an_entry_that_cannot_be_understood_is_refused_without_its_secrets(origin: str, options: Any) -> None:
    with pytest.raises(ConfigInvalid) as refusal:
        AllowedHost(origin, **options)

    assert "secret" not in str(refusal.value)


def test_headers_are_never_shown() -> None:
    assert KEY not in f"{HOSTS!r} {HOSTS} {HOSTS.hosts[0]!r}"
    assert HOSTS.without_secrets(f"Bearer {KEY}, {KEY}, and words") == "[hidden], [hidden], and words"


def test_the_environment_may_name_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANNER_EXECUTOR_HTTP_HOSTS", raising=False)
    assert hosts_from_environment() == ()

    monkeypatch.setenv("PLANNER_EXECUTOR_HTTP_HOSTS", "https://api.example.org  get,POST=http://localhost:8080 ")
    assert hosts_from_environment() == (
        AllowedHost("https://api.example.org"),
        AllowedHost("http://localhost:8080", ("GET", "POST")),
    )

    monkeypatch.setenv("PLANNER_EXECUTOR_HTTP_HOSTS", "localhost")
    with pytest.raises(ConfigInvalid):
        hosts_from_environment()


@pytest.mark.parametrize("origin", [None, 5, ["https://api.example.org"]], ids=str)
def test_an_origin_that_is_no_text_is_refused(origin: Any) -> None:
    with pytest.raises(ConfigInvalid, match="it is no text; write it like"):
        AllowedHost(origin)
