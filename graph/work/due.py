"""What is due for a clock: open requests of runs, and moments of schedules; every worker looks, one takes it."""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.errors import AgentError, InputError, LedgerUnavailableError, StaleRunError
from planner_executor.graph.nodes.run.review_clock import sentence_of, settle
from planner_executor.graph.playbooks.folder import folder_of, named
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.playbooks.schedule import Schedule
from planner_executor.graph.playbooks.starting import plan_here
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.record.moment import Moment
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.playbooks import named_in
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.session import AgentSession
from planner_executor.graph.settings.settings_file import SettingsFile
from planner_executor.graph.work.next_moment import first_moment, moment_after, move_at

PAGE = 50
THREAD_BYTES = 8
SAID = {
    "missed": "was missed, and is skipped",
    "overlaps": "is skipped: the run before it has not ended",
    "waits": "waits: the run before it has not ended",
}
Begin = Callable[[Playbook, Schedule, str], Awaitable[None]]
"""Begins a run of a playbook on a thread, asked for by a schedule, and leaves it to workers."""


async def look_after_reviews(runs: Runs) -> Sequence[str]:
    """Remind of open requests, escalate them, and close those that nobody decided in time."""
    done: list[str] = []
    left = 0  # rows that could not be settled now stay due: the next page begins after them
    while due := await runs.ledger.due(PAGE, left):
        for run in due:
            sentences = await _settled(runs, run)
            done += sentences
            left += not sentences
    return done


async def _settled(runs: Runs, run: RunKey) -> list[str]:
    """Write what is due for a run, and return a sentence for each event; none if the run cannot be written now."""
    try:
        written = await settle(runs.ledger, run)
    except LedgerUnavailableError:
        raise
    except AgentError:  # a damaged record must not stop the others; `doctor` and `verify` report it
        return []
    return [sentence for data in written if (sentence := sentence_of(run, data)) is not None]


@dataclass(frozen=True)
class DueWork:
    """The work of a chore: requests that are due, and schedules; a playbook is read anew for each moment."""

    settings: SettingsFile
    schedules: tuple[Schedule, ...] = ()
    begin: Begin | None = None
    new_thread: Callable[[], str] = lambda: secrets.token_hex(THREAD_BYTES)

    async def __call__(self, runs: Runs) -> Sequence[str]:
        """Do what is due, and return a sentence for each change."""
        done = [*await look_after_reviews(runs)]
        if self.begin is None or not self.schedules:
            return done
        # One clock for all processes, that of the ledger: a schedule has to start once.
        known, now = {one.schedule: one for one in await runs.ledger.timetable.moments()}, await runs.ledger.now()
        for schedule in self.schedules:
            # A schedule that is new begins from now on: moments before it was written are not made up for.
            if (moment := known.get(schedule.name)) is None:
                await runs.ledger.timetable.replace(None, first_moment(schedule, now, self.new_thread()))
            else:
                done += await self._moved(runs, schedule, moment, now)
        return done

    async def _moved(self, runs: Runs, schedule: Schedule, moment: Moment, now: float) -> list[str]:
        """Do what is due for a schedule, if no other worker does; return what there is to say."""
        is_begun = await runs.ledger.last_run(moment.thread) is not None
        is_running = moment.last is not None and await _is_running(runs, moment.last)
        move, after = move_at(
            moment, schedule, now, is_begun=is_begun, is_running=is_running, new_thread=self.new_thread
        )
        # The table is changed before the run begins: of several workers only one succeeds, and the others go away.
        if move == "rest" or not await runs.ledger.timetable.replace(moment, after):
            return []
        what = f"{schedule.name} of {moment_in_words(moment.due_at)}"
        if move != "start":
            return [f"{what} {SAID[move]}"] if move in SAID else []
        try:
            await self._begin(schedule, moment.thread)
        except StaleRunError:  # another worker has begun it
            return []
        except LedgerUnavailableError:
            raise
        except AgentError as error:
            # What has not begun would not begin in a minute either: the schedule goes on with its next moment.
            if await runs.ledger.last_run(moment.thread) is None:
                await runs.ledger.timetable.replace(after, moment_after(after, schedule, now, self.new_thread()))
            return [f"{what} could not start: {error}"]
        return [f"{what} has started run {RunKey(moment.thread, 1).id}"]

    async def _begin(self, schedule: Schedule, thread: str) -> None:
        folder = folder_of(self.settings)
        if folder is None or self.begin is None:
            raise InputError("playbooks", 'the settings name no folder of playbooks; write playbooks = "playbooks"')
        await self.begin(named(schedule.playbook, folder), schedule, thread)


async def _is_running(runs: Runs, thread: str) -> bool:
    """Whether the latest run of a thread has not ended: one that waits, or has an uncertain call, has not."""
    latest = await runs.ledger.last_run(thread)
    return latest is not None and any(one.ended_at is None for one in await runs.ledger.summaries([latest]))


async def begin(session: AgentSession, playbook: Playbook, schedule: Schedule, thread: str) -> None:
    """Begin a run, and stop before its review as if the process had ended there: a worker goes on with it.

    Raises:
        InputError: Its tools are others than those that it was kept with, or a value does not fit.
        StaleRunError: Another process has begun it.
    """
    plan = plan_here(playbook, schedule.params, session.graph.services.toolbox.specs)
    given = {"goal": playbook.goal(schedule.params), "tags": [playbook.name], "plan": plan}
    config: Any = {"configurable": {"thread_id": thread}}
    by = Approver(schedule.name, "schedule")
    with invoked_by(Caller.facade(thread, by=by, playbook=await named_in(session.runs, playbook))):
        async for _ in session.graph.astream(given, config, interrupt_before=["review"], durability="sync"):
            pass
