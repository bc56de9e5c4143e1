"""Requests of the desk's own pages are told from those of other sites (decision 77)."""

from urllib.parse import SplitResult, urlsplit

from planner_executor.graph.serving.access import SAFE_METHODS, Refusal, RequestHead
from planner_executor.graph.serving.hosts import Host, read_host

ELSEWHERE = ("cross-site", "same-site")
"""Values of `Sec-Fetch-Site` for pages of other sites, and of other hosts and ports of the same site."""
EMBEDDED = Refusal(403, "a page of another site may not embed this desk; open it by itself")


def origin_refusal(head: RequestHead, hosts: frozenset[Host]) -> Refusal | None:
    """Return why a request is refused, or None.

    The `Host` must be this machine's or one of `hosts`: by DNS rebinding, a page of any name could otherwise read the
    desk. What changes something must come from a page of the same host. A page of another site may lead here, and may
    embed nothing: pictures of addresses with wrong tokens would use up the attempts to sign in.
    """
    host = read_host(head.single("host") or "")
    # First: under a foreign name that leads here, every other header would be that of one site.
    if host is None or not (host.is_loopback or host.is_one_of(hosts)):
        return Refusal(421, "this Host is not allowed; name it with --host-name")
    if head.method in SAFE_METHODS:
        return EMBEDDED if _embeds(head) else None
    origins = head.all("origin")
    if len(origins) == 1:
        own = read_host(address_parts(origins[0]).netloc) == host
    else:
        # Some browsers send no Origin with a form of the same host, but say in this header that it is one.
        own = not origins and head.single("sec-fetch-site") == "same-origin"
    return None if own else Refusal(403, "the request does not come from a page of this desk; open the page again")


def leads_here(head: RequestHead) -> bool:
    """Whether a page of another site leads a browser here, as a mail or a provider does."""
    return head.single("sec-fetch-site") == "cross-site" and _is_opened(head)


def _embeds(head: RequestHead) -> bool:
    return head.single("sec-fetch-site") in ELSEWHERE and not _is_opened(head)


def _is_opened(head: RequestHead) -> bool:
    """Whether a browser opens the address as a page of its own."""
    return head.single("sec-fetch-mode") == "navigate" and head.single("sec-fetch-dest") in (None, "document")


def address_parts(address: str) -> SplitResult:
    """Return the parts of an address that a client sends, all empty if it cannot be read."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def own_path(to: str) -> str:
    r"""Return a path of this desk to go on to; anything else leads to the first page.

    >>> own_path("/run?run=a.1"), own_path("//example.org"), own_path("/\\example.org"), own_path("/\t/example.org")
    ('/run?run=a.1', '/', '/', '/')
    """
    # Browsers read `//host` and backslashes as the beginning of another host.
    safe = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if safe else "/"
