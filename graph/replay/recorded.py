"""Tools and models of a replay: they answer from the record, when its turn has come, and do nothing themselves."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, ToolException
from pydantic import JsonValue

from planner_executor.graph.calls.bound_tool import NOTHING, BoundTool, Prove
from planner_executor.graph.calls.prompt import prompt_of
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.answer import FailedRequest, ModelAnswer
from planner_executor.graph.chat_models.chat import ModelRequest
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import ModelCallError, ResultError
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import CallAsked, CallFinished, Event, ModelFinished
from planner_executor.graph.replay.recording import Recording
from planner_executor.tools.call_questions import CallQuestion, InputNeeded
from planner_executor.tools.errors import NothingHappened, Transient
from planner_executor.tools.idempotency import idempotency_key

Outcome = Callable[[str], Awaitable[Event]]
"""Waits for the outcome of a call on record; takes the key that the call has in the replay."""


@dataclass(frozen=True)
class RecordedTool(BoundTool):
    """A tool that returns its recorded results."""

    outcome: Outcome = field(kw_only=True)
    artifacts: Mapping[str, str] = field(kw_only=True)

    @property
    def is_direct(self) -> bool:
        """True: there is nothing to invoke."""
        return True

    async def call(
        self,
        args: Mapping[str, JsonValue],  # noqa: ARG002  (part of the call's key)
        about: Mapping[str, Any] = NOTHING,  # noqa: ARG002  (replays are not traced)
        is_direct: bool | None = None,  # noqa: ARG002
        prove: Prove | None = None,  # noqa: ARG002  (a replay has one owner)
    ) -> Any:
        """Return the result on record, or fail as it failed."""
        finished = (await self.outcome(idempotency_key())).data
        if isinstance(finished, CallAsked):
            questions = [CallQuestion(one.id, one.text, one.schema) for one in finished.questions]
            raise InputNeeded(tuple(questions), finished.state)
        assert isinstance(finished, CallFinished)
        result = finished.result
        if result.status == "succeeded":
            return json.loads(self.artifacts[result.artifact["id"]]) if result.artifact else result.value
        # The kind of the failure decides whether the call is made again, so it is raised as it was.
        failure = NothingHappened if finished.nothing_happened else Transient if finished.again else ToolException
        raise failure(str(result.error))


class RecordedTools(Toolbox):
    """The recorded tools of a run; none has an effect. How long each took is on record."""

    is_timed = False

    def __init__(
        self,
        specs: list[ToolSpec],
        outcome: Outcome,
        artifacts: Mapping[str, str],
        recording: Recording,
    ) -> None:
        super().__init__(())
        self._recording = recording
        for spec in specs:
            self._tools[spec.name] = RecordedTool(spec, never_called(spec), True, outcome=outcome, artifacts=artifacts)
        self.specs = {spec.name: spec for spec in specs}

    async def would_replace(self, plan: Plan) -> list[str]:  # noqa: ARG002  (taken from the record)
        """Return nothing: the preview is taken from the record."""
        return []

    def preview_on_record(self, key: str) -> CallPreview | None:
        """Return the preview of a call that is due, as it was made."""
        return self._recording.preview_seen(key)

    @property
    def previews_on_record(self) -> tuple[CallPreview, ...]:
        """The previews of a plan that a person proposed, if they come next."""
        return self._recording.previews_next()

    def file(self, path: str) -> str | None:
        """Return the recorded file at a path."""
        return self._recording.file_seen(path)


@dataclass(frozen=True)
class NamedModel(RoleModel):
    """A model under names on record: `called` are those of all that may have answered."""

    called: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How the first model is called in records."""
        return self.called[0]

    @property
    def names(self) -> tuple[str, ...]:
        """How all that may answer are called."""
        return self.called


@dataclass(frozen=True)
class RecordedModel(NamedModel):
    """A model that gives the answers on record."""

    role: str = ""
    outcome: Callable[[str], Awaitable[Event]] = field(default=None, repr=False)  # type: ignore[assignment]

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer on record, or fail as it failed."""
        finished = (await self.outcome(digest(prompt_of(request.messages)))).data
        assert isinstance(finished, ModelFinished)
        attempts = [attempt.to_json() for attempt in finished.attempts]
        if finished.model is None:
            raise ModelCallError(self.name, attempts)
        answer = _Unkept(content="", words=_why(finished, self.role)) if finished.response is None else None
        message = answer or AIMessage.model_validate(finished.response)
        usage = finished.usage.to_json() if finished.usage is not None else {}
        return ModelAnswer(message, finished.model, usage, tuple(FailedRequest(**attempt) for attempt in attempts))


@dataclass(frozen=True)
class SubstituteModel(NamedModel):
    """Another model under the name of the one on record; `busy` counts the answers that are waited for."""

    other: RoleModel = field(default=None, repr=False)  # type: ignore[assignment]
    busy: list[None] = field(default_factory=list, repr=False)

    def under(self, called: tuple[str, ...]) -> "SubstituteModel":
        """Return the same under the names of the models on record."""
        return replace(self, called=called)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask the other model."""
        self.busy.append(None)
        try:
            return await self.other.ask(request)
        finally:
            self.busy.pop()


class _Unkept(AIMessage):
    """An answer that no record can hold, as is on record."""

    words: str

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Fail as it failed."""
        # The words on record are whole already; the error would put its own before them.
        error = ResultError("", "")
        error.args = (self.words,)
        raise error


def _why(finished: ModelFinished, role: str) -> str:
    return str(finished.error).removeprefix(f"the {role} model {finished.model} failed: ")


def never_called(spec: ToolSpec) -> StructuredTool:
    """Return a tool that models may be shown; it is never called."""

    async def never(**_: Any) -> None:
        await asyncio.Future()

    schema = dict(spec.schema)
    return StructuredTool(name=spec.name, description=spec.description, args_schema=schema, coroutine=never)
