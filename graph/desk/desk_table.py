"""The table `[desk]` of the settings file: who signs people in, who decides, who looks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.security.people import ALL, People, Permissions
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.serving.hosts import is_secure_address, parse_hosts
from planner_executor.graph.settings.settings_file import FROM_ENVIRONMENT, Table, settings_file, text_or_variable
from planner_executor.graph.words.name_list import listed

TABLE = "desk"
FIELDS = ("url", "proxies", "session_s", "reviewers", "readers", "headers", "oidc")
OF_OIDC = ("issuer", "client_id", "client_secret", "name", "roles", "scope")
LEAST_SESSION_S = 60


def with_table(settings: DeskSettings, config: str | Path | None) -> DeskSettings:
    """Return settings with what the settings file says of the desk.

    Raises:
        ConfigError: The table is invalid, or its file is neither named nor trusted.
    """
    return replace(DESK, read=lambda table: _read(table, settings)).value_in(settings_file(config)) or settings


def _read(table: Any, settings: DeskSettings) -> DeskSettings:
    given = _fields(table, TABLE, FIELDS)
    url = text_or_variable(given["url"], "desk.url").rstrip("/") if "url" in given else ""
    if url and not is_secure_address(url):
        raise ConfigError(f"desk.url is {url!r}; it takes the https address at which browsers reach the desk")
    proxies = trusted_proxies(_texts(given.get("proxies", []), "desk.proxies"), "desk.proxies")
    found = replace(
        settings,
        url=url,
        proxies=proxies,
        session_s=_session_s(given.get("session_s", settings.session_s)),
        hosts=settings.hosts | parse_hosts(urlsplit(url).netloc, "desk.url"),
        secure=url.startswith("https:"),
        permissions=_permissions(given, settings.permissions),
    )
    if "headers" in given and "oidc" in given:
        raise ConfigError("desk.headers and desk.oidc are two ways to sign in; keep one")
    if "headers" in given:
        names = _fields(given["headers"], "desk.headers", ("name", "roles"))
        name = text_or_variable(names.get("name"), "desk.headers.name")
        roles = text_or_variable(names["roles"], "desk.headers.roles") if "roles" in names else None
        return replace(found, identity=proxy_identity(name, proxies, "desk.proxies", roles), links=False, secure=True)
    if "oidc" in given:
        return _with_provider(found, given)
    return found


def _with_provider(settings: DeskSettings, given: Mapping[str, Any]) -> DeskSettings:
    if not settings.url:
        raise ConfigError("desk.oidc needs desk.url: the provider sends browsers back to it")
    if "reviewers" not in given and "readers" not in given:
        raise ConfigError("desk.oidc needs [desk.reviewers] or [desk.readers]: a provider may know people of anywhere")
    fields = _fields(given["oidc"], "desk.oidc", OF_OIDC)
    texts = {name: text_or_variable(value, f"desk.oidc.{name}") for name, value in fields.items()}
    if missing := [name for name in ("issuer", "client_id") if not texts.get(name)]:
        raise ConfigError(f"desk.oidc.{missing[0]} is missing; the provider gives it when you register the desk")
    if not is_secure_address(texts["issuer"]):
        raise ConfigError(f"desk.oidc.issuer is {texts['issuer']!r}; it takes an https address")
    if "client_secret" in fields and not str(fields["client_secret"]).startswith(FROM_ENVIRONMENT):
        raise ConfigError("desk.oidc.client_secret takes a variable of the environment, such as env:DESK_CLIENT_SECRET")
    nobody_else = Permissions(
        settings.permissions.reviewers if "reviewers" in given else People(),
        settings.permissions.readers if "readers" in given else People(),
    )
    return replace(settings, oidc=Oidc(**texts), links=False, permissions=nobody_else)


def _permissions(given: Mapping[str, Any], default: Permissions) -> Permissions:
    """Return who decides and who looks; if only readers are named, nobody else comes in to decide."""
    unnamed = People() if "readers" in given and default.reviewers == ALL else default.reviewers
    return Permissions(
        *(
            _people(given[name], f"desk.{name}") if name in given else standard
            for name, standard in (("reviewers", unnamed), ("readers", default.readers))
        )
    )


def _people(given: Any, where: str) -> People:
    fields = _fields(given, where, ("names", "roles"))
    return People.of(*(_texts(fields.get(name, []), f"{where}.{name}") for name in ("names", "roles")))


def _session_s(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < LEAST_SESSION_S:
        raise ConfigError(f"desk.session_s is {given!r}; it takes seconds, {LEAST_SESSION_S} or more")
    return given


def _fields(given: Any, where: str, known: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise ConfigError(f"{where} must be a table of {listed(known)}")
    if unknown := [name for name in given if name not in known]:
        raise ConfigError(f"{where}.{unknown[0]} is unknown; there are {listed(known)}")
    return given


def _texts(given: Any, where: str) -> list[str]:
    if not isinstance(given, list):
        raise ConfigError(f"{where} is {given!r}; it takes a list of texts")
    return [text_or_variable(one, where) for one in given]


def _acts(table: Mapping[str, Any]) -> list[str]:
    """Return what the table does, an act for each field."""
    ways = {"oidc": "issuer", "headers": "name"}
    return [
        f"people sign in to the review desk by {name}: {given[ways[name]]}"
        if name in ways
        else f"{name} of the review desk: {given}"
        for name, given in table.items()
    ]


DESK: Table[DeskSettings] = Table(TABLE, lambda table: _read(table, DeskSettings()), _acts)
