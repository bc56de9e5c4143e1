"""Calls that ended with questions to a person: the event with the questions, and the answers to go on with."""

from collections.abc import Sequence

from planner_executor.graph.calls.call_events import questions_asked
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import CallAsks, ToolCall
from planner_executor.graph.record.events import AskedQuestion
from planner_executor.tools.call_questions import CallQuestion, CallReplies, InputNeeded

ASKS = "its tool asks something in the middle of the call; a person has to answer first"


class AskedCalls:
    """The questions of the calls of one run."""

    def __init__(self, run: OwnedRun) -> None:
        self._run = run

    async def replies(self, call: ToolCall) -> CallReplies | None:
        """Return a person's answers to what the call asked, None if it asked nothing.

        Raises:
            CallAsks: There is no answer yet.
        """
        known = self._run.record.calls.by_key.get(call.key)
        if known is None or known.asked is None:
            return None
        if known.asked.forms is not None:
            asked = tuple(CallQuestion(one.id, one.text, one.schema) for one in known.asked.questions)
            return CallReplies(known.asked.state, known.asked.forms, asked, known.asked.anew)
        if known.asked.resumed:
            return None
        # People are asked what waits in the pass of now (`RunState.asking_calls`); an older question is put anew.
        if known.asked.within != self._run.record.plan_state.current_pass:
            await self._write(call, known.asked.questions, known.asked.state)
        raise CallAsks(call.key, ASKS)

    async def note(self, call: ToolCall, needed: InputNeeded) -> None:
        """Record the questions that a call ended with."""
        questions = [AskedQuestion(one.id, one.text, one.schema) for one in needed.questions]
        await self._write(call, questions, needed.state)

    async def _write(self, call: ToolCall, questions: Sequence[AskedQuestion], state: str | None) -> None:
        revision = self._run.record.plan_state.revision
        await self._run.ledger.append(
            self._run.lease, [questions_asked(call, questions, state, revision, self._run.meter.wall_s)]
        )
