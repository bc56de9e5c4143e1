"""Open requests of a run, and its decisions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.call import HeldCall, RejectedCall, WaitingCall
from planner_executor.graph.record.call_preview import Previews
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.record.events import (
    CallRefused,
    Decided,
    Event,
    LateAnswer,
    ResponseGiven,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunReopened,
    StepHeld,
    StepUncertain,
)
from planner_executor.graph.record.given_value import tools_in
from planner_executor.graph.record.run_pass import Pass


@dataclass(frozen=True)
class Approval:
    """A decision that lets a plan run: digest, terms, and by whom, see `Decided`; `standing` as there.

    `met` maps each tool whose calls people approved, with this plan or with one before, to the rules on people that
    they met; None for all, by a record of an earlier release. They decided at the event `people_seq`.
    """

    seq: int
    digest: str
    binding: str
    by: str
    approver: str = ""
    met: Mapping[str, tuple[Mapping[str, Any], ...] | None] = field(default_factory=dict)
    people_seq: int = 0
    standing: str | None = None


class Consent(NamedTuple):
    """People's approval of a call beside that of its plan: the rules on people that they met, and their labels."""

    met: tuple[Mapping[str, Any], ...]
    by: tuple[str, ...]


class RecordedRequest(NamedTuple):
    """A review request, as it was shown last.

    Of its deadline all up to `handled_s` after the beginning was done; others may decide too since `escalated_s`.
    `reminded_at` and `escalated_at` are the times of such events, `since` the time since which a person has been asked,
    in Unix seconds. `tools` are those that it showed, `askers` those who asked for it.
    """

    shown: ReviewRequested
    handled_s: float = 0.0
    escalated_s: float = 0.0
    tools: frozenset[str] = frozenset()
    askers: tuple[str, ...] = ()
    since: float = 0.0
    reminded_at: float | None = None
    escalated_at: float | None = None


@dataclass
class ReviewState:
    """The open request of a run, its approval, and the calls that wait for a person; changed by events only."""

    approval: Approval | None = None

    # The open request, the number of the last one, how many there were by plan and names of actions, and a response to
    # the open one that nobody has carried out yet (decision 91).
    request: RecordedRequest | None = None
    requests: int = 0
    requests_about: dict[tuple[str | None, tuple[str, ...]], int] = field(default_factory=dict)
    response: ResponseGiven | None = None

    # Calls that waited for a review, by key: the keys that a person approved, the arguments that a person gave instead,
    # and the calls that a person rejected with words, or that nobody decided about (decision 72).
    held: dict[str, HeldCall] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    replaced: dict[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    rejected: dict[str, RejectedCall] = field(default_factory=dict)

    # What tools say that calls would do (decision 151).
    previews: Previews = field(default_factory=Previews)

    # Calls that the policy asks about and that people approved with the plan that they approved last (decision 146).
    with_plan: dict[str, Consent] = field(default_factory=dict)

    # Calls that waited until others were settled, by key, and the digests of recorded refusals.
    uncertain: dict[str, WaitingCall] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    # The last request that nobody decided in time, unless another one was shown since, and the checkpoints of answers
    # that came after it, so that each is recorded once (decision 83).
    last_expired: ReviewExpired | None = None
    late_at: set[str] = field(default_factory=set)

    # Decisions by checkpoint, and the event numbers of the last two: a state before the last is a fork (decision 3).
    decided_at: dict[str, Decided] = field(default_factory=dict)
    last_decision_seq: int = 0
    decision_before_seq: int = 0

    def review_requested(
        self, data: ReviewRequested, plan: Mapping[str, Any] | None, at: float = 0.0, askers: tuple[str, ...] = ()
    ) -> None:
        """Open a request, about this plan among others, or show it again; a response given before has been refused."""
        # While a response was on record nobody was waited for.
        since = self.request.since if self.request is not None and self.response is None else at
        if data.request != self.requests:
            about = data.digest, data.asked
            self.requests_about[about] = self.requests_about.get(about, 0) + 1
        tools = {one["args"]["tool"] for one in data.actions if "tool" in one.get("args", {})}
        tools.update(tools_in(plan) if "run_plan" in data.asked else ())
        # What has fallen due of a request that is shown again is not done a second time.
        is_again = self.request is not None and self.request.shown.request == data.request
        asked = (self.request if is_again else None) or RecordedRequest(data)
        self.request = asked._replace(shown=data, tools=frozenset(tools), askers=askers, since=since)
        self.last_expired, self.requests, self.response = None, data.request, None
        # A request about the plan shows those of the plan; every request shows those of the calls that wait.
        known = self.previews.by_key
        self.previews.were_shown([key for key in known if "run_plan" in data.asked or self._waits_for(key)])

    def _waits_for(self, key: str) -> bool:
        return key in self.held and key not in self.seen

    def asked_before(self, digest: str | None, asked: tuple[str, ...], *, is_open: bool) -> int:
        """Return how many earlier requests asked for the same about the same plan; one that is open is none of them."""
        return self.requests_about.get((digest, asked), 0) - is_open

    def fell_due(self, data: ReviewReminded | ReviewEscalated, at: float = 0.0) -> None:
        """Note a moment of the deadline; after an escalation others may decide too."""
        request = self.request
        if request is None or request.shown.request != data.request:
            return
        # The events of two processes may be written in either order.
        request = request._replace(handled_s=max(request.handled_s, data.after_s))
        if isinstance(data, ReviewEscalated):
            self.request = request._replace(escalated_s=max(request.escalated_s, data.after_s), escalated_at=at)
        else:
            self.request = request._replace(reminded_at=at)

    def expired(self, data: ReviewExpired, within: Pass) -> None:
        """Close the request as a rejection; no decision of a checkpoint was made."""
        self.close()
        self.last_expired = data
        self.rejected.update({key: RejectedCall(why, within) for key, why in data.rejected.items()})

    def answered_late(self, data: LateAnswer) -> None:
        """Note the checkpoint of an answer that came too late, so that it is recorded once."""
        if data.checkpoint is not None:
            self.late_at.add(data.checkpoint)

    def decided(self, event: Event, data: Decided, within: Pass, plan: Mapping[str, Any] | None) -> None:
        """Close the request, made in this pass; a raised budget binds the approval in force to new terms."""
        shown = self.request.tools if self.request is not None else frozenset()
        self.close()
        self.decision_before_seq, self.last_decision_seq = self.last_decision_seq, event.seq
        self.decided_at[data.checkpoint or ""] = data
        self.seen.update(data.steps)
        if data.with_plan is not None:
            self.with_plan = {one.key: Consent(one.met, data.voters or (data.approver,)) for one in data.with_plan}
        said = {key: RejectedCall(f"a person rejected this call: {why}", within) for key, why in data.rejected.items()}
        self.rejected.update(said)
        for key, args in data.replaced.items():
            self.replaced[key] = args
            self.previews.forget(key)
            # It stays held under its old key: the edited call is another one, which is found by it.
            self.held[key] = self.held[key]._replace(within=within, edited=args)
        if data.decision == "approve":
            bound = event.seq, data.digest or "", data.binding or "", data.by, data.approver
            people = self._people(event, data, shown, dict.fromkeys(tools_in(plan)))
            self.approval = Approval(*bound, *people, data.standing)
        # An approval binds the budget too; raising that changes the terms and leaves what was approved as it is.
        elif data.budget is not None and self.approval is not None:
            self.approval = replace(self.approval, binding=data.binding or "")

    def _people(
        self, event: Event, data: Decided, shown: Collection[str], tools: Collection[str]
    ) -> tuple[Mapping[str, tuple[Mapping[str, Any], ...] | None], int]:
        """Return what people met who approved a plan with these tools, and at which event they did.

        An approval by the policy leaves theirs as it was. One of an earlier release met what its request showed.
        """
        # The policy lets a plan pass that is within what was approved; those who approved that stay on record.
        if data.by == "policy":
            before = self.approval
            kept = {tool: before.met[tool] for tool in tools if tool in before.met} if before is not None else {}
            return kept, before.people_seq if before is not None else 0
        if data.met is None:
            # None stands for a tool that was shown: whoever answered met the
            # rules of that time, which are not on record.
            return {tool: None if tool in shown else () for tool in tools}, event.seq
        return {tool: data.met.get(tool, ()) for tool in tools}, event.seq

    def run_reopened(self, data: RunReopened) -> None:
        """Bind the approval in force to a raised budget; what is asked from now on has not expired."""
        self.last_expired = None
        if data.budget is not None and self.approval is not None:
            self.approval = replace(self.approval, binding=data.binding or "")

    def rejection(self, key: str, within: Pass) -> str | None:
        """Return why a call was rejected in this pass, None if it was not."""
        found = self.rejected.get(key)
        return found.why if found is not None and found.within == within else None

    def close(self) -> None:
        """Close the request without a decision: the run ended, or was steered."""
        self.request = self.response = None

    @property
    def waits(self) -> bool:
        """Whether a person has to respond."""
        return self.request is not None and self.response is None

    def step_held(self, event: Event, data: StepHeld, within: Pass) -> None:
        """Add a call held for review."""
        if data.previewed is not None and self.previews.made_again(data.previewed):
            self.seen.discard(data.key)  # people saw another preview
        self.held[data.key] = HeldCall(event.step or "", data, within, self.replaced.get(data.key))

    def step_uncertain(self, event: Event, data: StepUncertain, within: Pass) -> None:
        """Add a call that waits for others to be settled."""
        self.uncertain[data.key] = WaitingCall(event.step or "", tuple(call.key for call in data.calls), within)

    def call_refused(self, event: Event, data: CallRefused) -> None:
        """Add a refused call, so that the same refusal is recorded once."""
        self.refused.add(refusal_digest(event.step, data))


def expired_in_words(at: float) -> str:
    """Return that nobody decided a request in time.

    >>> expired_in_words(1795389814.3)
    'nobody decided until 2026-11-22 at 23:23 UTC'
    """
    return f"nobody decided until {moment_in_words(at)}"


def refusal_digest(step: str | None, refused: CallRefused) -> str:
    """Return the digest of a refusal; it does not depend on the checkpoint."""
    return digest([step, replace(refused, checkpoint=None).to_json()])
