"""What a server asks of a checkpointer, for callers on other threads than its event loop's."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


class FromThreads:
    """The synchronous twins of a saver's methods; `loop` is the event loop that the saver was made on."""

    loop: asyncio.AbstractEventLoop

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints; its runs stay in the ledger."""
        raise NotImplementedError

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs of the server made, as a rollback does; the ledger's runs stay."""
        raise NotImplementedError

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread's checkpoints to another thread, as a fork; the ledger is not copied."""
        raise NotImplementedError

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Thin threads out to their latest checkpoint, or delete all of them (`delete`, `delete_all`)."""
        raise NotImplementedError

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
