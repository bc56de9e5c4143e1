"""The review request: everything that needs a person now, in the shape of LangChain's `HITLRequest`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.lazy import lazy
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.review.content import ActionContent, PeopleContent, ReviewContent
from planner_executor.graph.review.request_json import (
    ActionName,
    DecisionType,
    allowed_for,
    beside_plans,
    config,
    request_digest,
)

UNCHANGED = "the plan stays as it was"
"""Beginning of the error of a request that is repeated because feedback led to no other plan."""
ANEW = "; review the request below"
"""End of the error of a request that takes the place of the one that was answered."""

PLAN_LINE = "Plan: "
"""Beginning of the line with the digest of the plan that a call, a gate or a question is in."""


@dataclass(frozen=True)
class ReviewAction:
    """One thing to decide, with a description in Markdown in which untrusted text is code (`graph.text.review`).

    `key` identifies the call or the limit in question, `answer_schema` is the JSON Schema of an answer. `digest` is set
    for a call that a revision adds: its own, since the plan's does not cover it. `content` says as data what the
    description says in words. A plan that `cannot_run` as it is has faults.
    A rejection of the plan takes the comments `collected` along; `tools` are those that its steps may call.
    """

    name: ActionName
    args: Mapping[str, Any]
    description: str
    key: str | None = None
    answer_schema: Any = None
    digest: str | None = None
    content: ActionContent | None = None
    cannot_run: bool = False
    collected: tuple[Comment, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def allowed(self) -> tuple[DecisionType, ...]:
        """The types of decisions that this action accepts; nobody can approve a plan that cannot run."""
        return tuple(one for one in self.configured if one != "approve" or not self.cannot_run)

    @property
    def configured(self) -> tuple[DecisionType, ...]:
        """The types of which clients of LangChain are told, which look them up by the name of the action."""
        return allowed_for(self.name, is_gate=self.name == "run_step" and self.key is None)

    def to_json(self) -> dict[str, Any]:
        """Return the action as JSON, without its description."""
        own = {"digest": self.digest} if self.digest is not None else {}
        return {"name": self.name, "args": dict(self.args), **own}


@dataclass(frozen=True)
class ReviewRequest:
    """A request to a person; `digest` is that of the plan to approve, `binding` that of the plan with its terms.

    `people` is a paragraph on who decides, who has voted and until when, empty if anybody decides at any time. `rules`
    and `deadline` say the same as data, `decided_by` with the votes. `askers` are the labels of those who asked for
    what is shown beside those who asked for the run. `asked_before` is the number of earlier requests of the run that
    asked for the same about the same plan. `reason_for` are the tools of which an approval has to say why.
    """

    run: str
    revision: int
    digest: str
    binding: str
    actions: tuple[ReviewAction, ...]
    diff: Mapping[str, Any] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    estimate: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    people: str = ""
    rules: tuple[ApproverRule, ...] = ()
    deadline: Deadline | None = None
    askers: tuple[str, ...] = ()
    asked_before: int = 0
    goal: str = ""
    decided_by: PeopleContent | None = None
    reason_for: tuple[str, ...] = ()

    @lazy
    def review(self) -> ReviewContent:
        """What a person decides about, see `graph.review.content`."""
        found = [(action, action.content) for action in self.actions]
        actions = tuple(
            one.model_copy(update={"decisions": action.allowed}) for action, one in found if one is not None
        )
        return ReviewContent(
            version=1, goal=self.goal, actions=actions, people=self.decided_by, reason_for=self.reason_for
        )

    @lazy
    def content(self) -> dict[str, Any]:
        """The same as data."""
        return self.review.to_json()

    @lazy
    def descriptions(self) -> list[str]:
        """The description of each action as it is shown: it repeats digest and error."""
        return [self._described(action) for action in self.actions]

    @lazy
    def subject(self) -> str:
        """Digest of everything in question, terms included; requests with the same subject count as one."""
        actions = [action.to_json() for action in self.actions]
        # The number tells a request with its plan from one without: the plan itself is in its digest only.
        return digest([self.digest, self.binding, len(actions), beside_plans(actions)])

    @property
    def digests(self) -> tuple[str, str]:
        """The digests that a response may name: that of the plan, or of this very request."""
        return self.digest, self._own_digest

    @lazy
    def _own_digest(self) -> str:
        return request_digest(self.digest, [action.to_json() for action in self.actions], self.asked_before)

    def digests_for(self, action: ReviewAction) -> tuple[str, ...]:
        """The digests that a decision about an action may name; the plan's is none for a call with one of its own."""
        return self.digests if action.digest is None else (action.digest, *self.digests[1:])

    def again(self, error: str, issues: Sequence[Issue]) -> "ReviewRequest":
        """Return the request with an error; the issues are kept unless there are new ones."""
        return replace(self, error=error, issues=tuple(issues) or self.issues)

    def to_json(self) -> dict[str, Any]:
        """Return the interrupt value."""
        return {
            "action_requests": [
                {**action.to_json(), "description": described}
                for action, described in zip(self.actions, self.descriptions, strict=True)
            ],
            "review_configs": [config(action.name, action.configured) for action in self.actions],
            "run": self.run,
            "revision": self.revision,
            "digest": self.digest,
            "diff": dict(self.diff),
            "issues": [issue.to_json() for issue in self.issues],
            "estimate": dict(self.estimate),
            "error": self.error,
            "review": self.content,
            **({"until": self.deadline.until} if self.deadline is not None else {}),
            **({"asked_before": self.asked_before} if self.asked_before else {}),
        }

    def _described(self, action: ReviewAction) -> str:
        people = self.people if action is self.actions[0] else ""
        error = asked_again(self.error) if self.error else ""
        return "\n\n".join(filter(None, (action.description, people, self._digest_lines(action), error)))

    def _digest_lines(self, action: ReviewAction) -> str:
        """Return the digest of what a decision about the action binds: beside those of plans that of the request."""
        if action.digest is not None or action.name == "run_plan":
            return digest_line(action.digest or self.digest)
        of_plan = (
            f"{PLAN_LINE}{self.digest}\n\n" if self.binding else ""
        )  # a budget may be spent before there is a plan
        return f"{of_plan}{digest_line(self._own_digest)}"


def asked_again(error: str) -> str:
    """Return the line that explains why a request is repeated; the error may quote words from outside."""
    return f"Asked again: {code(error)}"


def digest_line(of: str) -> str:
    """Return the line with the digest of what is asked."""
    return f"Digest: {of}"
