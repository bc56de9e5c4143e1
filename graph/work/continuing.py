"""Continuing a run: one way for each place of its checkpoints (decision 65)."""

from dataclasses import dataclass
from typing import Protocol

from planner_executor.graph.builder.bounded_graph import BoundedGraph
from planner_executor.graph.caller import Caller
from planner_executor.graph.errors import InputError, OtherTermsError
from planner_executor.graph.nodes.run.terms import compared
from planner_executor.graph.record.hand_over import hand_over
from planner_executor.graph.session import AgentSession
from planner_executor.graph.work.candidate import Candidate


@dataclass(frozen=True)
class Fit:
    """What is missing to continue a run under its terms, empty if nothing is; and how the terms here differ."""

    lacks: str = ""
    sentence: str = ""


class Continuing(Protocol):
    """Continues runs. It decides nothing: a run that asks a person waits."""

    async def fit(self, run: Candidate) -> Fit:
        """Return whether a run can be continued under its terms."""

    async def go_on(self, run: Candidate) -> None:
        """Continue a run until it ends, waits or is paused.

        Raises:
            OtherTermsError: It was begun under other terms, which only the place that continues it knows.
            AgentError: It cannot go on now.
        """

    async def let_go(self, run: Candidate) -> bool:
        """Ask a run to stop before its next call, so that others continue it; return whether to wait until it has.

        It may be called again until the run has stopped.
        """


@dataclass(frozen=True)
class BySession:
    """Continues runs in this process with one open agent, under their terms and its own."""

    session: AgentSession

    async def fit(self, run: Candidate) -> Fit:
        """See `Continuing`."""
        graph = self.session.graph
        if not isinstance(graph, BoundedGraph):
            return Fit("the graph was not made by build_graph")
        found = await compared(graph.services, self.session.runs.ledger, run.record.assignment)
        return Fit(OtherTermsError(run.key.id, found.other).sentence if found.other else "", found.sentence)

    async def go_on(self, run: Candidate) -> None:
        """See `Continuing`."""
        await self.session.drive(None, Caller.facade(run.key.thread), None)

    async def let_go(self, run: Candidate) -> bool:
        """See `Continuing`."""
        ledger = self.session.runs.ledger
        held = [one.holder for one in await ledger.unfinished() if one.run == run.key and one.holder is not None]
        if held and held[0].owner:  # addressed to this owner's token: a later owner must not stop because of it
            await ledger.post(run.key, hand_over(held[0].token))
        return True


@dataclass(frozen=True)
class ByPlace:
    """Continues runs of a LangGraph server through its API, and all others in this process."""

    here: Continuing
    server: Continuing | None = None

    async def fit(self, run: Candidate) -> Fit:
        """See `Continuing`."""
        if run.is_on_server and self.server is None:
            return Fit("a LangGraph server keeps its checkpoints: name it with --server")
        return await self._place(run).fit(run)

    async def go_on(self, run: Candidate) -> None:
        """See `Continuing`."""
        await self._place(run).go_on(run)

    async def let_go(self, run: Candidate) -> bool:
        """See `Continuing`."""
        return await self._place(run).let_go(run)

    def _place(self, run: Candidate) -> Continuing:
        if not run.is_on_server:
            return self.here
        if self.server is None:
            raise InputError("server", f"{run.key.id} belongs to a LangGraph server")
        return self.server
