"""The choke point: every tool call passes here, and is in the ledger before it can have an effect.

A call is checked against the step's grant, the tool's schema, the policy, the labels of its arguments, the budget,
and earlier calls on record.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pydantic import JsonValue

from planner_executor.graph.calls.asked_calls import ASKS, AskedCalls
from planner_executor.graph.calls.call_events import intent
from planner_executor.graph.calls.call_previews import CallPreviews
from planner_executor.graph.calls.caps import cap_reached, entries, in_turn
from planner_executor.graph.calls.effects import Effects
from planner_executor.graph.calls.granted_calls import GrantedCalls
from planner_executor.graph.calls.held_calls import HeldCalls, WriteEnded, nothing_ended
from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.model_gate import ModelGate
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.recorded_outcomes import RecordedOutcomes
from planner_executor.graph.calls.standing_calls import StandingCalls
from planner_executor.graph.calls.tool_call import Admitted, CallAsks, Finished, ToolCall
from planner_executor.graph.calls.tool_runner import ToolRunner
from planner_executor.graph.errors import CallElsewhereError, CapReachedError, StaleRunError
from planner_executor.graph.ledger.values import value_of
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import PLAN, USER, TrustLabel, joined, label_of_tool
from planner_executor.graph.record.values import Kept, keep
from planner_executor.tools.call_questions import InputNeeded


class CallGate:
    """Tool calls of one run, in its recorded state at the start of the node; `models` is its gate of model calls."""

    def __init__(self, run: OwnedRun) -> None:
        self.run, self.models, self.effects = run, ModelGate(run), Effects(run)
        self._runner, self._granted, self._asked = ToolRunner(run), GrantedCalls(run), AskedCalls(run)
        self.limits = self._granted.limits
        self._outcomes = RecordedOutcomes(run, self.effects)
        self._standing = StandingCalls(run.ledger, run.record, run.policy)
        self.previews = CallPreviews(run)
        self._held = HeldCalls(run, self.effects, self._standing, self.previews)

    @contextmanager
    def resting_on(self, write_ended: WriteEnded) -> Iterator[None]:
        """Within the block, write the outcomes so far before a call is held: it may rest on them."""
        self._held.write_ended = write_ended
        try:
            yield
        finally:
            self._held.write_ended = nothing_ended

    async def admit(
        self,
        step: Step,
        tool: str,
        args: Mapping[str, JsonValue],
        labels: Mapping[str, TrustLabel],
        given: TrustLabel = USER,
        item: int | None = None,
    ) -> Admitted | Finished:
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
            LimitReached: The call would exceed a limit.
        """
        try:
            call = self._granted.call(step, tool, args, item)
        except Refused as refusal:
            await self._held.note_refusal(step, tool, args, str(refusal))
            raise
        spec = self.run.toolbox.specs[tool]
        # Arguments that are not in the plan were written by a model, after whatever it has read; how far that counts
        # against a call depends on what its tool declares (decision 18).
        labels = {name: labels.get(name, given.by_model if spec.declared else given) for name in call.args}
        labels.update(dict.fromkeys(call.edited, USER))  # a person wrote these (decision 72)
        same_digest = "" if spec.repeatable else self.effects.digest(tool, call.args)
        label = joined([label_of_tool(spec), *labels.values()])
        call = replace(call, label=label, labels=labels, same_digest=same_digest)
        if not spec.repeatable:
            await self.effects.look_up(tool)
        # Recall comes first: a settled call answers for the identical uncertain ones too (decision 0025).
        if finished := await self._outcomes.of(call):
            return finished
        if not spec.repeatable and (found := self.effects.others_uncertain(call)):
            raise await self._held.after(call, found)
        # Before the call may be held: another preview than people saw is a reason to hold it.
        previewed = await self.previews.due(call)
        approval, replies = await self._held.hold(call, step, previewed), await self._asked.replies(call)
        # After all that may hold the call: one that waits for a person takes nothing of the budget.
        self.run.meter.reserve_call(
            tool, step.id, begins=step.tool is not None and step.id not in self.run.record.spending.begun
        )
        wait_s = self.run.turns.wait_s(tool)  # a call over its rate takes its turn after the wait, in `commit_in_turn`
        queued = not spec.repeatable and (wait_s > 0 or not self.effects.take_turn(call))
        caps = self.run.caps.of_tool(tool, call.key)
        is_shared = not spec.repeatable and self.effects.has_forks
        attempt = self._granted.next_attempt(call.key)
        return Admitted(
            call, self.limits(step, call), attempt, wait_s, queued, is_shared, approval, caps, replies, previewed
        )

    async def look(
        self, proposal: str, place: int, tool: str, args: Mapping[str, JsonValue], *, is_tainted: bool
    ) -> Finished:
        """Make a call by which a planner looks before it proposes, or return its outcome if that is on record.

        Nobody is asked about it: what a person would have to see is refused, and so is what may have happened already.

        Args:
            proposal: The name of the proposal.
            place: Counts the looks of the proposal, from 1.
            tool: The name of the tool.
            args: The arguments.
            is_tainted: Whether they were written after untrusted data was read.

        Raises:
            Refused: The schema or the policy does not allow the call, or a person would have to see it.
            LimitReached: The call would exceed a limit.
            CapReachedError: A cap across runs allows the call only later.
            StaleRunError: The run has changed meanwhile.
        """
        spec, record = self.run.toolbox.specs[tool], self.run.record
        if faults := spec.argument_faults(args) or self.run.policy.faults(spec, args):
            raise Refused("; ".join(f"{where}: {message}" for where, message in faults))
        key = digest([record.id, "look", proposal, place, tool, dict(args)])
        label = PLAN if is_tainted else USER
        same_digest = "" if spec.repeatable else self.effects.digest(tool, args)
        call = ToolCall(
            key,
            "",
            1 + len(record.calls.looks),
            tool,
            args,
            digest(dict(args)),
            label=joined([label, label_of_tool(spec)]),
            labels=dict.fromkeys(args, label),
            same_digest=same_digest,
        )
        if finished := await self._outcomes.of(call):
            return finished
        if why := self.run.policy.asks(spec, args):
            raise Refused(f"{why}; a plan may ask for it")
        if self.run.policy.arguments_to_review(spec, call.labels):
            raise Refused("its arguments were written after untrusted data was read; a plan may ask for it")
        await self.effects.look_up(tool)
        if not spec.repeatable and (key in record.calls.by_key or self.effects.uncertain(call)):
            raise Refused("it may have happened already, and is not repeated")
        # After all refusals: what is not made costs nothing.
        self.run.meter.reserve_call(tool, "", begins=False)
        limits, wait_s = self.run.limits.lowest(spec.attempt_limits), self.run.turns.wait_s(tool)
        admitted = Admitted(call, limits, wait_s=wait_s, caps=self.run.caps.of_tool(tool, key))
        await self.commit_in_turn(admitted)
        try:
            finished = await self._runner.run(admitted)
        except InputNeeded:
            finished = Finished(call, StepResult("failed", error="it asks a person; a plan may ask for it"))
        await self.commit([finished], [])
        return finished

    def again(self, admitted: Admitted) -> Admitted:
        """Return a repeatable call, to be committed and made again.

        Raises:
            LimitReached: The call would exceed a limit.
        """
        call = admitted.call
        assert self.run.toolbox.specs[call.tool].repeatable
        self._reserve_again(call)
        return replace(admitted, wait_s=self.run.turns.wait_s(call.tool), previewed=None)

    async def commit(
        self, ended: Sequence[Finished | Draft], starting: Sequence[Admitted], kept: Sequence[Kept] = ()
    ) -> None:
        """Write outcomes, their artifacts, and intents in one transaction; the calls may be made after it.

        Raises:
            StaleRunError: A control event was written since the run was read; nothing may start.
            CapReachedError: A cap across runs allows a call only later; nothing may start.
            LedgerUnavailableError: The write failed; nothing may start.
        """
        worked_s = self.run.meter.wall_s
        outcomes = [entry.draft(worked_s) if isinstance(entry, Finished) else entry for entry in ended]
        values = [*kept, *(entry.kept for entry in ended if isinstance(entry, Finished) and entry.kept)]
        shown = [keep(dict(one.call.args)) for one in starting]
        specs, within = self.run.toolbox.specs, self.run.record.plan_state.current_pass
        intents = [intent(one, specs[one.call.tool], args, within) for one, args in zip(starting, shown, strict=True)]
        try:
            given, uses = self._standing.counted(starting)
            back = [one for entry in ended if isinstance(entry, Finished) for one in self.run.caps.after_call(entry)]
            events = [*outcomes, *given, *intents]
            written = await self.run.ledger.append(
                self.run.lease,
                events,
                artifacts=[*values, *shown],
                # Intents need the permissions that were read; an outcome is a fact, whatever has been decided since.
                control_seq=self.run.record.control_seq if starting else None,
                require_empty_inbox=bool(starting),
                uses=uses,
                caps=[*back, *entries(starting)],
                seen=self.effects.seen,
            )
            self.models.tally.note(written, events)
        except StaleRunError:
            for one in starting:
                self.effects.end_turn(one.call)
            if outcomes:  # outcomes are facts, and are written even if nothing new may start
                await self.run.ledger.append(self.run.lease, outcomes, artifacts=values, caps=back)
            raise

    async def commit_in_turn(self, admitted: Admitted) -> None:
        """Wait for the call's turn and write its intent; the call may be made after that.

        Raises:
            CallUncertain: An identical call was in progress, here or in another run of the family, and its outcome
                needs to be settled by a person.
            CallHeld: Another run of the family has made the call meanwhile; a person has to see it first.
            StaleRunError: See `commit`.
            CapReachedError: A cap across runs allows the call only later, which is on record.
        """
        # The wait comes before the turn: the call is not yet begun, and others may begin theirs.
        if admitted.wait_s:
            await asyncio.sleep(admitted.wait_s)
        if admitted.queued and (found := await self.effects.wait_for_turn(admitted.call)):
            raise await self._held.after(admitted.call, found)
        while True:
            try:
                return await self._commit_alone(admitted)
            except CallElsewhereError:
                await self._look_again(admitted.call)

    async def _look_again(self, call: ToolCall) -> None:
        """Take the turn of a call again if it may still be made, now that another run of the family has begun it."""
        await self.effects.look_again()
        if found := self.effects.others_uncertain(call):
            raise await self._held.after(call, found)
        await self._held.hold(call)
        if found := await self.effects.wait_for_turn(call):
            raise await self._held.after(call, found)

    async def _commit_alone(self, admitted: Admitted) -> None:
        if admitted.caps is None:
            return await self.commit([], [admitted])
        try:
            await in_turn(lambda: self.commit([], [admitted]), self.run.clock)
        except CapReachedError as reached:
            call, now = admitted.call, self.run.clock.now()
            await self.run.ledger.append(self.run.lease, [cap_reached(reached, call.step or None, now)])
            self.effects.end_turn(call)  # last: a call that waits for this turn must not find it ended twice
            raise

    async def perform(self, admitted: Admitted) -> Finished:
        """Make a call whose intent is written; every failure of the tool is returned as data.

        A failure that may pass is followed by another attempt, within the call's limits; each is on record.

        Raises:
            CallAsks: The call ended with questions, which are on record.
            LeaseLostError: Another owner has taken the run over; a call that may not be repeated was not made.
            StaleRunError: The run has changed before another attempt.
            CapReachedError: A cap across runs allows another attempt only later.
        """
        call, limits = admitted.call, admitted.limits
        try:
            finished = await self._runner.run(admitted)
            # Reserved before `again` is on record, which promises a reader that there is room for another attempt.
            while finished.is_passing and admitted.attempt < limits.most and self._reserved(call):
                await self.commit([replace(finished, again=True)], [])
                await self.run.clock.sleep(limits.wait_s(admitted.attempt, self.run.clock.jitter()))
                wait_s = self.run.turns.wait_s(call.tool)
                admitted = replace(admitted, attempt=admitted.attempt + 1, wait_s=wait_s, queued=False, previewed=None)
                await self.commit_in_turn(admitted)
                finished = await self._runner.run(admitted)
        except asyncio.CancelledError:  # a step's time limit: what the call did is not known
            self.effects.ended(call, StepResult("failed"))
            raise
        except InputNeeded as needed:
            await self._asked.note(call, needed)
            self.effects.ended(call, None)
            raise CallAsks(call.key, ASKS) from None
        self.effects.ended(call, finished.result, nothing_happened=finished.nothing_happened)
        return finished

    def _reserved(self, call: ToolCall) -> bool:
        """Reserve another attempt; without room for it the failure stands."""
        try:
            self._reserve_again(call)
        except LimitReached:
            return False
        return True

    def _reserve_again(self, call: ToolCall) -> None:
        self.run.meter.reserve_call(call.tool, call.step, begins=False)

    async def value_of(self, result: StepResult) -> JsonValue:
        """Return the whole value of a succeeded result, inline or from its artifact."""
        return await value_of(self.run.ledger, result)
