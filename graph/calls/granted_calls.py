"""What a step may call: its grant, the tool's schema and the policy, and the key that the call has on record."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from pydantic import JsonValue

from graph.calls.tool_call import ToolCall
from graph.plan.attempts import AttemptLimits
from graph.plan.canonical import digest
from graph.plan.catalog import ToolSpec
from graph.plan.schema import Step
from graph.policy.grants import Grant, Refused
from graph.policy.new_effects import DENIED, is_undecided
from graph.policy.policy import Policy
from graph.record.call import call_key
from graph.record.run_state import RunState


class GrantedCalls:
    """The calls of a run in the order in which its steps make them; a model's calls are numbered."""

    def __init__(self, record: RunState, specs: Mapping[str, ToolSpec], policy: Policy, limits: AttemptLimits) -> None:
        self._record, self._specs, self._policy, self._limits = record, specs, policy, limits
        self._made: defaultdict[tuple[str, int | None], Counter[str]] = defaultdict(Counter)

    def call(self, step: Step, tool: str, args: Mapping[str, JsonValue], item: int | None) -> ToolCall:
        """Return the call with its idempotency key, which is equal across attempts and revisions.

        Raises:
            Refused: The step's grant, the schema or the policy does not allow it.
        """
        grant, made = Grant.of(step), self._made[step.id, item]
        grant.check(tool, made)
        spec = self._specs[tool]
        bound = grant.bound(args, spec.takes)
        self._check(spec, bound)
        if self._policy.new_effects == "deny" and is_undecided(self._record, step, tool):
            raise Refused(DENIED.format(tool))
        number = made.total() + 1 if grant.by_model else 0
        args_digest = digest(bound)
        key = call_key(self._record.id, step.id, item, number, tool, args_digest)
        call = ToolCall(key, step.id, number, tool, bound, args_digest, item)
        if key in self._record.review_state.replaced:
            call = self._edited(step, call)
        made[tool] += 1
        return call

    def limited(self, step: Step, call: ToolCall) -> ToolCall:
        """Return a call that is to be made, with its limits and the number of its next attempt."""
        spec = self._specs[call.tool]
        limits = self._limits.lowest(spec.attempt_limits, step.attempt_limits)
        if step.tool is None:  # the step's own limit is that of all its turns
            limits = limits._replace(timeout_s=self._limits.lowest(spec.attempt_limits).timeout_s)
        return call.changed(attempt=self._attempt(call.key), limits=limits)

    def _edited(self, step: Step, call: ToolCall) -> ToolCall:
        """Return the call that a person gave other arguments, which have to be granted and allowed as any."""
        spec, asked = self._specs[call.tool], self._record.review_state.replaced[call.key]
        args = Grant.of(step).bound(asked, spec.takes)
        self._check(spec, args)
        args_digest = digest(args)
        key = call_key(self._record.id, step.id, call.item, call.number, call.tool, args_digest)
        edited = tuple(name for name in args if name not in call.args or call.args[name] != args[name])
        return call.changed(key=key, args=args, args_digest=args_digest, edited=edited, replaces=call.key)

    def _check(self, spec: ToolSpec, args: Mapping[str, JsonValue]) -> None:
        if faults := spec.argument_faults(args) or self._policy.faults(spec, args):
            raise Refused("; ".join(f"{place}: {message}" for place, message in faults))

    def _attempt(self, key: str) -> int:
        """Return the number of the call's next attempt, after those on record that the next was to follow."""
        known = self._record.calls.by_key.get(key)
        if known is None or (known.result is not None and not known.again):
            return 1
        return known.attempt + known.again
