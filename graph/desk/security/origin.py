"""Which requests come from the desk's own pages."""

from urllib.parse import urlsplit

from graph.serving.access import SAFE_METHODS, Refusal, RequestHead
from graph.serving.hosts import Host, read_host


def refusal(head: RequestHead, hosts: frozenset[Host]) -> Refusal | None:
    """Return why a request is refused, or None.

    The `Host` must be this machine's or one of `hosts`: by DNS rebinding, a page of any name could otherwise read the
    desk. What changes something must come from a page of the same host.
    """
    host = read_host(head.single("host") or "")
    if host is None or not (host.is_loopback or host.is_one_of(hosts)):
        return Refusal(421, "this Host is not allowed; name it with --host-name")
    if head.method in SAFE_METHODS:
        return None
    origins = head.all("origin")
    if len(origins) == 1:
        own = read_host(urlsplit(origins[0]).netloc) == host
    else:
        own = not origins and head.single("sec-fetch-site") == "same-origin"
    return None if own else Refusal(403, "the request does not come from a page of this desk; open the page again")
