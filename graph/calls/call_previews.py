"""Previews at the choke point: what a tool says that a call would do, which is not made.

A preview is a call of its own kind: it is checked as the call would be, has a time limit, takes the turn and the caps
of its tool if it leaves the machine, and is kept with the event that it is made for (decision 151).
"""

import asyncio
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
from planner_executor.graph.record.call_preview import MOST, CallPreview
from planner_executor.graph.record.known_calls import known_calls
from planner_executor.graph.record.values import normalise, to_text

TIMEOUT_S = 10.0
UNTRUSTED = "its arguments come from results that are not known to be trusted"
LEAVES = "its preview leaves this machine, and the policy does not name the tool in leaving_previews"
CHANGED = "what its tool says that it would do has changed since people saw it"


class CallPreviews:
    """The previews of one pass over the plan of a run, in its recorded state."""

    def __init__(self, run: OwnedRun) -> None:
        self._run, self._known = run, run.record.review_state.previews
        held = [held for held in run.record.waiting_calls if held.key in self._known.by_key]
        self._left = MOST - len(held)

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
        made: dict[tuple[str, str, bool], CallPreview] = {}
        found = []
        for one in calls:
            is_untrusted = one.step in untrusted
            like = one.tool, digest(dict(one.args)), is_untrusted
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
        was = self._known.shown.get(call.key)
        if was is None and not is_edited:
            return None
        found = await self.of(call)
        return found if found is None or was is None or not was.is_like(found) else _same(found)

    async def of(self, call: ToolCall) -> CallPreview | None:
        """Return the preview of a call with these arguments, None if its tool has none or enough were made."""
        if not self._run.asks:
            return None
        if self._run.toolbox[call.tool].preview is None:
            return self._run.toolbox.preview_on_record(call.key)
        if call.key not in self._known.shown:
            self._left -= 1
        if self._left < 0:
            return None
        is_untrusted = any(label.trust in ("undeclared", "untrusted") for label in call.labels.values())
        place = call.step if call.item is None else f"{call.step}[{call.item}]"
        return await self._made(call.key, place, call.tool, call.args, is_untrusted=is_untrusted)

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
        try:
            output = await self._within_time(spec, key, args)
            text = output if isinstance(output, str) else to_text(normalise(output))
            return CallPreview.of(key, place, tool, text.encode(errors="replace").decode())
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return CallPreview(key, place, tool, none="the tool cancelled itself")
        except CapReachedError as reached:
            return CallPreview(key, place, tool, none=f"{reached.words}, used up")
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

    async def _within_time(self, spec: ToolSpec, key: str, args: Mapping[str, JsonValue]) -> Any:
        bound = self._run.toolbox[spec.name]
        if bound.preview is not None and bound.preview.leaves:
            await self._take_turn(spec.name, key)
        limit_s = self._run.limits.lowest(spec.attempt_limits).timeout_s
        most_s = TIMEOUT_S if limit_s is None else min(limit_s, TIMEOUT_S)
        return await within(most_s, bound.previewed(args), stoppable=bound.is_preview_awaitable)

    async def _take_turn(self, tool: str, key: str) -> None:
        """Wait for a turn of the tool, and count the preview against its caps as a call.

        Raises:
            CapReachedError: A cap across runs allows it only later.
        """
        await self._run.clock.sleep(self._run.turns.wait_s(tool))
        if (use := self._run.caps.of_tool(tool, digest([key, "preview"]))) is not None:
            await in_turn(lambda: self._run.ledger.append(self._run.lease, [], caps=[use]), self._run.clock)


def _same(found: CallPreview) -> CallPreview:
    return CallPreview(found.key, found.place, found.tool, same=True)
