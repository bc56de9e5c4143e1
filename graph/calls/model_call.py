"""A role's call of its model, and the names of its attempts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from planner_executor.graph.calls.prompt import PromptMessages, prompt_of
from planner_executor.graph.chat_models.chat import ModelRequest
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptLimits
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.events import Brief


@dataclass(frozen=True)
class ModelCall:
    """A role's call of its model; `label` distinguishes calls with equal prompts, such as two rounds of replanning.

    `tools` are offered to the model, as LangChain tools or JSON Schemas with a title; `schema` is that of its answer.
    `limits` are those of the step that the call belongs to, `item` is the index of its list item. `brief` is what the
    model of a step is told at the start, `note` what holds of this turn alone, which makes it no other call. A prompt
    that is `recorded` has the role's own instructions.
    """

    role: str
    label: str
    messages: Sequence[BaseMessage]
    step: str | None = None
    tools: Sequence[BaseTool | Mapping[str, Any]] = ()
    schema: Mapping[str, Any] | None = None
    limits: AttemptLimits = NO_LIMITS
    item: int | None = None
    brief: Brief | None = None
    note: str = ""
    recorded: bool = False

    @property
    def conversation(self) -> str:
        """Name of the conversation: the label without the number of the turn."""
        return self.label.rpartition(":")[0]

    def request(self, about: Mapping[str, Any]) -> ModelRequest:
        """Return the call for the chat model, named for tracers; `about` is metadata for them.

        Plans and revisions are JSON, which a chat client should not stream to its user.
        """
        quiet = [] if self.role == "executor" else ["nostream"]
        of_step = {"step": self.step} if self.item is None else {"step": self.step, "item": self.item}
        metadata = {**about, "role": self.role, **(of_step if self.step else {})}
        name = f"{self.role} {self.step}" if self.step else self.role
        config: RunnableConfig = {"tags": [*quiet, f"role:{self.role}"], "run_name": name, "metadata": metadata}
        return ModelRequest(self.messages, self.tools, self.schema, config, self.note)


@dataclass(frozen=True)
class Prompted:
    """A call of a model with its prompt as plain data, and the digest of that."""

    model: RoleModel
    call: ModelCall
    prompt: PromptMessages
    digest: str

    @classmethod
    def of(cls, model: RoleModel, call: ModelCall) -> "Prompted":
        """Return a call with its prompt."""
        prompt = prompt_of(call.messages)
        return cls(model, call, prompt, digest(prompt))

    def key(self, run: str, attempt: int) -> str:
        """Return the name of an attempt, equal if the run asks again after a crash."""
        label = self.call.label if attempt == 1 else f"{self.call.label} attempt {attempt}"
        return digest([run, self.call.role, label, self.digest])
