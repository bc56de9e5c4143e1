"""What a search engine is to the tool `web_search`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LATER = "try again later, or search local documents instead"


@dataclass(frozen=True)
class Found:
    """One page that an engine found."""

    title: str
    url: str
    snippet: str


class NoAnswerError(Exception):
    """A search engine has no answer; `reason` says why and `advice` what to do next."""

    def __init__(self, reason: str, advice: str = LATER) -> None:
        self.reason = reason
        self.advice = advice
        super().__init__(f"{reason}; {advice}")


Engine = Callable[[str, int], Sequence[Found]]
"""Query and limit -> what was found, best first; raises `NoAnswerError`."""
