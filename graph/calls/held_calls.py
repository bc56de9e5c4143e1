"""Calls that are not made now: refused, held for a review, or after others that are uncertain; each is on record."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from planner_executor.graph.calls.call_events import hold, refused_call, uncertainty
from planner_executor.graph.calls.call_previews import CallPreviews
from planner_executor.graph.calls.effects import Effects
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.ruled_calls import RuledCalls
from planner_executor.graph.calls.standing_calls import StandingCalls
from planner_executor.graph.calls.tool_call import CallHeld, CallUncertain, ToolCall
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import RejectedByPerson
from planner_executor.graph.policy.new_effects import added_key
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.review_state import refusal_digest
from planner_executor.graph.record.values import Kept

NOT_COVERED = "no approved plan had this call, and it was planned after untrusted results were read"
WriteEnded = Callable[[], Awaitable[None]]


async def nothing_ended() -> None:
    """Write nothing."""


class HeldCalls:
    """The calls of one run, in its recorded state, that need a person or may not be made at all.

    `write_ended` writes the outcomes so far, which precede what is held on record (decision 0092).
    """

    def __init__(self, run: OwnedRun, effects: Effects, standing: StandingCalls, previews: CallPreviews) -> None:
        self.write_ended: WriteEnded = nothing_ended
        self._run, self._effects, self._standing, self._previews = run, effects, standing, previews
        self._ruled = RuledCalls(run.record, run.policy)

    async def hold(self, call: ToolCall, step: Step | None = None, previewed: CallPreview | None = None) -> str | None:
        """Hold a call for review: the policy asks, or it acts with untrusted arguments or happened in another run.

        So is a call that the plan adds, if no decision covers it, and one that people brought about who do not meet the
        rules of its tool; without `step` the plan is not looked at again. So is one whose preview, made again as
        `previewed`, differs from what people saw. A confirmed call of another run settles that
        call only, and a second one may be intended (decision 0025). Return the standing approval that lets it through,
        None if nobody has to see it or a person has.

        Raises:
            CallHeld: Nobody has decided about it yet.
            RejectedByPerson: A person rejected it, or nobody decided in time.
        """
        name, review = call.name, self._run.record.review_state
        spec = self._run.toolbox.specs[call.tool]
        added = self._added(step, call.tool) if step is not None else None
        asks = self._run.policy.asks(spec, call.args)
        ahead = await self._standing.of_plan(call) if asks else None
        is_settled = ahead is not None or self._ruled.is_settled(call.key, call.step, spec)
        asked = added if is_settled else asks or added
        unseen = self._run.policy.arguments_to_review(spec, call.labels) if self._run.asks else {}
        before = self._effects.happened_elsewhere(call)
        changed, is_seen = self._previews.changed(previewed), bool(review.seen & {name, call.key})
        # People saw this very call; no rule asks about it twice.
        if is_seen and not changed:
            return None
        unmet = self._ruled.unmet(call.step, spec) if not is_seen else None
        if not (asked or unseen or before or unmet or changed):
            return ahead
        within = self._run.record.plan_state.current_pass
        if why := review.rejection(name, within):
            raise RejectedByPerson(why)
        # What may have happened before is decided by itself, whatever was approved ahead (decision 74).
        covering, is_unmet = self._standing.covering, unmet is not None
        is_by_itself = before or added or self._run.record.plan_state.is_by_look or changed
        if not is_by_itself and (standing := await covering(spec, call, unseen, is_unmet=is_unmet)):
            return standing
        known = review.held.get(name)
        asked = changed or asked
        if known is None or known.within != within or is_seen or self._previews.is_missing(call):
            told = previewed or await self._previews.of_held(call)
            held, shown = hold(replace(call, key=name), within.revision, unseen, before, asked, unmet, told)
            await self._write(held, shown)
        known_why = asked or (unmet.why if unmet else "its arguments come from untrusted results")
        why = "the same call happened before" if before else known_why
        raise CallHeld(name, f"{why}; a person has to see it first")

    def _added(self, step: Step, tool: str) -> str | None:
        """Return why a call is in question that no approved plan had; None if it is not, or a person approved it.

        A person's approval of the plan covers it only with a decision of its own (decision 121); one by the policy says
        that nobody has to see it.

        Raises:
            RejectedByPerson: A person rejected it beside the plan.
        """
        review, key = self._run.record.review_state, added_key(self._run.record, step, tool)
        if key is None or key in review.seen:
            return None
        if why := review.rejection(key, self._run.record.plan_state.current_pass):
            raise RejectedByPerson(why)
        return None if review.approval is None or review.approval.by == "policy" else NOT_COVERED

    async def after(self, call: ToolCall, uncertain: Sequence[Call]) -> CallUncertain:
        """Record that a call waits until a person has settled others, and return the exception to raise."""
        keys = tuple(known.key for known in uncertain)
        noted = self._run.record.review_state.uncertain.get(call.key)
        copies = self._run.record.calls.elsewhere
        new = [known for known in uncertain if known.run and not known.has_copy(copies.get(known.key))]
        if new or noted is None or (noted.keys, noted.within) != (keys, self._run.record.plan_state.current_pass):
            event, shown = uncertainty(call, self._run.record.plan_state.revision, uncertain)
            await self._write(event, shown)
        return CallUncertain(keys)

    async def note_refusal(self, step: Step, tool: str, args: Mapping[str, JsonValue], why: str) -> None:
        """Record a call that was refused: a request to amend the plan, never an intent."""
        refused, shown = refused_call(tool, args, why, self._run.record.plan_state.revision)
        if refusal_digest(step.id, refused) in self._run.record.review_state.refused:
            return  # a resumed step repeats its refused request
        await self._write(Draft(refused, step.id), shown)

    async def _write(self, event: Draft, shown: Kept) -> None:
        await self.write_ended()
        await self._run.ledger.append(self._run.lease, [event], artifacts=[shown])
