"""The table `[desk]` of the settings file: who signs people in, who decides, who looks."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, Strict, model_validator

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.security.people import ALL, People, Permissions
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.serving.hosts import is_secure_address, parse_hosts
from planner_executor.graph.settings.settings_file import Table, TextOrVariable, settings_file
from planner_executor.graph.words.tables import List, OpenTable, Says, Shape, fault

LEAST_SESSION_S = 60


def with_table(settings: DeskSettings, config: str | Path | None) -> DeskSettings:
    """Return settings with what the settings file says of the desk.

    Raises:
        ConfigError: The table is invalid, or its file is neither named nor trusted.
    """
    table = DESK.value_in(settings_file(config))
    return table.over(settings) if table is not None else settings


def _secure(url: str) -> str:
    if not is_secure_address(url):
        raise fault(f"is {url!r}; it takes the https address at which browsers reach the desk")
    return url.rstrip("/")


Listed = Annotated[tuple[TextOrVariable, ...], List]
SECONDS = f"takes seconds, {LEAST_SESSION_S} or more"


class PeopleTable(OpenTable):
    """People by name or by role."""

    names: Listed = ()
    roles: Listed = ()


class Headers(OpenTable):
    """The headers of a proxy with a person's name and roles."""

    name: TextOrVariable
    roles: TextOrVariable | None = None


class DeskTable(OpenTable):
    """The table as it is written."""

    url: Annotated[TextOrVariable, AfterValidator(_secure)] = ""
    proxies: Listed = ()
    session_s: Annotated[int, Strict(), Field(ge=LEAST_SESSION_S), Says(SECONDS)] | None = None
    reviewers: Annotated[PeopleTable, Shape()] | None = None
    readers: Annotated[PeopleTable, Shape()] | None = None
    headers: Annotated[Headers, Shape()] | None = None
    oidc: Annotated[Oidc, Shape(missing="is missing; the provider gives it when you register the desk")] | None = None

    @model_validator(mode="after")
    def _check(self) -> "DeskTable":
        if self.headers is not None and self.oidc is not None:
            raise fault("and desk.oidc are two ways to sign in; keep one", "headers")
        if self.oidc is not None and not self.url:
            raise fault("needs desk.url: the provider sends browsers back to it", "oidc")
        if self.oidc is not None and self.reviewers is None and self.readers is None:
            raise fault("needs [desk.reviewers] or [desk.readers]: a provider may know people of anywhere", "oidc")
        return self

    def over(self, settings: DeskSettings) -> DeskSettings:
        """Return settings with what the table says.

        Raises:
            ConfigError: It names a proxy that is none, or none although headers come from one.
        """
        proxies = trusted_proxies(self.proxies, "desk.proxies")
        found = replace(
            settings,
            url=self.url,
            proxies=proxies,
            session_s=self.session_s or settings.session_s,
            hosts=settings.hosts | parse_hosts(urlsplit(self.url).netloc, "desk.url"),
            secure=self.url.startswith("https:") or self.headers is not None,
            links=settings.links and self.headers is None and self.oidc is None,
            oidc=self.oidc or settings.oidc,
            permissions=self._permissions(settings.permissions),
        )
        if self.headers is None:
            return found
        name, roles = self.headers.name, self.headers.roles
        return replace(found, identity=proxy_identity(name, proxies, "desk.proxies", roles))

    def _permissions(self, default: Permissions) -> Permissions:
        """Return who decides and who looks; if a provider signs in or only readers are named, nobody else comes in."""
        is_closed = self.oidc is not None or (self.readers is not None and default.reviewers == ALL)
        reviewers = People() if is_closed else default.reviewers
        readers = People() if self.oidc is not None else default.readers
        return Permissions(_people(self.reviewers, reviewers), _people(self.readers, readers))


def _people(table: PeopleTable | None, unnamed: People) -> People:
    return People.of(table.names, table.roles) if table is not None else unnamed


def _acts(table: DeskTable) -> list[str]:
    """Return what the table does, an act for each field."""
    ways = {"oidc": "issuer", "headers": "name"}
    return [
        f"people sign in to the review desk by {name}: {given[ways[name]]}"
        if name in ways
        else f"{name} of the review desk: {given}"
        for name, given in table.model_dump(mode="json", exclude_unset=True).items()
    ]


DESK: Table[DeskTable] = Table("desk", Annotated[DeskTable, Shape()], _acts)
