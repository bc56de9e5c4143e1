"""What a graph is built with: its settings, and the live things that nodes use."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from langchain_core.language_models import BaseChatModel

from graph.calls.toolbox import Toolbox
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


@dataclass(frozen=True)
class Services:
    """The live things behind a graph; `ledger` opens it on first use."""

    settings: Settings
    toolbox: Toolbox
    planner: BaseChatModel
    executor: BaseChatModel
    replanner: BaseChatModel
    ledger: Callable[[], Awaitable[Ledger]]
