"""What a server asks of a checkpointer, for callers on other threads than its event loop's."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver


class FromThreads(BaseCheckpointSaver[Any]):
    """The synchronous twins of a saver's methods; `loop` is the event loop that the saver was made on."""

    loop: asyncio.AbstractEventLoop

    def delete_thread(self, thread_id: str) -> None:
        """See `adelete_thread`."""
        self._from_another_thread(self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """See `adelete_for_runs`."""
        self._from_another_thread(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """See `acopy_thread`."""
        self._from_another_thread(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """See `aprune`."""
        self._from_another_thread(self.aprune(thread_ids, strategy=strategy))

    def _from_another_thread(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            work.close()
            raise asyncio.InvalidStateError(
                "this saver's own loop is running here; await the method that begins with a"
            )
        asyncio.run_coroutine_threadsafe(work, self.loop).result()
