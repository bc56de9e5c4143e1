"""Progress of the executor: a stream event per change, and a message for chat clients."""

import asyncio
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph.message import push_message

from graph.record.results import StepResult

MESSAGE_EVERY_S = 1.0


@dataclass
class Progress:
    """Reports one pass over a plan of `steps` steps, until it is closed.

    The message keeps its id and is sent at most once a second. A change within that second is sent at its end, so that
    the message is up to date during a long step.
    """

    run: str
    steps: int
    status: dict[str, str] = field(default_factory=dict)
    _sent_at: float = float("-inf")
    _due: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self._write = get_stream_writer()

    def announce(self, step: str, result: StepResult) -> None:
        """Send a step's change to the stream, without its value."""
        self.status[step] = result.status
        event = {"run": self.run, "step": step, "status": result.status, "error": result.error}
        self._write({**event, "started_at": result.started_at, "ended_at": result.ended_at})
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), self._sent_at + MESSAGE_EVERY_S), self._send)

    def close(self) -> None:
        """Send no further message: the node is about to return its results."""
        if self._due is not None:
            self._due.cancel()

    def _send(self) -> None:
        self._due = None
        self._sent_at = asyncio.get_running_loop().time()
        push_message(AIMessage(self._words(), id=f"{self.run}-progress"), state_key=None)

    def _words(self) -> str:
        running = [step for step, status in self.status.items() if status == "running"]
        done = sum(status == "succeeded" for status in self.status.values())
        now = f"; at work: {', '.join(running[:5])}" if running else ""
        return f"{done} of {self.steps} steps succeeded{now}"
