"""The choke point: every tool call passes here, and is in the ledger before it can have an effect.

A call is checked against the step's grant, the tool's schema, the policy, the labels of its arguments, the budget,
and earlier calls on record.
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
from graph.calls.tool_call import CallAsks, CallHeld, CallUncertain, Finished, ToolCall
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
from graph.record.events import (
    Arguments,
    AskedQuestion,
    CallAsked,
    CallRefused,
    CallStarted,
    Draft,
    EarlierCall,
    StepHeld,
    StepUncertain,
)
from graph.record.results import StepResult
from graph.record.review_state import refusal_digest
from graph.record.run_state import RunState
from graph.record.trust_label import USER, TrustLabel, joined, label_of_tool
from graph.record.values import Kept, keep, normalise
from tools.call_progress import CallProgress, Listener, told_of_progress
from tools.call_questions import CallQuestion, CallReplies, InputNeeded, with_replies
from tools.errors import NothingHappened
from tools.idempotency import calling

OnProgress = Callable[[ToolCall, CallProgress], None]

ASKS = "its tool asks something in the middle of the call; a person has to answer first"
SHOWN_BYTES = 1_000_000
"""Arguments for review are kept inline in the ledger up to this size."""


class CallGate:
    """Tool calls of one run, in its recorded state at the start of the node; `models` is its gate of model calls."""

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
        """Create the gate of a run's tool calls.

        Args:
            ledger: The ledger that intents and outcomes are written to.
            lease: The ownership of the run.
            record: The state of the run.
            toolbox: The tools.
            meter: The budget of the run.
            turns: Rate limits.
            models: The choke point of its model calls.
            policy: The denied calls, and the untrusted values that are accepted.
            asks: Whether untrusted arguments are held for review.
            on_progress: Receives the progress messages of tools, on the event loop of the run.
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
        """Return the call, ready to be committed and made, or its outcome if that is on record.

        Args:
            step: The step that makes the call.
            tool: The name of the tool.
            args: The arguments, references resolved.
            labels: Argument -> label of its value, for the arguments in the plan.
            given: Label of all other arguments: that of the data read by the model that wrote them.
            item: Index of the list item, if the step runs once per item.

        Raises:
            Refused: The step's grant, the schema or the policy does not allow the call; the refusal is on record.
            CallUncertain: The call might repeat an effect; the wait is on record.
            CallHeld: A person has to review the call first, or to answer what it asks; the wait is on record.
            BudgetReached: The call would exceed a limit.
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
        if not spec.repeatable and (found := self._others_uncertain(call)):
            raise await self._uncertain(call, found)
        await self._hold(call, labels)
        call = replace(call, replies=await self._replies(call))
        self._meter.reserve_call(
            tool, step.id, begins=step.tool is not None and step.id not in self._record.spending.begun
        )
        wait_s = self._turns.wait_s(tool)  # one that waits takes its turn only when it is about to be made
        queued = not spec.repeatable and (wait_s > 0 or not self.effects.take_turn(call))
        return replace(call, wait_s=wait_s, queued=queued)

    def _others_uncertain(self, call: ToolCall) -> list[Call]:
        """Return the identical calls that may have happened, without this very call if it goes on after an answer."""
        known = self._record.calls.by_key.get(call.key)
        goes_on = known is not None and known.may_go_on
        return [found for found in self.effects.uncertain(call) if not (goes_on and found.key == call.key)]

    async def _replies(self, call: ToolCall) -> CallReplies | None:
        """Return a person's answers to what the call asked, None if it asked nothing.

        Raises:
            CallAsks: There is no answer yet.
        """
        known = self._record.calls.by_key.get(call.key)
        if known is None or known.asked is None:
            return None
        if known.asked.forms is not None:
            asked = tuple(CallQuestion(one.id, one.text, one.schema) for one in known.asked.questions)
            return CallReplies(known.asked.state, known.asked.forms, asked, known.asked.anew)
        if known.asked.resumed:
            return None
        if known.asked.revision != self._record.plan_state.revision:
            await self._note_asked(call, known.asked.questions, known.asked.state)
        raise CallAsks(call.key, ASKS)

    async def _note_asked(self, call: ToolCall, questions: Sequence[AskedQuestion], state: str | None) -> None:
        asked = CallAsked(
            key=call.key,
            call=call.number,
            item=call.item,
            tool=call.tool,
            questions=tuple(questions),
            state=state,
            revision=self._record.plan_state.revision,
            worked_s=self._meter.wall_s,
        )
        await self._ledger.append(self._lease, [Draft(asked, call.step)])

    def again(self, call: ToolCall) -> ToolCall:
        """Return a repeatable call, to be committed and made again.

        Raises:
            BudgetReached: The call would exceed a limit.
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
        """Record a call that was refused: a request to amend the plan, never an intent."""
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
        """Hold a call with an effect for review if its arguments are untrusted, or if it happened before.

        The latter means that a person confirmed an identical call of another run, which does not rule out a second one.
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
        """Record that a call waits until a person has settled others, and return the exception to raise."""
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
        """Return the recorded outcome to reuse: the call's own, or that of an identical call confirmed by a person."""
        known = self._record.calls.finished(call.key) or self.effects.settled(call) or self._failed_within(call)
        if known is None or known.result is None:
            return None
        if known.result.status == "failed":
            return Finished(call, known.result)
        label = USER if known.settled else call.label
        return Finished(replace(call, label=label), known.result, keep(await self.value_of(known.result)))

    def _failed_within(self, call: ToolCall) -> Call | None:
        """Return an item's or a model's call that failed under this revision; another pass does not repeat it."""
        within = call.item is not None or call.number > 0
        known = self._record.calls.by_key.get(call.key) if within else None
        failed = known is not None and known.result is not None and known.result.status == "failed"
        return known if known and failed and known.revision == self._record.plan_state.revision else None

    async def commit(
        self, ended: Sequence[Finished | Draft], starting: Sequence[ToolCall], kept: Sequence[Kept] = ()
    ) -> None:
        """Write outcomes, their artifacts, and intents in one transaction; the calls may be made after it.

        Raises:
            StaleRunError: A control event was written since the run was read; nothing may start.
            LedgerUnavailableError: The write failed; nothing may start.
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
        """Wait for the call's turn and write its intent; the call may be made after that.

        Raises:
            CallUncertain: An identical call was in progress and its outcome needs to be settled by a person.
            StaleRunError: See `commit`.
        """
        if call.wait_s:
            await asyncio.sleep(call.wait_s)
        if call.queued and (found := await self.effects.wait_for_turn(call)):
            raise await self._uncertain(call, found)
        await self.commit([], [call])

    async def perform(self, call: ToolCall) -> Finished:
        """Make a call whose intent is written; every failure of the tool is returned as data.

        Raises:
            CallAsks: The call ended with questions, which are on record.
        """
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
        except InputNeeded as needed:
            questions = [AskedQuestion(one.id, one.text, one.schema) for one in needed.questions]
            await self._note_asked(call, questions, needed.state)
            self.effects.asked(call)
            raise CallAsks(call.key, ASKS) from None
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
        """Return the whole value of a succeeded result, inline or from its artifact."""
        return await value_of(self._ledger, result)

    async def _within_time(self, call: ToolCall) -> Any:
        bound = self._toolbox[call.tool]
        limit_s = bound.spec.timeout_s
        deadline = None if limit_s is None else Deadline(limit_s)
        with calling(call.key), told_of_progress(self._heard(call, deadline)), with_replies(call.replies):
            work = bound.call(
                call.args, {"run": self._record.id, "revision": self._record.plan_state.revision, "step": call.step}
            )
            return await (work if deadline is None else within(deadline, work, bound.awaitable))

    def _heard(self, call: ToolCall, deadline: Deadline | None) -> Listener:
        """Return the progress callback of a tool; it may be called from any thread."""
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
    """Return an earlier call as the ledger keeps it; this run's record has no other copy of another run's call."""
    if not known.run:
        return EarlierCall(known.key)
    error = (known.result.error or None) if known.result is not None else None
    return EarlierCall(known.key, known.run, known.step, known.begun_seq, error, known.unmet, known.begun_at)
