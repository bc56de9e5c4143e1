"""Adapter that lets LangChain's agent ask a role's model, with the retries, fallbacks and metering of a planned run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from planner_executor.graph.chat_models.chat import ModelRequest

Ask = Callable[[ModelRequest], Awaitable[AIMessage]]


class DirectModel(BaseChatModel):
    """Chat model that passes each call, with the bound tools, to `ask`."""

    _ask: Ask = PrivateAttr()

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self._ask = ask

    @property
    def _llm_type(self) -> str:
        return "role"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools bound; a model without tool calling fails when asked."""
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("evaluations are asynchronous")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  (LangChain's signature)
        run_manager: AsyncCallbackManagerForLLMRun | CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        *,
        tools: Sequence[Any] = (),
        **kwargs: Any,  # noqa: ARG002  (LangChain's signature)
    ) -> ChatResult:
        answer = await self._ask(ModelRequest(messages, tools))
        return ChatResult(generations=[ChatGeneration(message=answer)])
