"""A step done by the executor model: a bounded loop, each call of it through the choke point."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue

from graph.calls.gate import CallGate
from graph.calls.model_gate import ModelCall
from graph.calls.tool_call import Finished
from graph.calls.toolbox import Toolbox
from graph.chat_models.answer import Flaw, flaw_of
from graph.chat_models.json_text import NoJson, value_from
from graph.chat_models.role_model import RoleModel
from graph.chat_models.thoughts import after_thoughts
from graph.plan.inline_schema import misfits
from graph.plan.schema import Step
from graph.plan.shortening import joined_messages
from graph.policy.grants import Grant, Refused
from graph.prompts.data import result_shown
from graph.prompts.executor import executor_messages
from graph.record.trust_label import TrustLabel, joined
from graph.record.values import to_text

MAX_TURNS = 10
"""How often the model is asked within one step."""

SAID_CHARACTERS = 1_000
FLAWS: Mapping[Flaw | None, str] = {"refused": "refuses", "truncated": "was cut off at its token limit"}
"""What is wrong with an answer that asking again would not mend."""


class StepFailed(Exception):
    """The step cannot succeed; its text says why."""


@dataclass
class ModelStep:
    """One step in progress.

    `labels` are those of the arguments that the plan names; `label` is that of all that the model has read, and so of
    what it writes. `item` is the place in the list, from 0, where the step is done for each item, `anew` how often it
    failed before: the model is then asked again, whatever is on record of it. `called` counts the calls that succeeded,
    by tool.
    """

    step: Step
    args: Mapping[str, JsonValue]
    gate: CallGate
    toolbox: Toolbox
    model: RoleModel
    labels: Mapping[str, TrustLabel]
    label: TrustLabel
    item: int | None = None
    anew: int = 0

    def __post_init__(self) -> None:
        self.label = joined([self.label, *self.labels.values()])
        pinned = Grant.of(self.step).pinned
        self.called: Counter[str] = Counter()
        self._asked_for: set[str] = set()
        self._messages: list[BaseMessage] = []
        self._turn = 0
        self._name = self.step.id if self.item is None else f"{self.step.id}[{self.item}]"
        self._name += f" again {self.anew}" if self.anew else ""
        self._pinned = {name: label for name, label in self.labels.items() if name in pinned}

    async def run(self, goal: str, results: Mapping[str, JsonValue]) -> JsonValue:
        """Return the step's result.

        Args:
            goal: What the run is for.
            results: Step id -> result, of the steps it depends on.

        Raises:
            StepFailed: The model fails, does not finish, or gives no result of the asked form.
            CallUncertain: A call may have had its effect before.
            CallHeld: A person has to see a call's arguments first.
            BudgetReached: A limit does not allow another call.
        """
        self.toolbox.warn_of_undeclared(self.step.tools)
        shown = {name: to_text(value) for name, value in results.items()}
        self._messages = executor_messages(goal, self.step, self.args, shown)
        return await self._result()

    async def mend(self, unmet: str) -> JsonValue:
        """Return another result, of the same conversation; `unmet` says what the last one does not meet.

        Raises:
            StepFailed, CallUncertain, CallHeld, BudgetReached: See `run`.
        """
        self._messages = [*self._messages, HumanMessage(f"Do it again: {unmet}")]
        return await self._result()

    async def _result(self) -> JsonValue:
        tools = [self.toolbox[name].tool for name in self.step.tools]
        while self._turn < MAX_TURNS:
            self._turn += 1
            call = ModelCall("executor", f"{self._name}:{self._turn}", self._messages, self.step.id, tools)
            answer = await self.gate.models.ask(self.model, call)
            if isinstance(answer, str):
                raise StepFailed(answer)
            if (flaw := flaw_of(answer)) in FLAWS:
                raise StepFailed(f"the executor model {FLAWS[flaw]}; it said: {str(answer.text)[:SAID_CHARACTERS]}")
            self._messages = [*self._messages, answer]
            if answer.tool_calls or answer.invalid_tool_calls:
                read = self.label
                self._messages += [await self._answered(request, read) for request in answer.tool_calls]
                self._messages += [_unreadable(request) for request in answer.invalid_tool_calls]
                continue
            value, fault = self._read(answer)
            if fault is None:
                return value
            self._messages = [*self._messages, HumanMessage(fault)]
        raise StepFailed(f"the executor model gave no result within {MAX_TURNS} turns")

    async def _answered(self, request: Any, read: TrustLabel) -> BaseMessage:
        """Make a call that the model asked for when it had read `read`, or say why it may not be made."""
        try:
            finished = await self._call(request["name"], request["args"], read)
        except Refused as refusal:
            return ToolMessage(f"refused: {refusal}", tool_call_id=request["id"], status="error")
        if finished.result.status == "failed":
            return ToolMessage(str(finished.result.error), tool_call_id=request["id"], status="error")
        return ToolMessage(result_shown(to_text(finished.value)), tool_call_id=request["id"])

    async def _call(self, tool: str, asked: Mapping[str, JsonValue], read: TrustLabel) -> Finished:
        admitted = await self.gate.admit(self.step, tool, asked, self._pinned, read, self.item)
        if not isinstance(admitted, Finished):
            await self.gate.commit_in_turn(admitted)
            admitted = await self.gate.perform(admitted)
            await self.gate.commit([admitted], [])
        self.label = joined([self.label, admitted.call.label])
        self._asked_for.add(tool)
        self.called[tool] += admitted.result.status == "succeeded"
        return admitted

    def _read(self, answer: AIMessage) -> tuple[JsonValue, str | None]:
        """Return the result in the asked form, or what is wrong with it."""
        if uncalled := [name for name in self.step.required_tools if name not in self._asked_for]:
            return None, f"You have not called {', '.join(uncalled)}, which this step requires."
        text = after_thoughts(str(answer.text))
        if not text:
            return None, "Your answer is empty. Answer with the result of the step."
        output = self.step.output
        return (text, None) if output is None else _formed(text, output)


def _formed(text: str, output: Literal["json"] | Mapping[str, JsonValue]) -> tuple[JsonValue, str | None]:
    """Return the result in the form that `output` asks for, or what is wrong with it; a text need not be in quotes."""
    value, fault = None, None
    try:
        value = value_from(text)
    except NoJson as error:
        fault = f"{error}. Answer with the result as JSON only."
    if output == "json":
        return value, fault
    if fault is None and (faults := misfits(output, value)):
        fault = f"The result does not fit its schema: {joined_messages(faults)}"
    if fault is not None and _allows_text(output) and not misfits(output, text):
        return text, None
    return value, fault


def _allows_text(schema: Mapping[str, JsonValue]) -> bool:
    """Whether a schema speaks of text; one that leaves the type open is met by any text."""
    kinds = schema.get("type")
    return "enum" in schema or (kinds == "string" or (isinstance(kinds, list) and "string" in kinds))


def _unreadable(request: Any) -> BaseMessage:
    words = "refused: the arguments are no JSON object; ask again with valid ones"
    return ToolMessage(words, tool_call_id=request["id"], status="error")
