"""Standing approvals that come with the approval of a call."""

import time
from collections.abc import Sequence

from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.policy.standing import covers, standing_args, standing_fault, time_of, wide_fault
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.standing_approval import StandingApproval
from planner_executor.graph.review.decision import InvalidResponse
from planner_executor.graph.review.verdict import ReviewVerdict

ID_CHARACTERS = 12


def approvals_given(run: RunContext, verdict: ReviewVerdict, by: Sequence[Approver]) -> list[StandingApproval]:
    """Return the standing approvals given with the calls approved; `by` are all who gave them.

    Raises:
        InvalidResponse: A wish is not understood, does not cover the call that was shown, or is about a call that
            happened before.
    """
    found = []
    for key, wish in verdict.standing.items():
        held, now = run.record.review_state.held[key], time.time()
        tool, policy = run.services.toolbox.specs.get(held.tool), run.terms.policy
        if fault := standing_fault(wish, now, policy.standing_s):
            raise InvalidResponse(fault)
        if held.before or tool is None:
            raise InvalidResponse(f"the call of {held.tool} in {held.step} is decided by itself, without standing")
        until = time_of(wish.get("until"))
        rules = policy.approvers.rules([tool], run.terms.bounds.cost_usd, calls=[tool])  # in other runs by either table
        if until is not None and (fault := wide_fault(rules, by, run.record.people.askers)):
            raise InvalidResponse(fault)
        approval = StandingApproval(
            id=digest([run.record.id, run.record.review_state.requests, key])[:ID_CHARACTERS],
            tool=held.tool,
            args=standing_args(wish, held.args),
            at_most=wish["at_most"],
            fingerprint=tool.fingerprint,
            policy=policy.digest,
            given_by=tuple(map(str, by)),
            given_at=now,
            run=run.record.id if until is None else None,
            until=until,
            roles={str(giver): giver.roles for giver in by},
            of_givers=until is not None and not rules,
        )
        if not covers(approval, tool, held.args, {}, policy):
            raise InvalidResponse(f"standing for {held.tool} does not cover the call that was shown; change its args")
        found.append(approval)
    return found
