"""A step done by the executor model: a bounded loop; every call goes through the gate."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import JsonValue

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.calls.tool_call import Admitted, Finished
from planner_executor.graph.chat_models.answer import Flaw, flaw_of
from planner_executor.graph.chat_models.json_text import NoJson, cannot_in, value_from
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.chat_models.thoughts import after_thoughts
from planner_executor.graph.execution.refusals import Refusal, Refusals
from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptLimits
from planner_executor.graph.plan.cannot import admits_cannot, words_of
from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.normalization import CANNOT
from planner_executor.graph.plan.result_schema import result_in, result_schema
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.plan.shortening import joined_messages
from planner_executor.graph.policy.grants import Grant, Refused, RejectedByPerson
from planner_executor.graph.prompts.data import result_shown
from planner_executor.graph.prompts.executor import CANNOT_TOOL, executor_messages, is_of_same_work
from planner_executor.graph.prompts.media import media_named
from planner_executor.graph.record.calls import Opening
from planner_executor.graph.record.events import Brief
from planner_executor.graph.record.trust_label import TrustLabel, joined
from planner_executor.graph.record.values import to_text

MAX_TURNS = 10
"""Limit of model calls within one step."""

Output = Literal["json"] | Mapping[str, JsonValue]
SAID_CHARACTERS = 1_000
UNREADABLE = "the arguments are not a JSON object"
FLAWS: Mapping[Flaw | None, str] = {"refused": "refuses", "truncated": "was cut off at its token limit"}
"""Flaws of an answer that a repeated request would not repair."""


class StepFailed(Exception):
    """The step cannot succeed; the message is the reason."""


@dataclass
class ModelStep:
    """One step in progress.

    `labels` are the labels of the plan's arguments; `label` is that of everything the model has read, and so of its
    output. `item` is the index of the item with `for_each`; `anew` counts earlier failures, which give model calls new
    names, so that recorded answers are not reused. `limits` says how often a request is tried. `openings` are the first
    requests of its conversations on record, `answers` the steps whose results are answers of a person. `batch` has the
    arguments of several items by their indexes, which are done in one turn; the result is a list. `called` counts
    successful calls by tool, `refusals` has those that were refused.
    """

    step: Step
    args: Mapping[str, JsonValue]
    gate: CallGate
    model: RoleModel
    labels: Mapping[str, TrustLabel]
    label: TrustLabel
    item: int | None = None
    anew: int = 0
    limits: AttemptLimits = NO_LIMITS
    openings: Sequence[Opening] = ()
    answers: frozenset[str] = frozenset()
    batch: Mapping[int, Mapping[str, JsonValue]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.label = joined([self.label, *self.labels.values()])
        # Pinned arguments come from the plan and keep its labels; the model writes all others (decision 18).
        pinned = Grant.of(self.step).pinned
        self.called: Counter[str] = Counter()
        self.refusals = Refusals(self.gate.run.toolbox.specs)
        self._asked_for: set[str] = set()
        self._faulty: list[tuple[str, str]] = []  # answers without a result, each with its fault
        self._messages: list[BaseMessage] = []
        self._brief: Brief | None  # `run` sets both
        self._is_recorded: bool
        self._turn = 0
        places = [*self.batch] if self.item is None else [self.item]
        self._name = f"{self.step.id}[{'-'.join(map(str, places))}]" if places else self.step.id
        self._name += f" again {self.anew}" if self.anew else ""
        self._turns = 1 if self.batch else MAX_TURNS
        self._output = _list_of(self.step.output, len(self.batch)) if self.batch else self.step.output
        self._pinned = {name: label for name, label in self.labels.items() if name in pinned}

    async def run(self, goal: str, results: Mapping[str, JsonValue], brief: Brief) -> JsonValue:
        """Return the step's result.

        Args:
            goal: The goal of the run.
            results: Step id -> result of its dependencies.
            brief: What the model is told beside them, unless it was told something before the process ended.

        Raises:
            StepFailed: The model fails, does not finish, or gives no result in the required form.
            CallUncertain: A call may have taken effect before.
            CallHeld: A person has to review a call's arguments first.
            LimitReached: A limit prevents another call.
        """
        self.gate.run.toolbox.warn_of_undeclared(self.step.tools)
        self._messages = await self._opened(goal, results, brief)
        return await self._result()

    async def _opened(self, goal: str, results: Mapping[str, JsonValue], brief: Brief) -> list[BaseMessage]:
        """Return the first messages: those on record if the same conversation goes on, also from another release."""
        batch = [*self.batch.values()]
        told = partial(executor_messages, goal, self.step, self.args, results, self.answers, batch=batch)
        # The latest first: it is the one that a run which was interrupted goes on with.
        for opening in reversed(self.openings):
            self._brief, self._is_recorded = opening.brief, False
            if opening.brief is not None and self._is_opened_by(opening, messages := told(opening.brief)):
                return messages
            self._is_recorded = True
            messages = await self.gate.models.messages_of(opening)
            if is_of_same_work(messages, told(opening.brief or brief)) and self._is_opened_by(opening, messages):
                return messages
        self._brief, self._is_recorded = brief, False
        return told(brief)

    def _is_opened_by(self, opening: Opening, messages: list[BaseMessage]) -> bool:
        return self.gate.models.is_of(self.model, self._request(messages, 1), opening.key)

    def _request(self, messages: list[BaseMessage], turn: int, tools: Sequence[Any] = ()) -> ModelCall:
        return ModelCall(
            "executor",
            f"{self._name}:{turn}",
            messages,
            self.step.id,
            tools,
            schema=result_schema(self._output),
            limits=self.limits,
            item=self.item,
            brief=self._brief if turn == 1 else None,
            note=self._left if turn > 1 else "",
            recorded=self._is_recorded,
        )

    @property
    def _left(self) -> str:
        """What is left of the limits in this turn, for the end of the newest message."""
        most = self.step.max_calls or 1
        calls = ", ".join(f"{name} {max(most - self.called[name], 0)}" for name in self.step.tools)
        turns = f"turns left, this one included: {MAX_TURNS - self._turn + 1}"
        return f"({turns}; calls left: {calls})" if calls else f"({turns})"

    async def mend(self, unmet: str) -> JsonValue:
        """Return another result in the same conversation; `unmet` describes the unmet criteria.

        Raises:
            StepFailed, CallUncertain, CallHeld, BudgetReached: See `run`.
        """
        self._messages = [*self._messages, HumanMessage(f"Do it again: {unmet}")]
        return await self._result()

    async def _result(self) -> JsonValue:
        tools: list[BaseTool | Mapping[str, Any]] = [
            *(self.gate.run.toolbox[name].tool for name in self.step.tools),
            *self._cannot_tool,
        ]
        while self._turn < self._turns:
            self._turn += 1
            answer = await self.gate.models.ask(self.model, self._request(self._messages, self._turn, tools))
            if isinstance(answer, str):
                raise StepFailed(answer)
            if (flaw := flaw_of(answer)) in FLAWS:
                raise StepFailed(f"the executor model {FLAWS[flaw]}; it said: {str(answer.text)[:SAID_CHARACTERS]}")
            if (words := self._cannot(answer)) is not None:
                raise StepFailed(f"the executor model cannot do it: {words}")
            self._messages = [*self._messages, answer]
            if answer.tool_calls or answer.invalid_tool_calls:
                # Calls of one answer were asked for at once, so none of them was written with the result of another.
                read = self.label
                self._messages += [await self._answered(request, read) for request in answer.tool_calls]
                self._messages += [self._unreadable(request) for request in answer.invalid_tool_calls]
                continue
            value, fault = self._read(answer)
            if fault is None:
                if (failure := self.refusals.failure) is not None:
                    raise StepFailed(failure)
                return value
            # An answer that was wrong before gets no nearer to a result in the turns that are left.
            if (repeated := (str(answer.text), fault)) in self._faulty:
                raise StepFailed(self.refusals.failure or f"the executor model repeats itself: {fault}")
            self._faulty.append(repeated)
            self._messages = [*self._messages, HumanMessage(fault)]
        last = f"; its last answer: {self._faulty[-1][1]}" if self._faulty else ""
        raise StepFailed(self.refusals.failure or f"the executor model gave no result within {MAX_TURNS} turns{last}")

    @property
    def _cannot_tool(self) -> list[Mapping[str, Any]]:
        """The tool with which the model says that it cannot, beside other tools, or if its text could be a result."""
        needed = self.step.tools or admits_cannot(self.step.output)
        return [CANNOT_TOOL] if needed and CANNOT not in self.step.tools else []

    def _cannot(self, answer: AIMessage) -> str | None:
        """Return why the model cannot do the step, if it says so; no call that stands beside it is made."""
        for request in answer.tool_calls if self._cannot_tool else ():
            if request["name"] == CANNOT:
                return words_of(request["args"].get("why")) or "it does not say why"
        if answer.tool_calls or admits_cannot(self.step.output):
            return None
        return cannot_in(after_thoughts(str(answer.text)))

    async def _answered(self, request: Any, read: TrustLabel) -> BaseMessage:
        """Make a requested call and return its result or error; `read` is the label at the time of the request."""
        try:
            finished = await self._call(request["name"], request["args"], read)
        except Refused as refusal:
            by_person = isinstance(refusal, RejectedByPerson)
            self.refusals.add(Refusal(request["name"], str(refusal), self._turn, by_person), request["args"])
            if by_person:
                self._asked_for.add(request["name"])  # a required tool that a person keeps from it is required no more
            return ToolMessage(f"refused: {refusal}", tool_call_id=request["id"], status="error")
        if finished.result.status == "failed":
            return ToolMessage(str(finished.result.error), tool_call_id=request["id"], status="error")
        shown = result_shown(to_text(media_named(finished.value)))
        if finished.call.edited:
            args = {name: finished.call.args[name] for name in finished.call.edited}
            shown = f"A person had this call made with other arguments: {to_text(args)}\n{shown}"
        return ToolMessage(shown, tool_call_id=request["id"])

    async def _call(self, tool: str, asked: Mapping[str, JsonValue], read: TrustLabel) -> Finished:
        admitted = await self.gate.admit(self.step, tool, asked, self._pinned, read, self.item)
        finished = await finished_alone(self.gate, admitted)
        self.label = joined([self.label, finished.call.label])
        # Also if the call failed: a step requires that it is made, not that it succeeds.
        self._asked_for.add(tool)
        if finished.result.status == "succeeded":
            self.called[tool] += 1
            self.refusals.succeeded(tool, asked, self._turn)
        return finished

    def _unreadable(self, request: Any) -> BaseMessage:
        self.refusals.add(Refusal(str(request["name"]), UNREADABLE, self._turn, by_person=False), {})
        words = f"refused: {UNREADABLE}; ask again with valid ones"
        return ToolMessage(words, tool_call_id=request["id"], status="error")

    def _read(self, answer: AIMessage) -> tuple[JsonValue, str | None]:
        """Return the result in the required form, or its fault."""
        if uncalled := [name for name in self.step.required_tools if name not in self._asked_for]:
            return None, f"You have not called {', '.join(uncalled)}, which this step requires."
        text = after_thoughts(str(answer.text))
        if not text:
            return None, "Your answer is empty. Answer with the result of the step."
        if self._output is None:
            return text, None
        # Of the list of a batch the length alone counts: a value of another form loses the others nothing.
        output = {**self._output, "items": {}} if isinstance(self._output, Mapping) and self.batch else self._output
        return _formed(text, output)


async def finished_alone(gate: CallGate, admitted: Admitted | Finished) -> Finished:
    """Make a call that ends on record before its step or item does, unless it is there."""
    if isinstance(admitted, Finished):
        return admitted
    await gate.commit_in_turn(admitted)
    # On record before the next turn, since the conversation is resumed from what the record answers.
    finished = await gate.perform(admitted)
    await gate.commit([finished], [])
    return finished


def _list_of(output: Output | None, count: int) -> Output:
    """Return the form of so many values."""
    items = {"items": dict(output)} if isinstance(output, Mapping) else {}
    return {"type": "array", **items, "minItems": count, "maxItems": count}


def form_faults(value: JsonValue, output: Output) -> list[str]:
    """Return the faults of a result under an output schema, with where they are; any JSON has no fault."""
    return [] if output == "json" else schema_errors(output, value, placed=True)


def _formed(text: str, output: Output) -> tuple[JsonValue, str | None]:
    """Return the result in the form of `output`, or its fault; text need not be in quotes."""
    value, fault = None, None
    try:
        value = value_from(text)
        if form_faults(value, output):  # a server that keeps to the schema puts it into an object
            value = result_in(value)
    except NoJson as error:
        fault = f"{error}. Answer with the result as JSON only."
    if output == "json":
        return value, fault
    if fault is None and (faults := form_faults(value, output)):
        fault = f"The result does not fit its schema: {joined_messages(faults)}"
    if fault is not None and _allows_text(output) and not schema_errors(output, text):
        return text, None
    return value, fault


def _allows_text(schema: Mapping[str, JsonValue]) -> bool:
    """Whether a schema mentions text; a schema without a type does not, since any text would match it."""
    kinds = schema.get("type")
    return "enum" in schema or (kinds == "string" or (isinstance(kinds, list) and "string" in kinds))
