"""Previews at the choke point: what a tool says that a call would do, which is not made.

A preview is a call of its own kind: it is checked as the call would be, has a time limit, and is kept with the event
that it is made for. One that leaves the machine takes the turn and the caps of its tool, and its intent is on record
before (decision 151).
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.calls.call_timeout import within
from planner_executor.graph.calls.caps import in_turn
from planner_executor.graph.calls.failures import error_of, failure_words
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import ToolCall
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.call_preview import BEYOND, MOST, CallPreview
from planner_executor.graph.record.events import CallPreviewed, Draft
from planner_executor.graph.record.known_calls import known_calls
from planner_executor.graph.record.values import normalise, to_text

TIMEOUT_S = 10.0
UNTRUSTED = "its arguments come from results that are not known to be trusted"
LEAVES = "its preview leaves this machine, and the policy does not name the tool in leaving_previews"
Likeness = tuple[str, str, bool]
"""What calls with one preview have in common: the tool, the digest of the arguments, whether these are untrusted."""
CHANGED = "what its tool says that it would do has changed since people saw it"


class CallPreviews:
    """The previews of one pass over the plan of a run, in its recorded state."""

    def __init__(self, run: OwnedRun) -> None:
        self._run, self._known = run, run.record.review_state.previews
        self._left = MOST - len(self._known.counted(held.event.key for held in run.record.waiting_calls))
        self._of_held: dict[Likeness, CallPreview] = {}
        self._in_turn: defaultdict[Likeness, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of_plan(self, steps: Sequence[Step], untrusted: Collection[str]) -> list[CallPreview]:
        """Return the previews of the first calls that are known and have one, without those on record.

        One is made of calls of a tool with the same arguments.

        Args:
            steps: The steps that are left to do.
            untrusted: Steps that were written after untrusted data was read.
        """
        if not self._run.asks:
            return []
        toolbox = self._run.toolbox
        having = (step for step in steps if step.tool and toolbox[step.tool].preview is not None)
        calls = islice(known_calls(self._run.record.id, having), max(self._left, 0))
        made: dict[Likeness, CallPreview] = {}
        found = []
        for one in calls:
            is_untrusted = one.step in untrusted
            like = one.tool, digest(dict(one.args)), is_untrusted
            # What is on record stands for a call that is like it too: a preview may cost, and people saw that one.
            if like not in made and one.key in self._known.by_key:
                made[like] = self._known.by_key[one.key]
            elif like not in made:
                made[like] = await self._made(one.key, one.place, one.tool, one.args, is_untrusted=is_untrusted)
            if one.key not in self._known.by_key:
                found.append(replace(made[like], key=one.key, place=one.place))
        return found

    async def due(self, call: ToolCall) -> CallPreview | None:
        """Return the preview of a call that is due: if people were shown one, or wrote the arguments themselves."""
        revised = self._run.record.plan_state.revised
        is_edited = bool(call.edited) or (revised is not None and revised.author == "person")
        was = self._known.shown.get(call.name)
        if was is None and not is_edited:
            return None
        found = await self._of(call)
        return found if found is None or was is None or not was.is_like(found) else _same(found)

    async def of_held(self, call: ToolCall) -> CallPreview | None:
        """Return the preview of a call that is held; calls of a tool with the same arguments have one."""
        like = call.tool, call.args_digest, _is_untrusted(call)
        async with self._in_turn[like]:
            if (made := self._of_held.get(like)) is not None and self._counts(call):
                return replace(made, key=call.name, place=call.place)
            found = await self._of(call)
            if found is not None and not found.is_beyond:
                self._of_held[like] = found
            return found

    def may_be_made(self, tool: str) -> bool:
        """Whether previews of calls of a tool are made, for which they wait."""
        return self._run.asks and self._run.toolbox[tool].preview is not None

    def is_missing(self, call: ToolCall) -> bool:
        """Whether none is on record of a call whose tool has some: a person gave it other arguments."""
        if call.name in self._known.by_key or not self._run.asks:
            return False
        return self.may_be_made(call.tool) or self._run.toolbox.preview_on_record(call.name) is not None

    def _counts(self, call: ToolCall) -> bool:
        """Count a preview, and return whether a request has room for it."""
        self._left -= call.name not in self._known.shown
        return self._left >= 0

    async def _of(self, call: ToolCall) -> CallPreview | None:
        """Return the preview of a call with these arguments, None if its tool has none."""
        if not self._run.asks:
            return None
        if self._run.toolbox[call.tool].preview is None:
            return self._run.toolbox.preview_on_record(call.name)
        if not self._counts(call):
            return CallPreview(call.name, call.place, call.tool, none=BEYOND)
        return await self._made(call.name, call.place, call.tool, call.args, is_untrusted=_is_untrusted(call))

    def changed(self, due: CallPreview | None) -> str | None:
        """Return why a person has to see a call whose preview is another one than was shown, None if nobody has."""
        if due is None or due.same or self._run.policy.preview_changed == "go":
            return None
        was = self._known.shown.get(due.key)
        return CHANGED if was is not None and not was.is_like(due) else None

    async def _made(
        self, key: str, place: str, tool: str, args: Mapping[str, JsonValue], *, is_untrusted: bool
    ) -> CallPreview:
        spec = self._run.toolbox.specs[tool]
        if why := self._refusal(spec, args, is_untrusted=is_untrusted):
            return CallPreview(key, place, tool, none=why)
        preview = self._run.toolbox[tool].preview
        try:
            if preview is not None and preview.leaves:
                await self._take_turn(CallPreview(key, place, tool))
        except CapReachedError as reached:
            return CallPreview(key, place, tool, none=f"{reached.words}, used up")
        try:
            output = await self._within_time(spec, args)
            text = output if isinstance(output, str) else to_text(normalise(output))
            return CallPreview.of(key, place, tool, text.encode(errors="replace").decode())
        except asyncio.CancelledError:
            # A cancellation from outside goes on its way; one that a tool raised by itself is its answer.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return CallPreview(key, place, tool, none="the tool cancelled itself")
        except Exception as error:  # noqa: BLE001  (a tool's own code; what it raises is data)
            return CallPreview(key, place, tool, none=error_of(failure_words(error)))

    def _refusal(self, spec: ToolSpec, args: Mapping[str, JsonValue], *, is_untrusted: bool) -> str | None:
        preview = self._run.toolbox[spec.name].preview
        if faults := spec.argument_faults(args) or self._run.policy.faults(spec, args):
            return "; ".join(f"{where}: {message}" for where, message in faults)
        if is_untrusted:
            return UNTRUSTED
        is_named = spec.name in self._run.policy.leaving_previews
        return LEAVES if preview is not None and preview.leaves and not is_named else None

    async def _within_time(self, spec: ToolSpec, args: Mapping[str, JsonValue]) -> Any:
        bound = self._run.toolbox[spec.name]
        limit_s = self._run.limits.lowest(spec.attempt_limits).timeout_s
        most_s = TIMEOUT_S if limit_s is None else min(limit_s, TIMEOUT_S)
        return await within(most_s, bound.previewed(args), stoppable=bound.is_preview_awaitable)

    async def _take_turn(self, begun: CallPreview) -> None:
        """Wait for a turn of the tool, and write the intent, which counts against its caps as a call does.

        Raises:
            CapReachedError: A cap across runs allows it only later.
            LedgerError: The intent cannot be written, so nothing may leave.
        """
        await self._run.clock.sleep(self._run.turns.wait_s(begun.tool))
        # Under a key of its own: the call itself counts once more when it is made.
        use = self._run.caps.of_tool(begun.tool, digest([begun.key, "preview"]))
        intent = Draft(CallPreviewed(previews=(begun,)), begun.place.partition("[")[0])
        append, lease = self._run.ledger.append, self._run.lease
        await in_turn(lambda: append(lease, [intent], caps=[use] if use is not None else []), self._run.clock)


def _is_untrusted(call: ToolCall) -> bool:
    return any(label.trust in ("undeclared", "untrusted") for label in call.labels.values())


def _same(found: CallPreview) -> CallPreview:
    return CallPreview(found.key, found.place, found.tool, same=True)
