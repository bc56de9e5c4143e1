"""The rules in the place of a chat model: they get the messages that any model gets, and answer with text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from graph.chat_models.offline import prose
from graph.chat_models.offline.literal_args import with_literal
from graph.chat_models.offline.one_step import next_step
from graph.chat_models.offline.planning import plan_for
from graph.chat_models.offline.prompt_document import Asked, document_in
from graph.chat_models.offline.revising import revision_for
from graph.chat_models.settings import OFFLINE


class OfflineModel(BaseChatModel):
    """A set of rules, no language model; needs no key and no network, and answers the same to the same.

    It can play the planner and the replanner. As executor it raises `NotImplementedError`: a step must not seem to
    succeed with an excuse for a result.
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
        stop: list[str] | None = None,  # noqa: ARG002  (the rules write nothing that could be cut short)
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,  # noqa: ARG002  (LangChain's signature)
    ) -> ChatResult:
        usage = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
        told = {"model_provider": OFFLINE}
        message = AIMessage(answer_to(messages), usage_metadata=usage, response_metadata=told)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)  # quicker than a thread would start


def answer_to(messages: Sequence[BaseMessage]) -> str:
    """Return the JSON text of a plan or a revision, or plain words where the rules have none.

    Raises:
        NotImplementedError: The messages ask for a model step.
    """
    document = document_in(messages)
    if document is None:
        return prose.what_it_can_do()
    if "objective" in document:
        raise NotImplementedError(prose.NO_MODEL_STEP)
    asked = Asked(document)
    if "horizon" in document:
        answer = next_step(asked)
    else:
        answer = revision_for(asked) if "plan" in document else plan_for(asked)
    if isinstance(answer, str):
        return answer
    others = [step["id"] for step in document.get("plan", {}).get("steps", ())]
    return json.dumps(with_literal(answer, others), ensure_ascii=False)
