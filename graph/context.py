"""What a graph is built with: its settings, and the live things that nodes use."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, Field

from graph.calls.threads import in_thread
from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import chat_model
from graph.ledger.protocol import Ledger
from graph.plan.validation import MAX_STEPS
from graph.run.policy import ApprovalMode


@dataclass(frozen=True)
class Settings:
    """Names and limits; every limit is at least its least sensible value, checked by `build_graph`.

    `max_repairs` bounds how often a model is told what is wrong with its plan, `max_feedback` how often a person may
    ask for another one, `max_replans` how often the replanner is called in a run.
    """

    approval: ApprovalMode = "always"
    replan: Literal["failure", "never"] = "failure"
    max_concurrency: int = 16
    max_replans: int = 2
    max_repairs: int = 1
    max_feedback: int = 10
    max_steps: int = MAX_STEPS


def _for_nodes(*nodes: str) -> dict[str, Any]:
    """Return what makes Studio show a setting beside its nodes."""
    return {"langgraph_nodes": list(nodes)}


class Context(BaseModel):
    """What a client may set for one invocation: names and limits; what is left out is as the graph was built.

    Whether a person is asked is no such setting: it belongs to those who run the graph.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    planner: str | None = Field(
        default=None,
        description="Model that plans, as provider:model, such as openai:gpt-5; `offline` is the embedded rules.",
        json_schema_extra=_for_nodes("planner"),
    )
    executor: str | None = Field(
        default=None,
        description="Model that does the steps which are no plain tool call; the planner's by default.",
        json_schema_extra=_for_nodes("executor"),
    )
    replanner: str | None = Field(
        default=None,
        description="Model that revises a plan after a failure; the planner's by default.",
        json_schema_extra=_for_nodes("replanner"),
    )
    max_concurrency: int | None = Field(
        default=None, ge=1, description="How many steps may run at a time.", json_schema_extra=_for_nodes("executor")
    )
    max_replans: int | None = Field(
        default=None, ge=0, description="How often a run may be replanned.", json_schema_extra=_for_nodes("replanner")
    )
    max_repairs: int | None = Field(
        default=None,
        ge=0,
        description="How often a model is told what is wrong with its plan.",
        json_schema_extra=_for_nodes("planner", "replanner"),
    )


@dataclass(frozen=True)
class Services:
    """The live things behind a graph; `ledger` opens it on first use."""

    settings: Settings
    toolbox: Toolbox
    planner: BaseChatModel
    executor: BaseChatModel
    replanner: BaseChatModel
    ledger: Callable[[], Awaitable[Ledger]]

    async def under(self, context: Context | None) -> "Services":
        """Return the services with what a client set for this invocation.

        Raises:
            ModelConfigError: A model that was named cannot be made.
        """
        if context is None:
            return self
        limits = context.model_dump(include={"max_concurrency", "max_replans", "max_repairs"}, exclude_none=True)
        changed = replace(self, settings=replace(self.settings, **limits))
        if context.planner is not None:
            plans = await _made(context.planner)
            changed = replace(changed, planner=plans, executor=plans, replanner=plans)
        if context.executor is not None:
            changed = replace(changed, executor=await _made(context.executor))
        if context.replanner is not None:
            changed = replace(changed, replanner=await _made(context.replanner))
        return changed


async def _made(name: str) -> BaseChatModel:
    """Make a model away from the event loop: its package may have to be imported first."""
    return await in_thread(lambda: chat_model(name))
