"""Sessions in signed cookies, which processes with one secret share (decisions 77 and 102)."""

import secrets
from dataclasses import dataclass
from hashlib import sha256

from itsdangerous import BadData, Signer, URLSafeTimedSerializer

from planner_executor.graph.record.person import Person

COOKIE = "planner_executor_desk"
SALT, FORM_SALT = "planner-executor desk session", "planner-executor desk form"
SESSION_S = 8 * 3600
"""How long a session lasts."""
MOST_COOKIE = 3_800
"""Characters of a cookie; browsers drop one of more than 4,096 with its name and attributes."""


def new_id() -> str:
    """Return the random id of a new session."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Session:
    """The person of a session, None for the user of this process, its random id, and its end in Unix seconds.

    `is_apart`: no other server gets its cookie, see `Visitor`.
    """

    person: Person | None
    id: str
    ends_at: float
    is_apart: bool


@dataclass(frozen=True)
class Sessions:
    """Signs sessions with a secret, and reads them back."""

    secret: str
    lasts_s: int = SESSION_S

    def begin(self, person: Person | None, session: str | None = None, is_apart: bool = False) -> str | None:
        """Return the cookie of a new session, None if the person has more roles than fit into one.

        Args:
            person: The person, None for the user of this process.
            session: Its random id; default: a new one.
            is_apart: Whether no other server gets the cookie.
        """
        names = [person.name, *person.roles] if person is not None else []
        cookie = str(self._serializer.dumps([names, session or new_id(), is_apart]))
        return cookie if len(cookie) <= MOST_COOKIE else None

    def read(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie, None if it is missing, forged or too old."""
        if not cookie:
            return None
        try:
            found, begun = self._serializer.loads(cookie, max_age=self.lasts_s, return_timestamp=True)
            names, session, is_apart = found
            person = Person(names[0], names[1:]) if names else None
            return Session(person, str(session), begun.timestamp() + self.lasts_s, is_apart is True)
        # Perhaps signed by us, but by another release: what it does not say counts as signed out.
        except (BadData, ValueError, TypeError):
            return None

    def form_token(self, session: str) -> str:
        """Return the token that every form of a session carries: no other site, and no holder of its cookie, has it."""
        return self._signer.get_signature(session).decode()

    def is_form_token(self, session: str, token: str) -> bool:
        """Whether the token is the session's own."""
        return self._signer.verify_signature(session, token)

    @property
    def _signer(self) -> Signer:
        return Signer(self.secret, salt=FORM_SALT, digest_method=sha256)

    @property
    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt=SALT)
