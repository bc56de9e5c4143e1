"""The runs of a ledger: listing, viewing and changing them needs no model, tool or graph."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import InputError, LedgerUnavailableError, PrunedRunError, UnknownRunError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.known_runs import KnownRun
from planner_executor.graph.ledger.run_states import known_state, state_of
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey, key_from_environment
from planner_executor.graph.ledger.values import answer_from_results, value_of
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.plain_text.sanitize import is_utf8
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.record.events import Draft, Event, cancelled
from planner_executor.graph.record.recorded_plans import RecordedPlans
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey, run_name
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.stop_request import CANCEL, PAUSE, StopRequest
from planner_executor.graph.runs.lists import Log
from planner_executor.graph.runs.run import Run, is_under_way, run_of
from planner_executor.graph.runs.run_page import RunPage, one_more, page_of
from planner_executor.graph.words.name_list import listed, there_are

NO_RESULT = StepResult("pending")


@dataclass(frozen=True)
class Runs:
    """The runs of one ledger."""

    ledger: RunStore

    async def find(self, name: str) -> RunKey:
        """Return the key of a run, by its id, by its thread, or by the beginning of a thread's name.

        A thread stands for its latest run.

        Raises:
            PrunedRunError: The run was removed with its thread.
            UnknownRunError: There is no such run.
            InputError: The name is the beginning of several threads, or no text.
        """
        if not isinstance(name, str):
            raise InputError("run", f"name a run by its id or its thread, got {type(name).__name__}")
        if not is_utf8(name):  # no thread is called that
            raise UnknownRunError(name, self.ledger.name)
        found = await self.ledger.named(name)
        if not found:
            raise await self._unknown(name)
        if len(found) > 1:
            names = listed([run_name(run.thread, run.n) for run in found])
            raise InputError("run", f"{name} is the beginning of several runs: {names}; give more of the name")
        return found[0]

    async def latest(self, thread: str) -> RunKey:
        """Return the latest run of the thread of exactly that name.

        Raises:
            PrunedRunError: The thread was removed.
            UnknownRunError: The thread has no run.
        """
        found = await self.ledger.last_run(thread)
        if found is None:
            raise await self._unknown(thread)
        return found

    async def show(self, run: RunKey | str) -> Run:
        """Return a run, as the ledger has it; what is due for its open request is written first."""
        key = await self.find(run) if isinstance(run, str) else run
        return await self._read(key, (await self._opened(key))[1])

    async def shown(self, run: KnownRun) -> Run:
        """Return a run that was read already; what is due for its open request is written first, and applied to it."""
        await self._is_settled(run.key, run.record)
        return await self._read(run.key, run.record, run.plans)

    async def log(self, run: RunKey | str) -> Log:
        """Return a run with its events; what is due for its open request is written first."""
        key = await self.find(run) if isinstance(run, str) else run
        events, record = await self._opened(key)
        return Log(await self._read(key, record), events)

    async def _opened(self, key: RunKey) -> tuple[list[Event], RunState]:
        """Return a run's events, with those that were due, and its state."""
        events = await self.ledger.events(key)
        read, record = await known_state(events)
        # Nothing is written to a run with events of a newer release: their meaning is not known here.
        if len(read) == len(events) and await self._is_settled(key, record):
            events += await self.ledger.events(key, after=events[-1].seq)
        return events, record

    async def _is_settled(self, key: RunKey, record: RunState) -> bool:
        """Write what is due for a run if it can be written, and return whether something was."""
        try:
            return bool(await settle(self.ledger, key, record))
        except LedgerUnavailableError:
            return False

    async def value(self, name: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, inline or from an artifact.

        What was looked at before planning is named `look 1`, `look 2` and so on in the place of a step.

        Raises:
            InputError: The step has not succeeded, or the run has no answer.
        """
        record = await state_of(self.ledger, await self.find(name))
        look = record.calls.named_looks.get(step or "")
        found = look.result if look is not None else record.steps.results.get(step or "")
        result = _answer(record) if step is None else found or NO_RESULT
        if result.status != "succeeded":
            raise InputError("step" if step else "run", f"{step or record.id} has no value; it has not succeeded")
        # An answer made of results is not stored a second time; it is put together from them.
        if result.artifact is not None and result.artifact.get("of"):
            return await answer_from_results(self.ledger, record)
        return await value_of(self.ledger, result)

    async def page(self, wanted: RunFilter) -> RunPage:
        """Return a page of runs, the latest first."""
        return page_of(await self.ledger.page(one_more(wanted)), wanted)

    async def counters(self) -> Counters:
        """Return counts over all runs, and gauges of those that need a person."""
        from planner_executor.graph.runs.stopped import stopped_gauges, stopped_runs  # with the texts of lists

        found = await self.ledger.counters()
        return found._replace(gauges={**found.gauges, **stopped_gauges(await stopped_runs(self.ledger))})

    async def cancel(self, name: str, by: str | None = None) -> Run:
        """End a run: at once, or before its next call if a process executes it. An ended run is left unchanged.

        `by` is the person on record, as an `Approver` in text.
        """
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            # Only its owner may write its record; it reads the inbox before each call.
            await self.ledger.post(key, StopRequest(CANCEL, by).to_text())
            return await self.show(key)
        async with self.ledger.owned(key) as lease:
            record = await state_of(self.ledger, key)
            if not record.ended:
                await self.ledger.append(lease, [Draft(cancelled(by=by))], control_seq=record.control_seq)
        return await self.show(key)

    async def steer(self, name: str, steer: Amendment) -> bool:
        """Amend a run; it plans again before it continues.

        Returns:
            True if a process executes the run and reads the amendment before its next call; False if the amendment is
            in the ledger already.

        Raises:
            InputError: The run has ended, it lacks a constraint to withdraw, or the amendment is empty.
        """
        if fault := steer.fault:
            raise InputError("steer", fault)
        key = await self.find(name)
        await self._amendable(key, steer)
        if await self.ledger.is_worked_on(key):
            # Only its owner writes a run that is worked on, and reads the inbox before each call.
            await self.ledger.post(key, steer.to_text())
            return True
        async with self.ledger.owned(key) as lease:
            # Once more: another process may have ended or amended the run since.
            record = await self._amendable(key, steer)
            await self.ledger.append(
                lease, [steer.draft(record.assignment.constraints)], control_seq=record.control_seq
            )
        return False

    async def _amendable(self, key: RunKey, steer: Amendment) -> RunState:
        """Return the state of a run that can be amended so.

        Raises:
            InputError: The run has ended, or lacks a constraint to withdraw.
        """
        record = await state_of(self.ledger, key)
        if record.ended:
            raise InputError("run", f"{record.id} has ended; start another run")
        if missing := [one for one in steer.withdraw if one not in record.assignment.constraints]:
            raise InputError("withdraw", f"no constraint {missing[0]!r}; {there_are(record.assignment.constraints)}")
        return record

    async def pause(self, name: str, by: str | None = None) -> Run:
        """Ask the process that executes a run to stop before its next call; an idle run is left unchanged.

        `by` is the person on record, as an `Approver` in text.
        """
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, StopRequest(PAUSE, by).to_text())
        return await self.show(key)

    async def _unknown(self, name: str) -> UnknownRunError:
        """Return the error for a run that is not there."""
        removed = (await self.ledger.tombstones(name)).named(name)
        return PrunedRunError(name, removed.by, removed.at) if removed else UnknownRunError(name, self.ledger.name)

    async def _read(self, key: RunKey, record: RunState, plans: RecordedPlans | None = None) -> Run:
        is_worked_on = is_under_way(record) and await self.ledger.is_worked_on(key)
        return await done_aside(record.size, partial(run_of, record, is_worked_on, plans))


def _answer(record: RunState) -> StepResult:
    """Return a run's answer as a result; it is pending until the run ends."""
    if record.ended is None:
        return NO_RESULT
    return StepResult("succeeded", record.ended.answer.value, record.ended.answer.artifact)


@asynccontextmanager
async def open_runs(database: str | Path, key: SealKey | None = None) -> AsyncIterator[Runs]:
    """Open a database's ledger; runs are sealed with the environment's key by default.

    Raises:
        LedgerKeyError: The key that seals runs cannot be used.
        LedgerUnavailableError: On first use, if the file cannot be opened.
    """
    ledger = await run_sync(lambda: open_ledger(database, key or key_from_environment()))  # it imports a driver
    try:
        yield Runs(ledger)
    finally:
        await ledger.close()
