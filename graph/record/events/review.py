"""Events of reviews: requests and decisions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from pydantic import JsonValue

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.record.budget import Budget, read_budget
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events.content import NO_CONTENT, Content, content_in
from planner_executor.graph.record.events.met import Met, met_in, met_json
from planner_executor.graph.record.events.payload import Json, Payload, given, integer


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewRequested(Payload):
    """A request was shown: the names in `asked`, and `shown` as the texts for people.

    `actions` are the requested actions as data, without the plan, which is in the revision. `answer` is the rejected
    response before, with `error` and `issues`; `unseen` means that it was given in advance. `skip` is the number of
    responses stored at the checkpoint before this request. `approver`, with these `roles`, gave the response. `takes`
    is what was said that the plan may take, `estimate` bounds the rest of the run. `rules` say who decides, and
    `deadline` until when; `askers` are those who asked for what is shown beside those who asked for the run.
    """

    kind: ClassVar[Literal["review_requested"]] = "review_requested"
    must_last: ClassVar[bool] = True

    request: int
    digest: str | None = None
    subject: str
    revision: int | None = None
    asked: tuple[str, ...] = ()
    actions: tuple[Mapping[str, Any], ...] = ()
    shown: Content = NO_CONTENT
    answer: Content | None = None
    unseen: bool = False
    error: str | None = None
    issues: tuple[Issue, ...] = ()
    skip: int = 0
    approver: str | None = None
    roles: tuple[str, ...] = ()
    takes: Mapping[str, Any] | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    deadline: Deadline | None = None
    estimate: Mapping[str, Any] = field(default_factory=dict)
    askers: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        deadline = self.deadline.to_json() if self.deadline is not None else None
        answer = {"answer": self.answer.to_json(), "unseen": self.unseen} if self.answer is not None else {}
        return {
            "request": self.request,
            "digest": self.digest,
            "subject": self.subject,
            "revision": self.revision,
            "asked": list(self.asked),
            "actions": list(self.actions),
            "shown": self.shown.to_json(),
            **answer,
            "error": self.error,
            "issues": [issue.to_json() for issue in self.issues],
            "skip": self.skip,
            **given(approver=self.approver, roles=list(self.roles), takes=self.takes and dict(self.takes)),
            **given(rules=list(self.rules), deadline=deadline, estimate=dict(self.estimate) or None),
            **given(askers=list(self.askers)),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            request=integer(raw, "request"),
            digest=raw.get("digest"),
            subject=raw["subject"],
            revision=integer(raw, "revision") if raw.get("revision") is not None else None,
            asked=tuple(raw.get("asked", ())),
            actions=tuple(raw.get("actions", ())),
            shown=Content.from_json(raw.get("shown", {})),
            answer=content_in(raw, "answer"),
            unseen=raw.get("unseen", False),
            error=raw["error"],
            issues=tuple(map(Issue.from_json, raw["issues"])),
            skip=integer(raw, "skip"),
            approver=raw.get("approver"),
            roles=tuple(raw.get("roles", ())),
            takes=raw.get("takes"),
            rules=tuple(raw.get("rules", ())),
            deadline=Deadline.from_json(raw["deadline"]) if "deadline" in raw else None,
            estimate=raw.get("estimate", {}),
            askers=tuple(raw.get("askers", ())),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, slots=True)
class SettledCall:
    """An uncertain call that a person settled; `run` names its run if that is another one."""

    key: str
    happened: bool
    result: JsonValue = None
    run: str | None = None

    @classmethod
    def from_json(cls, raw: Json) -> "SettledCall":
        """Parse the output of `to_json`."""
        return cls(raw["key"], raw["happened"], raw.get("result"), raw.get("run"))

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {"key": self.key, "happened": self.happened, "result": self.result, **given(run=self.run)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided(Payload):
    """A decision was made: `by` a `person`, `unseen`, or the `policy`.

    `decisions` are the decisions as parsed, `given` has answers to questions by step, `steps` the keys of calls
    approved with the shown arguments, or with those of `replaced`, which has the arguments that a person gave instead
    by key of the call; `rejected` has what was said of a rejected call by its key. `replies` are the forms filled in
    for calls that asked, by key of the call and id of the question (null if declined), `budget` the raised budget.
    `approver` has these `roles`; `voters` are all whose approvals counted, if it took several. `met` maps the tools
    that it is about, and those that its values reach, to the rules on people that they met, None if none were recorded.
    """

    kind: ClassVar[Literal["decided"]] = "decided"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    request: int = 0
    digest: str | None
    binding: str | None
    settled: tuple[SettledCall, ...] = ()
    decisions: tuple[Mapping[str, Any], ...] = ()
    given: Mapping[str, JsonValue] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    replaced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rejected: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: Budget | None = None
    decision: str
    by: str
    approver: str = ""
    message: str | None = None
    roles: tuple[str, ...] = ()
    voters: tuple[str, ...] = ()
    met: Met | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "request": self.request,
            "digest": self.digest,
            "binding": self.binding,
            "settled": [call.to_json() for call in self.settled],
            "decisions": list(self.decisions),
            "given": dict(self.given),
            "steps": list(self.steps),
            **given(
                replaced={key: dict(args) for key, args in self.replaced.items()} or None,
                rejected=dict(self.rejected) or None,
            ),
            **given(replies={key: dict(forms) for key, forms in self.replies.items()} or None),
            "budget": self.budget.to_json() if self.budget is not None else None,
            "decision": self.decision,
            "by": self.by,
            "approver": self.approver,
            "message": self.message,
            **given(roles=list(self.roles), voters=list(self.voters), met=met_json(self.met)),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        budget = raw.get("budget")
        return cls(
            request=integer(raw, "request") if "request" in raw else 0,
            digest=raw["digest"],
            binding=raw["binding"],
            settled=tuple(map(SettledCall.from_json, raw.get("settled", ()))),
            decisions=tuple(raw.get("decisions", ())),
            given=raw.get("given", {}),
            steps=tuple(raw.get("steps", ())),
            replaced=raw.get("replaced", {}),
            rejected=raw.get("rejected", {}),
            replies=raw.get("replies", {}),
            budget=read_budget(budget)[0] if budget is not None else None,
            decision=raw["decision"],
            by=raw["by"],
            approver=raw.get("approver", ""),
            message=raw["message"],
            roles=tuple(raw.get("roles", ())),
            voters=tuple(raw.get("voters", ())),
            met=met_in(raw),
            checkpoint=raw.get("checkpoint"),
        )
