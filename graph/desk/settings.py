"""Settings of a desk, which its operator chooses."""

import hmac
import os
import secrets
from dataclasses import dataclass, field
from hashlib import sha256

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.identity import Identity, Proxies
from planner_executor.graph.desk.security.people import Permissions
from planner_executor.graph.desk.security.sessions import SESSION_S
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.serving.hosts import Host

SECRET = "PLANNER_EXECUTOR_DESK_SECRET"
SECRET_CHARACTERS, OWN_HOST_CHARACTERS = 32, 16


@dataclass(frozen=True)
class DeskSettings:
    """Settings of a desk.

    `hosts` are names besides those of this machine under which it is reached. `secret` signs sessions. `identity` names
    the sender of each request; with `oidc`, people sign in at a provider, which sends them back to `url`, the desk's
    address as browsers know it. With `links`, a link with a token opens a session of the user of this process.
    `proxies` are trusted to name the address of a visitor. `read_only`: nobody decides, whatever their role.
    `secure`: cookies are sent over HTTPS alone. A session lasts `session_s` seconds.
    """

    hosts: frozenset[Host] = frozenset()
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    identity: Identity | None = None
    oidc: Oidc | None = None
    url: str = ""
    links: bool = True
    permissions: Permissions = field(default_factory=Permissions)
    proxies: Proxies = field(default_factory=Proxies)
    read_only: bool = False
    secure: bool = False
    session_s: int = SESSION_S

    @property
    def own_host(self) -> Host:
        """A name of this machine that nobody else's server on it goes by: browsers find `*.localhost` here."""
        mark = hmac.new(self.secret.encode(), b"host", sha256).hexdigest()[:OWN_HOST_CHARACTERS]
        return Host(f"desk-{mark}.localhost", None)

    @property
    def cookie_prefix(self) -> str:
        """The beginning of the names of cookies: over HTTPS, one by which a browser lets no other host set them."""
        return "__Host-" if self.secure else ""


def secret_from_environment() -> str:
    """Return the secret that signs sessions, a new one if none is set.

    Raises:
        ConfigError: It is too short.
    """
    secret = os.environ.get(SECRET, "").strip()
    if not secret:
        return secrets.token_hex(32)
    if len(secret) < SECRET_CHARACTERS:
        raise ConfigError(f"{SECRET} needs {SECRET_CHARACTERS} characters or more")
    return secret
