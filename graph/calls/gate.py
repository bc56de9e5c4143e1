"""The choke point: every tool call passes here, and is in the ledger before it has an effect.

What a call has to pass: the step's grant, the tool's schema, the policy, the labels of its arguments, the budget, and
what is on record of it.
"""

import asyncio
import contextvars
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from graph.calls.effects import Effects
from graph.calls.failures import error_of, failure_words
from graph.calls.meter import Meter
from graph.calls.model_gate import ModelGate
from graph.calls.rate_limit import RateLimiter
from graph.calls.time_limit import Deadline, within
from graph.calls.tool_call import CallHeld, CallUncertain, Finished, ToolCall
from graph.calls.toolbox import Toolbox
from graph.errors import ResultError, StaleRunError
from graph.ledger.protocol import Lease, Ledger
from graph.ledger.values import value_of
from graph.observing.observed import around
from graph.plan.canonical import digest
from graph.plan.schema import Step
from graph.policy.grants import Grant, Refused
from graph.policy.policy import NO_POLICY, Policy
from graph.record.call import Call
from graph.record.events import Arguments, CallRefused, CallStarted, Draft, EarlierCall, StepHeld, StepUncertain
from graph.record.results import StepResult
from graph.record.review_state import refusal_digest
from graph.record.run_state import RunState
from graph.record.trust_label import USER, TrustLabel, joined, label_of_tool
from graph.record.values import Kept, keep, normalise
from tools.call_progress import CallProgress, Listener, told_of_progress
from tools.errors import NothingHappened
from tools.idempotency import calling

OnProgress = Callable[[ToolCall, CallProgress], None]

SHOWN_BYTES = 1_000_000
"""Arguments that a person is to see stand in the ledger as they are up to this size."""


class CallGate:
    """Tool calls of one run, as the ledger knew it when the node began; `models` is where its model calls pass."""

    def __init__(
        self,
        ledger: Ledger,
        lease: Lease,
        record: RunState,
        toolbox: Toolbox,
        meter: Meter,
        turns: RateLimiter,
        models: ModelGate,
        *,
        policy: Policy = NO_POLICY,
        asks: bool = True,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Stand in front of a run's calls.

        Args:
            ledger: Where they are written.
            lease: The ownership of the run.
            record: The run.
            toolbox: The tools.
            meter: Its budget.
            turns: Rate limits.
            models: The choke point of its model calls.
            policy: What is denied, and which untrusted values are let in.
            asks: Whether a person is asked about untrusted arguments.
            on_progress: Told of what tools tell while they work, on the event loop of the run.
        """
        self._ledger, self._lease, self._record, self._toolbox = ledger, lease, record, toolbox
        self._meter, self._turns, self._policy, self._asks = meter, turns, policy, asks
        self.models, self._on_progress = models, on_progress
        self.effects = Effects(ledger, record, toolbox.specs)
        self._made: defaultdict[tuple[str, int | None], Counter[str]] = defaultdict(Counter)

    async def admit(
        self,
        step: Step,
        tool: str,
        args: Mapping[str, JsonValue],
        labels: Mapping[str, TrustLabel],
        given: TrustLabel = USER,
        item: int | None = None,
    ) -> ToolCall | Finished:
        """Return the call, which may then be committed and made, or its outcome where that is on record.

        Args:
            step: Who asks.
            tool: What is to be called.
            args: With what, references resolved.
            labels: Argument -> label of its value, for those that the plan names.
            given: TrustLabel of all others: of what the model has read that gives them.
            item: For which item of a list, from 0, where the step is done for each.

        Raises:
            Refused: The step's grant, the schema or the policy does not allow it; that it was asked for is on record.
            CallUncertain: It might repeat an effect; that it waits is on record.
            CallHeld: A person has to see it first; that it waits is on record.
            BudgetReached: A limit does not allow it.
        """
        try:
            call = self._granted(step, tool, args, item)
        except Refused as refusal:
            await self._note_refusal(step, tool, args, str(refusal))
            raise
        self._made[step.id, item][tool] += 1
        spec = self._toolbox.specs[tool]
        labels = {name: labels.get(name, given.by_model if spec.declared else given) for name in call.args}
        call = replace(call, label=joined([label_of_tool(spec), *labels.values()]))
        if not spec.repeatable:
            call = replace(call, same_digest=self.effects.digest(tool, call.args))
            await self.effects.look_up(tool)
        if finished := await self._recall(call):
            return finished
        if not spec.repeatable and (found := self.effects.uncertain(call)):
            raise await self._uncertain(call, found)
        await self._hold(call, labels)
        self._meter.reserve_call(
            tool, step.id, begins=step.tool is not None and step.id not in self._record.spending.begun
        )
        wait_s = self._turns.wait_s(tool)  # one that waits takes its turn only when it is about to be made
        queued = not spec.repeatable and (wait_s > 0 or not self.effects.take_turn(call))
        return replace(call, wait_s=wait_s, queued=queued)

    def again(self, call: ToolCall) -> ToolCall:
        """Return a call that may be repeated, to be committed and made once more.

        Raises:
            BudgetReached: A limit does not allow it.
        """
        assert self._toolbox.specs[call.tool].repeatable
        self._meter.reserve_call(call.tool, call.step, begins=False)
        return replace(call, wait_s=self._turns.wait_s(call.tool))

    def _granted(self, step: Step, tool: str, args: Mapping[str, JsonValue], item: int | None) -> ToolCall:
        """Return the call with its idempotency key: equal across attempts and revisions."""
        grant, made = Grant.of(step), self._made[step.id, item]
        grant.check(tool, made)
        spec = self._toolbox.specs[tool]
        bound = grant.bound(args, spec.takes)
        if faults := spec.argument_faults(bound) or self._policy.faults(spec, bound):
            raise Refused("; ".join(f"{place}: {message}" for place, message in faults))
        number = made.total() + 1 if grant.by_model else 0
        args_digest = digest(bound)
        key = digest([self._record.id, step.id, item, number, tool, args_digest])
        return ToolCall(key, step.id, number, tool, bound, args_digest, item)

    async def _note_refusal(self, step: Step, tool: str, args: Mapping[str, JsonValue], why: str) -> None:
        """Write down what was asked for and is not granted: a request to amend the plan, never a call."""
        try:
            shown = keep(normalise(dict(args)))
        except ResultError as error:
            shown = keep(f"arguments that no record can hold: {error}")
        refused = CallRefused(
            tool=str(tool), args=Arguments.of(shown), why=why, revision=self._record.plan_state.revision
        )
        if refusal_digest(step.id, refused) in self._record.review_state.refused:
            return  # a step that was taken up again asks again for what it asked for before
        await self._ledger.append(self._lease, [Draft(refused, step.id)], artifacts=[shown])

    async def _hold(self, call: ToolCall, labels: Mapping[str, TrustLabel]) -> None:
        """Hold a call with an effect until a person has seen it: its arguments are untrusted, or it happened before.

        The latter is known of a call of another run, of which a person says so: nobody said that once is enough.
        """
        unseen = self._policy.arguments_to_review(self._toolbox.specs[call.tool], labels) if self._asks else {}
        before = self.effects.happened_elsewhere(call)
        if not (unseen or before) or call.key in self._record.review_state.seen:
            return
        known = self._record.review_state.held.get(call.key)
        if known is None or known.revision != self._record.plan_state.revision:
            await self._note_held(call, unseen, before)
        why = "the same call happened before" if before else "its arguments come from untrusted results"
        raise CallHeld(call.key, f"{why}; a person has to see it first")

    async def _note_held(self, call: ToolCall, unseen: Mapping[str, TrustLabel], before: Sequence[Call]) -> None:
        shown = keep(dict(call.args), SHOWN_BYTES)
        held = StepHeld(
            key=call.key,
            tool=call.tool,
            args=Arguments.of(shown),
            labels=unseen,
            revision=self._record.plan_state.revision,
            before=tuple(map(_told, before)),
        )
        await self._ledger.append(self._lease, [Draft(held, call.step)], artifacts=[shown])

    async def _uncertain(self, call: ToolCall, found: Sequence[Call]) -> CallUncertain:
        """Write down that a call waits until a person has settled others, and return the reason why it does."""
        keys = tuple(known.key for known in found)
        noted = self._record.review_state.uncertain.get(call.key)
        new = [known for known in found if known.run and known != self._record.calls.elsewhere.get(known.key)]
        if new or noted is None or (noted.keys, noted.revision) != (keys, self._record.plan_state.revision):
            shown = keep(dict(call.args))
            uncertain = StepUncertain(
                key=call.key,
                tool=call.tool,
                args=Arguments.of(shown),
                calls=tuple(map(_told, found)),
                revision=self._record.plan_state.revision,
            )
            await self._ledger.append(self._lease, [Draft(uncertain, call.step)], artifacts=[shown])
        return CallUncertain(keys)

    async def _recall(self, call: ToolCall) -> Finished | None:
        """Return the outcome on record that stands for this call: its own, or that of one a person says happened."""
        known = self._record.calls.finished(call.key) or self.effects.settled(call) or self._failed_within(call)
        if known is None or known.result is None:
            return None
        if known.result.status == "failed":
            return Finished(call, known.result)
        label = USER if known.settled else call.label
        return Finished(replace(call, label=label), known.result, keep(await self.value_of(known.result)))

    def _failed_within(self, call: ToolCall) -> Call | None:
        """Return the call of an item or of a model that failed under this revision: another pass does not repeat it."""
        within = call.item is not None or call.number > 0
        known = self._record.calls.by_key.get(call.key) if within else None
        failed = known is not None and known.result is not None and known.result.status == "failed"
        return known if known and failed and known.revision == self._record.plan_state.revision else None

    async def commit(
        self, ended: Sequence[Finished | Draft], starting: Sequence[ToolCall], kept: Sequence[Kept] = ()
    ) -> None:
        """Write outcomes, their artifacts, and intents in one transaction; when it returns the calls may be made.

        Raises:
            StaleRunError: What is allowed has changed since the run was looked at; nothing may start.
            LedgerUnavailableError: It could not be written; nothing may start.
        """
        outcomes = [entry.draft() if isinstance(entry, Finished) else entry for entry in ended]
        values = [*kept, *(entry.kept for entry in ended if isinstance(entry, Finished) and entry.kept)]
        shown = [keep(dict(call.args)) for call in starting]
        intents = [self._intent(call, args) for call, args in zip(starting, shown, strict=True)]
        guard = self._record.control_seq if starting else None
        try:
            events = [*outcomes, *intents]
            stored = [*values, *shown]
            await self._ledger.append(self._lease, events, artifacts=stored, control_seq=guard, heed=bool(starting))
        except StaleRunError:
            for call in starting:
                self.effects.end_turn(call)
            if outcomes:  # what has happened is written all the same
                await self._ledger.append(self._lease, outcomes, artifacts=values)
            raise

    async def commit_in_turn(self, call: ToolCall) -> None:
        """Wait for the call's turn and write its intent; it may be made when this returns.

        Raises:
            CallUncertain: One that is the same was under way, and ended in a way that makes this one wait for a person.
            StaleRunError: See `commit`.
        """
        if call.wait_s:
            await asyncio.sleep(call.wait_s)
        if call.queued and (found := await self.effects.wait_for_turn(call)):
            raise await self._uncertain(call, found)
        await self.commit([], [call])

    async def perform(self, call: ToolCall) -> Finished:
        """Make a call whose intent is written; whatever the tool does ends in data."""
        started_at = time.time()
        begun = time.perf_counter()
        kept, error, nothing = None, None, False
        try:
            with around(self._ledger, self._lease.run, (call.step, call.item, call.number)):
                output = await self._within_time(call)
            kept = keep(normalise(output))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            error = "the tool cancelled itself"
        except TimeoutError as failure:
            error = failure_words(failure)
        except Exception as failure:  # noqa: BLE001  (around a tool call, where it becomes data)
            error, nothing = failure_words(failure), isinstance(failure, NothingHappened)
        ended_at = started_at + time.perf_counter() - begun
        if error is not None:
            result = StepResult("failed", error=error_of(error), started_at=started_at, ended_at=ended_at)
            self.effects.ended(call, result, nothing_happened=nothing)
            return Finished(call, result, None, nothing, self._meter.wall_s)
        assert kept is not None
        result = StepResult("succeeded", **kept.fields(), started_at=started_at, ended_at=ended_at)
        self.effects.ended(call, result, nothing_happened=False)
        return Finished(call, result, kept, worked_s=self._meter.wall_s)

    async def value_of(self, result: StepResult) -> JsonValue:
        """Return a succeeded result's whole value, wherever it is kept."""
        return await value_of(self._ledger, result)

    async def _within_time(self, call: ToolCall) -> Any:
        bound = self._toolbox[call.tool]
        limit_s = bound.spec.timeout_s
        deadline = None if limit_s is None else Deadline(limit_s)
        with calling(call.key), told_of_progress(self._heard(call, deadline)):
            work = bound.call(
                call.args, {"run": self._record.id, "revision": self._record.plan_state.revision, "step": call.step}
            )
            return await (work if deadline is None else within(deadline, work, bound.awaitable))

    def _heard(self, call: ToolCall, deadline: Deadline | None) -> Listener:
        """Return what a tool calls, from whatever thread, to tell of its progress."""
        loop, context, tells = asyncio.get_running_loop(), contextvars.copy_context(), self._on_progress

        def heard(progress: CallProgress) -> None:
            if deadline is not None:
                deadline.extend()
            if tells is not None:
                with suppress(RuntimeError):  # the loop is closed: nobody looks on any more
                    loop.call_soon_threadsafe(tells, call, progress, context=context)

        return heard

    def _intent(self, call: ToolCall, args: Kept) -> Draft:
        spec = self._toolbox.specs[call.tool]
        started = CallStarted(
            key=call.key,
            call=call.number,
            item=call.item,
            tool=call.tool,
            args=Arguments.of(args),
            effect=spec.effect,
            repeatable=spec.repeatable,
            revision=self._record.plan_state.revision,
        )
        return Draft(started, call.step)


def _told(known: Call) -> EarlierCall:
    """Return what the ledger says of an earlier call; of one of another run that is all that this run's record has."""
    if not known.run:
        return EarlierCall(known.key)
    error = (known.result.error or None) if known.result is not None else None
    return EarlierCall(known.key, known.run, known.step, known.begun_seq, error, known.unmet)
