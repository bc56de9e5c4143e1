"""The choke point: every tool and model call passes here, and is in the ledger before it has an effect.

What a call has to pass: the step's grant, the tool's schema, the policy, the labels of its arguments, the budget, and
what is on record of it.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from pydantic import JsonValue

from graph.calls.meter import Meter, Reservation
from graph.calls.prompt import Asked, Prompts, prompt_of
from graph.calls.rates import Turns
from graph.calls.time_limit import within
from graph.calls.tool_call import Finished, Held, ToolCall, Uncertain
from graph.calls.toolbox import Toolbox
from graph.chat_models.chat import Request
from graph.chat_models.redaction import redacted
from graph.chat_models.role_model import RoleModel
from graph.errors import AgentError, ModelCallError, ResultError, StaleRunError
from graph.ledger.protocol import Lease, Ledger
from graph.ledger.values import value_of
from graph.plan.canonical import digest
from graph.plan.schema import Step
from graph.run.events import Draft
from graph.run.grants import Grant, Refused
from graph.run.labels import USER, Label, joined, label_of_tool
from graph.run.policy import NO_POLICY, Policy
from graph.run.record import Call, RunRecord
from graph.run.results import StepResult
from graph.run.values import Kept, keep, normalise
from tools.errors import NothingHappened
from tools.idempotency import calling

ERROR_CHARACTERS = 2_000
NO_INSTRUCTIONS: Mapping[str, str] = MappingProxyType({})
SHOWN_BYTES = 1_000_000
"""Arguments that a person is to see stand in the ledger as they are up to this size."""
KEPT_OF_AN_ANSWER = {
    "content",
    "tool_calls",
    "invalid_tool_calls",
    "additional_kwargs",
    "response_metadata",
    "id",
    "name",
}


@dataclass(frozen=True)
class ModelCall:
    """What a role asks its model: `label` tells calls with the same words apart, such as two rounds of replanning.

    `tools` are LangChain tools that the model may ask for, `schema` is what its answer should fit, with a title.
    """

    role: str
    label: str
    messages: Sequence[BaseMessage]
    step: str | None = None
    tools: Sequence[BaseTool] = ()
    schema: Mapping[str, Any] | None = None

    @property
    def conversation(self) -> str:
        """What the turns of one conversation share: the label without the number of the turn."""
        return self.label.rpartition(":")[0]

    def request(self, about: Mapping[str, Any]) -> Request:
        """Return the call for the chat model, named for tracers; `about` is metadata for them.

        Plans and revisions are JSON, which a chat client is not to show as it comes.
        """
        quiet = [] if self.role == "executor" else ["nostream"]
        told = {**about, "role": self.role, **({"step": self.step} if self.step else {})}
        name = f"{self.role} {self.step}" if self.step else self.role
        config: RunnableConfig = {"tags": [*quiet, f"role:{self.role}"], "run_name": name, "metadata": told}
        return Request(self.messages, self.tools, self.schema, config)


class CallGate:
    """Tool and model calls of one run, as the ledger knew it when the node began."""

    def __init__(
        self,
        ledger: Ledger,
        lease: Lease,
        record: RunRecord,
        toolbox: Toolbox,
        meter: Meter,
        *,
        policy: Policy = NO_POLICY,
        turns: Turns | None = None,
        asks: bool = True,
        record_prompts: bool = True,
        instructions: Mapping[str, str] = NO_INSTRUCTIONS,
    ) -> None:
        """Stand in front of a run's calls.

        Args:
            ledger: Where they are written.
            lease: The ownership of the run.
            record: The run.
            toolbox: The tools.
            meter: Its budget.
            policy: What is denied, and which untrusted values are let in.
            turns: Rate limits.
            asks: Whether a person is asked about untrusted arguments.
            record_prompts: Whether the ledger is told what models are asked; what they answer it is always told.
            instructions: Role -> what it is told beside our own words.
        """
        self._ledger, self._lease, self._record, self._toolbox = ledger, lease, record, toolbox
        self._meter, self._policy, self._asks = meter, policy, asks
        self._turns = turns or Turns({}, time.monotonic)
        self._prompts = Prompts() if record_prompts else None
        self._instructions = instructions
        self._raised: dict[tuple[str, str, str], Call] = {}
        self._made: defaultdict[tuple[str, int | None], Counter[str]] = defaultdict(Counter)

    async def admit(
        self,
        step: Step,
        tool: str,
        args: Mapping[str, JsonValue],
        labels: Mapping[str, Label],
        given: Label = USER,
        item: int | None = None,
    ) -> ToolCall | Finished:
        """Return the call, which may then be committed and made, or its outcome where that is on record.

        Args:
            step: Who asks.
            tool: What is to be called.
            args: With what, references resolved.
            labels: Argument -> label of its value, for those that the plan names.
            given: Label of all others: of what the model has read that gives them.
            item: For which item of a list, from 0, where the step is done for each.

        Raises:
            Refused: The step's grant, the schema or the policy does not allow it; that it was asked for is on record.
            Uncertain: It might repeat an effect.
            Held: A person has to see its arguments first; that it waits is on record.
            BudgetReached: A limit does not allow it.
        """
        try:
            call = self._granted(step, tool, args, item)
        except Refused as refusal:
            await self._note_refusal(step, tool, args, str(refusal))
            raise
        self._made[step.id, item][tool] += 1
        spec = self._toolbox.specs[tool]
        labels = {name: labels.get(name, given.by_model if spec.declared else given) for name in call.args}
        call = replace(call, label=joined([label_of_tool(spec), *labels.values()]))
        if finished := await self._recall(call):
            return finished
        if doubt := self._doubt(call):
            raise Uncertain(doubt.key)
        if self._asks:
            await self._hold_untrusted(call, labels)
        self._meter.reserve_call(tool, step.id, begins=step.tool is not None and step.id not in self._record.begun)
        return replace(call, wait_s=self._turns.wait_s(tool))

    def again(self, call: ToolCall) -> ToolCall:
        """Return a call that may be repeated, to be committed and made once more.

        Raises:
            BudgetReached: A limit does not allow it.
        """
        assert self._toolbox.specs[call.tool].repeatable
        self._meter.reserve_call(call.tool, call.step, begins=False)
        return replace(call, wait_s=self._turns.wait_s(call.tool))

    def _granted(self, step: Step, tool: str, args: Mapping[str, JsonValue], item: int | None) -> ToolCall:
        """Return the call with its idempotency key: equal across attempts and revisions."""
        grant, made = Grant.of(step), self._made[step.id, item]
        grant.check(tool, made)
        spec = self._toolbox.specs[tool]
        bound = grant.bound(args, spec.takes)
        if faults := spec.argument_faults(bound) or self._policy.faults(spec, bound):
            raise Refused("; ".join(f"{place}: {message}" for place, message in faults))
        number = made.total() + 1 if grant.by_model else 0
        args_digest = digest(bound)
        key = digest([self._record.id, step.id, item, number, tool, args_digest])
        return ToolCall(key, step.id, number, tool, bound, args_digest, item)

    async def _note_refusal(self, step: Step, tool: str, args: Mapping[str, JsonValue], why: str) -> None:
        """Write down what was asked for and is not granted: a request to amend the plan, never a call."""
        try:
            shown = keep(normalise(dict(args)))
        except ResultError as error:
            shown = keep(f"arguments that no record can hold: {error}")
        payload = {"tool": str(tool), **_args_shown(shown), "why": why, "revision": self._record.revision}
        if digest([step.id, payload]) in self._record.refused:
            return  # a step that was taken up again asks again for what it asked for before
        await self._ledger.append(self._lease, [Draft("call_refused", payload, step.id)], artifacts=[shown])

    async def _hold_untrusted(self, call: ToolCall, labels: Mapping[str, Label]) -> None:
        """Hold a call with an effect whose arguments are untrusted, until a person has seen them."""
        unseen = self._policy.to_be_seen(self._toolbox.specs[call.tool], labels)
        if not unseen or call.key in self._record.seen:
            return
        known = self._record.held.get(call.key)
        if known is None or known.revision != self._record.revision:
            await self._note_held(call, unseen)
        raise Held(call.key)

    async def _note_held(self, call: ToolCall, unseen: Mapping[str, Label]) -> None:
        shown = keep(dict(call.args), SHOWN_BYTES)
        payload = {
            "key": call.key,
            "tool": call.tool,
            **_args_shown(shown),
            "labels": {name: label.to_json() for name, label in unseen.items()},
            "revision": self._record.revision,
        }
        draft = Draft("step_held", payload, call.step, safe=False)
        await self._ledger.append(self._lease, [draft], artifacts=[shown])

    def _doubt(self, call: ToolCall) -> Call | None:
        """Return an earlier call whose effect this one might repeat, be it one of the same step a moment ago."""
        if self._toolbox.specs[call.tool].repeatable:
            return None
        if raised := self._raised.get((call.step, call.tool, call.args_digest)):
            return raised
        return self._record.doubt_about(call.tool, call.args_digest, self._record.revision, call.key)

    async def _recall(self, call: ToolCall) -> Finished | None:
        """Return the outcome on record that stands for this call: its own, or that of one a person says happened."""
        known = self._record.finished_call(call.key, call.tool, call.args_digest) or self._failed_item(call)
        if known is None or known.result is None:
            return None
        if known.result.status == "failed":
            return Finished(call, known.result)
        label = USER if known.settled else call.label
        return Finished(replace(call, label=label), known.result, keep(await self.value_of(known.result)))

    def _failed_item(self, call: ToolCall) -> Call | None:
        """Return the call of an item that failed under this revision: another pass does not make it again."""
        known = self._record.calls.get(call.key) if call.item is not None else None
        failed = known is not None and known.result is not None and known.result.status == "failed"
        return known if known and failed and known.revision == self._record.revision else None

    async def commit(
        self, ended: Sequence[Finished | Draft], starting: Sequence[ToolCall], kept: Sequence[Kept] = ()
    ) -> None:
        """Write outcomes, their artifacts, and intents in one transaction; when it returns the calls may be made.

        Raises:
            StaleRunError: What is allowed has changed since the run was looked at; nothing may start.
            LedgerUnavailableError: It could not be written; nothing may start.
        """
        outcomes = [entry.draft() if isinstance(entry, Finished) else entry for entry in ended]
        values = [*kept, *(entry.kept for entry in ended if isinstance(entry, Finished) and entry.kept)]
        shown = [keep(dict(call.args)) for call in starting]
        intents = [self._intent(call, args) for call, args in zip(starting, shown, strict=True)]
        guard = self._record.control_seq if starting else None
        try:
            events = [*outcomes, *intents]
            stored = [*values, *shown]
            await self._ledger.append(self._lease, events, artifacts=stored, control_seq=guard, heed=bool(starting))
        except StaleRunError:
            if outcomes:  # what has happened is written all the same
                await self._ledger.append(self._lease, outcomes, artifacts=values)
            raise

    async def commit_in_turn(self, call: ToolCall) -> None:
        """Wait for the call's turn and write its intent; it may be made when this returns.

        Raises:
            StaleRunError: See `commit`.
        """
        if call.wait_s:
            await asyncio.sleep(call.wait_s)
        await self.commit([], [call])

    async def perform(self, call: ToolCall) -> Finished:
        """Make a call whose intent is written; whatever the tool does ends in data."""
        started_at = time.time()
        begun = time.perf_counter()
        kept, error, nothing = None, None, False
        try:
            output = await self._within_time(call)
            kept = keep(normalise(output))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            error = "the tool cancelled itself"
        except TimeoutError as failure:
            error = _words(failure)
        except Exception as failure:  # noqa: BLE001  (around a tool call, where it becomes data)
            error, nothing = _words(failure), isinstance(failure, NothingHappened)
        ended_at = started_at + time.perf_counter() - begun
        if error is not None:
            result = StepResult("failed", error=error[:ERROR_CHARACTERS], started_at=started_at, ended_at=ended_at)
            if not nothing:
                self._raised[call.step, call.tool, call.args_digest] = self._call(call, result)
            return Finished(call, result, None, nothing, self._meter.wall_s)
        assert kept is not None
        result = StepResult("succeeded", **kept.fields(), started_at=started_at, ended_at=ended_at)
        return Finished(call, result, kept, worked_s=self._meter.wall_s)

    async def value_of(self, result: StepResult) -> JsonValue:
        """Return a succeeded result's whole value, wherever it is kept."""
        return await value_of(self._ledger, result)

    async def ask(self, model: RoleModel, call: ModelCall) -> AIMessage | str:
        """Return the model's answer, or how the call failed; an answer on record is not asked for again.

        Raises:
            BudgetReached: A limit does not allow the call.
        """
        call = replace(call, messages=self._instructed(call))
        prompt = prompt_of(call.messages)
        prompt_digest = digest(prompt)
        key = digest([self._record.id, call.role, call.label, prompt_digest])
        if key in self._record.responses:
            return AIMessage.model_validate(self._record.responses[key])
        begins = call.step is not None and call.step not in self._record.begun
        aside = self._meter.reserve_model(model.name, _characters(call.messages), call.step, begins=begins)
        if wait_s := self._turns.wait_s(model.name):
            await asyncio.sleep(wait_s)
        intent: dict[str, Any] = {"key": key, "role": call.role, "model": model.name, "prompt_digest": prompt_digest}
        shown: list[Kept] = []
        if self._prompts is not None:
            asked = Asked(key, len(prompt), prompt_digest)
            kept, before = self._prompts.kept(asked, call.role, call.conversation, prompt)
            intent["prompt"] = {"continues": before, **kept.fields()}
            shown.append(kept)
        await self._ledger.append(self._lease, [Draft("model_started", intent, call.step)], artifacts=shown)
        answer, outcome = await self._asked(model, call)
        ended = {"key": key, "role": call.role, **outcome, **self._settled(aside, outcome)}
        await self._ledger.append(self._lease, [Draft("model_finished", ended, call.step)])
        return answer

    def _instructed(self, call: ModelCall) -> Sequence[BaseMessage]:
        """Return the messages with the role's own instructions at the end of the first."""
        more = self._instructions.get(call.role)
        if more is None:
            return call.messages
        first, *others = call.messages
        return [first.model_copy(update={"content": f"{first.content}\n{more}"}), *others]

    @property
    def _about(self) -> dict[str, Any]:
        """What tracers are told of each call."""
        return {"run": self._record.id, "revision": self._record.revision}

    async def _asked(self, model: RoleModel, call: ModelCall) -> tuple[AIMessage | str, dict[str, Any]]:
        """Return the answer or the words of the failure, and what the ledger is told of it."""
        try:
            answer = await model.ask(call.request(self._about))
        except ModelCallError as failure:
            words = f"the {call.role} model {_words(failure)}"[:ERROR_CHARACTERS]
            return words, {"error": words, "attempts": list(failure.attempts)}
        attempts = [attempt.to_json() for attempt in answer.attempts]
        told: dict[str, Any] = {"model": answer.model, "usage": dict(answer.usage), "attempts": attempts}
        try:
            return answer.message, {"response": _storable(answer.message), **told}
        except (ResultError, ValueError) as failure:
            words = f"the {call.role} model {answer.model} failed: {_words(failure)}"[:ERROR_CHARACTERS]
            return words, {"error": words, **told}

    def _settled(self, aside: Reservation, outcome: Mapping[str, Any]) -> dict[str, float]:
        """Return what a model call cost, as far as it is bounded or known."""
        cost_usd = self._meter.settle(aside, outcome.get("usage"), outcome.get("model", aside.model))
        worked_s = self._meter.wall_s
        found = {"cost_usd": cost_usd, "worked_s": worked_s}
        return {name: value for name, value in found.items() if value is not None}

    async def _within_time(self, call: ToolCall) -> Any:
        bound = self._toolbox[call.tool]
        limit_s = bound.spec.timeout_s
        with calling(call.key):
            work = bound.call(call.args, {**self._about, "step": call.step})
            return await (work if limit_s is None else within(limit_s, work, bound.awaitable))

    def _call(self, call: ToolCall, result: StepResult) -> Call:
        return Call(
            key=call.key,
            step=call.step,
            tool=call.tool,
            args=call.args,
            args_digest=call.args_digest,
            repeatable=self._toolbox.specs[call.tool].repeatable,
            revision=self._record.revision,
            number=call.number,
            item=call.item,
            result=result,
        )

    def _intent(self, call: ToolCall, args: Kept) -> Draft:
        spec = self._toolbox.specs[call.tool]
        payload = {
            "key": call.key,
            "call": call.number,
            **({"item": call.item} if call.item is not None else {}),
            "tool": call.tool,
            **_args_shown(args),
            "effect": spec.effect,
            "repeatable": spec.repeatable,
            "revision": self._record.revision,
        }
        return Draft("call_started", payload, call.step, safe=spec.repeatable)


def _args_shown(args: Kept) -> dict[str, JsonValue]:
    """Return arguments as the ledger holds them; a digest beside them says that an artifact stands in their place."""
    if args.artifact is None:
        return {"args": args.value}
    return {"args": {"artifact": args.artifact.to_json()}, "args_digest": digest(args.value)}


def _characters(messages: Sequence[BaseMessage]) -> int:
    return sum(len(str(message.content)) for message in messages)


def _storable(answer: AIMessage) -> Any:
    normalise([call["args"] for call in answer.tool_calls])  # pydantic would turn NaN into null in silence
    return normalise(answer.model_dump(mode="json", include=KEPT_OF_AN_ANSWER))


def _words(failure: BaseException) -> str:
    words = redacted(str(failure)).encode(errors="replace").decode()
    if words and isinstance(failure, ToolException | AgentError):
        return words
    return f"{type(failure).__name__}: {words}" if words else type(failure).__name__
