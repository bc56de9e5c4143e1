"""One request to one chat model: its time limit, and the request features that its server rejects."""

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import Runnable, RunnableConfig

from planner_executor.graph.chat_models.client import check_whole
from planner_executor.graph.chat_models.failures import Failure, failure_of
from planner_executor.graph.chat_models.redaction import secrets_of, without_secrets
from planner_executor.graph.chat_models.retry import RetryPolicy
from planner_executor.graph.chat_models.structured import CANNOT_BIND, Bindings, as_text, cut_off
from planner_executor.graph.plan.result_schema import RESULT
from planner_executor.graph.plan.shortening import shortened

ERROR_CHARACTERS = 2_000

SCHEMA, RESULT_SCHEMA = "schema", "schema of a result"
_OF_SCHEMAS = ("response_format", "schema", "grammar", "structured")
FEATURE_WORDS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("temperature",),
    "stream_usage": ("stream_options", "include_usage"),
    SCHEMA: _OF_SCHEMAS,
    RESULT_SCHEMA: _OF_SCHEMAS,
}
"""Optional features of a request, and the words in a server's error that identify them."""


class ModelRequest(NamedTuple):
    """A request; the model may call `tools`, and its answer should fit `schema`, a JSON Schema with a title.

    `note` is sent at the end of the last message, of which it is no part: the next request repeats the message alone.
    """

    messages: Sequence[BaseMessage]
    tools: Sequence[Any] = ()
    schema: Mapping[str, Any] | None = None
    config: RunnableConfig | None = None
    note: str = ""

    @property
    def schema_feature(self) -> str:
        """The feature that the schema is: that of a result is another in every plan, and so refused by itself."""
        return RESULT_SCHEMA if self.schema is not None and self.schema.get("title") == RESULT else SCHEMA

    @property
    def sent(self) -> list[BaseMessage]:
        """The messages as they are sent."""
        *before, last = self.messages
        if not self.note:
            return [*before, last]
        text = last.content
        noted = f"{text}\n\n{self.note}" if isinstance(text, str) else [*text, {"type": "text", "text": self.note}]
        return [*before, last.model_copy(update={"content": noted})]


@dataclass(frozen=True)
class Chat:
    """A LangChain chat model with its retry policy; `timeout_s` bounds one request, in seconds.

    `optional` names features that the user did not set, so that a request may drop them. `refused` names features that
    the server has rejected; it is learned at run time and shared by all users of the model.
    """

    model: BaseChatModel = field(repr=False)
    timeout_s: float | None = None
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    limiter: BaseRateLimiter | None = field(default=None, repr=False)
    structured: bool = True
    optional: frozenset[str] = frozenset()
    refused: set[str] = field(default_factory=set, repr=False, compare=False)
    bindings: Bindings = field(default_factory=Bindings, repr=False, compare=False)

    @property
    def name(self) -> str:
        """How the model is called in records: never its key, never its address."""
        for attribute in ("model_name", "model", "model_id"):
            name = getattr(self.model, attribute, None)
            if isinstance(name, str) and name:
                return name
        return type(self.model).__name__

    @property
    def provider(self) -> str:
        """Provider name as in its package: `openai`, `anthropic`, `ollama`."""
        return "-".join(part for part in self.model._llm_type.split("-") if part != "chat")

    @property
    def is_free(self) -> bool:
        """Whether calls cost nothing, as with the embedded rules."""
        return self.provider == "offline-rules"

    async def once(self, request: ModelRequest, without: AbstractSet[str] = frozenset()) -> AIMessage:
        """Make one request; exceptions of the model or its client propagate."""
        if self.limiter is not None:
            await self.limiter.aacquire(blocking=True)
        try:
            async with asyncio.timeout(self.timeout_s) as clock:
                answer = await self._answer(request, without)
        except TimeoutError:
            if not clock.expired():  # a timeout of the client, which has a message of its own
                raise
            raise TimeoutError(f"the limit is {self.timeout_s:g} s") from None
        except Exception as error:
            if (words := cut_off(error)) is None:
                raise
            answer = words
        check_whole(answer)
        return answer

    def failure(self, error: Exception, now: float) -> Failure:
        """Return the failure behind an exception, with keys redacted."""
        failure = failure_of(error, now)
        words = without_secrets(failure.words, secrets_of(self.model)).encode(errors="replace").decode()
        return failure._replace(words=shortened(words, ERROR_CHARACTERS))

    def dispensable(self, failure: Failure, request: ModelRequest, without: AbstractSet[str]) -> str | None:
        """Return the feature to drop from a rejected request: one named in the error, else the schema."""
        if failure.kind not in ("request", "server"):
            return None
        schema = request.schema_feature
        used = (self.optional | {"stream_usage"} | ({schema} if self._wants_schema(request) else set())) - without
        words = failure.words.lower()
        named = [name for name, marks in FEATURE_WORDS.items() if name in used and any(mark in words for mark in marks)]
        # The words of the error come first: a server may refuse one feature in the name of another.
        if named:
            return named[0]
        return schema if schema in used and failure.kind == "request" else None

    def _wants_schema(self, request: ModelRequest) -> bool:
        return self.structured and request.schema is not None and not request.tools

    async def _answer(self, request: ModelRequest, without: AbstractSet[str]) -> AIMessage:
        changes: dict[str, Any] = {"temperature": None} if "temperature" in without else {}
        changes |= {"stream_usage": False} if "stream_usage" in without else {}
        # A copy, since other requests go on with the model meanwhile.
        model = self.model.model_copy(update=changes) if changes else self.model
        messages, schema = request.sent, request.schema
        if schema is not None and self._wants_schema(request) and request.schema_feature not in without:
            bound = self.bindings.with_schema(model, schema)
            if bound is not None:
                return as_text(await bound.ainvoke(messages, request.config), schema.get("title"))
        return await with_tools(model, request.tools).ainvoke(messages, request.config)


def with_tools(model: BaseChatModel, tools: Sequence[Any]) -> Runnable[Any, AIMessage]:
    """Return the model with tools bound, or unchanged if it cannot bind tools."""
    if not tools:
        return model
    try:
        return model.bind_tools(list(tools))
    except CANNOT_BIND:
        return model
