"""The interface of search engines for the tool `web_search`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

LATER = "try again later, or search local documents instead"


@dataclass(frozen=True)
class Found:
    """One result of a search."""

    title: str
    url: str
    snippet: str


class NoAnswerError(Exception):
    """A search engine gave no result; `advice` is the next move, `may_pass` whether it may answer later."""

    def __init__(self, reason: str, advice: str = LATER, *, may_pass: bool = True) -> None:
        self.reason = reason
        self.advice, self.may_pass = advice, may_pass
        super().__init__(f"{reason}; {advice}")


Engine = Callable[[str, int], Sequence[Found]]
"""Query and limit -> results, best first; raises `NoAnswerError`."""
