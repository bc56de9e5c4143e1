"""Progress of the executor: a stream event per change, and a message for chat clients."""

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
class ProgressReporter:
    """Reports one pass over a plan of `steps` steps, until it is closed.

    The message keeps its id and is sent at most once a second. A change within that second is sent at its end, so that
    the message is up to date during a long step.
    """

    run: str
    steps: int
    status: dict[str, str] = field(default_factory=dict)
    _reported: dict[str, str] = field(default_factory=dict)
    _due_at: dict[str, float] = field(default_factory=dict)
    _sent_at: float = float("-inf")
    _due: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._write = get_stream_writer()

    def announce(self, step: str, result: StepResult) -> None:
        """Send a step's change to the stream, without its value."""
        self.status[step] = result.status
        self._reported.pop(step, None)
        event = {"run": self.run, "step": step, "status": result.status, "error": result.error}
        self._write({**event, "started_at": result.started_at, "ended_at": result.ended_at})
        self._schedule()

    def tool_progress(self, call: ToolCall, progress: CallProgress) -> None:
        """Send the reported progress of a call to the stream, at most once a second per step."""
        now = asyncio.get_running_loop().time()
        if self.status.get(call.step) != "running" or now < self._due_at.get(call.step, now):
            return
        self._due_at[call.step] = now + MESSAGE_EVERY_S
        words = one_line(progress.message, WORDS_CHARACTERS) if progress.message else None
        self._reported[call.step] = text = _far(progress, words)
        event = {"run": self.run, "step": call.step, "status": "running", "error": None}
        fields = {
            "tool": call.tool,
            "item": call.item,
            "done": progress.done,
            "total": progress.total,
            "message": words,
        }
        self._write({**event, "started_at": None, "ended_at": None, "progress": {**fields, "text": text}})
        self._schedule()

    def close(self) -> None:
        """Send no further message: the node is about to return its results."""
        if self._due is not None:
            self._due.cancel()

    def _schedule(self) -> None:
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), self._sent_at + MESSAGE_EVERY_S), self._send)

    def _send(self) -> None:
        self._due = None
        self._sent_at = asyncio.get_running_loop().time()
        push_message(AIMessage(self._words(), id=f"{self.run}-progress"), state_key=None)

    def _words(self) -> str:
        running = [
            f"{step} ({self._reported[step]})" if step in self._reported else step
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
