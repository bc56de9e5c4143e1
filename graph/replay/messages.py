"""Messages that were left for a run, as the events that they caused tell of them."""

from collections.abc import Iterable

from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.events import INTERRUPTED, Event, Paused, RunEnded, StandingRevoked, Steered
from planner_executor.graph.record.revocation import Revocation
from planner_executor.graph.record.stop_request import CANCEL, StopRequest, message_of


def messages_of(events: Iterable[Event]) -> list[str]:
    """Return the messages that caused the first of these events."""
    messages: list[str] = []
    for event in events:
        data = event.data_if_known
        if isinstance(data, Steered) and data.checkpoint is None:
            messages.append(steer_of(data).to_text())
            continue
        if isinstance(data, StandingRevoked):
            messages.append(Revocation(data.id, data.approver).to_text())
            continue
        # A pause or an end is the last message that is read: nothing is done after it.
        if isinstance(data, Paused) and (pause := message_of(data)) is not None:
            return [*messages, pause]
        if isinstance(data, RunEnded) and data.is_cancelled and data.checkpoint is not None:
            return [StopRequest(CANCEL, data.by).to_text()]
        return messages
    return messages


def is_interrupted(events: Iterable[Event]) -> bool:
    """Whether the work was interrupted before the first of these events; messages are read first, and noted."""
    for event in events:
        data = event.data_if_known
        if not (isinstance(data, StandingRevoked) or (isinstance(data, Steered) and data.checkpoint is None)):
            return isinstance(data, Paused) and data.reason == INTERRUPTED
    return False


def steer_of(steered: Steered) -> Amendment:
    """Return the amendment of a `steered` event."""
    return Amendment(steered.added, steered.withdrawn, steered.feedback, steered.approver)
