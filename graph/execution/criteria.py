"""Success criteria of a step: checks first, then a judge; repeatable work is retried if they are not met."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import JsonValue

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.tool_call import Finished
from planner_executor.graph.chat_models.json_text import objects_with
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.execution.step_outcome import StepOutcome
from planner_executor.graph.plain_text.sanitize import folded
from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.prompts.data import cut
from planner_executor.graph.prompts.judge import SCHEMA, judge_messages, unusable_message
from planner_executor.graph.record.assessment import WHY_CHARACTERS, Assessment
from planner_executor.graph.record.check_result import Opinion
from planner_executor.graph.record.check_results import Evidence, Looks, findings
from planner_executor.graph.record.values import to_text
from planner_executor.graph.words.name_list import counted

Again = Callable[[str], Coroutine[Any, Any, StepOutcome]]
"""Repeats the work of a step, given a description of the unmet criteria."""

MAX_ASKED = 2
"""How often a judge is asked if its answer is unusable."""


@dataclass
class Criteria:
    """The criteria of the steps in one pass over a plan; `file` looks up files in the tools' workspace.

    A step succeeds only if its criteria are met. The result is recorded before the judge is asked, and the judge is
    asked once per result.
    """

    gate: CallGate
    judge: RoleModel | None
    file: Looks
    max_check_attempts: int
    opinions: dict[tuple[str, str], Opinion] = field(default_factory=dict)

    def has(self, step: Step) -> bool:
        """Whether the step has criteria beyond an end without error."""
        return bool(step.checks) or self._is_judged(step)

    async def assess(
        self, step: Step, end: StepOutcome, before: Mapping[str, JsonValue], again: Again | None = None
    ) -> StepOutcome:
        """Return the outcome of a step once its criteria are assessed.

        Args:
            step: The step.
            end: The outcome of its work.
            before: Step id -> result of its dependencies.
            again: Repeats the work, None if that is not allowed.

        Raises:
            LimitReached: A limit prevents a call of the judge, or a retry.
        """
        # A resumed model step replays its recorded conversation, retries included, and so counts from 0.
        tried = self.gate.run.record.steps.retries[step.id] if step.tool is not None else 0
        while self.has(step) and end.result.status == "succeeded":
            end, assessment = await self._assess(step, end, before)
            retry = again if tried + 1 < self.max_check_attempts else None
            # What its calls did stands, but did not do: an identical call of a later step asks a person first.
            if not assessment.met and retry is None:
                await self.gate.effects.unmet(step.id, assessment.error)
            if assessment.met or retry is None:
                return end.assessed(assessment, self.gate.run.record.plan_state.revision)
            if tried >= self.gate.run.record.steps.retries[step.id]:  # otherwise this retry is on record
                made = [event for event in end.events if isinstance(event, Finished)]
                await self.gate.commit(
                    [*made, assessment.event(step.id, self.gate.run.record.plan_state.revision, again=True)], []
                )
            tried += 1
            end = await retry(assessment.error)
        return end

    async def _assess(
        self, step: Step, end: StepOutcome, before: Mapping[str, JsonValue]
    ) -> tuple[StepOutcome, Assessment]:
        evidence = Evidence(end.value, end.called, self.file)
        found = await run_sync(partial(findings, step.checks, evidence)) if step.checks else ()
        assessment = Assessment(found)
        if not assessment.met or not self._is_judged(step):
            return end, assessment
        # On record before the judge is asked, since a process that dies meanwhile must not make the call again.
        made = [event for event in end.events if isinstance(event, Finished)]
        if made:
            await self.gate.commit([replace(event, unchecked=True) for event in made], [])
        asked = (step.id, to_text(end.value))
        # A retry with the same result gets the same opinion: to ask again would be to try one's luck.
        if asked not in self.opinions:
            self.opinions[asked] = await self._opinion(step, end.value, before)
        return replace(end, events=tuple(event for event in end.events if event not in made)), Assessment(
            found, self.opinions[asked]
        )

    def _is_judged(self, step: Step) -> bool:
        return self.judge is not None and bool(step.success_criteria) and kind_spec(step.kind).is_judged

    async def _opinion(self, step: Step, value: JsonValue, before: Mapping[str, JsonValue]) -> Opinion:
        """Return the judge's opinion."""
        assert self.judge is not None and step.success_criteria is not None
        call = ModelCall(
            "judge",
            f"judge:{step.id}",
            judge_messages(step, value, before),
            step.id,
            schema=SCHEMA,
            limits=self.gate.run.limits.lowest(step.attempt_limits),
        )
        why = ""
        for _ in range(MAX_ASKED):
            answer = await self.gate.models.ask(self.judge, call)
            if isinstance(answer, str):
                return Opinion(step.success_criteria, None, answer)
            met, why = _read(str(answer.text))
            if met is not None:
                return Opinion(step.success_criteria, met, why)
            message = AIMessage(str(answer.text))
            call = replace(call, messages=[*call.messages, message, unusable_message(why)])
        return Opinion(step.success_criteria, None, why)


def _read(answer: str) -> tuple[bool | None, str]:
    """Return a judge's opinion and reason, or None and the fault of its answer.

    An answer with several opinions is refused: one of them may be quoted from the result, which would judge itself.
    """
    opinions = objects_with("met", answer)
    met = opinions[0]["met"] if len(opinions) == 1 else None
    if not isinstance(met, bool):
        words = cut(folded(answer), WHY_CHARACTERS) or "nothing"
        given = counted(len(opinions), "opinion")
        return None, f"the judge gave {given}, where one with met true or false is asked; it said: {words}"
    return met, cut(folded(storable(str(opinions[0].get("why") or "no reason given"))), WHY_CHARACTERS)
