"""Signing in with an OpenID Connect provider: discovery, authorization code with PKCE, ID token (decision 88)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from authlib.common.security import generate_token
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from httpx2 import AsyncClient, HTTPError
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from planner_executor.graph.desk.security.claims import Oidc, person_of
from planner_executor.graph.desk.security.sign_ins import SignIn
from planner_executor.graph.errors import SignInError
from planner_executor.graph.record.person import Person
from planner_executor.graph.serving.hosts import is_secure_address
from planner_executor.graph.words.name_list import listed

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key; neither `none` nor one by the client's secret."""
END = "end_session_endpoint"
DISCOVERY = "/.well-known/openid-configuration"
KEPT_S = 3600.0
"""How long the provider's addresses and keys are kept; an unknown key has them read anew at once."""
TIMEOUT_S, LEEWAY_S = 10.0, 60


@dataclass
class _Found:
    """The provider's addresses, by the names of discovery, and its keys, read at `at_s` of the monotonic clock."""

    addresses: Mapping[str, Any]
    keys: Any
    at_s: float


@dataclass(frozen=True)
class SignedIn:
    """A person, and the ID token by which the provider knows the sign-in again."""

    person: Person
    id_token: str = field(repr=False)


@dataclass
class Provider:
    """An OpenID Connect provider, and this desk as its client; `redirect` is the address that it sends browsers to."""

    oidc: Oidc
    redirect: str
    _found: _Found | None = field(default=None, repr=False)

    async def begin(self, to: str) -> tuple[str, SignIn]:
        """Return the address at which a person signs in, and what has to come back from there.

        Raises:
            SignInError: The provider does not answer, or describes itself wrongly.
        """
        found = await self._discovered()
        # A verifier has 43 to 128 characters (RFC 7636).
        sign_in = SignIn(generate_token(48), generate_token(48), generate_token(64), to)
        async with self._client(found) as client:
            address, _ = client.create_authorization_url(
                found.addresses["authorization_endpoint"],
                state=sign_in.state,
                code_verifier=sign_in.verifier,
                nonce=sign_in.nonce,
            )
        return str(address), sign_in

    async def finish(self, sign_in: SignIn, code: str) -> SignedIn:
        """Return whom the provider vouches for, in exchange for its code.

        Raises:
            SignInError: It vouches for nobody, or not for this sign-in; the message says why.
        """
        found = await self._discovered()
        try:
            async with self._client(found) as client:
                token = await client.fetch_token(
                    found.addresses["token_endpoint"], code=code, code_verifier=sign_in.verifier
                )
                claims = await self._claims(found, token, sign_in)
                if self.oidc.lacks(claims) and (address := found.addresses.get("userinfo_endpoint")):
                    more = _json(await client.get(_secure(address)))
                    # The answer is not signed: it has to be about the same person, and the ID token comes first.
                    claims = {**more, **claims} if more.get("sub") == claims["sub"] else claims
        except (OAuthError, HTTPError, JoseError, ValueError) as error:
            raise SignInError(
                f"the answer of {self.oidc.issuer} does not count ({_words(error)}); sign in again"
            ) from error
        return SignedIn(person_of(self.oidc, claims), str(token["id_token"]))

    async def sign_out(self, id_token: str | None) -> str | None:
        """Return the address at which a person signs out, None if the provider publishes none, or does not answer.

        It leads back to the desk's login, as OpenID Connect RP-Initiated Logout 1.0 has it.
        """
        try:
            address = _secure(str((await self._discovered()).addresses.get(END)))
        # The desk's own session is over in any case.
        except (SignInError, ValueError):
            return None
        back = self.redirect.removesuffix("/callback")
        given = [("client_id", self.oidc.client_id), ("post_logout_redirect_uri", back)]
        return str(add_params_to_uri(address, [*given, ("id_token_hint", id_token)] if id_token else given))

    async def _claims(self, found: _Found, token: Mapping[str, Any], sign_in: SignIn) -> dict[str, Any]:
        signed = self._verified(found, token)
        if signed is None:  # the provider has a new key
            found = self._found = await self._discover()
            signed = self._verified(found, token)
        if signed is None:
            raise SignInError(f"{self.oidc.issuer} signs with a key that it does not publish; sign in again later")
        wanted = {"iss": {"value": self.oidc.issuer}, "aud": {"value": self.oidc.client_id}}
        known = {"nonce": sign_in.nonce, "client_id": self.oidc.client_id, "access_token": token.get("access_token")}
        claims = CodeIDToken(signed.claims, signed.header, wanted, known)
        claims.validate(leeway=LEEWAY_S)
        return dict(claims)

    def _verified(self, found: _Found, token: Mapping[str, Any]) -> Any:
        """Return the signed token, None if the provider's keys lack the one that it names."""
        # Of the algorithms that the provider offers only ours: the header of a token must not choose how it is checked.
        offered = found.addresses.get("id_token_signing_alg_values_supported") or ["RS256"]
        if not (
            algorithms := [one for one in offered if one in ALGORITHMS]
        ):  # with none the library would take its own
            raise ValueError(f"it signs with {listed([*map(str, offered)])}, and the desk takes public keys alone")
        # Providers put parameters of their own into the header, which the library would refuse.
        registry = JWSRegistry(algorithms=algorithms, strict_check_header=False)
        try:
            return jwt.decode(str(token.get("id_token", "")), key=KeySet.import_key_set(found.keys), registry=registry)
        except InvalidKeyIdError:
            return None

    async def _discovered(self) -> _Found:
        if self._found is None or time.monotonic() - self._found.at_s > KEPT_S:
            self._found = await self._discover()
        return self._found

    async def _discover(self) -> _Found:
        issuer = self.oidc.issuer
        try:
            async with AsyncClient(timeout=TIMEOUT_S) as client:
                found = _json(await client.get(issuer.rstrip("/") + DISCOVERY))
                for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                    _secure(str(found.get(name)))
                keys = _json(await client.get(found["jwks_uri"]))
        except (HTTPError, ValueError) as error:
            raise SignInError(
                f"{issuer} does not answer as a provider does ({_words(error)}); try again later"
            ) from error
        # Tokens are held to this name; a provider under another one would vouch for another's people.
        if found.get("issuer") != issuer:
            raise SignInError(f"the provider at {issuer} calls itself {found.get('issuer')!r:.200}; set issuer to that")
        return _Found(found, keys, time.monotonic())

    def _client(self, found: _Found) -> AsyncOAuth2Client:
        methods = found.addresses.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        return AsyncOAuth2Client(
            self.oidc.client_id,
            self.oidc.client_secret,
            # Without a secret the code's verifier alone shows that it is the same client.
            token_endpoint_auth_method=method if self.oidc.client_secret else "none",
            scope=self.oidc.scope,
            redirect_uri=self.redirect,
            code_challenge_method="S256",
            timeout=TIMEOUT_S,
        )


def _secure(address: str) -> str:
    if not is_secure_address(address):
        raise ValueError(f"{address!r:.200} is not https")
    return address


def _json(answer: Any) -> dict[str, Any]:
    answer.raise_for_status()
    found = answer.json()
    if not isinstance(found, dict):
        raise ValueError("its answer is no JSON object")
    return found


def _words(error: Exception) -> str:
    return str(error)[:300] or type(error).__name__
