"""Making a call: the tool's time limit, its progress messages, and its failures as data."""

import asyncio
import contextvars
import time
from contextlib import suppress
from typing import Any

from planner_executor.graph.calls.call_timeout import CallDeadline, StillAtWork, within
from planner_executor.graph.calls.failures import error_of, failure_words
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import Admitted, Finished, ToolCall
from planner_executor.graph.chat_models.failures import drop_frames, failure_of
from planner_executor.graph.errors import LedgerError
from planner_executor.graph.ledger.protocol import Proof
from planner_executor.graph.observing.observed import around
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.values import keep, normalise
from planner_executor.tools.call_progress import CallProgress, ProgressListener, told_of_progress
from planner_executor.tools.call_questions import InputNeeded, with_replies
from planner_executor.tools.errors import NothingHappened, Transient
from planner_executor.tools.idempotency import with_idempotency_key


class NotMade(Exception):
    """A call was not made, since its run may have another owner."""

    def __init__(self, why: LedgerError) -> None:
        self.why = why


class ToolRunner:
    """Makes the admitted calls of one run."""

    def __init__(self, run: OwnedRun) -> None:
        self._run = run
        self._is_direct: dict[str, bool] = {}  # the callbacks are those of the node, the same for every call

    async def run(self, admitted: Admitted) -> Finished:
        """Make a call whose intent is written; every failure of the tool is returned as data.

        Raises:
            InputNeeded: The call ended with questions to a person.
            LeaseLostError: Another owner has taken the run over, and may make the call; it was not made.
        """
        call, started_at = admitted.call, time.time()
        # Durations by a clock that nobody sets; the wall clock says only when it began.
        begun = time.perf_counter()
        kept, error, nothing, passing = None, None, False, False
        try:
            with around(self._run.ledger, self._run.lease.run, (call.step, call.item, call.number)):
                output = await self._within_time(admitted)
            kept = keep(normalise(output))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            # The task itself is being cancelled: that ends the run. Otherwise the
            # tool raised it, which is a failure as any other.
            if task is not None and task.cancelling():
                raise
            error = "the tool cancelled itself"
        # Questions to a person are no failure, and the call has not ended.
        except InputNeeded:
            raise
        # Another owner has the run: a result recorded here would be of a call that was never made.
        except NotMade as stopped:
            raise stopped.why from None
        except Exception as failure:  # noqa: BLE001  (around a tool call, where it becomes data)
            error, nothing = failure_words(failure), isinstance(failure, NothingHappened)
            passing = self._may_pass(call, failure)
            # Frames of its traceback refer to it and hold the whole run, until garbage is collected.
            drop_frames(failure)
        ended_at = started_at + time.perf_counter() - begun
        if error is not None:
            result = StepResult("failed", error=error_of(error), started_at=started_at, ended_at=ended_at)
            return Finished(call, result, nothing_happened=nothing, is_passing=passing)
        assert kept is not None
        result = StepResult("succeeded", **kept.fields(), started_at=started_at, ended_at=ended_at)
        return Finished(call, result, kept)

    def _may_pass(self, call: ToolCall, failure: Exception) -> bool:
        """Whether the same call may be made again, and may then succeed.

        A call that may not be repeated is made again only if nothing happened, and none while it is still at work.
        """
        if isinstance(failure, StillAtWork):
            return False
        if not self._run.toolbox.specs[call.tool].repeatable:
            return isinstance(failure, NothingHappened)
        return isinstance(failure, Transient) or failure_of(failure, time.time()).repeatable

    async def _within_time(self, admitted: Admitted) -> Any:
        call, limit_s = admitted.call, admitted.limits.timeout_s
        bound = self._run.toolbox[call.tool]
        if call.tool not in self._is_direct:
            self._is_direct[call.tool] = bound.is_direct
        deadline = CallDeadline(limit_s) if limit_s is not None and self._run.toolbox.is_timed else None
        progress = told_of_progress(self._progress_callback(call, deadline))
        with with_idempotency_key(call.key), progress, with_replies(admitted.replies):
            about = {"run": self._run.record.id, "revision": self._run.record.plan_state.revision}
            about |= {"step": call.step, "call": call.number, "item": call.item}
            prove = None if bound.spec.repeatable else self._prove
            work = bound.call(call.args, about, self._is_direct[call.tool], prove)
            return await (work if deadline is None else within(deadline, work, bound.awaitable))

    async def _prove(self) -> Proof:
        """Prove that the run is owned; a failure of the ledger is none of the tool."""
        try:
            return await self._run.ledger.prove(self._run.lease)
        except LedgerError as error:
            raise NotMade(error) from error

    def _progress_callback(self, call: ToolCall, deadline: CallDeadline | None) -> ProgressListener:
        """Return the progress callback of a tool; it may be called from any thread."""
        loop, context, notify = asyncio.get_running_loop(), contextvars.copy_context(), self._run.on_progress

        def callback(progress: CallProgress) -> None:
            if deadline is not None:
                deadline.extend()
            if notify is not None:
                with suppress(RuntimeError):  # the loop is closed: the run has ended
                    loop.call_soon_threadsafe(notify, call, progress, context=context)

        return callback
