"""Answers to a review request, from the options of `resume`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graph.cli.requests import asked
from graph.errors import InputError


@dataclass(frozen=True)
class PlanChoice:
    """What a person says about a plan; `words` is the feedback or the reason, `plan` the edited one."""

    kind: Literal["approve", "reject", "feedback", "edit"]
    words: str | None = None
    plan: Any = None

    def decision(self) -> dict[str, Any]:
        """Return the decision for `run_plan`."""
        if self.kind == "edit":
            return {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": self.plan}}}
        if self.kind == "approve":
            return {"type": "approve"}
        return {"type": "reject", "message": self.words} if self.words else {"type": "reject", "final": True}

    @property
    def ends(self) -> bool:
        """Whether it ends the run, whatever else is asked."""
        return self.kind == "reject" and not self.words


@dataclass(frozen=True)
class Settlement:
    """What a person says of an uncertain call; `result` is JSON or text."""

    happened: bool
    result: str | None = None

    def decision(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Return the decision for this `settle_effect`."""
        args = {**action["args"], "happened": self.happened, "result": self.result}
        return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


def answer_to(
    request: Mapping[str, Any], choice: PlanChoice | None, settlements: Sequence[Settlement] = ()
) -> dict[str, Any]:
    """Return one decision for each thing asked, about the digest that was shown.

    Raises:
        InputError: Something that is asked has no answer, or an answer is about nothing that is asked.
    """
    actions = request["action_requests"]
    if choice is not None and (choice.ends or (choice.kind == "reject" and not asked(request, "run_plan"))):
        return _signed(request, [choice.decision() for _ in actions])
    _check(request, choice, settlements)
    left = iter(settlements)
    decisions = []
    for action in actions:
        about_plan = choice is not None and action["name"] == "run_plan"
        decisions.append(choice.decision() if choice and about_plan else next(left).decision(action))
    return _signed(request, decisions)


def settlements_of(happened: Sequence[bool], results: Sequence[str]) -> list[Settlement]:
    """Pair results with the calls that happened, in order.

    Raises:
        InputError: There are more results than calls that happened.
    """
    if len(results) > sum(happened):
        raise InputError("--result", "a result belongs to a call that happened; give --happened true with it")
    left = iter(results)
    return [Settlement(did, next(left, None) if did else None) for did in happened]


def _check(request: Mapping[str, Any], choice: PlanChoice | None, settlements: Sequence[Settlement]) -> None:
    calls = asked(request, "settle_effect")
    if len(settlements) != len(calls):
        named = ", ".join(f"{call['args']['step']} called {call['args']['tool']}" for call in calls)
        told = f"say once for each uncertain call whether it happened: {named}" if calls else "no call is uncertain"
        raise InputError("--happened", told)
    plans = asked(request, "run_plan")
    if plans and choice is None:
        raise InputError("decision", "the plan is asked about too; add --approve, --reject, --edit or --feedback")
    if choice is not None and not plans:
        raise InputError("decision", f"no plan is asked about, so there is nothing to {choice.kind}")


def _signed(request: Mapping[str, Any], decisions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"decisions": decisions, "digest": request["digest"]}
