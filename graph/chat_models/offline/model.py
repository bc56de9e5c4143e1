"""The rules as a LangChain chat model: same messages in, text out."""

from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from planner_executor.graph.chat_models.answer import EXPLAINED
from planner_executor.graph.chat_models.settings import OFFLINE


class OfflineModel(BaseChatModel):
    """Deterministic rules instead of a language model; needs no key and no network.

    It supports the roles planner and replanner. As executor it raises `NotImplementedError`, so that a step cannot
    succeed with an apology as its result.
    """

    model_name: str = OFFLINE

    @property
    def _llm_type(self) -> str:
        return "offline-rules"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model_name": self.model_name}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  (LangChain's signature)
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,  # noqa: ARG002  (LangChain's signature)
    ) -> ChatResult:
        # Most agents are opened with another model, or ask none; LangChain calls this on a thread beside an event loop.
        from planner_executor.graph.chat_models.offline.rules import answer_to

        usage = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
        answer = answer_to(messages)
        metadata = {"model_provider": OFFLINE} | ({} if answer.startswith("{") else {"finish_reason": EXPLAINED})
        message = AIMessage(answer, usage_metadata=usage, response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])
