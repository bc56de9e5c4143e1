"""Calls that a standing approval lets through."""

import time
from collections import defaultdict
from collections.abc import Mapping

from graph.calls.tool_call import ToolCall
from graph.plan.catalog import ToolSpec
from graph.policy.policy import Policy
from graph.policy.standing import covers
from graph.record.run_state import RunState
from graph.record.trust_label import TrustLabel


class StandingCalls:
    """The standing approvals of a run, for one pass over its plan; a call admitted is counted before its intent is."""

    def __init__(self, record: RunState, policy: Policy) -> None:
        self._record, self._policy = record, policy
        self._admitted: defaultdict[str, set[str]] = defaultdict(set)

    def covering(self, tool: ToolSpec, call: ToolCall, untrusted: Mapping[str, TrustLabel]) -> str | None:
        """Return the standing approval that lets a call through, None if there is none."""
        now = time.time()
        for use in self._record.standing.by_id.values():
            name, admitted = use.approval.id, self._admitted[use.approval.id]
            counted = {*use.calls, *admitted}
            is_left = use.holds(now) and len(counted) < use.approval.at_most
            is_counted = call.key in counted and use.revoked_by is None
            if (is_left or is_counted) and covers(use.approval, tool, call.args, untrusted, self._policy):
                admitted.add(call.key)
                return name
        return None
