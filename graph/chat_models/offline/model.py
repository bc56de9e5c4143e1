"""The rules as a LangChain chat model: same messages in, text out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from planner_executor.graph.chat_models.answer import EXPLAINED
from planner_executor.graph.chat_models.offline import prose
from planner_executor.graph.chat_models.offline.literal_args import with_literal
from planner_executor.graph.chat_models.offline.one_step import next_step
from planner_executor.graph.chat_models.offline.planning import plan_for
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument, document_in, tools_in
from planner_executor.graph.chat_models.offline.replanning import revision_for
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
        usage = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
        answer = answer_to(messages)
        metadata = {"model_provider": OFFLINE} | ({} if answer.startswith("{") else {"finish_reason": EXPLAINED})
        message = AIMessage(answer, usage_metadata=usage, response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)  # faster than starting a thread


def answer_to(messages: Sequence[BaseMessage]) -> str:
    """Return a plan or revision as JSON text, or an explanation in prose if the rules have none.

    Raises:
        NotImplementedError: The messages ask for a model step.
    """
    document = document_in(messages)
    if document is None:
        return prose.describe_rules()
    if "objective" in document:
        raise NotImplementedError(prose.NO_MODEL_STEP)
    prompt = PromptDocument(document, tools_in(messages))
    if "horizon" in document:
        answer = next_step(prompt)
    else:
        answer = revision_for(prompt) if "plan" in document else plan_for(prompt)
    if isinstance(answer, str):
        return answer
    others = [step["id"] for step in document.get("plan", {}).get("steps", ())]
    return json.dumps(with_literal(answer, others), ensure_ascii=False)
