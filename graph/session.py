"""An open agent: checkpointer, ledger, tools and graph over one database, and the driving of runs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.errors import EmptyInputError
from langgraph.types import Command

from planner_executor.graph.builder.bounded_graph import BoundedGraph
from planner_executor.graph.builder.graph_builder import Graph, graph_with
from planner_executor.graph.builder.opening import AgentOptions, NotGiven, Opened, ProgressCallback, opened
from planner_executor.graph.caller import Caller, Receipt, check_setup, invoked_by
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.checkpoints.checkpoint import open_checkpointer
from planner_executor.graph.errors import (
    InputError,
    MissingToolsError,
    NothingToDecideError,
    RunPausedError,
    StaleRunError,
)
from planner_executor.graph.ledger.known_runs import KnownRun
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.nodes.run.review_clock import refuse_late
from planner_executor.graph.policy.terms import Comparison
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.run_key import RunKey, run_in
from planner_executor.graph.review.request_json import digest_of_request
from planner_executor.graph.route import Route, headed, named_in_state
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs, open_runs
from planner_executor.graph.runs.stored_responses import open_request, responder
from planner_executor.graph.runs.taking_over import require_terms, take_over
from planner_executor.graph.settings.identity import Adapter, named
from planner_executor.tools.extras import absent_tools

EXPECTED = "give approve, reject, feedback or a changed plan, or leave the decision out to look at the run"

INTERRUPT = "__interrupt__"
"""The key of LangGraph's updates that has what a node asks."""

MOST_DELIVERIES = 5
"""How often a decision is given to a request that others are answering; each time one of them was read instead."""


@dataclass(frozen=True)
class AgentSession:
    """The graph, runs and tool names of an open agent; drives runs of the graph."""

    graph: Graph
    runs: Runs
    tools: frozenset[str] | None = None
    identity: Adapter | None = None

    def acts(self, by: Person | None) -> Approver | None:
        """Return who acts, None to leave it to the node: the server's user, or that of the process.

        Raises:
            InputError: `by` is no `Person`.
        """
        return None if by is None else named(by, self.identity)

    def require_tools(self, run: Run) -> None:
        """Check that the tools of a run's remaining steps are available; skipped if the tool names are unknown.

        Raises:
            MissingToolsError: A tool is missing.
        """
        if self.tools is None or run.plan is None:
            return
        done = {step for step, result in run.results.items() if result.status == "succeeded"}
        left = [step for step in run.plan.steps if step.id not in done]
        missing = {name for step in left for name in step.tool_names} - self.tools
        if missing:
            raise MissingToolsError(run.id, sorted(missing), absent_tools())

    async def find(self, name: str) -> RunKey:
        """Return the key of a run, see `Runs.find`; one that a node has left is known by its id."""
        if isinstance(name, str) and isinstance(self.graph, BoundedGraph):
            named = run_in(name)
            if named is not None and self.graph.services.known_runs.kept(named) is not None:
                return named
        return await self.runs.find(name)

    async def compare_terms(self, run: Run) -> Comparison | None:
        """Return how the terms here differ from those of a run; None over a graph that was made otherwise.

        Raises:
            OtherTermsError: It was begun under other terms.
        """
        if not isinstance(self.graph, BoundedGraph):
            return None
        key = RunKey(run.thread, run.n)
        found = self.graph.services.known_runs.kept(key) or await state_of(self.runs.ledger, key)
        return await require_terms(self.runs, found.assignment, self.graph.services)

    async def take_over(self, run: Run, by: Person | None, setup: Mapping[str, Any] | None) -> None:
        """Put a run under the terms here, see `graph.runs.taking_over`.

        Raises:
            InputError: The graph was made otherwise, the run is executing, or others have to ask for the same.
        """
        if not isinstance(self.graph, BoundedGraph):
            raise InputError("take_over", "the graph was not made by build_graph, so that its terms are not known")
        check_setup(setup)
        await take_over(self.runs, run.id, self.graph.services, named(by, self.identity), setup)

    async def resume(
        self, run: Run, decision: Any, unseen: bool, on_progress: ProgressCallback | None, by: Person | None = None
    ) -> Run:
        """Resume a run, with a decision unless it is `NotGiven`; without one, only an interrupted run goes on.

        Return the run as it stops, with the reason as `refused` if whoever gave the decision may not decide.

        Raises:
            MissingToolsError: A tool of the remaining steps is missing.
            OtherTermsError: The run was begun under other terms.
            InputError: The decision is `{}`, or None although the run waits for one.
            NothingToDecideError: A decision was given, but the run does not wait for one.
        """
        # A run that has ended calls nothing more, so it needs no tools to be shown.
        if not run.ended:
            self.require_tools(run)
            await self.compare_terms(run)
        # LangGraph takes None for its own, so it would go on without a decision.
        if decision is None and run.request is not None:
            raise InputError("decision", f"None decides nothing, and {run.id} waits; {EXPECTED}")
        if decision is not None and decision is not NotGiven.DECISION:
            return await self._decide(run, decision, unseen, on_progress, self.acts(by))
        # A run that waits for a decision stays as it is: nothing but a decision moves it.
        if not run.ended and run.request is None:
            return await self.go_on(None, Caller.facade(run.thread, by=self.acts(by)), on_progress)
        return run

    async def _decide(
        self, run: Run, decision: Any, unseen: bool, on_progress: ProgressCallback | None, by: Approver | None
    ) -> Run:
        """Resume a run with a decision, see `resume`.

        Raises:
            InputError: The decision is `{}`.
            NothingToDecideError: The run does not wait for a decision, or another decision came first.
            StaleRunError: Something else is asked by now.
        """
        if decision == {}:
            raise InputError("decision", "an empty decision is not valid; send approve, reject, or a changed plan")
        if run.request is None and await self._is_asked(run):
            # The process died before the request reached the checkpoint, or somebody responded who may not decide;
            # running the graph raises it again.
            run = await self.go_on(None, Caller.facade(run.thread), None)
        if run.request is None:
            key, author = RunKey(run.thread, run.n), by or named(None, self.identity)
            late = await refuse_late(self.runs.ledger, key, decision, author, unseen=unseen)
            raise NothingToDecideError(run.id, run.status, late or await self._decided_first(run))
        caller = Caller.facade(run.thread, unseen=unseen, by=by)
        for _ in range(MOST_DELIVERIES):
            receipt = Receipt()
            now = await self.go_on(Command(resume=decision), replace(caller, receipt=receipt), on_progress)
            if receipt.is_read:
                return replace(now, refused=receipt.refusal)
            if now.request is None:
                raise NothingToDecideError(run.id, now.status, await self._decided_first(now))
            # The same request again means that another answer was read in the place of this one: give it once more.
            if digest_of_request(now.request) != digest_of_request(run.request):
                break
        raise StaleRunError(self.runs.ledger.name, run.id)

    async def _is_asked(self, run: Run) -> bool:
        """Whether a run waits by its record, with no response that counts."""
        record = await state_of(self.runs.ledger, RunKey(run.thread, run.n))
        return await open_request(self.runs.ledger, record) is not None

    async def _decided_first(self, run: Run) -> str:
        """Return who decided the last request of a run, and its outcome; empty if nobody did."""
        who = responder(await state_of(self.runs.ledger, RunKey(run.thread, run.n)))
        outcome = f"; it has ended: {run.status}" if run.ended else "; look at it again"
        return f"{who}{outcome}" if who else ""

    async def tell_end(self, run: Run) -> None:
        """Have the thread of a run that was ended from outside tell so, in place of what it waited for or was doing.

        A node that its process died in reads the end in the record first, and does nothing else.
        """
        latest = await self.latest(run.thread)
        config: Any = {"configurable": {"thread_id": run.thread}}
        state = await self.graph.aget_state(config)
        is_refused = bool(state.values.get("operation"))  # input that the planner refused stays where it was given
        if latest.id == run.id and (state.interrupts or (state.next and not is_refused)):
            await self.drive(None, Caller.facade(run.thread), None)

    async def propose(self, run: Run, plan: Any, on_progress: ProgressCallback | None, by: Person | None = None) -> Run:
        """Put a plan into the state of a run for the review to ask about.

        The state says anew what it has seen of the run: the process may have died after an event and before its
        checkpoint, and a state that is older than a decision begins another run.
        """
        state = {**await self._as_on_record(run.thread, "review"), "plan": plan}
        await self.graph.aupdate_state({"configurable": {"thread_id": run.thread}}, state, as_node="planner")
        return await self.go_on(None, Caller.facade(run.thread, by=self.acts(by)), on_progress)

    async def go_on(self, given: Any, caller: Caller, on_progress: ProgressCallback | None) -> Run:
        """Run the graph with an input until it stops, and return the thread's latest run as it is then."""
        return await self.latest(caller.thread, await self.drive(given, caller, on_progress))

    async def drive(
        self, given: Any, caller: Caller, on_progress: ProgressCallback | None
    ) -> Sequence[Mapping[str, Any]] | None:
        """Run the graph with an input until it stops; None resumes. Return what it asks, None if it was paused."""
        config: Any = {"configurable": {"thread_id": caller.thread}}
        with suppress(RunPausedError), invoked_by(caller):
            try:
                return await self._stream(given, config, on_progress)
            except EmptyInputError:
                await self._restore(caller.thread, config)
                return await self._stream(given, config, on_progress)
        return None

    async def _stream(
        self, given: Any, config: Any, on_progress: ProgressCallback | None
    ) -> Sequence[Mapping[str, Any]]:
        asked: list[Mapping[str, Any]] = []
        # Without progress a node runs in no task of its own, beside one that waits for what it streams.
        modes: Any = ["updates"] if on_progress is None else ["updates", "custom"]
        async for mode, change in self.graph.astream(given, config, stream_mode=modes, durability="sync"):
            if mode == "updates":
                asked += [pending.value for pending in change.get(INTERRUPT, ())]
            elif on_progress is not None:
                on_progress(change)
        return asked

    async def _restore(self, thread: str, config: Any) -> None:
        """Rebuild the state of a thread without checkpoints from the ledger (decision record 0011)."""
        state = {**await self._as_on_record(thread, "plan"), "messages": [HumanMessage("resume")]}
        await self.graph.aupdate_state(config, state, as_node="review")

    async def _as_on_record(self, thread: str, route: Route) -> dict[str, Any]:
        """Return the part of a state with which the thread's latest run continues from its record, on this route."""
        key = await self.runs.latest(thread)
        seen = (await self.runs.ledger.events(key))[-1].seq
        return {"run": named_in_state(key, seen), **headed(route)}

    async def latest(self, thread: str, asked: Sequence[Mapping[str, Any]] | None = None) -> Run:
        """Return the thread's latest run with its open review request: as a node left it, `asked`, or the state's."""
        async with self._lent(thread) as known:
            run = await self.runs.shown(known) if known is not None else None
            if known is not None and known.asks:
                # A copy: the caller may change what it gets, and the node keeps its own.
                asked = [deepcopy(pending.value) for pending in known.asks[0]]
        run = run or await self.runs.show(await self.runs.latest(thread))
        if run.status != "waiting":
            return run
        if asked is None:
            state = await self.graph.aget_state({"configurable": {"thread_id": thread}})
            asked = [pending.value for pending in state.interrupts]
        return run.with_request(asked[0]) if asked else run

    def _lent(self, thread: str) -> AbstractAsyncContextManager[KnownRun | None]:
        """Lend the thread's latest run as the nodes of this graph left it (decision 176)."""
        if not isinstance(self.graph, BoundedGraph):
            return nullcontext()
        return self.graph.services.known_runs.lent(self.runs.ledger, thread)


@asynccontextmanager
async def session_of(opened: Opened, runs: Runs) -> AsyncIterator[AgentSession]:
    """Build the graph of an agent over its runs."""
    kept = nullcontext(opened.checkpointer) if opened.checkpointer else open_checkpointer(opened.database)
    async with kept as saver:
        graph = await run_sync(lambda: graph_with(opened.options, saver, runs.ledger))
        try:
            yield AgentSession(graph, runs, opened.tools, opened.options.equipment.identity)
        finally:
            if graph.services.notifier is not None:
                await graph.services.notifier.aclose()


@asynccontextmanager
async def open_session(database: str | Path, options: AgentOptions) -> AsyncIterator[AgentSession]:
    """Open a database and build the graph over it."""
    async with (
        opened(database, options) as found,
        open_runs(database, found.key) as runs,
        session_of(found, runs) as session,
    ):
        yield session
