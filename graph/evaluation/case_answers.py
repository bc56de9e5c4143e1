"""Tools, models and people of a case: they answer from it, and nothing else happens."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException
from pydantic import JsonValue

from planner_executor.graph.calls.bound_tool import NOTHING, BoundTool, Prove
from planner_executor.graph.chat_models.answer import ModelAnswer
from planner_executor.graph.chat_models.chat import ModelRequest
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.errors import ModelCallError
from planner_executor.graph.evaluation.planned_arm import APPROVED
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.playbooks.case import Answer, Case, MadeCall
from planner_executor.graph.replay.recorded import NamedModel, never_called

MODEL = "case"
"""How the models of a case are called in records."""
TYPES: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass
class Answers:
    """The answers of a case, the calls that were made, and what the case lacks or has in another shape."""

    case: Case
    made: list[MadeCall] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    turns: Counter[tuple[str, str, int | None]] = field(default_factory=Counter)

    def find(self, what: str, **wanted: Any) -> Answer | None:
        """Return the answer with these fields, or the one for every call of its tool; a fault if there is neither."""
        known = [one for one in self.case.answers if all(getattr(one, name) == wanted[name] for name in wanted)]
        # An answer without a step stands for every call of its tool that has none of its own.
        fixtures = [one for one in self.case.answers if one.tool and not one.step and one.tool == wanted.get("tool")]
        if not known and not fixtures:
            self.faults.append(f"the case has no answer for {what}")
        return next(iter(known or fixtures), None)

    def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return an approval of everything, with the case's answers to questions; else the end of the run."""
        decisions = [self._decision(action) for action in request["action_requests"]]
        # Asked again, an answer was refused, and the case has no other.
        if request["error"] is not None or None in decisions:
            decisions = [{"type": "reject", "final": True} for _ in decisions]
        return {"decisions": decisions, "digest": request["digest"]}

    def _decision(self, action: Mapping[str, Any]) -> dict[str, Any] | None:
        name, args = action["name"], action["args"]
        if name in APPROVED:
            return {"type": "approve"}
        if name != "answer_question":
            self.faults.append(f"no case answers {name}")
            return None
        found = self.find(f"the question of {args['step']}", step=args["step"], tool=None, role=None)
        edited = {"name": name, "args": {**args, "answer": found.answer}} if found is not None else None
        return {"type": "edit", "edited_action": edited} if edited is not None else None


@dataclass(frozen=True)
class CaseTool(BoundTool):
    """A tool that answers from a case; with `real`, which only reads, it says where that has another shape."""

    answers: Answers = field(kw_only=True)
    real: BoundTool | None = field(default=None, kw_only=True)

    @classmethod
    def over(cls, spec: ToolSpec, answers: Answers, real: BoundTool | None = None) -> "CaseTool":
        """Return the tool of this name."""
        return cls(spec, never_called(spec), True, answers=answers, real=real)

    @property
    def is_direct(self) -> bool:
        """True: there is nothing to invoke."""
        return True

    async def call(
        self,
        args: Mapping[str, JsonValue],
        about: Mapping[str, Any] = NOTHING,
        is_direct: bool | None = None,  # noqa: ARG002  (the tool is not invoked)
        prove: Prove | None = None,  # noqa: ARG002  (a case has one owner)
    ) -> Any:
        """Return the answer of this call, or fail as it says."""
        tool, place = self.spec.name, {name: about.get(name) for name in ("step", "item", "call")}
        self.answers.made.append((tool, dict(args)))
        item = f", item {place['item']}" if place["item"] is not None else ""
        what = f"call {place['call']} of {place['step']}{item}: {tool}"
        found = self.answers.find(what, tool=tool, **place)
        if found is None:
            raise ToolException("the case has no answer for this call")
        if found.error is not None:
            raise ToolException(found.error)
        if self.real is not None:
            now = await self.real.call(args, about)
            self.answers.faults += [f"{what} answers otherwise now: {one}" for one in shape_faults(found.answer, now)]
        return found.answer


@dataclass(frozen=True)
class CaseModel(NamedModel):
    """A model that answers from a case."""

    answers: Answers = field(kw_only=True)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer of this turn."""
        about = (request.config or {}).get("metadata") or {}
        role, step, item = str(about.get("role")), str(about.get("step", "")), about.get("item")
        turn = self.answers.turns[role, step, item]
        # Counted before the answer: a turn that fails is a turn as well.
        self.answers.turns[role, step, item] += 1
        what = f"turn {turn} of the {role} in {step}" if step else f"the {role}"
        found = self.answers.find(what, role=role, step=step, item=item, call=turn)
        # An answer that is missing is a failed call and not an error of the test: the agent goes on as it would.
        if found is None or found.error is not None:
            raise ModelCallError(MODEL, [{"model": MODEL, "kind": "other", "error": (found and found.error) or what}])
        told = found.answer if isinstance(found.answer, dict) else {"content": found.answer}
        message = AIMessage.model_validate({"content": "", **told})
        return ModelAnswer(message, MODEL, {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0})


def models_of(answers: Answers) -> RoleModels:
    """Return models of all roles; the judge only if the case has an answer of one."""
    model = CaseModel((), called=(MODEL,), answers=answers)
    judge = model if any(one.role == "judge" for one in answers.case.answers) else None
    return RoleModels(planner=model, executor=model, replanner=model, judge=judge, layers=())


def shape_faults(before: JsonValue, now: Any, at: str = "the answer") -> list[str]:
    """Return where a value has another shape than before: its type, and the keys of objects; of lists the first item.

    >>> shape_faults({"rows": [{"name": "Ana"}]}, {"rows": [{"customer": "Ana"}]})
    ['the answer.rows[0].name is missing']
    """
    was, has = TYPES.get(type(before), "another value"), TYPES.get(type(now), "another value")
    if was != has:
        return [f"{at} was {was}, and is {has}"]
    if isinstance(before, dict):
        faults = []
        for name, value in before.items():
            faults += shape_faults(value, now[name], f"{at}.{name}") if name in now else [f"{at}.{name} is missing"]
        return faults
    if isinstance(before, list) and before and now:
        return shape_faults(before[0], now[0], f"{at}[0]")
    return []
