"""Calls that may not be repeated: which of them may have happened before, and whose turn it is to make one.

What is known of a call is known of all that are the same: in this pass over the plan, in the run, and in the other runs
of its thread, whatever the step, the revision, the item or the number is under which they were made.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.calls.tool_call import ToolCall
from graph.ledger.protocol import Ledger, RunKey
from graph.plan.catalog import ToolSpec
from graph.plan.same_call import call_digest
from graph.record.call import Call
from graph.record.redaction import MARK
from graph.record.results import StepResult
from graph.record.run_state import RunState
from graph.record.values import to_text

Same = tuple[str, str]
"""Tool and digest of the arguments: what calls that are the same have in common."""


@dataclass(frozen=True)
class _Known:
    """A call on record, and what it has in common with those that are the same, as far as it was not redacted."""

    call: Call
    digest: str
    is_redacted: bool

    def may_be(self, call: ToolCall) -> bool:
        """Whether a call is the same, or nobody can tell any more."""
        return self.is_redacted or self.digest == call.same_digest


class Effects:
    """What is known of calls that may not be repeated, for one pass over the plan of a run."""

    def __init__(self, ledger: Ledger, record: RunState, specs: Mapping[str, ToolSpec]) -> None:
        self._ledger, self._record, self._specs = ledger, record, specs
        self._known: dict[str, list[_Known]] = {}
        self._others: list[Call] | None = None
        self._looking_up = asyncio.Lock()
        self._arisen: defaultdict[Same, dict[str, Call]] = defaultdict(dict)
        self._made: defaultdict[str, list[ToolCall]] = defaultdict(list)
        self._under_way: dict[Same, asyncio.Event] = {}

    def digest(self, tool: str, args: Mapping[str, Any]) -> str:
        """Return what the call has in common with those that are the same."""
        return call_digest(self._specs[tool].schema, args)

    async def look_up(self, tool: str) -> None:
        """Read what is on record of a tool's calls; all that is asked afterwards is answered at once."""
        async with self._looking_up:
            if tool in self._known:
                return
            if self._others is None:
                run = RunKey(self._record.assignment.thread, self._record.assignment.n)
                self._others = await self._ledger.calls_elsewhere(run)
            others = [self._as_settled_here(call) for call in self._others]
            calls = [call for call in (*self._record.calls.by_key.values(), *others) if call.tool == tool]
            relevant = [call for call in calls if call.is_uncertain or call.settled]
            self._known[tool] = [await self._read(call) for call in relevant]

    def uncertain(self, call: ToolCall) -> list[Call]:
        """Return the calls that are the same and may have happened, which nobody has settled."""
        on_record = [known.call for known in self._known[call.tool] if known.may_be(call)]
        found = {known.key: known for known in on_record} | self._arisen.get(_same(call), {})
        return [known for known in found.values() if known.is_uncertain]

    def settled(self, call: ToolCall) -> Call | None:
        """Return a call of this run that is the same, and of which a person says that it happened."""
        found = (known for known in self._same(call) if not known.run)
        return next((known for known in found if known.settled and not known.is_uncertain), None)

    def happened_elsewhere(self, call: ToolCall) -> list[Call]:
        """Return the calls of other runs that are the same, and of which a person says that they happened."""
        return [known for known in self._same(call) if known.run and known.settled and not known.is_uncertain]

    def take_turn(self, call: ToolCall) -> bool:
        """Let the call be the one under way, if none that is the same is; return whether it may be made now."""
        if _same(call) in self._under_way:
            return False
        self._under_way[_same(call)] = asyncio.Event()
        return True

    async def wait_for_turn(self, call: ToolCall) -> list[Call]:
        """Wait until no call that is the same is under way; return those that now are uncertain.

        The turn is the call's if there are none.
        """
        while (ended := self._under_way.get(_same(call))) is not None:
            await ended.wait()
        found = self.uncertain(call)
        if not found:
            self.take_turn(call)
        return found

    def end_turn(self, call: ToolCall) -> None:
        """Let the next call go on that is the same."""
        if ended := self._under_way.pop(_same(call), None):
            ended.set()

    def ended(self, call: ToolCall, result: StepResult, *, nothing_happened: bool) -> None:
        """Note how a call ended, and let the next one go on that is the same.

        The turn of a step's own call lasts until its result has met the step's criteria, or has not; see `end_turn`.
        """
        if self._specs[call.tool].repeatable:
            return
        if result.status == "failed" and not nothing_happened:
            self._arisen[_same(call)][call.key] = self._call(call, result)
        elif not nothing_happened:
            self._made[call.step].append(call)
        if call.number or call.item is not None:
            self.end_turn(call)

    async def unmet(self, step: str, error: str) -> None:
        """Note that the result of a step does not do although its calls, those of earlier passes too, succeeded."""
        for made in self._made.pop(step, ()):
            result = StepResult("succeeded")
            self._arisen[_same(made)][made.key] = replace(self._call(made, result), unmet=error)
        for call in self._record.calls.of_step(step):
            if not call.repeatable and not call.nothing_happened and call.tool in self._specs:
                same = call.tool, (await self._read(call)).digest
                self._arisen[same][call.key] = replace(call, unmet=error)

    async def _read(self, call: Call) -> "_Known":
        args = call.args
        if call.args_artifact is not None:
            args = json.loads(await self._ledger.artifact(call.args_artifact))
        return _Known(call, self.digest(call.tool, args), MARK in to_text(dict(args)))

    def _as_settled_here(self, call: Call) -> Call:
        known = self._record.calls.elsewhere.get(call.key)
        return known if known is not None and known.begun_seq == call.begun_seq else call

    def _same(self, call: ToolCall) -> list[Call]:
        return [known.call for known in self._known.get(call.tool, ()) if known.digest == call.same_digest]

    def _call(self, call: ToolCall, result: StepResult) -> Call:
        return Call(
            key=call.key,
            step=call.step,
            tool=call.tool,
            args=call.args,
            args_digest=call.args_digest,
            repeatable=False,
            revision=self._record.plan_state.revision,
            number=call.number,
            item=call.item,
            result=result,
        )


def _same(call: ToolCall) -> Same:
    return call.tool, call.same_digest
