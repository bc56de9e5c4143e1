"""Answers that were given at once to one request: the later one was given without a sight of the earlier one."""

from collections.abc import Sequence

from planner_executor.graph.record.events import Decided, Event, PlanRevised, ReviewRequested, Voted


def answers_before(coming: Sequence[Event]) -> int:
    """Return how many of the next events another process wrote while the next answer of this one was on its way.

    After a vote or an answer that is refused the request is shown anew, at another checkpoint. An answer at the
    checkpoint of the first was given before, and its process read the first when it came to own the run.

    Args:
        coming: The events on record from here on.
    """
    found = place = 0
    while place < len(coming) and (first := coming[place].data_if_known) is not None and _leaves_open(coming[place]):
        place += (
            2 if isinstance(first, Voted) else 1
        )  # a vote is written together with the request as it stands after it
        while place < len(coming) and _shows_again(coming[place]):
            place += 1
        if place < len(coming) and _is_answer(coming[place]) and _checkpoint(coming[place]) == first.checkpoint:
            found = place
    return found


def _leaves_open(event: Event) -> bool:
    data = event.data_if_known
    return isinstance(data, Voted) or (isinstance(data, ReviewRequested) and data.answer is not None)


def _shows_again(event: Event) -> bool:
    data = event.data_if_known
    return isinstance(data, ReviewRequested) and data.answer is None


def _is_answer(event: Event) -> bool:
    data = event.data_if_known
    is_edit = isinstance(data, PlanRevised) and data.author == "person"
    return is_edit or isinstance(data, Voted | Decided | ReviewRequested)


def _checkpoint(event: Event) -> str | None:
    return event.data_if_known.checkpoint if event.data_if_known is not None else None
