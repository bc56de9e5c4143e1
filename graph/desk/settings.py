"""What the operator of a desk chooses."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.desk.security.identity import ProxyIdentity
from graph.desk.security.sessions import SESSION_S
from graph.errors import ConfigError
from graph.serving.hosts import Host

SECRET = "PLANNER_EXECUTOR_DESK_SECRET"
SECRET_CHARACTERS = 32


@dataclass(frozen=True)
class DeskSettings:
    """Settings of a desk.

    `hosts` are names besides those of this machine under which it is reached. `secret` signs sessions. `proxy` gives
    names by a header; without it, a link with a token opens a session. `read_only`: nobody decides, whatever their
    role. `secure`: the cookie is sent over HTTPS alone.
    """

    hosts: frozenset[Host] = frozenset()
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    proxy: ProxyIdentity | None = None
    read_only: bool = False
    secure: bool = False
    session_s: int = SESSION_S


def secret_from_environment(variables: Mapping[str, str] = os.environ) -> str:
    """Return the secret that signs sessions, a new one if none is set.

    Raises:
        ConfigError: It is too short.
    """
    secret = variables.get(SECRET, "").strip()
    if not secret:
        return secrets.token_hex(32)
    if len(secret) < SECRET_CHARACTERS:
        raise ConfigError(f"{SECRET} needs {SECRET_CHARACTERS} characters or more")
    return secret
