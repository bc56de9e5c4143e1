"""Writing to a run's record: who owns the run, what is asked of it meanwhile, and the events of a node."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from graph.calls.gate import CallGate
from graph.calls.meter import Meter
from graph.calls.model_gate import ModelGate
from graph.errors import RunPausedError, UnresolvedReferenceError
from graph.ledger.protocol import Lease, News
from graph.ledger.values import answer_from_results
from graph.plan.schema import Plan
from graph.record.ending import Ending
from graph.record.events import Configured, Content, Draft, RunEnded
from graph.record.projection import apply_events
from graph.record.values import Kept, keep, to_text
from graph.run_context import RunContext
from graph.run_events import inbox_events, revision

ANSWER_BYTES = 250_000
"""Answers up to this size stand in the state as they are."""


@dataclass
class RunWriter:
    """Writes the events of a node to the record of its run, and reads on in it.

    `lease` is there while the run is owned. `opened` says that the events with which it was to be owned are written.
    """

    run: RunContext
    lease: Lease | None = None
    opened: bool = False

    @asynccontextmanager
    async def owned(self, *opening: Draft) -> AsyncIterator[None]:
        """Own the run for a while, as it is then; what others ask of it is done first.

        Args:
            opening: Events to write at once if the run is as it was read, see `opened`.

        Raises:
            RunOwnedError: Somebody else works on it.
            RunPausedError: It was asked to pause.
        """
        run, events = self.run, [] if self._newly_configured()[0] else self._placed(opening)
        async with run.ledger.owned_and_read(run.key, run.record.seq, events) as owned:
            self.lease, self.opened = owned.lease, owned.opened
            try:
                await self._take(owned.news)
                configured, tools = self._newly_configured()
                if configured:
                    found = await run.ledger.write(self.lease, configured, after=run.record.seq, artifacts=tools)
                    apply_events(run.record, found)
                yield
            finally:
                self.lease = None

    async def heed(self) -> None:
        """Read on, and do what the messages in the inbox ask for.

        Raises:
            RunPausedError: One of them asks to pause.
        """
        assert self.lease is not None
        await self._take(await self.run.ledger.news(self.lease, self.run.record.seq))

    async def _take(self, news: News) -> None:
        """Read on, and do what messages ask for; they are answered by the run as it is now."""
        assert self.lease is not None
        apply_events(self.run.record, news.events)
        if not news.has_messages:
            return
        messages = await self.run.ledger.take_messages(self.lease, lambda found: inbox_events(self.run, found))
        if messages and not self.run.record.ended:
            await self.reload()
            if "pause" in messages and "cancel" not in messages:
                raise RunPausedError(self.run.record.id)

    async def write(self, *drafts: Draft, artifacts: Sequence[Kept] = (), last: bool = False) -> None:
        """Write events that rest on what was read, and read on; with the `last` ones the run is given back."""
        run, (configured, tools) = self.run, self._newly_configured()
        found = await run.ledger.write(
            self.lease or run.key,
            [*configured, *self._placed(drafts)],
            after=run.record.seq,
            artifacts=[*tools, *artifacts],
            control_seq=run.record.control_seq,
            lets_go=last,
        )
        apply_events(run.record, found)

    def _placed(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Return events with the checkpoint at which the node writes them."""
        return [draft.at(self.run.checkpoint) for draft in drafts]

    def _newly_configured(self) -> tuple[list[Draft], list[Kept]]:
        """Return the event that tells of settings, models or tools which are not those on record."""
        if self.run.record.ended or self.run.services.is_configured_as(self.run.record.configuration):
            return [], []
        configured, tools = self.run.services.configuration
        return [Draft(Configured(configuration=configured))], [tools]

    async def reload(self) -> None:
        """Read what the ledger has of the run since it was last read."""
        apply_events(self.run.record, await self.run.ledger.events(self.run.key, after=self.run.record.seq))

    def gate(self) -> CallGate:
        """Return the choke point for this run, which must be owned."""
        assert self.lease is not None
        ledger, record, services, terms = self.run.ledger, self.run.record, self.run.services, self.run.terms
        clock, turns, settings = services.clock, services.turns, services.settings
        begun = clock()
        meter = Meter(terms.bounds, record.usage, terms.policy.prices, lambda: clock() - begun)
        models = ModelGate(
            ledger,
            self.lease,
            record,
            meter,
            turns,
            record_prompts=settings.record_prompts,
            instructions=settings.instructions,
            constants=(services.offered_text,),
        )
        return CallGate(
            ledger,
            self.lease,
            record,
            services.toolbox,
            meter,
            turns,
            models,
            policy=terms.policy,
            asks=terms.mode != "never",
        )

    async def revise(self, plan: Plan, author: str, reason: str, *, last: bool = False, **more: Any) -> None:
        """Record a plan as the run's next revision, with what its tools foresee that it would replace."""
        revised = revision(self.run, plan, author, reason, **more)
        foreseen = await self.run.services.toolbox.would_replace(plan)
        await self.write(Draft(replace(revised, would_replace=tuple(foreseen))), last=last)

    async def end(
        self,
        ending: Ending,
        *before: Draft,
        artifacts: Sequence[Kept] = (),
        notes: Sequence[str] = (),
    ) -> None:
        """Record the end of the run, after other events.

        Args:
            ending: How it ends.
            before: The events that come first.
            artifacts: What they name.
            notes: What was read otherwise than written of the answer that a model gave at once.
        """
        kept = keep(ending.answer, ANSWER_BYTES)
        answer, stored = Content.of(kept), [kept]
        if kept.artifact is not None and await self._follows(kept):
            made = {"of": "results", "size": kept.artifact.size, "preview": kept.artifact.preview}
            answer, stored = Content(artifact=made), []
        ended = RunEnded(status=ending.status, reason=ending.reason, answer=answer, read_as=tuple(notes))
        await self.write(*before, Draft(ended), artifacts=[*artifacts, *stored], last=True)

    async def _follows(self, answer: Kept) -> bool:
        """Whether an answer can be had from the plan and the results on record, and so need not be stored again."""
        try:
            return to_text(await answer_from_results(self.run.ledger, self.run.record)) == answer.text
        except UnresolvedReferenceError:
            return False
