"""Who is answered by the development server: rules about one request, without any framework."""

import hmac
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graph.errors import ConfigError
from graph.serving.hosts import (
    Host,
    is_loopback_address,
    is_loopback_origin,
    named_hosts,
    named_origins,
    read_host,
    read_origin,
)

HOSTS, ORIGINS, TOKEN = "PLANNER_EXECUTOR_HOSTS", "PLANNER_EXECUTOR_ORIGINS", "PLANNER_EXECUTOR_TOKEN"
LEAST_CHARACTERS = 16
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
"""Headers of a proxy: the one who asks is somewhere else."""


@dataclass(frozen=True)
class Heard:
    """What is known of a request before its body is read.

    `headers` are pairs of name, in lower case, and value; `client` and `server` are the addresses of the connection.
    """

    method: str
    headers: Sequence[tuple[str, str]]
    client: str | None = None
    server: str | None = None

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        return [value for header, value in self.headers if header == name]

    def one(self, name: str) -> str | None:
        """Return the value of a header that is there once, None where there is none or several."""
        found = self.all(name)
        return found[0] if len(found) == 1 else None

    @property
    def body(self) -> bool:
        """Whether a body follows."""
        return bool(self.all("transfer-encoding")) or any(size.strip() != "0" for size in self.all("content-length"))


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered, and with which status of HTTP."""

    status: int
    why: str


@dataclass(frozen=True)
class Access:
    """The rules: hosts and origins that are answered beside this machine's own, and the token if there is one."""

    hosts: frozenset[Host] = frozenset()
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] = os.environ) -> "Access":
        """Return the rules that PLANNER_EXECUTOR_HOSTS, _ORIGINS and _TOKEN set.

        Raises:
            ConfigError: One of them cannot be read, or the token can be guessed.
        """
        token = variables.get(TOKEN, "").strip() or None
        if token is not None and (len(token) < LEAST_CHARACTERS or not token.isascii() or " " in token):
            raise ConfigError(f"{TOKEN} needs {LEAST_CHARACTERS} ASCII characters or more, without spaces")
        hosts = named_hosts(variables.get(HOSTS, ""), HOSTS)
        return cls(hosts, named_origins(variables.get(ORIGINS, ""), ORIGINS), token)

    def allows_origin(self, text: str) -> bool:
        """Whether pages of an origin may talk to the server."""
        origin = read_origin(text)
        return origin is not None and (is_loopback_origin(origin) or origin in self.origins)

    def refusal(self, heard: Heard) -> Refusal | None:
        """Return why a request is not answered, whoever sends it; None where it may be."""
        return self._host(heard) or self._origin(heard) or self._content(heard) or self._beyond_loopback(heard)

    def unproven(self, heard: Heard) -> Refusal | None:
        """Return why a request does not hold the token; None where it does, and where none is set."""
        if self.token is None or any(hmac.compare_digest(self.token.encode(), it.encode()) for it in presented(heard)):
            return None
        return Refusal(401, f"send the token that {TOKEN} holds as Authorization: Bearer, or as X-Api-Key")

    def _host(self, heard: Heard) -> Refusal | None:
        """Any name can be made to lead to this machine, and its pages would then count as the server's own."""
        host = read_host(heard.one("host") or "")
        if host is not None and (host.is_loopback or host.is_one_of(self.hosts)):
            return None
        return Refusal(421, f"this server is not known under this Host; name it in {HOSTS} to be answered")

    def _origin(self, heard: Heard) -> Refusal | None:
        origins = heard.all("origin")
        foreign = [origin for origin in origins if not self.allows_origin(origin)]
        if foreign or len(origins) > 1:
            return Refusal(403, f"pages of this origin are not answered; name it in {ORIGINS} if it is yours")
        if not origins and heard.one("sec-fetch-site") == "cross-site":  # a link or an image on a page of others
            return Refusal(403, "requests that a page of another site causes are not answered")
        return None

    def _content(self, heard: Heard) -> Refusal | None:
        """A page may send plain text and forms anywhere without asking; for JSON its browser asks first."""
        if heard.method in SAFE_METHODS or not heard.body:
            return None
        kind = (heard.one("content-type") or "").partition(";")[0].strip().lower()
        if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
            return None
        return Refusal(415, "send JSON as Content-Type: application/json")

    def _beyond_loopback(self, heard: Heard) -> Refusal | None:
        if self.token is not None or not comes_from_elsewhere(heard):
            return None
        return Refusal(403, f"beyond this machine the server answers with a token only; set {TOKEN} and send it")


def presented(heard: Heard) -> list[str]:
    """Return what a request presents as tokens."""
    said = [value.partition(" ") for value in heard.all("authorization")]
    return [token.strip() for scheme, _, token in said if scheme.lower() == "bearer"] + heard.all("x-api-key")


def comes_from_elsewhere(heard: Heard) -> bool:
    """Whether a request is not plainly from this machine to this machine."""
    host = read_host(heard.one("host") or "")
    ends = (heard.client, heard.server)
    local = host is not None and host.is_loopback and all(is_loopback_address(end or "") for end in ends)
    return not local or any(heard.all(name) for name in FORWARDED)
