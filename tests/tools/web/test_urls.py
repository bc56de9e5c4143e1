import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.tools.errors import UrlRefused
from planner_executor.tools.web.urls import checked_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org"),
        ("  HTTP://Example.ORG:80/a?b=c#d ", "http://example.org/a?b=c"),
        ("https://example.org./x", "https://example.org/x"),
        ("https://Bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://日本語。jp/", "https://xn--wgv71a119e.jp/"),
        ("http://[2606:4700::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("https://@example.org:443/", "https://example.org/"),
        ("http://1.1.1.1./", "http://1.1.1.1/"),
        ("http://under_score.example/", "http://under_score.example/"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
    ],
)
def test_a_url_is_brought_to_one_form(text: str, url: str) -> None:
    assert str(checked_url(text)) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "//example.org/",
        "/etc/passwd",
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "data:text/plain,x",
        "ws://example.org/",
        "http:///path",
        "http://",
        "https://user@example.org/",
        "https://user:secret@example.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org@127.0.0.1/",
        "http://example.org:80@127.0.0.1/",
        "http://example.org\t/",
        "http://exam ple.org/",
        "http://example.org/\r\nHost: evil",
        "http://example.org/\x00",
        "http://exa\u200bmple.org/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[::1/",
        "http://[v1.abc]/",
        "http://2130706433/",
        "http://017700000001/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://1.1.1.1.1/",
        "http://1.1.1.256/",
        "http://example.0x/",
        "http://example.1/",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://%31%32%37.0.0.1/",
        "http://ex%61mple.org/",
        "http://a..b/",
        "http://.example.org/",
        "http://example.org../",
        "http://-a.example/",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 127}example/",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:-1/",
        "http://example.org:http/",
        f"http://example.org/{'a' * 2000}",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UrlRefused):
        checked_url(text)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UrlRefused) as refusal:
        checked_url("https://me:hunter2@example.org/")

    assert "hunter2" not in str(refusal.value)


@given(st.text(max_size=60) | st.text("htps:/.@\\%[]0127xf#? ", max_size=40).map(lambda rest: f"http://{rest}"))
def test_a_text_is_a_url_of_http_without_a_user_or_it_is_refused(text: str) -> None:
    try:
        url = checked_url(text)
    except UrlRefused:
        return
    assert url.scheme in ("http", "https")
    assert not url.userinfo
    assert checked_url(str(url)) == url
