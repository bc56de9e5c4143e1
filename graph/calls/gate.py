"""The choke point: every tool and model call passes here, and is in the ledger before it has an effect."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, messages_to_dict
from langchain_core.runnables import Runnable
from langchain_core.tools import ToolException
from pydantic import JsonValue

from graph.calls.toolbox import Toolbox
from graph.errors import AgentError, StaleRunError
from graph.ledger.protocol import Lease, Ledger
from graph.plan.canonical import digest
from graph.plan.schema import Step
from graph.run.events import Draft
from graph.run.record import Call, RunRecord
from graph.run.results import StepResult
from graph.run.values import Kept, keep, normalise
from tools.errors import NothingHappened
from tools.idempotency import calling

ERROR_CHARACTERS = 2_000


@dataclass(frozen=True)
class ToolCall:
    """A call that is about to be made; `number` is 0 for a step's own call, and counts a model's calls from 1."""

    key: str
    step: str
    number: int
    tool: str
    args: Mapping[str, JsonValue]
    args_digest: str


@dataclass(frozen=True)
class Finished:
    """A call that came to an end, and its value where it succeeded."""

    call: ToolCall
    result: StepResult
    kept: Kept | None = None
    nothing_happened: bool = False

    @property
    def value(self) -> JsonValue:
        """The whole value, inlined or not."""
        return self.kept.value if self.kept else None

    def draft(self) -> Draft:
        """Return the call's outcome as an event."""
        payload = {**self.result.to_json(), "key": self.call.key}
        if self.nothing_happened:
            payload["nothing_happened"] = True
        return Draft("call_finished", payload, self.call.step)


@dataclass(frozen=True)
class ModelCall:
    """What a role asks its model: `label` tells calls with the same words apart, such as two rounds of replanning."""

    role: str
    label: str
    messages: Sequence[BaseMessage]
    step: str | None = None


class Refused(Exception):
    """A call that the step's grant does not cover; it becomes an error for the model and never leaves the node."""


class CallGate:
    """Tool and model calls of one run, as the ledger knew it when the node began."""

    def __init__(self, ledger: Ledger, lease: Lease, record: RunRecord, toolbox: Toolbox) -> None:
        self._ledger, self._lease, self._record, self._toolbox = ledger, lease, record, toolbox
        self._raised: dict[tuple[str, str, str], Call] = {}

    def call_of(self, step: Step, tool: str, args: Mapping[str, JsonValue], number: int = 0) -> ToolCall:
        """Return the call with its idempotency key: equal across attempts and revisions.

        Raises:
            Refused: The tool is not the step's, or the arguments do not fit its schema.
        """
        if tool not in step.tool_names:
            raise Refused(f"{step.id} may not call {tool!r}; it has {', '.join(step.tool_names) or 'no tools'}")
        faults = self._toolbox.specs[tool].argument_faults(args)
        if faults:
            raise Refused("; ".join(f"{place}: {message}" for place, message in faults))
        args_digest = digest(dict(args))
        key = digest([self._record.id, step.id, None, number, tool, args_digest])
        return ToolCall(key, step.id, number, tool, args, args_digest)

    def doubt(self, call: ToolCall) -> Call | None:
        """Return an earlier call whose effect this one might repeat, be it one of the same step a moment ago."""
        if self._toolbox.specs[call.tool].repeatable:
            return None
        if raised := self._raised.get((call.step, call.tool, call.args_digest)):
            return raised
        return self._record.doubt_about(call.tool, call.args_digest, self._record.revision, call.key)

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
            return Finished(call, result, nothing_happened=nothing)
        assert kept is not None
        result = StepResult("succeeded", **kept.fields(), started_at=started_at, ended_at=ended_at)
        return Finished(call, result, kept)

    async def recall(self, call: ToolCall) -> Finished | None:
        """Return the outcome on record that stands for this call: its own, or that of one a person says happened."""
        known = self._record.finished_call(call.key, call.tool, call.args_digest)
        if known is None or known.result is None:
            return None
        return Finished(call, known.result, keep(await self.value_of(known.result)))

    async def value_of(self, result: StepResult) -> JsonValue:
        """Return a succeeded result's whole value, wherever it is kept."""
        return await value_of(self._ledger, result)

    async def ask(self, model: Runnable[Any, AIMessage], named: BaseChatModel, call: ModelCall) -> AIMessage | str:
        """Return the model's answer, or how the call failed; an answer on record is not asked for again.

        Args:
            model: What is invoked, tools bound.
            named: The chat model in it, for the record.
            call: Who asks what.
        """
        prompt_digest = digest(messages_to_dict(call.messages))  # type: ignore[arg-type]
        key = digest([self._record.id, call.role, call.label, prompt_digest])
        if key in self._record.responses:
            return AIMessage.model_validate(self._record.responses[key])
        name = model_name(named)
        intent = {"key": key, "role": call.role, "model": name, "prompt_digest": prompt_digest}
        await self._ledger.append(self._lease, [Draft("model_started", intent, call.step)])
        try:
            answer = await model.ainvoke(list(call.messages))
            outcome: dict[str, Any] = {"response": _storable(answer), "usage": answer.usage_metadata}
        except Exception as failure:  # noqa: BLE001  (around a model call, where it becomes data)
            words = f"the {call.role} model {name} failed: {_words(failure)}"[:ERROR_CHARACTERS]
            outcome = {"error": words}
        await self._ledger.append(
            self._lease, [Draft("model_finished", {"key": key, "role": call.role, **outcome}, call.step)]
        )
        return answer if "response" in outcome else str(outcome["error"])

    async def _within_time(self, call: ToolCall) -> Any:
        bound = self._toolbox[call.tool]
        limit_s = bound.spec.timeout_s
        try:
            async with asyncio.timeout(limit_s) as clock:
                with calling(call.key):
                    return await bound.call(call.args)
        except TimeoutError:
            if not clock.expired():
                raise
            running = "" if bound.awaitable else "; it cannot be stopped and may still be at work"
            raise TimeoutError(f"no answer within {limit_s} s{running}") from None

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
            result=result,
        )

    def _intent(self, call: ToolCall, args: Kept) -> Draft:
        spec = self._toolbox.specs[call.tool]
        payload = {
            "key": call.key,
            "call": call.number,
            "tool": call.tool,
            "args": {"artifact": args.artifact.to_json()} if args.artifact else args.value,
            "args_digest": call.args_digest,
            "effect": spec.effect,
            "repeatable": spec.repeatable,
            "revision": self._record.revision,
        }
        return Draft("call_started", payload, call.step, safe=spec.repeatable)


async def value_of(ledger: Ledger, result: StepResult) -> JsonValue:
    """Return a succeeded result's whole value, wherever it is kept."""
    if result.artifact is None:
        return result.value
    value: JsonValue = json.loads(await ledger.artifact(result.artifact["id"]))
    return value


def model_name(model: BaseChatModel) -> str:
    """Return how a chat model is called in records: never its key, never its address."""
    for attribute in ("model_name", "model", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


def _storable(answer: AIMessage) -> Any:
    normalise([call["args"] for call in answer.tool_calls])  # pydantic would turn NaN into null in silence
    dumped = answer.model_dump(mode="json", include={"content", "tool_calls", "invalid_tool_calls", "id", "name"})
    return normalise(dumped)


def _words(failure: BaseException) -> str:
    words = str(failure).encode(errors="replace").decode()
    if words and isinstance(failure, ToolException | AgentError):
        return words
    return f"{type(failure).__name__}: {words}" if words else type(failure).__name__
