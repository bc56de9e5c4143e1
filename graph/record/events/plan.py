"""Events of plans: revisions, refusals, amendments, the start of the executor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.revision import PlanDiff
from planner_executor.graph.record.events.content import Content, content_in
from planner_executor.graph.record.events.payload import Json, Payload, given, integer
from planner_executor.graph.record.expected import Expected
from planner_executor.graph.record.replacement import Replaced

NO_DIFFERENCE = PlanDiff()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRevised(Payload):
    """A plan became the run's next revision.

    `cause` is the cause of replanning; `refined` means that only due steps were expanded. `replaced` has the failed
    steps that the plan omits or changes; the first version recorded only omitted ones, in `dropped`. `tainted` has the
    steps written by a model that had read untrusted results, `new_effects` their calls with an effect that no approved
    plan had (step id -> tools), `failures` the fingerprints of the failures that the plan responds to. `stalled` is the
    reason why the plan makes no progress. `read_as` has the normalizations, `would_replace` sentences on files that the
    plan would replace, `like_steps` what like steps took by then, if somebody is shown the plan. `written_by` is the
    user who wrote it, if it is a person's.
    """

    kind: ClassVar[Literal["plan_revised"]] = "plan_revised"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    revision: int
    plan: Mapping[str, Any]
    digest: str
    binding: str | None = None
    author: str
    reason: str | None = None
    cause: str = "failure"
    diff: PlanDiff = NO_DIFFERENCE
    replaced: tuple[Replaced, ...] | None = None
    dropped: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    stalled: str | None = None
    read_as: tuple[str, ...] = ()
    would_replace: tuple[str, ...] = ()
    like_steps: Expected | None = None
    written_by: str | None = None
    new_effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def answers_failure(self) -> bool:
        """Whether a replanner wrote the plan in response to a failure."""
        return self.author == "replanner" and self.cause == "failure"

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        replaced = {"replaced": [one.to_json() for one in self.replaced]} if self.replaced is not None else {}
        return {
            "revision": self.revision,
            "plan": self.plan,
            "digest": self.digest,
            "binding": self.binding,
            "author": self.author,
            "reason": self.reason,
            "cause": self.cause,
            "diff": self.diff.to_json(),
            **replaced,
            **given(dropped=list(self.dropped)),
            "tainted": list(self.tainted),
            "failures": list(self.failures),
            "stalled": self.stalled,
            **given(read_as=list(self.read_as), would_replace=list(self.would_replace)),
            **given(like_steps=self.like_steps and self.like_steps.to_json(), written_by=self.written_by),
            **given(new_effects={step: list(tools) for step, tools in self.new_effects.items()} or None),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            revision=integer(raw, "revision"),
            plan=raw["plan"],
            digest=raw["digest"],
            binding=raw.get("binding"),
            author=raw["author"],
            reason=raw.get("reason"),
            cause=raw.get("cause", "failure"),
            diff=PlanDiff.from_json(raw.get("diff", {})),
            replaced=tuple(map(Replaced.of, raw["replaced"])) if "replaced" in raw else None,
            dropped=tuple(raw.get("dropped", ())),
            tainted=tuple(raw.get("tainted", ())),
            failures=tuple(raw.get("failures", ())),
            stalled=raw.get("stalled"),
            read_as=tuple(raw.get("read_as", ())),
            would_replace=tuple(raw.get("would_replace", ())),
            like_steps=Expected.from_json(raw["like_steps"]) if "like_steps" in raw else None,
            written_by=raw.get("written_by"),
            new_effects={step: tuple(tools) for step, tools in raw.get("new_effects", {}).items()},
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRefused(Payload):
    """No valid plan was found; `brought` is the plan that the caller gave, if any.

    `stays` is the reason if a plan was waiting and waits again: feedback or a changed constraint led to no other one.
    Only such an event is of version 2.
    """

    kind: ClassVar[Literal["plan_refused"]] = "plan_refused"
    version: ClassVar[int] = 2

    author: str
    issues: tuple[Issue, ...] = ()
    brought: Content | None = None
    stays: str | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        raw = {"author": self.author, "issues": [issue.to_json() for issue in self.issues]}
        return {**raw, **given(brought=self.brought and self.brought.to_json(), stays=self.stays)}

    def to_json(self) -> dict[str, Any]:
        """See `Payload`."""
        raw = Payload.to_json(self)
        return raw if self.stays is not None else {name: raw[name] for name in raw if name != "version"}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            author=raw["author"],
            issues=tuple(map(Issue.from_json, raw.get("issues", ()))),
            brought=content_in(raw, "brought"),
            stays=raw.get("stays"),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Steered(Payload):
    """A user changed constraints or gave feedback to the planner; `constraints` are those now in force."""

    kind: ClassVar[Literal["steered"]] = "steered"
    is_control: ClassVar[bool] = True
    must_last: ClassVar[bool] = True

    constraints: tuple[str, ...]
    added: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    feedback: str | None = None
    approver: str = ""

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "constraints": list(self.constraints),
            "added": list(self.added),
            "withdrawn": list(self.withdrawn),
            "feedback": self.feedback,
            "approver": self.approver,
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            constraints=tuple(raw["constraints"]),
            added=tuple(raw["added"]),
            withdrawn=tuple(raw["withdrawn"]),
            feedback=raw["feedback"],
            approver=raw.get("approver", ""),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Executing(Payload):
    """The executor started a revision of the plan."""

    kind: ClassVar[Literal["executing"]] = "executing"

    revision: int

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {"revision": self.revision}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(revision=integer(raw, "revision"), checkpoint=raw.get("checkpoint"))
