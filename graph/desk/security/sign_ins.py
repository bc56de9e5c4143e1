"""Sign-ins at a provider that are under way, each in a signed cookie of its browser (decision 88)."""

from dataclasses import astuple, dataclass

from itsdangerous import BadData, URLSafeTimedSerializer

COOKIE = "planner_executor_desk_login"
SALT = "planner-executor desk sign-in"
LASTS_S = 600
"""How long a person may take at the provider."""


@dataclass(frozen=True)
class SignIn:
    """The values that tie the provider's answer to the browser that asked, and the page that it goes on to."""

    state: str
    nonce: str
    verifier: str
    to: str


@dataclass(frozen=True)
class SignIns:
    """Signs sign-ins with a secret, and reads them back."""

    secret: str

    def keep(self, sign_in: SignIn) -> str:
        """Return the cookie of a sign-in."""
        return str(self._serializer.dumps(astuple(sign_in)))

    def read(self, cookie: str | None) -> SignIn | None:
        """Return the sign-in of a cookie, None if it is missing, forged or too old."""
        try:
            return SignIn(*map(str, self._serializer.loads(cookie or "", max_age=LASTS_S)))
        except (BadData, TypeError):
            return None

    @property
    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt=SALT)
