"""A small OpenID Connect provider on loopback: discovery, keys, codes with PKCE, ID tokens. It signs everybody in."""

import hashlib
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode

from desk_server import serving
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from joserfc.jws import JWSRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "desk", "a-secret-of-the-client"
ADA = {"sub": "1", "email": "Ada@example.org", "email_verified": True, "groups": ["finance", "staff"]}


@lru_cache  # a key takes a quarter of a second
def key_of(owner: str = "provider", name: str = "one") -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"})


@dataclass
class OidcProvider:
    """What tests change: `person` is who signs in, `changed` are claims of the next ID tokens, None leaves one out.

    With `asks` a person has to agree on a page first; `seen` are the requests for tokens that it got. `userinfo_of` is
    whom the unsigned answer is about, if it is not who signs in. `header` is added to that of ID tokens; `refusal` is
    what a code gets instead of one.
    """

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(ADA))
    changed: dict[str, Any] = field(default_factory=dict)
    short: bool = False
    userinfo_of: dict[str, Any] | None = None
    asks: bool = False
    key: Any = field(default_factory=key_of)
    published: Any = None
    algorithm: str = "RS256"
    header: dict[str, Any] = field(default_factory=dict)
    refusal: dict[str, str] | None = None
    discovered: dict[str, Any] = field(default_factory=dict)
    seen: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    async def discovery(self, _: Request) -> Response:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }
        return JSONResponse({**found, **self.discovered})

    async def keys(self, _: Request) -> Response:
        key = self.published or self.key
        return JSONResponse({"keys": [key.as_dict(private=isinstance(key, OctKey))]})

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["client_id"] == CLIENT and asked["code_challenge_method"] == "S256" and "openid" in asked["scope"]
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
        agree = f'<!doctype html><html lang="en"><title>Provider</title><a href="{escape(back)}">Agree</a></html>'
        return HTMLResponse(agree) if self.asks else RedirectResponse(back, 303)

    async def token(self, request: Request) -> Response:
        given = dict(parse_qsl((await request.body()).decode()))
        self.seen.append({**given, "authorization": request.headers.get("authorization", "")})
        asked = self.codes.pop(given["code"], None)
        if self.refusal is not None:
            return JSONResponse(self.refusal, 400)
        if asked is None or challenge_of(given["code_verifier"]) != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        claims |= {"sub": self.person["sub"]} if self.short else self.person
        claims = {name: value for name, value in {**claims, **self.changed}.items() if value is not None}
        registry = JWSRegistry(algorithms=[self.algorithm], strict_check_header=False)
        header = {"alg": self.algorithm, "kid": self.key.kid, **self.header}
        signed = jwt.encode(header, claims, self.key, registry=registry)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": signed})

    async def end(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["post_logout_redirect_uri"], 303)

    async def list(self, _: Request) -> Response:
        return JSONResponse([])

    async def userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer a"
        return JSONResponse(self.userinfo_of or self.person)


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@contextmanager
def provided() -> Iterator[OidcProvider]:
    """A provider that is named `localhost`, so that to a browser it is another site than a desk at 127.0.0.1."""
    provider = OidcProvider()
    routes = [
        Route("/.well-known/openid-configuration", provider.discovery),
        Route("/keys", provider.keys),
        Route("/authorize", provider.authorize),
        Route("/token", provider.token, methods=["POST"]),
        Route("/userinfo", provider.userinfo),
        Route("/end", provider.end),
        Route("/list", provider.list),
    ]
    with serving(Starlette(routes=routes)) as url:
        provider.issuer = url.replace("127.0.0.1", "localhost")
        yield provider
