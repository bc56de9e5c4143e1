"""The part of the asynchronous facade that reads and redacts runs on record, without their graph."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.approvals import revoke, standing_approvals
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.chat_models.settings import ModelSpec
from planner_executor.graph.inbox import Inbox, inbox
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.verification import Verification
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.record_service import audited, exported, redacted, verified, verified_file
from planner_executor.graph.replay.opening import replayed_file, replayed_run
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.runs import Log, Run, RunPage, Runs
from planner_executor.graph.step_changes import skip_step, supply_result
from planner_executor.graph.text.audit import Audit
from planner_executor.graph.text.event_text import Section


class AgentRecords(ABC):
    """Runs on record: lists, events, values, audits, verification, export, replay and redaction."""

    @abstractmethod
    async def _all_runs(self) -> Runs: ...

    @abstractmethod
    async def _actor(self, by: Person | None) -> Approver:
        """Return who acts."""

    async def list(self, **wanted: Any) -> RunPage:
        """Return a page of runs, the latest first.

        Args:
            wanted: Fields of `graph.record.run_filter.RunFilter`: `status="waiting"`, `tag="nightly"`, `since=` (Unix
                seconds), `text="wind"`, `limit=50`, and for the next page `before=page.next`.

        Raises:
            InputError: The limit is less than 1.
        """
        return await (await self._all_runs()).list(**wanted)

    async def inbox(self, for_: Person | None = None, *, limit: int = 50, after: str | None = None) -> Inbox:
        """Return the requests that wait for people, the longest wait first.

        Args:
            for_: Only those that this person may decide, by the rules of the policy, and has not approved yet. A person
                whom the adapter of the settings does not verify may decide nothing that has a rule. Default: all.
            limit: How many, at most.
            after: For the next page: `page.next`.

        Raises:
            InputError: `limit` is less than 1, or `after` is no place in the inbox.
        """
        person = await self._actor(for_) if for_ is not None else None
        return await inbox(await self._all_runs(), person, limit=limit, after=after)

    async def log(self, run: str) -> Log:
        """Return a run's ledger, event by event."""
        return await (await self._all_runs()).log(run)

    async def value(self, run: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, however large.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such value.
        """
        return await (await self._all_runs()).value(run, step)

    async def audit(self, run: str, *only: Section) -> Audit:
        """Return a readable report of a run, also available as data; all sections, or only those named.

        Args:
            run: Its id, or its thread.
            only: Some of `plans`, `steps`, `decisions`, `policy`, `budget`.
        """
        return await audited(await self._all_runs(), run, *only)

    async def verify(self, run: str | Path, *, head: str | None = None, key: SealKey | None = None) -> Verification:
        """Recompute the chain of a run and report whether its record is intact.

        Args:
            run: Its id, its thread, or the path of an exported file.
            head: An earlier noted hash of one of its events, which the record must still contain.
            key: The key that must have sealed it; by default the key from the environment.
        """
        if isinstance(run, Path):
            return await run_sync(lambda: verified_file(run, head, key))
        return await verified(await self._all_runs(), run, head, key)

    async def export(self, run: str, file: str | Path) -> Verification:
        """Write a run's whole record to a new file, which `verify` and `replay` take without the database."""
        return await exported(await self._all_runs(), run, Path(file))

    async def replay(self, run: str | Path, *, planner: ModelSpec | None = None) -> Replay:
        """Replay a run from its record alone and return the first divergence; no recorded model or tool is called.

        Args:
            run: Its id, its thread, or the `Path` of an exported file.
            planner: A model to plan in place of the recorded one.

        Raises:
            LedgerCorruptError: The record is damaged.
            InputError: The record's version is not supported.
            ConfigError: The planner is invalid.
        """
        if isinstance(run, Path):
            return await replayed_file(run, planner)
        return await replayed_run(await self._all_runs(), run, planner)

    async def redact(self, run: str, value: str, *, reason: str, by: Person | str | None = None) -> Redacted:
        """Remove a value from all data of a run's thread, so that its bytes are nowhere in the file.

        The chain still verifies: the events keep their digests, and a `redacted` event lists the changed events, the
        author and the reason.

        Args:
            run: Its id, or its thread. No run of the thread may be executing.
            value: A text of at least four characters, removed also from longer texts.
            reason: The reason, for the record.
            by: The person who asked for it, or only their name; see `start`. Default: the user of this process.

        Raises:
            InputError: The record cannot be read without the value.
            RunOwnedError: A run of the thread is executing.
        """
        actor = await self._actor(Person(by) if isinstance(by, str) else by)
        return await redacted(await self._all_runs(), run, value, reason, str(actor))

    async def skip(self, run: str, step: str, why: str = "", *, by: Person | None = None) -> Run:
        """Leave a step of a waiting or paused run out, and with it the steps that need it; then `resume` the run.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            why: The reason, for the record.
            by: The person who says so, see `start`.

        Raises:
            InputError: The step is unknown, or has succeeded; or the run has ended or is executing.
        """
        return await skip_step(await self._all_runs(), run, step, why, await self._actor(by))

    async def approvals(self, run: str | None = None) -> Sequence[StandingUse]:
        """Return the standing approvals that hold in any run, and those of one run, or of all that have not ended.

        Raises:
            UnknownRunError: There is no such run.
            LedgerCorruptError: A record was changed; those of a single run can be read by its name.
        """
        found = await standing_approvals(await self._all_runs(), run)
        if found.unread:
            raise found.unread[0].error
        return found.uses

    async def revoke(self, approval: str, *, by: Person | None = None) -> bool:
        """End a standing approval: no further call starts on it; see `graph.approvals.revoke`.

        Args:
            approval: Its id.
            by: The person who revokes it, see `start`.

        Raises:
            InputError: There is none of that id, or it was revoked before.
        """
        return await revoke(await self._all_runs(), approval, str(await self._actor(by)))

    async def supply(self, run: str, step: str, value: JsonValue, *, by: Person | None = None) -> Run:
        """Give the result of a step of a waiting or paused run; it is checked as the step's own, when you `resume` it.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            value: The result.
            by: The person who gives it, see `start`.

        Raises:
            InputError: The step is unknown, has succeeded or is a gate, or its `output` refuses the value; the policy
                has others decide; or the run has ended or is executing.
        """
        return await supply_result(await self._all_runs(), run, step, value, await self._actor(by))
