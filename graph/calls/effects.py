"""Calls that may not be repeated: detection of earlier identical calls, and one call at a time among identical ones.

Two calls are identical if tool and arguments are equal: in this pass over the plan, in the run, and in the other runs
of its family, regardless of step, revision, item and number (decisions 25 and 122).
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import ToolCall
from planner_executor.graph.ledger.protocol import NOTHING_SEEN, Elsewhere
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.same_call import call_digest
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.other_runs import is_settled_by
from planner_executor.graph.record.redaction import MARK
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import to_text

Same = tuple[str, str]
"""Tool and digest of the arguments; equal for identical calls."""


@dataclass(frozen=True)
class _Known:
    """A call on record, and the digest it shares with identical calls unless it was redacted."""

    call: Call
    digest: str
    is_redacted: bool

    def may_be(self, call: ToolCall) -> bool:
        """Whether a call is identical to this one; a redacted call counts as identical to any."""
        return self.is_redacted or self.digest == call.same_digest


class Effects:
    """Index of the calls that may not be repeated, for one pass over the plan of a run."""

    def __init__(self, run: OwnedRun) -> None:
        self._run = run
        self._known: dict[str, list[_Known]] = {}
        self._elsewhere: Elsewhere | None = None
        self._looking_up = asyncio.Lock()
        self._arisen: defaultdict[Same, dict[str, Call]] = defaultdict(dict)
        self._made: defaultdict[str, list[ToolCall]] = defaultdict(list)
        self._under_way: dict[Same, asyncio.Event] = {}

    def digest(self, tool: str, args: Mapping[str, Any]) -> str:
        """Return the digest that identical calls share."""
        spec = self._run.toolbox.specs[tool]
        return call_digest(spec.schema, args) if spec.may_have_defaults else digest(dict(args))

    async def look_up(self, tool: str) -> None:
        """Load the recorded calls of a tool, so that later lookups need no I/O."""
        async with self._looking_up:
            # Under the lock: steps that start together read the record of a tool once.
            if tool not in self._known:
                if self._elsewhere is None:  # read once for all tools
                    self._elsewhere = await self._calls_elsewhere()
                self._known[tool] = await self._known_of(tool, self._elsewhere)

    async def look_again(self) -> None:
        """Load the calls of other runs anew: one of them has begun a call meanwhile."""
        async with self._looking_up:
            elsewhere = await self._calls_elsewhere()
            self._known |= {tool: await self._known_of(tool, elsewhere) for tool in tuple(self._known)}
            self._elsewhere = elsewhere

    @property
    def seen(self) -> Mapping[RunKey, int]:
        """How far the other runs of the family were read, by the number of an event."""
        return self._elsewhere.seen if self._elsewhere is not None else NOTHING_SEEN

    @property
    def has_forks(self) -> bool:
        """Whether other runs of the family may be executed at the same time."""
        return self._elsewhere is not None and self._elsewhere.has_forks

    def uncertain(self, call: ToolCall) -> list[Call]:
        """Return the identical calls that may have happened and are not settled yet."""
        on_record = [known.call for known in self._known[call.tool] if known.may_be(call)]
        found = {known.key: known for known in on_record} | self._arisen.get(_same(call), {})
        return [known for known in found.values() if known.is_uncertain]

    def others_uncertain(self, call: ToolCall) -> list[Call]:
        """Return the uncertain identical calls, except this call itself if it continues after an answer."""
        known = self._run.record.calls.by_key.get(call.key)
        goes_on = known is not None and known.may_go_on
        return [found for found in self.uncertain(call) if not (goes_on and found.key == call.key)]

    def settled(self, call: ToolCall) -> Call | None:
        """Return the identical call of this run that a person confirmed as having happened."""
        found = (known for known in self._same(call) if not known.run)
        return next((known for known in found if known.settled and not known.is_uncertain), None)

    def happened_elsewhere(self, call: ToolCall) -> list[Call]:
        """Return the identical calls of other runs that are known to have happened.

        In a fork the calls that the step itself made in the forked run count too, whatever their arguments.
        """
        known = [one.call for one in self._known.get(call.tool, ()) if one.digest == call.same_digest]
        known += [one for one in self._inherited_from(call.step, call.tool) if one not in known]
        return [one for one in known if one.run and one.settled and not one.is_uncertain]

    def take_turn(self, call: ToolCall) -> bool:
        """Mark the call as in progress unless an identical one is; return whether it may be made now."""
        if _same(call) in self._under_way:
            return False
        self._under_way[_same(call)] = asyncio.Event()
        return True

    async def wait_for_turn(self, call: ToolCall) -> list[Call]:
        """Wait until no identical call is in progress; return those that are uncertain by then.

        If there are none, the call has its turn.
        """
        # Several may wait for one turn: the first to wake takes it, and the others wait for its end.
        while (ended := self._under_way.get(_same(call))) is not None:
            await ended.wait()
        found = self.uncertain(call)
        if not found:
            self.take_turn(call)
        return found

    def end_turn(self, call: ToolCall) -> None:
        """Give the turn to the next identical call."""
        if ended := self._under_way.pop(_same(call), None):
            ended.set()

    def end_turns(self) -> None:
        """Give all turns up: the run has changed, so that no call that waits for one may be made."""
        while self._under_way:
            self._under_way.popitem()[1].set()

    def ended(self, call: ToolCall, result: StepResult | None, *, nothing_happened: bool = False) -> None:
        """Note the outcome of a call, and give the turn to the next identical one.

        `result` is None if it ended with questions: it has begun, so an identical one waits for what becomes of it.
        A step's own call keeps its turn until its result has been checked against the step's criteria; see `end_turn`.
        """
        if self._run.toolbox.specs[call.tool].repeatable:
            return
        if (result is None or result.status == "failed") and not nothing_happened:
            self._arisen[_same(call)][call.key] = self._call(call, result)
        elif not nothing_happened:
            self._made[call.step].append(call)
        if call.number or call.item is not None:
            self.end_turn(call)

    async def unmet(self, step: str, error: str) -> None:
        """Note that a step failed its criteria although its calls, including those of earlier passes, succeeded."""
        for made in self._made.pop(step, ()):
            self._arisen[_same(made)][made.key] = self._call(made, StepResult("succeeded"))._replace(unmet=error)
        for call in self._run.record.calls.of_step(step):
            if not call.repeatable and not call.nothing_happened and call.tool in self._run.toolbox.specs:
                same = call.tool, (await self._read(call)).digest
                self._arisen[same][call.key] = call._replace(unmet=error)

    async def _calls_elsewhere(self) -> Elsewhere:
        about = self._run.record.assignment
        return await self._run.ledger.calls_elsewhere(about.key, about.forked_from)

    async def _known_of(self, tool: str, elsewhere: Elsewhere) -> list[_Known]:
        """Return the calls of a tool that concern this run, its own and those of other runs."""
        on_record, read = self._run.record.calls, {run.id for run in elsewhere.seen}
        copies = on_record.elsewhere
        fresh = {
            call.key: copies[call.key] if is_settled_by(call, copies.get(call.key)) else call
            for call in elsewhere.calls
        }
        # Those that the run inherited come first, in the order of its record, as in a replay, which can read no source.
        inherited = {
            call.key: fresh[call.key] if call.run in read else call
            for call in on_record.inherited_calls
            if call.key in fresh or call.run not in read
        }
        others = inherited | {key: call for key, call in fresh.items() if key not in inherited}
        calls = [call for call in (*on_record.by_key.values(), *others.values()) if call.tool == tool]
        # A success is no reason to ask: steps that make the same call on purpose each make it.
        relevant = [call for call in calls if call.is_uncertain or call.settled]
        return [await self._read(call) for call in relevant]

    async def _read(self, call: Call) -> "_Known":
        args = call.args
        if call.args_artifact is not None:
            args = json.loads(await self._run.ledger.artifact(call.args_artifact))
        return _Known(call, self.digest(call.tool, args), MARK in to_text(dict(args)))

    def _inherited_from(self, step: str, tool: str) -> list[Call]:
        inherited = self._run.record.calls.inherited
        known = [one.call for one in self._known.get(tool, ()) if one.call.key in inherited] if inherited else []
        return [one for one in known if one.step == step]

    def _same(self, call: ToolCall) -> list[Call]:
        return [known.call for known in self._known.get(call.tool, ()) if known.digest == call.same_digest]

    def _call(self, call: ToolCall, result: StepResult | None) -> Call:
        return Call(
            key=call.key,
            step=call.step,
            tool=call.tool,
            args=call.args,
            args_digest=call.args_digest,
            repeatable=False,
            within=self._run.record.plan_state.current_pass,
            number=call.number,
            item=call.item,
            result=result,
        )


def _same(call: ToolCall) -> Same:
    return call.tool, call.same_digest
