"""The next move for each HTTP status, for a replanner."""

import httpx

from planner_executor.tools.errors import RequestFailed, ServerBusy

_ADVICE = {
    401: "it wants a login; use another source",
    402: "it wants to be paid; use another source",
    403: "it does not let us in; use another source",
    404: "there is nothing at this address; check it, or search for the right one",
    410: "what was here is gone; search for another source",
    429: "it was asked too often; {later}",
    451: "it may not show this; use another source",
}
_LONGEST_WAIT = 6


def refused(url: str, status: int, reason: str) -> RequestFailed:
    """Return the error for a status of 300 or more; it says whether the same request may succeed later."""
    return ServerBusy(url, reason) if status in (408, 425, 429) or status >= 500 else RequestFailed(url, reason)


def advice(status: int, headers: httpx.Headers) -> str:
    """Return one sentence for a status of 300 or more.

    >>> advice(429, httpx.Headers({"retry-after": "30"}))
    'it was asked too often; try again in 30 seconds'
    """
    wait = headers.get("retry-after", "")
    later = f"try again in {wait} seconds" if wait.isdecimal() and len(wait) <= _LONGEST_WAIT else "try again later"
    if status in _ADVICE:
        return _ADVICE[status].format(later=later)
    if status >= 500:
        return f"the server failed; {later}, or use another source"
    return "it does not serve this request; check the address, or use another source"
