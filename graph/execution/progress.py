"""What others see while the executor works: an event per change, and a message for chat surfaces."""

import asyncio
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph.message import push_message

from graph.calls.tool_call import ToolCall
from graph.record.results import StepResult
from graph.sanitize import one_line
from tools.call_progress import CallProgress

MESSAGE_EVERY_S = 1.0
WORDS_CHARACTERS = 200


@dataclass
class Progress:
    """Tells of one pass over a plan of `steps` steps, until it is closed.

    The message has one id and comes at most once a second. A change within that second is told at its end: a long
    step may follow, and the message must not speak of the step before all the while.
    """

    run: str
    steps: int
    status: dict[str, str] = field(default_factory=dict)
    _far: dict[str, str] = field(default_factory=dict)
    _heard_at: dict[str, float] = field(default_factory=dict)
    _told_at: float = float("-inf")
    _due: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._write = get_stream_writer()

    def announce(self, step: str, result: StepResult) -> None:
        """Send a step's change to the stream; values are left to the results."""
        self.status[step] = result.status
        self._far.pop(step, None)
        event = {"run": self.run, "step": step, "status": result.status, "error": result.error}
        self._write({**event, "started_at": result.started_at, "ended_at": result.ended_at})
        self._tell_soon()

    def heard(self, call: ToolCall, progress: CallProgress) -> None:
        """Send what a tool tells of its call to the stream, for each step at most once a second."""
        now = asyncio.get_running_loop().time()
        if self.status.get(call.step) != "running" or now < self._heard_at.get(call.step, now):
            return
        self._heard_at[call.step] = now + MESSAGE_EVERY_S
        words = one_line(progress.message, WORDS_CHARACTERS) if progress.message else None
        self._far[call.step] = far = _far(progress, words)
        event = {"run": self.run, "step": call.step, "status": "running", "error": None}
        told = {"tool": call.tool, "item": call.item, "done": progress.done, "total": progress.total, "message": words}
        self._write({**event, "started_at": None, "ended_at": None, "progress": {**told, "text": far}})
        self._tell_soon()

    def close(self) -> None:
        """Say no more: the node is about to end, and what it returns says the rest."""
        if self._due is not None:
            self._due.cancel()

    def _tell_soon(self) -> None:
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), self._told_at + MESSAGE_EVERY_S), self._tell)

    def _tell(self) -> None:
        self._due = None
        self._told_at = asyncio.get_running_loop().time()
        push_message(AIMessage(self._words(), id=f"{self.run}-progress"), state_key=None)

    def _words(self) -> str:
        running = [
            f"{step} ({self._far[step]})" if step in self._far else step
            for step, status in self.status.items()
            if status == "running"
        ]
        done = sum(status == "succeeded" for status in self.status.values())
        now = f"; at work: {', '.join(running[:5])}" if running else ""
        return f"{done} of {self.steps} steps succeeded{now}"


def _far(progress: CallProgress, words: str | None) -> str:
    """Return how far a call is, in words.

    >>> _far(CallProgress(3, 10), "third page")
    '3 of 10, third page'
    """
    number = f"{progress.done:g}" + (f" of {progress.total:g}" if progress.total is not None else "")
    return f"{number}, {words}" if words else number
