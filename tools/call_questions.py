"""Questions that come up in the middle of a call, and the answers that the call goes on with.

A tool that needs a person raises `InputNeeded`: the call is over, no process waits for the answer. After the answer
the same call is made again under the same idempotency key, and finds the replies here.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from planner_executor.tools.context_value import set_within


@dataclass(frozen=True)
class CallQuestion:
    """A question under a name of the asker's; `schema` is the JSON Schema of the form that answers it, an object."""

    id: str
    text: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class CallReplies:
    """The filled forms by the ids of their questions, None for one that a person declined to answer.

    `state` is what the asker gave to take the call up by, None if it gave nothing. `anew`: the call is to begin again,
    since a person said that nothing came of it; the forms answer the same questions if they come again.
    """

    state: str | None
    forms: Mapping[str, Mapping[str, Any] | None]
    questions: tuple[CallQuestion, ...] = ()
    anew: bool = False


class InputNeeded(Exception):
    """The call cannot go on without answers; `state` is what takes it up."""

    def __init__(self, questions: tuple[CallQuestion, ...], state: str | None) -> None:
        self.questions, self.state = questions, state
        super().__init__("; ".join(question.text for question in questions))


_replies: ContextVar[CallReplies | None] = ContextVar("call_replies", default=None)


def replies_given() -> CallReplies | None:
    """Return the replies that the current call goes on with, None at its first attempt."""
    return _replies.get()


def with_replies(replies: CallReplies | None) -> AbstractContextManager[None]:
    """Set the replies for the tool that is called in the block."""
    return set_within(_replies, replies)
