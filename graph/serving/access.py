"""Access rules of the development server, independent of any web framework (decision 0023)."""

import hmac
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.serving.hosts import (
    Host,
    is_loopback_address,
    is_loopback_origin,
    parse_hosts,
    parse_origins,
    read_host,
    read_origin,
)

HOSTS, ORIGINS, TOKEN = "PLANNER_EXECUTOR_HOSTS", "PLANNER_EXECUTOR_ORIGINS", "PLANNER_EXECUTOR_TOKEN"
MIN_TOKEN_CHARACTERS = 16
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
"""Headers added by proxies; they show that the client is another machine."""


@dataclass(frozen=True)
class RequestHead:
    """A request without its body.

    `headers` are pairs of name, in lower case, and value; `client` and `server` are the addresses of the connection.
    """

    method: str
    headers: Sequence[tuple[str, str]]
    client: str | None = None
    server: str | None = None

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        return [value for header, value in self.headers if header == name]

    def single(self, name: str) -> str | None:
        """Return the value of a header, or None if it is missing or repeated."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None

    @property
    def body(self) -> bool:
        """Whether a body follows."""
        return bool(self.all("transfer-encoding")) or any(size.strip() != "0" for size in self.all("content-length"))


@dataclass(frozen=True)
class Refusal:
    """The HTTP status and reason of a refused request."""

    status: int
    reason: str


@dataclass(frozen=True)
class Access:
    """Allowed hosts and origins besides those of this machine, and the token, if there is one."""

    hosts: frozenset[Host] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ) -> "Access":
        """Return the rules set by PLANNER_EXECUTOR_HOSTS, _ORIGINS and _TOKEN.

        Raises:
            ConfigError: A variable is invalid, or the token is too short.
        """
        token = variables.get(TOKEN, "").strip() or None
        if token is not None and (len(token) < MIN_TOKEN_CHARACTERS or not token.isascii() or " " in token):
            raise ConfigError(f"{TOKEN} needs {MIN_TOKEN_CHARACTERS} ASCII characters or more, without spaces")
        hosts = parse_hosts(variables.get(HOSTS, ""), HOSTS)
        return cls(hosts, parse_origins(variables.get(ORIGINS, ""), ORIGINS), token)

    def allows_origin(self, text: str) -> bool:
        """Whether pages of an origin may send requests."""
        origin = read_origin(text)
        return origin is not None and (is_loopback_origin(origin) or origin in self.origins)

    def refusal(self, request: RequestHead, desk: Host | None = None) -> Refusal | None:
        """Return why a request is refused regardless of its token, or None.

        `desk`: the name of the review desk, if a page of it is asked for; it takes forms, and checks itself which page
        sends them.
        """
        if desk is not None:
            return self._host(request, desk) or self._remote(request, desk)
        return self._host(request) or self._origin(request) or self._content(request) or self._remote(request)

    def token_refusal(self, request: RequestHead) -> Refusal | None:
        """Return why a request is refused for lack of the token, or None."""
        if self.token is None:
            return None
        expected = self.token.encode()
        # Compared in the same time whatever is wrong, so that a client cannot find the token letter by letter.
        if any(hmac.compare_digest(expected, token.encode()) for token in presented_tokens(request)):
            return None
        return Refusal(
            401, f"the token is missing or wrong; send the value of {TOKEN} as Authorization: Bearer or X-Api-Key"
        )

    def _host(self, request: RequestHead, desk: Host | None = None) -> Refusal | None:
        """Refuse foreign hosts: by DNS rebinding, pages of any name could otherwise pass as the server's own."""
        host = read_host(request.single("host") or "")
        if host is not None and (_is_here(host, desk) or host.is_one_of(self.hosts)):
            return None
        return Refusal(421, f"this Host is not allowed; add it to {HOSTS}")

    def _origin(self, request: RequestHead) -> Refusal | None:
        origins = request.all("origin")
        foreign = [origin for origin in origins if not self.allows_origin(origin)]
        if foreign or len(origins) > 1:
            return Refusal(403, f"this Origin is not allowed; add it to {ORIGINS} if you trust it")
        if not origins and request.single("sec-fetch-site") == "cross-site":  # a link or an image on another site
            return Refusal(403, "cross-site requests are not allowed; send it from this machine or an allowed origin")
        return None

    def _content(self, request: RequestHead) -> Refusal | None:
        """Refuse bodies that are not JSON: browsers send text and forms cross-site without a CORS preflight."""
        if request.method in SAFE_METHODS or not request.body:
            return None
        kind = (request.single("content-type") or "").partition(";")[0].strip().lower()
        if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
            return None
        return Refusal(415, "the body must be JSON; send Content-Type: application/json")

    def _remote(self, request: RequestHead, desk: Host | None = None) -> Refusal | None:
        # With a token, another machine is let in: whoever has it may come from anywhere.
        if self.token is not None or not _is_remote(request, desk):
            return None
        return Refusal(403, f"requests from other machines need a token; set {TOKEN} and send it")


def presented_tokens(request: RequestHead) -> list[str]:
    """Return all tokens in a request."""
    pairs = [value.partition(" ") for value in request.all("authorization")]
    return [token.strip() for scheme, _, token in pairs if scheme.lower() == "bearer"] + request.all("x-api-key")


def _is_here(host: Host, desk: Host | None) -> bool:
    """Whether a host is a name of this machine, or that of the desk, which browsers find on this machine."""
    return host.is_loopback or (desk is not None and host.name == desk.name)


def _is_remote(request: RequestHead, desk: Host | None) -> bool:
    """Whether a request may come from another machine: every sign of a local one must be present."""
    host = read_host(request.single("host") or "")
    ends = (request.client, request.server)
    # The connection alone proves nothing: a proxy on this machine connects for clients elsewhere.
    local = host is not None and _is_here(host, desk) and all(is_loopback_address(end or "") for end in ends)
    return not local or any(request.all(name) for name in FORWARDED)
