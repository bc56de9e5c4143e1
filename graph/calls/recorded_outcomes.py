"""Outcomes on record, which are reused instead of a call made again."""

from dataclasses import replace

from planner_executor.graph.calls.effects import Effects
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import Finished, ToolCall
from planner_executor.graph.ledger.values import value_of
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.trust_label import USER
from planner_executor.graph.record.values import keep


class RecordedOutcomes:
    """The outcomes of the calls of one run."""

    def __init__(self, run: OwnedRun, effects: Effects) -> None:
        self._run, self._effects = run, effects

    async def of(self, call: ToolCall) -> Finished | None:
        """Return the recorded outcome to reuse: the call's own, or that of an identical call confirmed by a person."""
        # Its own outcome first; that of an identical call stands in for it only if there is none.
        known = self._run.record.calls.finished(call.key) or self._effects.settled(call) or self._failed_within(call)
        if known is None or known.result is None:
            return None
        if known.result.status == "failed":
            return Finished(call, known.result)
        if known.settled:  # a person gave its result
            call = replace(call, label=USER)
        return Finished(call, known.result, keep(await value_of(self._run.ledger, known.result)))

    def _failed_within(self, call: ToolCall) -> Call | None:
        """Return an item's or a model's call that failed in this pass, which does not repeat it."""
        within = call.item is not None or call.number > 0
        known = self._run.record.calls.by_key.get(call.key) if within else None
        failed = known is not None and known.result is not None and known.result.status == "failed" and not known.again
        return known if known and failed and known.within == self._run.record.plan_state.current_pass else None
