"""Redirects, followed one by one, each checked like a first address."""

from collections.abc import Callable

import httpx

from planner_executor.tools.errors import NotConnected, RequestFailed, UrlRefused
from planner_executor.tools.web.exchange import Send, WebResponse, exchange
from planner_executor.tools.web.urls import checked_url

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5


def redirected(answer: WebResponse) -> httpx.URL | None:
    """Return the target of a redirect, or None if the response is not one.

    Raises:
        RequestFailed: The target is not a URL.
        UrlRefused: The target may not be requested.
    """
    place = answer.headers.get("location")
    if answer.status not in _REDIRECTS or place is None:
        return None
    try:
        target = answer.url.join(place)
    except httpx.InvalidURL as error:
        raise RequestFailed(str(answer.url), f"it redirects to an invalid URL ({error})") from error
    # Checked like the URL of a caller: a server may lead anywhere.
    return checked_url(str(target))


async def follow(
    send: Send, url: httpx.URL, request: Callable[[httpx.URL], httpx.Request], most_bytes: int
) -> WebResponse:
    """Return the answer at the end of the redirects.

    Args:
        send: Reaches only what may be reached, for each request anew.
        url: The first address.
        request: Address -> what to send there; raises `UrlRefused` if that is not allowed.
        most_bytes: How large the body may be.

    Raises:
        UrlRefused: The first address is refused.
        NotConnected: There is no connection to the first address.
        RequestFailed: A redirect leads to a refused or unreachable address, or there are too many of them.
    """
    answer = await exchange(send, request(url), most_bytes)
    count = 0
    try:
        while target := redirected(answer):
            if (count := count + 1) > _MOST_REDIRECTS:
                raise RequestFailed(str(url), f"it redirects more than {_MOST_REDIRECTS} times")
            answer = await exchange(send, request(target), most_bytes)
    # Both promise that nothing was sent, which is true no more after the first request.
    except (UrlRefused, NotConnected) as error:
        raise RequestFailed(str(url), f"it redirects, and {error}") from error
    return answer
