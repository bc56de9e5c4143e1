"""Runs read from the ledger: listing, viewing and cancelling need no model, tool or graph."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from pydantic import JsonValue

from graph.errors import InputError, NothingToDecideError, UnknownRunError, listed
from graph.ledger.opening import open_ledger
from graph.ledger.protocol import RunKey
from graph.ledger.run_store import RunStore
from graph.ledger.seal import key_from_environment
from graph.ledger.values import answer_from_results, value_of
from graph.plan.schedule import blocked_by
from graph.plan.schema import Plan
from graph.record.amendment import Amendment
from graph.record.counters import Counters
from graph.record.events import BY_FACADE, Draft, Event, cancelled
from graph.record.projection import known, project
from graph.record.remaining import skipped_in
from graph.record.results import StepResult
from graph.record.run_filter import RunFilter
from graph.record.run_state import RunState, run_name
from graph.record.summary import RunSummary
from graph.review.response import ReviewResponse, build_response
from graph.text.drawing.labels import waits_within
from graph.text.event_text import event_line
from graph.text.html import scrolled
from graph.text.revisions import Revisions, revisions_in
from graph.text.run_view import RunView, runs_bundle
from graph.text.timeline import timeline_svg

NO_RESULT = StepResult("pending")
END_STATUSES = ("succeeded", "partial", "failed", "rejected", "budget_exhausted", "cancelled")


@dataclass(frozen=True)
class Run:
    """A run as it stood when it was looked at.

    `request` is the open review request if the run waits for a decision and the graph was asked, `results` has an
    entry for each step that has begun. Times are Unix seconds. `setup` is what the facade said that the run needs to
    be resumed elsewhere; `unproven_setup` stands in an older record, and a client may have written it.
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
    unproven_setup: Mapping[str, Any]
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
        waits = waits_within(self.plan) if self.plan else {}
        known = {step: self.results[step].status if step in self.results else "pending" for step in waits}
        blocked = blocked_by(waits, [step for step, status in known.items() if status == "failed"])
        blocked_status = {step: "blocked" for step in blocked if known[step] == "pending"}
        skipped = skipped_in(self.plan, self.results) if self.plan else {}
        return {**known, **blocked_status, **dict.fromkeys(skipped, "skipped")}

    def decide(self, **said: Any) -> dict[str, Any]:
        """Return the answer to the open review request, about what it shows, for `resume`.

        Args:
            said: Fields of `graph.review.response.ReviewResponse`: `approve=True`, `answers={"step_2": "Oslo"}`,
                `happened=[True]`, `limits={"tool_calls": 40}`, `feedback="..."`, ...

        Raises:
            NothingToDecideError: The run does not wait for a decision.
            InputError: Something that is asked has no answer, or an answer is about nothing that is asked.
        """
        if self.request is None:
            raise NothingToDecideError(self.id, self.status)
        return build_response(self.request, ReviewResponse(**said))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show the run in a notebook: goal, status, answer and errors, and its plan with the status of each step."""
        view = RunView(
            name=self.id,
            goal=self.goal,
            constraints=self.constraints,
            status=self.status,
            reason=self.reason,
            answer=self.answer,
            plan=self.plan,
            statuses=self.step_status,
            results=self.results,
        )
        return view.bundle()

    def with_request(self, request: Mapping[str, Any]) -> "Run":
        """Return the run with its open review request."""
        return replace(self, request=request)


@dataclass(frozen=True)
class Log:
    """The events of a run, in the ledger's order."""

    run: Run
    events: Sequence[Event]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def revisions(self) -> Revisions:
        """The revisions of the plan, with their differences."""
        return revisions_in(self.events)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Draw when each step ran; the text is one line per event."""
        text = "\n".join(event_line(event) for event in self.events)
        svg = timeline_svg(self.run.step_status, self.run.results)
        return {"text/html": scrolled(svg), "image/svg+xml": svg, "text/plain": text}


@dataclass(frozen=True)
class RunPage(Sequence[RunSummary]):
    """Some runs, the latest first; `next` is the value of `before` for the next page, None after the last."""

    runs: tuple[RunSummary, ...]
    next: str | None = None

    @overload
    def __getitem__(self, place: int) -> RunSummary: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RunSummary]: ...
    def __getitem__(self, place: int | slice) -> RunSummary | Sequence[RunSummary]:
        return self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show a row for each run."""
        return runs_bundle(self.runs, self.next)


@dataclass(frozen=True)
class Runs:
    """The runs of one ledger."""

    ledger: RunStore

    async def find(self, name: str) -> RunKey:
        """Return the run of that id, or the latest run of that thread, or of the only thread whose name begins so.

        Raises:
            UnknownRunError: There is none.
            InputError: Several threads begin so.
        """
        found = await self.ledger.named(name)
        if not found:
            raise UnknownRunError(name, self.ledger.name)
        if len(found) > 1:
            names = listed([run_name(run.thread, run.n) for run in found])
            raise InputError("run", f"{name} is the beginning of several runs: {names}; give more of the name")
        return found[0]

    async def latest(self, thread: str) -> RunKey:
        """Return the latest run of just that thread.

        Raises:
            UnknownRunError: There is none.
        """
        found = await self.ledger.last_run(thread)
        if found is None:
            raise UnknownRunError(thread, self.ledger.name)
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

    async def value(self, name: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, wherever it is kept.

        Raises:
            InputError: There is no such value.
        """
        key = await self.find(name)
        record = project(await self.ledger.events(key))
        result = _answer(record) if step is None else record.steps.results.get(step, NO_RESULT)
        if result.status != "succeeded":
            raise InputError("step" if step else "run", f"{step or record.id} has come to no value")
        if result.artifact is not None and result.artifact.get("of"):
            return await answer_from_results(self.ledger, record)
        return await value_of(self.ledger, result)

    async def list(self, **wanted: Any) -> RunPage:
        """Return a page of runs, the latest first, from the index; see `graph.record.run_filter.RunFilter`.

        Raises:
            InputError: The limit is less than 1.
        """
        asked = RunFilter(**wanted)
        if asked.limit < 1:
            raise InputError("limit", f"limit must be an integer >= 1, got {asked.limit}")
        found = await self.ledger.page(replace(asked, limit=asked.limit + 1))
        more = len(found) > asked.limit
        runs = tuple(found[: asked.limit])
        return RunPage(runs, runs[-1].id if more else None)

    async def counters(self) -> Counters:
        """Return counts over all runs."""
        return await self.ledger.counters()

    async def cancel(self, name: str) -> Run:
        """End a run: at once, or before its next call if a process executes it. An ended run is left unchanged."""
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, "cancel")
            return await self.show(key)
        async with self.ledger.owned(key) as lease:
            record = project(await self.ledger.events(key))
            if not record.ended:
                await self.ledger.append(lease, [Draft(cancelled())], control_seq=record.control_seq)
        return await self.show(key)

    async def steer(self, name: str, steer: Amendment) -> bool:
        """Change the constraints or the goal of a run; it plans again before it continues.

        Returns:
            Whether somebody works on it, who reads it before the next call; else it stands in the ledger.

        Raises:
            InputError: It has ended, does not have a constraint that is to be withdrawn, or nothing is said.
        """
        if fault := steer.fault:
            raise InputError("steer", fault)
        key = await self.find(name)
        record = project(await self.ledger.events(key))
        if record.ended:
            raise InputError("run", f"{record.id} has ended; start another run")
        if missing := [one for one in steer.withdraw if one not in record.assignment.constraints]:
            raise InputError(
                "withdraw", f"no constraint {missing[0]!r}; there are {listed(record.assignment.constraints)}"
            )
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, steer.to_text())
            return True
        async with self.ledger.owned(key) as lease:
            record = project(await self.ledger.events(key))
            await self.ledger.append(
                lease, [steer.draft(record.assignment.constraints)], control_seq=record.control_seq
            )
        return False

    async def pause(self, name: str) -> Run:
        """Ask the process that executes a run to stop before its next call; an idle run is left unchanged."""
        key = await self.find(name)
        if await self.ledger.is_worked_on(key):
            await self.ledger.post(key, "pause")
        return await self.show(key)

    async def _tell(self, key: RunKey, events: Sequence[Event]) -> Run:
        return _told(project(known(events)), await self.ledger.is_worked_on(key))


def _answer(record: RunState) -> StepResult:
    """Return a run's answer, if it has ended, as a result."""
    if record.ended is None:
        return NO_RESULT
    return StepResult("succeeded", record.ended.answer.value, record.ended.answer.artifact)


def _told(record: RunState, worked_on: bool) -> Run:
    ended = record.ended
    return Run(
        id=record.id,
        thread=record.assignment.thread,
        n=record.assignment.n,
        goal=record.assignment.goal,
        constraints=record.assignment.constraints,
        status="paused" if record.status in ("running", "planning") and not worked_on else record.status,
        reason=ended.reason if ended is not None else None,
        answer=ended.answer.shown if ended is not None else None,
        plan=Plan.model_validate(record.plan_state.plan) if record.plan_state.plan is not None else None,
        revision=record.plan_state.revision,
        results={**record.steps.results, **_unfinished(record, worked_on), **_uncertain(record)},
        setup=record.assignment.setup if record.assignment.setup_by == BY_FACADE else {},
        unproven_setup=record.assignment.setup if record.assignment.setup_by != BY_FACADE else {},
        started_at=record.started_at,
        updated_at=record.updated_at,
    )


def _unfinished(record: RunState, worked_on: bool) -> dict[str, StepResult]:
    """Return steps that were begun and came to no end: under way, or cut short, with a call that may have happened."""
    cut = dict.fromkeys(record.spending.begun - set(record.steps.results), "interrupted")
    open_calls = [call for call in record.calls.by_key.values() if call.result is None and not call.nothing_happened]
    for call in sorted(open_calls, key=lambda call: call.is_uncertain):
        cut[call.step] = "uncertain" if call.is_uncertain else "interrupted"
    return {step: StepResult("running" if worked_on else word) for step, word in cut.items()}  # type: ignore[arg-type]


def _uncertain(record: RunState) -> dict[str, StepResult]:
    """Return steps that wait for a person to confirm or deny a call."""
    return dict.fromkeys(record.uncertain_calls, StepResult("uncertain"))


@asynccontextmanager
async def open_runs(database: str | Path) -> AsyncIterator[Runs]:
    """Open a database's ledger.

    Raises:
        LedgerKeyError: The key that seals runs cannot be used.
        LedgerUnavailableError: On first use, if the file cannot be opened.
    """
    ledger = open_ledger(database, key_from_environment())
    try:
        yield Runs(ledger)
    finally:
        await ledger.close()
