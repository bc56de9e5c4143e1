"""Sessions in signed cookies: the server keeps nothing, so that several servers with one secret share them."""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

from itsdangerous import BadData, URLSafeTimedSerializer

from graph.desk.security.visitor import Role, Visitor

COOKIE = "planner_executor_desk"
SALT = "planner-executor desk session"
SESSION_S = 8 * 3600
"""How long a session lasts."""


@dataclass(frozen=True)
class Sessions:
    """Signs sessions with a secret, and reads them back."""

    secret: str
    lasts_s: int = SESSION_S

    def begin(self, name: str, role: Role) -> str:
        """Return the cookie of a new session."""
        return str(self._serializer.dumps([name, role.value, secrets.token_hex(16)]))

    def read(self, cookie: str | None) -> Visitor | None:
        """Return the visitor of a cookie, None if it is missing, forged or too old."""
        if not cookie:
            return None
        try:
            name, role, session = self._serializer.loads(cookie, max_age=self.lasts_s)
            return Visitor(str(name), Role(role), str(session))
        except (BadData, ValueError, TypeError):
            return None

    def form_token(self, visitor: Visitor) -> str:
        """Return the token that every form of a session carries, so that no other site can send one."""
        return hmac.new(self.secret.encode(), f"form {visitor.session}".encode(), sha256).hexdigest()

    def is_form_token(self, visitor: Visitor, token: str) -> bool:
        """Whether the token is the session's own."""
        return hmac.compare_digest(self.form_token(visitor).encode(), token.encode())

    @property
    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt=SALT)
