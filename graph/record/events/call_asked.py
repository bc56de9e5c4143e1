"""The event of a call that ended with questions to a person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.record.codec import Coded, Shown
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AskedQuestion(Coded):
    """A question under a name of the asker's, and the JSON Schema of the form that answers it."""

    id: str
    text: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallAsked(Payload, must_last=True):
    """A call ended with questions; `state` is what takes it up, and `worked_s` the working time of the run."""

    key: str
    call: int
    item: int | None = None
    tool: str
    questions: tuple[AskedQuestion, ...]
    state: str | None = None
    revision: int
    worked_s: Shown[float | None] = None
