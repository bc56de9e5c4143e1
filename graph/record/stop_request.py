"""The messages by which a person, or a worker that stops, has a run paused or ended before its next call."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from planner_executor.graph.record.events import ASKED, HANDED_OVER, Paused
from planner_executor.graph.record.hand_over import HAND_OVER

PAUSE, CANCEL = "pause", "cancel"


class StopRequest(NamedTuple):
    """A person's wish that a run pauses or ends; `by` is None in messages of earlier releases.

    >>> StopRequest.read("cancel server:ann lee"), StopRequest.read("pause"), StopRequest.read("cancelled")
    (StopRequest(what='cancel', by='server:ann lee'), StopRequest(what='pause', by=None), None)
    """

    what: str
    by: str | None = None

    @classmethod
    def read(cls, message: str) -> "StopRequest | None":
        """Parse the output of `to_text`; None if it is another message."""
        what, _, by = message.partition(" ")
        return cls(what, by or None) if what in (PAUSE, CANCEL) else None

    def to_text(self) -> str:
        """Return it as a message for the run's inbox."""
        return self.what if self.by is None else f"{self.what} {self.by}"


def is_stop(message: str) -> bool:
    """Whether a message has a run paused or ended."""
    return message == HAND_OVER or StopRequest.read(message) is not None


def cancel_in(messages: Iterable[str]) -> StopRequest | None:
    """Return the first wish that the run ends, which counts for more than all other messages."""
    return next(_wishes(messages, CANCEL), None)


def pause_in(messages: Iterable[str]) -> Paused | None:
    """Return the pause that messages bring about; that of a person counts for more than a hand-over.

    >>> pause_in(["hand over", "pause os:ada"]), pause_in(["cancel"])
    (Paused(checkpoint=None, reason='asked to pause', due_at=None, by='os:ada'), None)
    """
    found = list(messages)
    if (wish := next(_wishes(found, PAUSE), None)) is not None:
        return Paused(reason=ASKED, by=wish.by)
    return Paused(reason=HANDED_OVER) if HAND_OVER in found else None


def message_of(pause: Paused) -> str | None:
    """Return the message that brought a pause about, None if it was none."""
    if pause.reason == ASKED:
        return StopRequest(PAUSE, pause.by).to_text()
    return HAND_OVER if pause.reason == HANDED_OVER else None


def _wishes(messages: Iterable[str], what: str) -> Iterator[StopRequest]:
    return (wish for wish in map(StopRequest.read, messages) if wish is not None and wish.what == what)
