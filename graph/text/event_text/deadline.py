"""The text of the events of the time to decide a request."""

from typing import assert_never

from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.record.events import LateAnswer, ReviewEscalated, ReviewExpired, ReviewReminded
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import content, short_digest

DeadlineEvent = ReviewReminded | ReviewEscalated | ReviewExpired | LateAnswer


def deadline_words(data: DeadlineEvent) -> Words:
    """Say which deadline of a request came, or which answer came after it."""
    match data:
        case ReviewReminded():
            yield f"a reminder of request {data.request}, which expires on {moment_in_words(data.expires_at)}"
        case ReviewEscalated():
            until = moment_in_words(data.expires_at)
            yield f"request {data.request} was escalated: others may decide it too, until {until}"
        case ReviewExpired():
            closed = f"request {data.request} is closed as rejected" + (", and the run ends" if data.ends else "")
            yield f"nobody decided until {moment_in_words(data.expired_at)}: {closed}"
            yield from (f"the call {short_digest(key)} is rejected: {why}" for key, why in data.rejected.items())
        case LateAnswer():
            yield f"an answer to request {data.request} was not accepted, from {data.approver}: {data.error}"
            yield f"the answer: {content(data.answer)}"
        case _:
            assert_never(data)
