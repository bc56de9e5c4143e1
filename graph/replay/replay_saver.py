"""The checkpoints of a replay, in memory."""

from langgraph.checkpoint.memory import InMemorySaver

from planner_executor.graph.checkpoints.saver import strict_serializer

ROOT = ""
"""LangGraph's name for checkpoints of a graph that is no part of another."""


class ReplaySaver(InMemorySaver):
    """LangGraph's checkpointer for one thread; forgets what the recorded process did not live to store."""

    def __init__(self, thread: str) -> None:
        super().__init__(serde=strict_serializer())
        self._thread = thread

    @property
    def latest(self) -> str | None:
        """The id of the latest checkpoint, None if there is none."""
        return max(self.storage[self._thread][ROOT], default=None)

    def go_back(self, checkpoint: str) -> None:
        """Forget the checkpoints after this one, and what its node returned; answers to its requests stay."""
        stored = self.storage[self._thread][ROOT]
        for later in [one for one in stored if one > checkpoint]:
            del stored[later]
            self.writes.pop((self._thread, ROOT, later), None)
        writes = self.writes[self._thread, ROOT, checkpoint]
        for written in [(task, place) for task, place in writes if place >= 0]:  # the others have places below zero
            del writes[written]
