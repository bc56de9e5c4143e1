"""Values that people give a run: whose they are, which rules on people they met, and which calls they can reach."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.schedule import blocked_by
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.step_kind import kind_of
from planner_executor.graph.record.events.met import Met

GivenKind = Literal["answer", "result", "edit", "words", "plan", "gate", "limit"]


@dataclass(frozen=True)
class GivenValue:
    """What people gave: an answer, a result, the arguments or the rejection of a call, a plan, a gate passed, a limit.

    `by` are the labels of those who gave it, `met` the rules that they met. `step` is the one whose result or call it
    is, None for a limit, a plan, and words to the planner. `plan` was in force at the time, at the event `seq`.
    """

    kind: GivenKind
    by: tuple[str, ...]
    step: str | None = None
    value: JsonValue = None
    met: Met = field(default_factory=dict)
    plan: Mapping[str, Any] | None = None
    seq: int = 0

    def reached(self, plan: Plan) -> set[str]:
        """Return the steps of a plan whose calls rest on it, its own step among them.

        What a revision adds or changes counts too, since a model wrote it that had read the value; a rejection is only
        asked for there, see `asked_for`.
        """
        match self.kind:
            case "limit":
                return set(plan.by_id)
            case "gate" | "words":
                return self._below(plan)
            case "answer" | "result" | "edit" | "plan":
                return self._below(plan) | self._changed(plan)

    def asked_for(self, plan: Plan) -> set[str]:
        """Return the steps of a plan whose calls those who gave it count as having asked for (decision 99).

        Who passes a gate or raises a limit has approved, not asked. Who rejects with words asks for what a revision
        adds or changes, as who steers does. Who writes a plan has asked for the run.
        """
        match self.kind:
            case "gate" | "limit" | "plan":
                return set()
            case "words":
                return self._below(plan) | self._changed(plan)
            case "answer" | "result" | "edit":
                return self._below(plan)

    def to_json(self) -> dict[str, Any]:
        """Return the value as a fork's record keeps it; `seq` is that of another run."""
        met = {tool: [dict(rule) for rule in rules] for tool, rules in self.met.items()}
        own = {"kind": self.kind, "by": list(self.by), "met": met, "plan": self.plan}
        return {**own, "value": self.value} | ({"step": self.step} if self.step is not None else {})

    @classmethod
    def from_json(cls, raw: Mapping[str, Any], seq: int) -> "GivenValue":
        """Read a value as `to_json` returns it, as one that this run has from the event `seq` on."""
        met = {tool: tuple(rules) for tool, rules in (raw.get("met") or {}).items()}
        return cls(raw["kind"], tuple(raw["by"]), raw.get("step"), raw["value"], met, raw["plan"], seq)

    def _below(self, plan: Plan) -> set[str]:
        if self.step is None or self.step not in plan.by_id:
            return set()
        return {self.step, *blocked_by(plan.waits, {self.step})}

    def _changed(self, plan: Plan) -> set[str]:
        before = {step["id"]: step for step in (self.plan or {}).get("steps", ())}
        return {step.id for step in plan.steps if step.to_json() != before.get(step.id)}


def given_kind(plan: Mapping[str, Any] | None, step: str) -> GivenKind:
    """Return what the answer about a step of a plan is: to a question, or the consent of a gate."""
    steps = (plan or {}).get("steps", ())
    return "gate" if any(one["id"] == step and kind_of(one) == "gate" for one in steps) else "answer"


def tools_in(plan: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the names of the tools of a plan as the record keeps it."""
    for step in (plan or {}).get("steps", ()):
        yield from (step["tool"],) if step.get("tool") is not None else step.get("tools", ())
