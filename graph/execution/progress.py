"""Progress of the executor: a stream event per change, and a message for chat clients."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.config import get_stream_writer
from langgraph.graph.message import push_message

from planner_executor.graph.calls.tally import Tally
from planner_executor.graph.calls.tool_call import ToolCall
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.stream_event import Kind, ToolProgress, step_event
from planner_executor.graph.text.progress import WORDS_CHARACTERS, PassProgress
from planner_executor.tools.call_progress import CallProgress

MESSAGE_EVERY_S = 1.0
PROGRESS = "-progress"
"""Suffix of the ids of progress messages."""


@dataclass
class ProgressReporter:
    """Reports one pass over a plan, until it is closed (docs/decisions/0050-progress-in-a-chat.md).

    The message keeps its id and is sent at most once a second. A change within that second is sent at its end, so that
    the message is up to date during a long step.
    """

    record: RunState
    plan: Plan
    tally: Tally = field(default_factory=Tally)
    status: dict[str, str] = field(default_factory=dict)
    waits: list[str] = field(default_factory=list)
    _again: Counter[str] = field(default_factory=Counter)
    _reported: dict[str, str] = field(default_factory=dict)
    _due_at: dict[str, float] = field(default_factory=dict)
    _sent_at: float = float("-inf")
    _sent: str = ""
    _due: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._write = get_stream_writer()
        self._id = f"{self.record.id}-{self.record.seq}{PROGRESS}"

    def step(self, step: str, result: StepResult) -> None:
        """Report a step's change."""
        self.status[step] = result.status
        self._reported.pop(step, None)
        self._send_event("step", step, result)

    def item(self, step: str, place: int, result: StepResult) -> None:
        """Report the end of one item of a step's list, from 0."""
        self._send_event("item", step, result, item=place)

    def again(self, step: str, why: str) -> None:
        """Report that a step is tried once more, and why."""
        self._again[step] += 1
        self._send_event("step", step, StepResult("running", error=why))

    def person(self, step: str, result: StepResult) -> None:
        """Report that a person will be needed for a step; other steps may still be running."""
        self.waits.append(step)
        self._send_event("person", step, result)

    def tool_progress(self, call: ToolCall, progress: CallProgress) -> None:
        """Report what a tool says of its progress, at most once a second per step."""
        now = asyncio.get_running_loop().time()
        # A tool may go on telling after its call was given up.
        if self.status.get(call.step) != "running" or now < self._due_at.get(call.step, now):
            return
        self._due_at[call.step] = now + MESSAGE_EVERY_S
        words = one_line(progress.message, WORDS_CHARACTERS) if progress.message else None
        self._reported[call.step] = text = _far(progress, words)
        told = ToolProgress(tool=call.tool, done=progress.done, total=progress.total, message=words, text=text)
        self._send_event("progress", call.step, StepResult("running"), item=call.item, progress=told)

    def close(self) -> None:
        """Send no further message: the node is about to return its results."""
        if self._due is not None:
            self._due.cancel()

    def _send_event(self, kind: Kind, step: str, result: StepResult, **more: Any) -> None:
        event = step_event(
            kind=kind,
            run=self.record.id,
            revision=self.record.plan_state.revision,
            sequence=self.tally.sequence,
            step=step,
            attempt=self._attempt(step),
            result=result,
            cost=self.tally.cost(step),
            **more,
        )
        self._write(event)
        self._schedule()

    def _attempt(self, step: str) -> int:
        """Return the number of the current try; a resumed model step replays its recorded tries, and so counts anew."""
        recorded = self.record.steps.retries[step] if self.plan.by_id[step].tool is not None else 0
        return 1 + recorded + self._again[step]

    def _schedule(self) -> None:
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), self._sent_at + MESSAGE_EVERY_S), self._send)

    def _send(self) -> None:
        self._due = None
        line = PassProgress(len(self.plan.steps), self.status, self._reported, self.waits).line()
        if line == self._sent:
            return
        push = partial(push_message, state_key=None)
        if self._sent:
            push(_Removed(id=self._id))  # type: ignore[call-arg]  # its own __init__ is not seen in a subclass
        push(_Line(content=line, id=self._id))
        self._sent, self._sent_at = line, asyncio.get_running_loop().time()


class _Line(AIMessage):
    """A message that takes the place of one with the same id: clients of a stream join what has the same id."""

    def __add__(self, other: Any) -> BaseMessage:  # type: ignore[override]
        return other  # type: ignore[no-any-return]


class _Removed(RemoveMessage):
    """Takes the line before away; see `_Line`."""

    def __add__(self, other: Any) -> BaseMessage:  # type: ignore[override]
        return other  # type: ignore[no-any-return]


def _far(progress: CallProgress, words: str | None) -> str:
    """Return how far a call is, in words.

    >>> _far(CallProgress(3, 10), "third page")
    '3 of 10, third page'
    """
    number = f"{progress.done:g}" + (f" of {progress.total:g}" if progress.total is not None else "")
    return f"{number}, {words}" if words else number
