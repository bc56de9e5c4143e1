"""The choke point of model calls: each is checked against the budget, and recorded before and after it is made."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planner_executor.graph.calls.caps import cap_reached, in_turn
from planner_executor.graph.calls.failures import error_of, failure_words
from planner_executor.graph.calls.meter import LimitReached, Reservation
from planner_executor.graph.calls.model_call import ModelCall, Prompted
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.calls.prompt import Asked, Prompts
from planner_executor.graph.calls.tally import Tally
from planner_executor.graph.chat_models.failures import REPEATABLE
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import CapReachedError, ModelCallError, ResultError
from planner_executor.graph.ledger.values import content_value
from planner_executor.graph.observing.observed import around
from planner_executor.graph.prompts.pictures import is_picture, without_bytes
from planner_executor.graph.record.artifacts import with_constants
from planner_executor.graph.record.calls import Opening
from planner_executor.graph.record.caps import CapEntry, CapUse
from planner_executor.graph.record.events import Draft, FailedAttempt, ModelFinished, ModelStarted, Tokens
from planner_executor.graph.record.values import Kept, normalise

PICTURE_CHARACTERS = 6_000
"""What a picture counts for in the budget before the server has counted: most models take up to 1,500 tokens."""
KEPT_OF_AN_ANSWER = {
    "content",
    "tool_calls",
    "invalid_tool_calls",
    "additional_kwargs",
    "response_metadata",
    "id",
    "name",
}


class ModelGate:
    """Model calls of one run, in its recorded state at the start of the node; `tally` counts all calls."""

    def __init__(self, run: OwnedRun) -> None:
        self._run = run
        self._prompts = Prompts() if run.record_prompts else None
        self.tally = Tally(run.record.seq)

    async def ask(self, model: RoleModel, call: ModelCall) -> AIMessage | str:
        """Return the model's answer, or the error text of a failed call; a recorded answer is reused.

        A failure that may pass is followed by another attempt, within the limits of the call's step; each is on record.

        Raises:
            LimitReached: The call would exceed a limit.
            StaleRunError: A control event or a message came since the run was read; the call was not made.
            CapReachedError: A cap across runs allows the call only later, which is on record.
        """
        asked = Prompted.of(model, replace(call, messages=self._instructed(call)))
        attempt, known = 1, self._run.record.calls
        # Attempts that failed before a restart are on record; each has a key of its own, and this one has the next.
        while (key := asked.key(self._run.record.id, attempt)) in known.followed:
            attempt += 1
        if key in known.responses:
            return AIMessage.model_validate(known.responses[key])
        aside = self._reserved(asked)
        while True:
            use = self._run.caps.of_model(asked.model.name, key, aside)
            answer, finished = await self._attempt(asked, key, aside, use)
            aside_for_next = None  # reserved before this attempt is on record: `again` promises that there is room
            if attempt < call.limits.most and _may_pass(finished):
                aside_for_next = self._reserved_again(asked)
            ended = Draft(replace(finished, again=aside_for_next is not None), call.step)
            await self._write(ended, caps=self._run.caps.after_model(use, aside, finished))
            if aside_for_next is None:
                return answer
            await self._run.clock.sleep(call.limits.wait_s(attempt, self._run.clock.jitter()))
            aside, attempt = aside_for_next, attempt + 1
            key = asked.key(self._run.record.id, attempt)

    def is_of(self, model: RoleModel, call: ModelCall, key: str) -> bool:
        """Whether a request on record, by its key, is the first attempt at this call."""
        return Prompted.of(model, replace(call, messages=self._instructed(call))).key(self._run.record.id, 1) == key

    async def messages_of(self, opening: Opening) -> list[BaseMessage]:
        """Return the first two messages of a request on record, none if they are not there to be read."""
        if opening.prompt is None:
            return []
        found = await content_value(self._run.ledger, opening.prompt.messages)
        constants = [await content_value(self._run.ledger, one) for one in opening.prompt.constants]
        first = with_constants(found if isinstance(found, list) else [], constants)[:2]
        kinds: dict[str, type[BaseMessage]] = {"system": SystemMessage, "human": HumanMessage}
        return [kinds[one["type"]](one["content"]) for one in first if one["type"] in kinds]

    def _reserved(self, asked: Prompted) -> Reservation:
        step = asked.call.step
        begins = step is not None and step not in self._run.record.spending.begun
        return self._run.meter.reserve_model(asked.model.name, _characters(asked.call.messages), step, begins=begins)

    def _reserved_again(self, asked: Prompted) -> Reservation | None:
        """Reserve another attempt; without room for it the failure stands."""
        try:
            return self._reserved(asked)
        except LimitReached:
            return None

    async def _attempt(
        self, asked: Prompted, key: str, aside: Reservation, use: CapUse | None
    ) -> tuple[AIMessage | str, ModelFinished]:
        """Write the intent of an attempt in its turn, make it, and return the answer with the outcome."""
        model, call = asked.model, asked.call
        # Before the intent is written: a process that dies in this wait has asked nothing.
        if wait_s := self._run.turns.wait_s(model.name):
            await asyncio.sleep(wait_s)
        started = ModelStarted(
            key=key,
            role=call.role,
            item=call.item,
            model=model.name,
            prompt_digest=asked.digest,
            provider=model.provider,
            reserved=aside.to_json(),
            brief=call.brief,
        )
        shown: list[Kept] = []
        if self._prompts is not None:
            prompt = Asked(key, len(asked.prompt), asked.digest)
            recorded = self._prompts.recorded(prompt, call.role, call.conversation, asked.prompt)
            prompt_shown = replace(recorded.prompt, note=call.note or None)
            started, shown = replace(started, prompt=prompt_shown), recorded.artifacts
        await self._begin(Draft(started, call.step), shown, use)
        answer, finished = await self._asked(model, call, ModelFinished(key=key, role=call.role))
        return answer, self._settled(aside, finished)

    async def _begin(self, started: Draft, shown: Sequence[Kept], use: CapUse | None) -> None:
        """Write an intent as that of a tool call: if nothing changed what is allowed, and no message waits."""
        seen = self._run.record.control_seq
        if use is None:
            return await self._write(started, shown, seen=seen)
        try:
            await in_turn(lambda: self._write(started, shown, [use], seen), self._run.clock)
        except CapReachedError as reached:
            await self._write(cap_reached(reached, started.step, self._run.clock.now()))
            raise

    async def _write(
        self, draft: Draft, artifacts: Sequence[Kept] = (), caps: Sequence[CapEntry] = (), seen: int | None = None
    ) -> None:
        written = await self._run.ledger.append(
            self._run.lease,
            [draft],
            artifacts=artifacts,
            control_seq=seen,
            require_empty_inbox=seen is not None,
            caps=caps,
        )
        self.tally.note(written, [draft])

    def _instructed(self, call: ModelCall) -> Sequence[BaseMessage]:
        """Return the messages with the role's own instructions at the end of the first."""
        more = self._run.instructions.get(call.role)
        if more is None or call.recorded:
            return call.messages
        first, *others = call.messages
        return [first.model_copy(update={"content": f"{first.content}\n{more}"}), *others]

    async def _asked(
        self, model: RoleModel, call: ModelCall, finished: ModelFinished
    ) -> tuple[AIMessage | str, ModelFinished]:
        """Return the answer or the error text, and the outcome for the ledger."""
        try:
            with around(self._run.ledger, self._run.lease.run, (finished.key,)):
                answer = await model.ask(
                    call.request({"run": self._run.record.id, "revision": self._run.record.plan_state.revision})
                )
        except ModelCallError as failure:
            words = error_of(f"the {call.role} model {failure_words(failure)}")
            return words, replace(finished, error=words, attempts=_failed(failure.attempts))
        attempts = _failed(attempt.to_json() for attempt in answer.attempts)
        finished = replace(finished, model=answer.model, usage=Tokens.from_json(answer.usage), attempts=attempts)
        try:
            return answer.message, replace(finished, response=_storable(answer.message))
        except (ResultError, ValueError) as failure:
            words = error_of(f"the {call.role} model {answer.model} failed: {failure_words(failure)}")
            return words, replace(finished, error=words)

    def _settled(self, aside: Reservation, finished: ModelFinished) -> ModelFinished:
        """Return the outcome with the cost of the call, as far as it is limited or known."""
        usage = finished.usage.to_json() if finished.usage is not None else None
        cost_usd = self._run.meter.settle(aside, usage, finished.model or aside.model)
        return replace(finished, cost_usd=cost_usd, worked_s=self._run.meter.wall_s)


def _may_pass(finished: ModelFinished) -> bool:
    """Whether the last request failed for a reason that may pass."""
    return finished.model is None and bool(finished.attempts) and finished.attempts[-1].kind in REPEATABLE


def _failed(attempts: Iterable[Mapping[str, Any]]) -> tuple[FailedAttempt, ...]:
    return tuple(map(FailedAttempt.from_json, attempts))


def _characters(messages: Sequence[BaseMessage]) -> int:
    pictures = sum(is_picture(block) for one in messages if isinstance(one.content, list) for block in one.content)
    return sum(len(str(without_bytes(one.content))) for one in messages) + pictures * PICTURE_CHARACTERS


def _storable(answer: AIMessage) -> Any:
    normalise([call["args"] for call in answer.tool_calls])  # pydantic would silently turn NaN into null
    return normalise(answer.model_dump(mode="json", include=KEPT_OF_AN_ANSWER, exclude_defaults=True))
