"""The person that the claims of an OpenID Connect provider name (decision 88)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from planner_executor.graph.desk.security.identity import known_person
from planner_executor.graph.errors import SignInError
from planner_executor.graph.record.person import Person
from planner_executor.graph.serving.hosts import is_secure_address
from planner_executor.graph.settings.settings_file import FROM_ENVIRONMENT, TextOrVariable
from planner_executor.graph.words.tables import fault

EMAIL = "email"


def _secure(issuer: str) -> str:
    if not is_secure_address(issuer):
        raise fault(f"is {issuer!r}; it takes an https address")
    return issuer


def _variable(given: Any) -> Any:
    if not str(given).startswith(FROM_ENVIRONMENT):
        raise fault("takes a variable of the environment, such as env:DESK_CLIENT_SECRET")
    return given


@dataclass(frozen=True)
class Oidc:
    """A provider, this desk's registration there, and the claims that hold a person's name and roles.

    `roles` may lead into an object by dots, such as `realm_access.roles`.
    """

    issuer: Annotated[TextOrVariable, AfterValidator(_secure)]
    client_id: TextOrVariable
    client_secret: Annotated[TextOrVariable, BeforeValidator(_variable)] = field(default="", repr=False)
    name: TextOrVariable = EMAIL
    roles: TextOrVariable | None = None
    scope: TextOrVariable = "openid email profile"

    def lacks(self, claims: Mapping[str, Any]) -> bool:
        """Whether the name or the roles are missing in the ID token: some providers keep it short."""
        return claim(claims, self.name) is None or (self.roles is not None and claim(claims, self.roles) is None)


def person_of(oidc: Oidc, claims: Mapping[str, Any]) -> Person:
    """Return the person of verified claims.

    Raises:
        SignInError: They hold no name, or a mail address that nobody has verified.
    """
    # Anybody may have registered with somebody else's address, as long as the provider has not verified it.
    if oidc.name == EMAIL and claims.get("email_verified") not in (True, "true"):
        raise SignInError("the provider has not verified your mail address; verify it there, then sign in again")
    given = claim(claims, oidc.roles) if oidc.roles is not None else ()
    roles = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    found = known_person(claim(claims, oidc.name), roles)
    if found is None:
        raise SignInError(f"the provider does not say your name in the claim {oidc.name!r}; set desk.oidc.name")
    return found


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name or by a path of names, None if there is none.

    >>> claim({"a.b": 1}, "a.b"), claim({"a": {"b": 2}}, "a.b"), claim({"a": 1}, "a.b")
    (1, 2, None)
    """
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return claim(inner, rest) if rest and isinstance(inner, Mapping) else None
