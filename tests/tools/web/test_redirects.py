from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from planner_executor.tools.errors import NotConnected, RequestFailed, UrlRefused
from planner_executor.tools.web.exchange import WebResponse
from planner_executor.tools.web.redirects import follow
from planner_executor.tools.web.transport import guarded, request_for


@pytest.fixture
def followed(site: Any, guard: Any) -> Callable[..., WebResponse]:
    def run(url: str | None = None, resolve: Any = None) -> WebResponse:
        async def get() -> WebResponse:
            first = httpx.URL(url or site.url())
            async with guarded(guard(resolve)) as transport:
                send = transport.handle_async_request
                return await follow(send, first, lambda place: request_for("GET", place, {}), 1000)

        return anyio.run(get)

    return run


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(site: Any, followed: Any, status: int) -> None:
    site.serve("/", status=status, Location="/there?a=b#part")
    site.serve("/there", "words")

    answer = followed()

    assert (answer.body, str(answer.url)) == (b"words", site.url("/there?a=b"))


@pytest.mark.parametrize(
    "place", ["there", "./there", "//other.example:{port}/there", "http://other.example:{port}/there"]
)
def test_a_redirect_may_be_relative_or_lead_to_another_host(site: Any, followed: Any, place: str) -> None:
    site.serve("/", status=302, Location=place.format(port=site.port))
    site.serve("/there", "words")

    assert followed().body == b"words"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "place",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:{other}/",
        "//127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://10.0.0.1/",
        "http://private.example/",
        "http://mixed.example/",
        "//private.example/",
        "http://user:pass@other.example/",
        "http://page.example\\@127.0.0.1/",
        "file:///etc/passwd",
        "ftp://other.example/",
        "gopher://127.0.0.1:6379/_x",
        "data:text/html,words",
        "javascript:alert(1)",
        "mailto:me@other.example",
        "http://[bad/",
        "http://other.example:22/",
    ],
)
def test_a_redirect_to_a_refused_address_is_refused(
    site: Any, followed: Any, names: Any, status: int, place: str
) -> None:
    site.serve("/", status=status, Location=place.format(other=site.port ^ 1))
    table = {
        "page.example": ("127.0.0.1",),
        "other.example": ("93.184.216.34",),
        "private.example": ("192.168.1.1",),
        "mixed.example": ("93.184.216.34", "127.0.0.1"),
        "localhost": ("127.0.0.1", "::1"),
    }

    with pytest.raises(RequestFailed) as failure:
        followed(resolve=names(table))

    assert failure.value.reason.startswith("it redirects")
    assert len(site.asked) == 1


def test_a_name_is_looked_up_anew_at_each_redirect(site: Any, followed: Any, names: Any) -> None:
    site.serve("/", status=302, Location="/there")
    site.serve("/there", "secret")
    resolve = names({"page.example": [("127.0.0.1",), ("169.254.169.254",)]})

    with pytest.raises(RequestFailed):
        followed(resolve=resolve)

    assert resolve.asked == ["page.example", "page.example"]
    assert len(site.asked) == 1


def test_a_chain_is_followed_for_five_redirects(site: Any, followed: Any) -> None:
    for number in range(6):
        site.serve(f"/{number}", status=302, Location=f"/{number + 1}")
    site.serve("/6", "words")

    assert followed(site.url("/1")).body == b"words"
    with pytest.raises(RequestFailed):
        followed(site.url("/0"))


def test_a_circle_ends(site: Any, followed: Any) -> None:
    site.serve("/", status=302, Location="/")

    with pytest.raises(RequestFailed) as failure:
        followed()

    assert failure.value.reason == "it redirects more than 5 times"
    assert len(site.asked) == 6


def test_a_redirect_to_nowhere_is_an_answer_like_any_other(site: Any, followed: Any) -> None:
    site.serve("/", status=302)

    assert followed().status == 302


def test_the_first_address_is_refused_as_such(followed: Any) -> None:
    with pytest.raises(UrlRefused):
        followed("http://127.0.0.1/")
    with pytest.raises(NotConnected):
        followed("http://nowhere.example/")
