"""Writing to a run's record: ownership, messages from other processes, and the events of a node."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from planner_executor.graph.calls.caps import Caps, nothing_happened, user_of
from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.meter import Meter
from planner_executor.graph.calls.owned_run import OnProgress, OwnedRun
from planner_executor.graph.errors import CapReachedError, RunPausedError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.protocol import Lease, News
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.ending import ended
from planner_executor.graph.nodes.run.estimate import expected_of
from planner_executor.graph.nodes.run.events import inbox_events, revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.caps import CapCorrection
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.events import CallPreviewed, Configured, Decided, Draft, Paused, PlanRevised
from planner_executor.graph.record.hand_over import heeded
from planner_executor.graph.record.projection import apply_events
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall
from planner_executor.graph.record.stop_request import cancel_in, pause_in
from planner_executor.graph.record.values import Kept


@dataclass
class RunWriter:
    """Writes the events of a node to the ledger, and keeps the run's record up to date.

    `lease` is set while the run is owned. `opened` is true if the opening events are written.
    """

    run: RunContext
    lease: Lease | None = None
    opened: bool = False

    @asynccontextmanager
    async def owned(self, *opening: Draft) -> AsyncIterator[None]:
        """Own the run within the block, with its record up to date; messages in the inbox are handled first.

        Args:
            opening: Events to write at once if the run has not changed since it was read, see `opened`.

        Raises:
            RunOwnedError: Another process owns the run.
            RunPausedError: A message asks to pause, or a cap across runs was reached within the block.
        """
        # Opening events share the transaction that takes the run, unless a changed configuration comes before them.
        run, events = self.run, [] if self._newly_configured()[0] else self._placed(opening)
        async with run.ledger.owned_and_read(run.key, run.record.seq, events) as owned:
            self.lease, self.opened = owned.lease, owned.opened
            try:
                await self._take(owned.news)
                configured, tools = self._newly_configured()
                if configured:
                    found = await run.ledger.write(self.lease, configured, after=run.record.seq, artifacts=tools)
                    apply_events(run.record, found)
                async with self.pausing():
                    yield
            finally:
                self.lease = None

    @asynccontextmanager
    async def pausing(self) -> AsyncIterator[None]:
        """Pause the run if a cap across runs is reached within the block, which ends its work for now.

        Raises:
            RunPausedError: One was.
        """
        try:
            yield
        except CapReachedError as reached:
            why, due_at = f"{reached.words}, used up", self.run.services.pauses.now() + reached.wait_s
            await self.write(Draft(Paused(reason=why, due_at=due_at)))
            raise RunPausedError(self.run.record.id, why, due_at) from None

    async def read_messages(self) -> None:
        """Read new events, and handle the messages in the inbox.

        Raises:
            RunPausedError: A message asks to pause.
        """
        assert self.lease is not None
        await self._take(await self.run.ledger.news(self.lease, self.run.record.seq))

    async def _take(self, news: News) -> None:
        """Apply new events first, so that messages are handled in the current state of the run."""
        assert self.lease is not None
        token = self.lease.token
        await done_aside(len(news.events), partial(apply_events, self.run.record, news.events))
        if not news.has_messages:
            return
        found = await self.run.ledger.take_messages(
            self.lease, lambda found: inbox_events(self.run, heeded(found, token))
        )
        messages = heeded(found, token)  # a request to hand over is for one owner alone (decision 65)
        if messages and not self.run.record.ended:
            await self.reload()
            if pause_in(messages) is not None and cancel_in(messages) is None:
                raise RunPausedError(self.run.record.id)

    async def write(
        self,
        *drafts: Draft,
        artifacts: Sequence[Kept] = (),
        last: bool = False,
        uses: Sequence[StandingCall] = (),
        given: Sequence[StandingApproval] = (),
    ) -> None:
        """Write events based on the record as read, and apply them; with `last`, release the run.

        `uses` are counted, and approvals `given` beyond the run kept, in the same transaction.
        """
        run, (configured, tools) = self.run, self._newly_configured()
        found = await run.ledger.write(
            self.lease or run.key,  # by its key, the run is owned for this write alone
            [*configured, *self._placed(drafts)],
            after=run.record.seq,
            artifacts=[*tools, *artifacts],
            control_seq=run.record.control_seq,
            and_release=last,
            # In the transaction of the decision: a use is given back once, and only if the decision stands.
            caps=self._given_back(drafts),
            uses=uses,
            given=given,
        )
        apply_events(run.record, found)

    def _given_back(self, drafts: Sequence[Draft]) -> list[CapCorrection]:
        """Return what is given back of caps across runs by the calls that did not happen, as a person says."""
        if not self.run.terms.policy.per_day.is_set:
            return []
        settled = [one for draft in drafts if isinstance(draft.data, Decided) for one in draft.data.settled]
        found = [self.run.record.calls.find(one.key) for one in settled if not one.happened]
        return [nothing_happened(call.key, call.tool) for call in found if call is not None]

    def _placed(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Return the events with the id of the node's checkpoint."""
        # By it a repeated node finds what it has done, and a fork is told from a crash (decision 3).
        return [draft.at(self.run.checkpoint) for draft in drafts]

    def _newly_configured(self) -> tuple[list[Draft], list[Kept]]:
        """Return the event that records stricter terms, or the first ones, and its artifacts."""
        run, terms = self.run.record.assignment, self.run.terms_here
        if self.run.record.ended or terms is None or not terms.is_new:
            return [], []
        (configured, stored), budget = self.run.services.configuration, terms.terms.budget
        if (configured, budget) == (run.configuration, run.budget):
            return [], []
        lower = budget if budget != run.budget else None
        return [Draft(Configured(configuration=configured, budget=lower))], stored

    async def reload(self) -> None:
        """Read and apply the events since the last read."""
        apply_events(self.run.record, await self.run.ledger.events(self.run.key, after=self.run.record.seq))

    def gate(self, on_progress: OnProgress | None = None) -> CallGate:
        """Return the gate for calls of this run, which must be owned; `on_progress` receives what tools report."""
        assert self.lease is not None
        record, services, terms = self.run.record, self.run.services, self.run.terms
        clock, settings = services.clock, services.settings
        begun = clock()
        meter = Meter(
            terms.bounds,
            record.spending.usage,
            terms.policy.prices,
            worked_s=lambda: clock() - begun,
            elapsed_s=lambda: self.run.elapsed_s,
        )
        owned = OwnedRun(
            self.run.ledger,
            self.lease,
            record,
            services.toolbox,
            meter,
            services.turns,
            terms.policy,
            Caps(terms.policy, user_of(record.people.starter)),
            asks=terms.mode != "never",
            limits=settings.attempt_limits,
            clock=services.pauses,
            instructions=settings.instructions,
            record_prompts=settings.record_prompts,
            on_progress=on_progress,
        )
        return CallGate(owned)

    async def revise(self, plan: Plan, author: str, reason: str, *, last: bool = False, **more: Any) -> None:
        """Record a plan as the next revision, with what its tools say that its calls would do.

        What like steps took is read with it, so that a review says the same until it is answered.
        """
        revised = await done_aside(len(plan.steps), partial(revision, self.run, plan, author, reason, **more))
        replaced = await self.run.services.toolbox.would_replace(plan)
        previews = await self._previews(plan, revised)
        like_steps = await expected_of(self.run, plan)
        revised = replace(revised, would_replace=tuple(replaced), like_steps=like_steps, previews=previews)
        await self.write(Draft(revised), last=last)
        if (recorded := self.run.record.plan_state.plan) is not None:
            self.run.plans.keep(recorded, plan)

    async def preview_proposal(self, plan: Plan, revised: PlanRevised) -> None:
        """Write what tools say of a plan that a person proposed, before others decide about it."""
        if previews := await self._previews(plan, revised) or self.run.services.toolbox.previews_on_record:
            await self.write(Draft(CallPreviewed(previews=previews)))

    async def _previews(self, plan: Plan, revised: PlanRevised) -> tuple[CallPreview, ...]:
        """Return the previews of a plan that people are shown; a review, which takes one from the state, makes none."""
        run = self.run
        if self.lease is None or revised.author == "state" or not run.terms.needs_person(plan):
            return ()
        untrusted = {step.id for step in plan.steps} if revised.by_look else set(revised.tainted)
        left = steps_left(plan, run.record.steps.results)
        return tuple(await self.gate().previews.of_plan(left, untrusted))

    async def end(
        self,
        ending: Ending,
        *before: Draft,
        artifacts: Sequence[Kept] = (),
        notes: Sequence[str] = (),
    ) -> None:
        """Record the end of the run, after other events.

        Args:
            ending: The ending.
            before: Events to write before it.
            artifacts: Values to store with those events.
            notes: Normalizations of a direct answer.
        """
        end, stored = await ended(self.run.ledger, self.run.record, ending, notes)
        await self.write(*before, end, artifacts=[*artifacts, *stored], last=True)
