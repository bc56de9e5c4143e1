"""Runs as the ledger tells them: to list, look at and cancel them no model, no tool and no graph is needed."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from graph.errors import UnknownRunError
from graph.ledger.protocol import Ledger, RunKey
from graph.ledger.sqlite import SqliteLedger
from graph.plan.render import plan_svg, plan_text
from graph.plan.schema import Plan
from graph.run.events import CANCELLED, Draft, Event, event_line
from graph.run.record import RunRecord, read_record, run_name
from graph.run.results import StepResult
from graph.run.timeline import timeline_svg

END_STATUSES = ("succeeded", "partial", "failed", "rejected", "budget_exhausted", "cancelled")


@dataclass(frozen=True)
class Run:
    """A run as it stood when it was looked at.

    `request` is the open review request where the run waits for a decision and the graph was asked, `results` has an
    entry for each step that has begun. Times are Unix seconds.
    """

    id: str
    thread: str
    n: int
    goal: str
    constraints: tuple[str, ...]
    status: str
    reason: str | None
    answer: JsonValue
    plan: Plan | None
    revision: int
    results: Mapping[str, StepResult]
    setup: Mapping[str, Any]
    started_at: float
    updated_at: float
    request: Mapping[str, Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether the run has come to its end."""
        return self.status in END_STATUSES

    @property
    def step_status(self) -> dict[str, str]:
        """Step id -> status, for every step of the plan."""
        steps = self.plan.steps if self.plan else ()
        return {step.id: self.results[step.id].status if step.id in self.results else "pending" for step in steps}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Draw the run in a notebook: its plan with the status of each step."""
        head = f"run {self.id}: {self.status}" + (f" ({self.reason})" if self.reason else "")
        if self.plan is None:
            return {"text/plain": head}
        text = f"{head}\n\n{plan_text(self.plan, self.step_status)}"
        return {"image/svg+xml": plan_svg(self.plan, self.step_status), "text/plain": text}

    def with_request(self, request: Mapping[str, Any]) -> "Run":
        """Return the run with its open review request."""
        return replace(self, request=request)


@dataclass(frozen=True)
class Log:
    """What the ledger says of a run, event by event."""

    run: Run
    events: Sequence[Event]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Draw when each step ran; the text is one line per event."""
        steps = [step.id for step in self.run.plan.steps] if self.run.plan else []
        text = "\n".join(event_line(event) for event in self.events)
        return {"image/svg+xml": timeline_svg(steps, self.run.results), "text/plain": text}


@dataclass(frozen=True)
class Runs:
    """The runs of one ledger."""

    ledger: Ledger

    async def find(self, name: str) -> RunKey:
        """Return the run of that id, or the latest run of that thread.

        Raises:
            UnknownRunError: There is neither.
        """
        runs = await self.ledger.runs()
        by_id = (run for run in runs if run_name(run.thread, run.n) == name)
        found = next(by_id, None) or next((run for run in runs if run.thread == name), None)
        if found is None:
            raise UnknownRunError(name, self.ledger.name)
        return found

    async def show(self, run: RunKey | str) -> Run:
        """Return a run as the ledger has it."""
        key = await self.find(run) if isinstance(run, str) else run
        return await self._tell(key, await self.ledger.events(key))

    async def log(self, name: str) -> Log:
        """Return a run's events, in order."""
        key = await self.find(name)
        events = await self.ledger.events(key)
        return Log(await self._tell(key, events), events)

    async def list(self) -> "list[Run]":
        """Return all runs, the latest first."""
        return [await self.show(key) for key in await self.ledger.runs()]

    async def cancel(self, name: str) -> Run:
        """End a run: at once, or before its next call where somebody works on it. One that has ended stays so."""
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, "cancel")
            return await self.show(key)
        async with self.ledger.owned(key) as lease:
            record = read_record(await self.ledger.events(key))
            if not record.ended:
                ended = Draft("run_ended", CANCELLED, safe=False)
                await self.ledger.append(lease, [ended], control_seq=record.control_seq)
        return await self.show(key)

    async def pause(self, name: str) -> Run:
        """Ask whoever works on a run to stop before its next call; a run that nobody works on stays as it is."""
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, "pause")
        return await self.show(key)

    async def _tell(self, key: RunKey, events: Sequence[Event]) -> Run:
        return _told(read_record(events), await self.ledger.is_worked_on(key))


def _told(record: RunRecord, worked_on: bool) -> Run:
    ended = record.ended or {}
    answer = {"artifact": ended["artifact"]} if "artifact" in ended else ended.get("value")
    return Run(
        id=record.id,
        thread=record.thread,
        n=record.n,
        goal=record.goal,
        constraints=record.constraints,
        status="paused" if record.status in ("running", "planning") and not worked_on else record.status,
        reason=ended.get("reason"),
        answer=answer,
        plan=Plan.model_validate(record.plan) if record.plan is not None else None,
        revision=record.revision,
        results={**record.results, **_unfinished(record, worked_on)},
        setup=record.setup,
        started_at=record.started_at,
        updated_at=record.updated_at,
    )


def _unfinished(record: RunRecord, worked_on: bool) -> dict[str, StepResult]:
    """Return steps whose own call was begun and has no outcome: under way, or cut short."""
    begun = [call for call in record.calls.values() if call.result is None and call.number == 0 and not record.ended]
    cut = {call.step: "interrupted" if call.repeatable else "uncertain" for call in begun}
    return {step: StepResult("running" if worked_on else word) for step, word in cut.items()}  # type: ignore[arg-type]


@asynccontextmanager
async def open_runs(database: str | Path) -> AsyncIterator[Runs]:
    """Open a database's ledger.

    Raises:
        LedgerUnavailableError: On first use, where the file cannot be opened.
    """
    ledger = SqliteLedger(database)
    try:
        yield Runs(ledger)
    finally:
        await ledger.close()
