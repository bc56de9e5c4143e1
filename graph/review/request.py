"""The review request: everything that needs a person now, in LangChain's `HITLRequest` shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import JsonValue

from graph.markdown import fenced
from graph.plan.canonical import digest
from graph.plan.issues import Issue
from graph.sanitize import escape

ActionName = Literal["run_plan", "run_step", "answer_question", "settle_effect", "raise_budget"]

ALLOWED: Mapping[ActionName, tuple[str, ...]] = {
    "run_plan": ("approve", "edit", "reject"),
    "run_step": ("approve", "reject"),
    "answer_question": ("edit", "reject"),
    "settle_effect": ("edit", "reject"),
    "raise_budget": ("edit", "reject"),
}


@dataclass(frozen=True)
class ReviewAction:
    """One thing to decide, and how it is told in lines of plain text, of which none begins with words from outside.

    `key` names the call, or the limit, that it is about, `answer_schema` is the JSON Schema of an answer.
    """

    name: ActionName
    args: Mapping[str, Any]
    description: str
    key: str | None = None
    answer_schema: Any = None

    @property
    def allowed(self) -> tuple[str, ...]:
        """The decisions it takes."""
        return ALLOWED[self.name]

    def to_json(self) -> dict[str, Any]:
        """Return the action as the ledger has it."""
        return {"name": self.name, "args": dict(self.args)}


@dataclass(frozen=True)
class ReviewRequest:
    """What is shown; `digest` is of the plan that an approval would be about, `binding` of the plan with its tools."""

    run: str
    revision: int
    digest: str
    binding: str
    actions: tuple[ReviewAction, ...]
    diff: Mapping[str, Any] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    estimate: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def subject(self) -> str:
        """Digest of what is asked, tools included: two requests about the same are one."""
        actions = [action.to_json() for action in self.actions]
        return digest([self.digest, self.binding, len(actions), _beside_plans(actions)])

    @property
    def digests(self) -> tuple[str, str]:
        """What an answer may name as what it is about: the plan, or all that is asked (see `digest_of_all`)."""
        return self.digest, digest_of_all(self.to_json())

    def again(self, error: str, issues: Sequence[Issue]) -> "ReviewRequest":
        """Return the request as it is asked again; without new issues the old ones stand."""
        return replace(self, error=error, issues=tuple(issues) or self.issues)

    def to_json(self) -> dict[str, Any]:
        """Return the interrupt value; each description repeats difference, digest and error, as a block of code."""
        return {
            "action_requests": [
                {"name": action.name, "args": dict(action.args), "description": self._described(action)}
                for action in self.actions
            ],
            "review_configs": [
                {"action_name": action.name, "allowed_decisions": list(action.allowed)} for action in self.actions
            ],
            "run": self.run,
            "revision": self.revision,
            "digest": self.digest,
            "diff": dict(self.diff),
            "issues": [issue.to_json() for issue in self.issues],
            "estimate": dict(self.estimate),
            "error": self.error,
        }

    def _described(self, action: ReviewAction) -> str:
        text = action.description
        if self.digest not in text:
            text = f"{text}\n\nDigest: {self.digest}"
        return fenced(f"{asked_again(self.error)}\n\n{text}" if self.error else text)


def asked_again(error: str) -> str:
    """Return the line that says why something is asked again."""
    return f"Asked again: {error}".replace("\n", escape("\n"))


def digest_of_all(request: Mapping[str, Any]) -> str:
    """Return the digest of all that a request asks: the plan's own where nothing but the plan is.

    An answer that names it is none to another request about the same plan, such as the next call or question.
    """
    actions = request["action_requests"]
    others = _beside_plans(actions)
    return digest([request["digest"], len(actions), others]) if others else str(request["digest"])


def _beside_plans(actions: Sequence[Mapping[str, Any]]) -> list[JsonValue]:
    return [[action["name"], action["args"]] for action in actions if action["name"] != "run_plan"]
