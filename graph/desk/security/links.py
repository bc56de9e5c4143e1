"""Links with a token that opens one session, for a desk on this machine."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

LINK_S = 3600.0
"""How long a link that nobody has opened stays valid."""
MOST = 8
"""Links that are valid at a time; an older one is dropped."""


@dataclass
class Links:
    """The tokens of the links that nobody has opened yet."""

    now: Callable[[], float] = time.monotonic
    _tokens: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def issue(self) -> str:
        """Return the token of a new link."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._tokens) >= MOST:
                del self._tokens[next(iter(self._tokens))]
            self._tokens[token] = self.now() + LINK_S
        return token

    def latest(self) -> str:
        """Return the token of the last link if nobody has opened it, else of a new one: asking drops no other link."""
        with self._lock:
            last = next(reversed(self._tokens), None)
            if last is not None and self._tokens[last] > self.now():
                return last
        return self.issue()

    def take(self, given: str) -> bool:
        """Whether the token is valid; a token is valid once."""
        with self._lock:
            # Compared in constant time: how long it takes tells a guesser nothing.
            found = next((token for token in self._tokens if hmac.compare_digest(token.encode(), given.encode())), None)
            return found is not None and self._tokens.pop(found) > self.now()
