"""The rules as one function: messages in, text out."""

import json
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from planner_executor.graph.chat_models.offline import prose
from planner_executor.graph.chat_models.offline.literal_args import with_literal
from planner_executor.graph.chat_models.offline.one_step import next_step
from planner_executor.graph.chat_models.offline.planning import plan_for
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument, document_in, tools_in
from planner_executor.graph.chat_models.offline.replanning import revision_for


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
