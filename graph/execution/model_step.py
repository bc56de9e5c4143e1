"""A step done by the executor model: a bounded loop, each call of it through the choke point."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema.validators import validator_for
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from graph.calls.gate import CallGate, Finished, ModelCall, Refused
from graph.calls.toolbox import Toolbox
from graph.chat_models.json_text import NoJson, json_from
from graph.chat_models.roles import with_tools
from graph.plan.canonical import canonical_json
from graph.plan.catalog import NOTHING_REMOTE
from graph.plan.references import references_in
from graph.plan.schema import Step
from graph.prompts.executor import executor_messages
from graph.run.values import to_text

MAX_TURNS = 10
"""How often the model is asked within one step."""


class StepFailed(Exception):
    """The step cannot succeed; its text says why."""


class StepUncertain(Exception):
    """A call of the step may have had its effect before; a person has to say."""


@dataclass
class ModelStep:
    """One step in progress; `number` counts its tool calls, `made` those of each tool."""

    step: Step
    args: Mapping[str, JsonValue]
    gate: CallGate
    toolbox: Toolbox
    model: BaseChatModel
    number: int = 0
    made: Counter[str] = field(default_factory=Counter)

    async def run(self, goal: str, results: Mapping[str, JsonValue]) -> JsonValue:
        """Return the step's result.

        Args:
            goal: What the run is for.
            results: Step id -> result, of the steps it depends on.

        Raises:
            StepFailed: The model fails, does not finish, or gives no result of the asked form.
            StepUncertain: A call may have had its effect before.
        """
        shown = {name: to_text(value) for name, value in results.items()}
        messages = executor_messages(goal, self.step, self.args, shown)
        model = with_tools(self.model, [self.toolbox[name].tool for name in self.step.tools])
        for turn in range(1, MAX_TURNS + 1):
            call = ModelCall("executor", f"{self.step.id}:{turn}", messages, self.step.id)
            answer = await self.gate.ask(model, self.model, call)
            if isinstance(answer, str):
                raise StepFailed(answer)
            messages = [*messages, answer]
            if answer.tool_calls:
                messages += [await self._answered(request) for request in answer.tool_calls]
                continue
            value, fault = self._read(answer)
            if fault is None:
                return value
            messages = [*messages, HumanMessage(fault)]
        raise StepFailed(f"the executor model gave no result within {MAX_TURNS} turns")

    async def _answered(self, request: Any) -> BaseMessage:
        """Make a call that the model asks for, or say why it may not be made."""
        try:
            finished = await self._call(request["name"], request["args"])
        except Refused as refusal:
            return ToolMessage(f"refused: {refusal}", tool_call_id=request["id"], status="error")
        if finished.result.status == "failed":
            return ToolMessage(str(finished.result.error), tool_call_id=request["id"], status="error")
        return ToolMessage(to_text(finished.value), tool_call_id=request["id"])

    async def _call(self, tool: str, asked: Mapping[str, JsonValue]) -> Finished:
        limit = self.step.max_calls or 1
        if self.made[tool] >= limit:
            raise Refused(f"{tool} may be called {limit} time(s) in this step; answer with what you have")
        call = self.gate.call_of(self.step, tool, self._pinned(tool, asked), self.number + 1)
        self.number += 1
        self.made[tool] += 1
        if finished := await self.gate.recall(call):
            return finished
        if doubt := self.gate.doubt(call):
            raise StepUncertain(doubt.key)
        await self.gate.commit([], [call])
        finished = await self.gate.perform(call)
        await self.gate.commit([finished], [])
        return finished

    def _pinned(self, tool: str, asked: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the call's arguments: literals of the plan are pinned, those with references open, others refused."""
        if not self.step.args:
            return dict(asked)
        args = dict(asked)
        for name, literal in self.step.args.items():
            if any(references_in(literal)) or not self.toolbox.specs[tool].takes(name):
                continue
            if not _is_same(args.setdefault(name, literal), literal):
                raise Refused(f"{name} is fixed by the plan to {to_text(literal)}")
        extra = [name for name in args if name not in self.step.args]
        if extra:
            raise Refused(f"the plan leaves no argument {', '.join(extra)} open")
        return args

    def _read(self, answer: AIMessage) -> tuple[JsonValue, str | None]:
        """Return the result in the asked form, or what is wrong with it."""
        text = str(answer.text).strip()
        if not text:
            return None, "Your answer is empty. Answer with the result of the step."
        output = self.step.output
        if output is None:
            return text, None
        try:
            value = json_from(text)
        except NoJson:
            return None, "Answer with the result as JSON only."
        if output == "json":
            return value, None
        checker = validator_for(output)(output, registry=NOTHING_REMOTE)
        try:
            faults = [error.message for error in checker.iter_errors(value)]
        except (Unresolvable, RecursionError) as error:
            raise StepFailed(f"its output schema cannot be checked by: {error}") from error
        return value, f"The result does not fit its schema: {'; '.join(faults)[:1000]}" if faults else None


def _is_same(given: JsonValue, literal: JsonValue) -> bool:
    """Whether two values are the same JSON: to Python 1 and true are equal, to a tool they are not."""
    try:
        return canonical_json(given) == canonical_json(literal)
    except (ValueError, TypeError, RecursionError):  # what the model gave is no JSON at all
        return False
