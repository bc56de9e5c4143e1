"""The answer to a review request, put together from what a person says of each thing that is asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.errors import InputError
from graph.review.request import digest_of_all

RequestJson = Mapping[str, Any]
"""A review request as JSON, see `graph.review.request.ReviewRequest.to_json`."""
ActionJson = Mapping[str, Any]

WORDS = {
    "run_plan": "the plan",
    "run_step": "{step} with {tool}",
    "answer_question": "{step}: {question}",
    "settle_effect": "whether {step}'s call of {tool} happened",
    "raise_budget": "the budget",
}
ENDS = {"type": "reject", "final": True}
FINISHES = "finish with what there is"


@dataclass(frozen=True)
class ReviewResponse:
    """What a person says; what is left out is not answered.

    `approve` lets the plan run, the calls be made and the gates be passed that are shown; `plan` is to run in the place
    of the one shown. `answers` has the answer to each question by its step. `happened` says of each uncertain call, in
    the order shown, whether it took effect, `results` what those that did returned, in order. `limits` are those of the
    budget that change. `finish` ends the run with what there is where the budget is spent, `stop` ends it as rejected.
    `feedback` has everything planned again with these words.
    """

    approve: bool = False
    plan: Any = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    happened: Sequence[bool] = ()
    results: Sequence[Any] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    feedback: str | None = None
    finish: bool = False
    stop: bool = False

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return self != ReviewResponse()


def build_response(request: RequestJson, said: ReviewResponse) -> dict[str, Any]:
    """Return one decision for each thing asked, about all that was shown and nothing else.

    Raises:
        InputError: Something that is asked has no answer, or an answer is about nothing that is asked.
    """
    return {"decisions": _decisions(request["action_requests"], said), "digest": digest_of_all(request)}


def asked(request: RequestJson, name: str) -> list[ActionJson]:
    """Return the actions of one kind that a request asks about."""
    return [action for action in request["action_requests"] if action["name"] == name]


def _decisions(actions: Sequence[ActionJson], said: ReviewResponse) -> list[dict[str, Any]]:
    if said.stop:  # the bare rejection of a budget would finish the run with what there is
        return [{**ENDS, "message": "stop"} if action["name"] == "raise_budget" else ENDS for action in actions]
    for name, why in _beside_the_point(actions, said):
        raise InputError(name, why)
    settled = _settled(said)
    made = [
        _edited(action, **next(settled)) if action["name"] == "settle_effect" else _decision(action, said)
        for action in actions
    ]
    if left := [action_words(action) for action, decision in zip(actions, made, strict=True) if decision is None]:
        raise InputError("decision", f"not decided yet: {'; '.join(left)}")
    return [decision for decision in made if decision is not None]


def _decision(action: ActionJson, said: ReviewResponse) -> dict[str, Any] | None:
    """Return what is said of anything but an uncertain call, None where nothing is."""
    name, step = action["name"], action["args"].get("step")
    if name == "answer_question" and step in said.answers:
        return _edited(action, answer=said.answers[step])
    if said.finish:
        return ENDS if name == "raise_budget" else {"type": "reject", "message": FINISHES}
    if said.feedback is not None:
        return {"type": "reject", "message": said.feedback}
    if name == "raise_budget" and said.limits:
        return _edited(action, budget=_raised(action["args"]["budget"], said.limits))
    if name == "run_plan" and said.plan is not None:
        return _edited(action, plan=said.plan)
    return {"type": "approve"} if said.approve and name in ("run_plan", "run_step") else None


def _settled(said: ReviewResponse) -> Iterator[dict[str, Any]]:
    results = iter(said.results)
    for happened in said.happened:
        yield {"happened": happened, "result": next(results, None) if happened else None}


def _edited(action: ActionJson, **filled: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": action["name"], "args": {**action["args"], **filled}}}


def _raised(budget: Mapping[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    calls = {**budget.get("calls", {}), **limits.get("calls", {})}
    return {**budget, **limits, **({"calls": calls} if calls else {})}


def _beside_the_point(actions: Sequence[ActionJson], said: ReviewResponse) -> Iterator[tuple[str, str]]:
    """Yield (what was said, why) for what is about nothing that is asked, and for calls that nothing was said of."""
    names = [action["name"] for action in actions]
    calls = [action_words(action) for action in actions if action["name"] == "settle_effect"]
    questions = [action_words(action) for action in actions if action["name"] == "answer_question"]
    steps = {action["args"]["step"] for action in actions if action["name"] == "answer_question"}
    if len(said.happened) != len(calls):
        yield "happened", f"say once of each: {'; '.join(calls)}" if calls else "no call is uncertain"
    if len(said.results) > sum(said.happened):
        yield "result", "a result belongs to a call that happened"
    for step in said.answers:
        if step not in steps:
            yield "answer", f"{step} asks nothing" + (f"; asked is {'; '.join(questions)}" if questions else "")
    if said.approve and not {"run_plan", "run_step"} & set(names):
        yield "approve", "there is nothing to approve"
    if said.plan is not None and "run_plan" not in names:
        yield "edit", "no plan is asked about"
    if (said.limits or said.finish) and "raise_budget" not in names:
        yield "budget", "no limit of the budget is reached"
    if said.feedback is not None and set(names) == {"settle_effect"}:
        yield "feedback", "it is only asked whether a call happened"


def action_words(action: ActionJson) -> str:
    """Return what an action asks about.

    >>> action_words({"name": "run_step", "args": {"step": "send", "tool": "mail", "args": {}}})
    'send with mail'
    """
    return WORDS[action["name"]].format(**action["args"])
