"""What a step may call: its grant, the tool's schema and the policy, and the key that the call has on record."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.tool_call import ToolCall
from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Grant, Refused
from planner_executor.graph.policy.new_effects import DENIED, is_undecided
from planner_executor.graph.record.call import call_key


class GrantedCalls:
    """The calls of a run in the order in which its steps make them; a model's calls are numbered."""

    def __init__(self, run: OwnedRun) -> None:
        self._run = run
        self._made: defaultdict[tuple[str, int | None], Counter[str]] = defaultdict(Counter)
        self._numbers: defaultdict[tuple[str, int | None], set[int]] = defaultdict(set)

    def call(self, step: Step, tool: str, args: Mapping[str, JsonValue], item: int | None) -> ToolCall:
        """Return the call with its idempotency key, which is equal across attempts and revisions.

        Raises:
            Refused: The step's grant, the schema or the policy does not allow it.
        """
        grant, made = Grant.of(step), self._made[step.id, item]
        grant.check(tool, made)
        spec = self._run.toolbox.specs[tool]
        bound = grant.bound(args, spec.takes)
        self._check(spec, bound)
        if self._run.policy.new_effects == "deny" and is_undecided(self._run.record, step, tool):
            raise Refused(DENIED.format(tool))
        args_digest = digest(bound)
        number = self._number(step.id, item, tool, args_digest) if grant.by_model else 0
        key = call_key(self._run.record.id, step.id, item, number, tool, args_digest)
        call = ToolCall(key, step.id, number, tool, bound, args_digest, item)
        # By the key of what the model asked: the person replaced the arguments of that very call.
        if key in self._run.record.review_state.replaced:
            call = self._edited(step, call)
        # What an earlier conversation called counts, or each resume would give the model its grant anew.
        elif grant.by_model and key not in self._run.record.calls.by_key:
            grant.check(tool, made + self._left_out(step.id, item))
        made[tool] += 1
        self._numbers[step.id, item].add(number)
        return call

    def limits(self, step: Step, call: ToolCall) -> AttemptLimits:
        """Return how long and how often a call may be tried."""
        spec = self._run.toolbox.specs[call.tool]
        limits = self._run.limits.lowest(spec.attempt_limits, step.attempt_limits)
        if step.tool is None:  # the step's own limit is that of all its turns
            limits = limits._replace(timeout_s=self._run.limits.lowest(spec.attempt_limits).timeout_s)
        return limits

    def next_attempt(self, key: str) -> int:
        """Return the number of the call's next attempt, after those on record that the next was to follow."""
        known = self._run.record.calls.by_key.get(key)
        if known is None or (known.result is not None and not known.again):
            return 1
        return known.attempt + known.again

    def _number(self, step: str, item: int | None, tool: str, args_digest: str) -> int:
        """Return the number of a model's call: that of the same call on record which it has not asked for yet.

        A conversation that begins anew may ask in another order, or leave a call out; a new call has a new number.
        """
        made, taken = self._made[step, item], self._numbers[step, item]
        same = self._run.record.asked_again(step, item, tool, args_digest) - taken
        if same:
            return min(same)
        # Never the number of another call: keys are made of it, and a key is one effect.
        used = {call.number for call in self._run.record.calls.of_step(step) if call.item == item} | taken
        return made.total() + 1 if made.total() + 1 not in used else max(used) + 1

    def _left_out(self, step: str, item: int | None) -> Counter[str]:
        """Return the calls by tool that an earlier conversation made under this revision, and this one did not ask for.

        They count against the grant: what was approved is a number of calls, in however many conversations.
        """
        revision, taken = self._run.record.plan_state.revision, self._numbers[step, item]
        calls = (call for call in self._run.record.calls.of_step(step) if call.item == item)
        return Counter(
            call.tool
            for call in calls
            if call.number not in taken
            and call.within.revision == revision
            and not (call.repeatable or call.nothing_happened)
        )

    def _edited(self, step: Step, call: ToolCall) -> ToolCall:
        """Return the call that a person gave other arguments, which have to be granted and allowed as any."""
        spec, asked = self._run.toolbox.specs[call.tool], self._run.record.review_state.replaced[call.key]
        args = Grant.of(step).bound(asked, spec.takes)
        self._check(spec, args)
        args_digest = digest(args)
        key = call_key(self._run.record.id, step.id, call.item, call.number, call.tool, args_digest)
        edited = tuple(name for name in args if name not in call.args or call.args[name] != args[name])
        return replace(call, key=key, args=args, args_digest=args_digest, edited=edited, replaces=call.key)

    def _check(self, spec: ToolSpec, args: Mapping[str, JsonValue]) -> None:
        if faults := spec.argument_faults(args) or self._run.policy.faults(spec, args):
            raise Refused("; ".join(f"{place}: {message}" for place, message in faults))
