"""Calls that a standing approval lets through: one of the run, or one that holds beyond its run."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from planner_executor.graph.calls.tool_call import Admitted, ToolCall
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.standing import consent_fault, covers
from planner_executor.graph.record.events import Draft, StandingGiven
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.standing_approval import (
    OF_PLAYBOOKS,
    StandingApproval,
    StandingCall,
    StandingUse,
)
from planner_executor.graph.record.trust_label import TrustLabel

CONSENTS = ("gate", "limit")
"""What people pass or raise: they have approved by it, and asked for nothing."""


@dataclass
class StandingCalls:
    """The standing approvals for one pass over a plan; a call admitted is counted before its intent is.

    Those of any run are read when the first call of a tool is held, and counted in the transaction of the intent.
    """

    ledger: Ledger
    record: RunState
    policy: Policy
    _of_any_run: dict[str, StandingUse] = field(default_factory=dict)
    _looked_up: set[str] = field(default_factory=set)
    _admitted: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _noted: set[str] = field(default_factory=set)
    _ahead: dict[str, str | None] = field(default_factory=dict)

    async def covering(
        self, tool: ToolSpec, call: ToolCall, untrusted: Mapping[str, TrustLabel], *, is_unmet: bool
    ) -> str | None:
        """Return the standing approval that lets a call through, None if there is none.

        Of an unmet call the rules on plans were not met: those who gave the approval have to meet these too.
        """
        # By tool, as the first of its calls comes up: most runs have none.
        if tool.name not in self._looked_up:
            found = await self.ledger.standing(tool.name, self.record.standing.by_id.keys())
            self._of_any_run |= {use.approval.id: use for use in found if use.approval.tool == tool.name}
            self._looked_up.add(tool.name)
        # Those of this run first: what holds beyond it has uses that later runs may want.
        own = (use for use in self.record.standing.by_id.values() if use.approval.run is not None)
        for use in (*own, *self._of_any_run.values()):
            # Consent is asked anew for each call: rules on people may have become stricter since it was given.
            if not (use.is_replayed or self._is_consent(use.approval, tool, call.step, is_unmet=is_unmet)):
                continue
            if self._has_room(use, call) and covers(use.approval, tool, call.args, untrusted, self.policy):
                self._admitted[use.approval.id].add(call.key)
                return use.approval.id
        return None

    async def of_plan(self, call: ToolCall) -> str | None:
        """Return the standing approval by which the plan in force passed, None if none did or it was revoked.

        It covers the calls that the policy asks about, unless people have rejected one.
        """
        review, within = self.record.review_state, self.record.plan_state.current_pass
        ahead = review.approval.standing if review.approval is not None else None
        # A person's no to the call comes before a yes that was given ahead.
        if ahead is None or review.rejection(call.replaces or call.key, within):
            return None
        # Asked of the ledger once, as the calls of a plan are many.
        if ahead not in self._ahead:
            uses = await self.ledger.standing(OF_PLAYBOOKS, [ahead])
            holds = any(use.approval.id == ahead and use.revoked_by is None for use in uses)
            self._ahead[ahead] = ahead if holds else None
        return self._ahead[ahead]

    def counted(self, calls: Iterable[Admitted]) -> tuple[list[Draft], Sequence[StandingCall]]:
        """Return what is written with the intents of calls: the approvals that hold in any run, and their uses."""
        drafts, uses = [], []
        for admitted in calls:
            use, call = self._of_any_run.get(admitted.approval or ""), admitted.call
            if (ahead := self._ahead.get(admitted.approval or "")) is not None:
                # The run was counted when its plan passed: this finds out only that nobody has revoked it since.
                uses.append(StandingCall(ahead, self.record.id, self.record.id))
            if use is None:
                continue
            uses.append(StandingCall(use.approval.id, call.key, self.record.id))
            # Copied into the record once, which then says by itself what let the call through.
            if use.approval.id not in self._noted | self.record.standing.by_id.keys():
                self._noted.add(use.approval.id)
                drafts.append(Draft(StandingGiven(approval=use.approval), call.step))
        return drafts, uses

    def _is_consent(self, approval: StandingApproval, tool: ToolSpec, step: str, *, is_unmet: bool) -> bool:
        """Whether those who gave an approval consent to a call of the tool, as the run is now (decision 116)."""
        approvers, cost_usd = self.policy.approvers, self.record.spending.budget.within(self.policy.limits).cost_usd
        if approval.run is None and approval.roles is None and approvers.has_cost_rule(cost_usd):
            return False  # without their roles it is not known whether they may decide about a run that costs this much
        # An approval of the run itself may be from people to whom its request was escalated.
        late_s, plans = 0.0 if approval.run is None else inf, [tool] if is_unmet else []
        rules = approvers.rules(plans, cost_usd, late_s, calls=[tool])
        return consent_fault(approval, rules, self._askers(step)) is None

    def _askers(self, step: str) -> tuple[str, ...]:
        """Return the labels of those who asked for the calls of a step, or gave what they or a revision rest on."""
        people, raw = self.record.people, self.record.plan_state.plan
        if not people.values or raw is None:
            return people.askers
        plan = Plan.model_validate(raw)
        gave = (one for one in people.values.values() if one.kind not in CONSENTS and step in one.reached(plan))
        return (*people.askers, *(label for one in gave for label in one.by))

    def _has_room(self, use: StandingUse, call: ToolCall) -> bool:
        counted = {*use.calls, *self._admitted[use.approval.id]}
        is_left = use.holds(time.time()) and len(counted) < use.approval.at_most
        # Another attempt at a call that was counted takes no more room, as in the ledger.
        return is_left or (call.key in counted and use.revoked_by is None)
