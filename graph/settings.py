"""Settings of a graph: names and limits, as its operator chooses them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from graph.plan.reading import MAX_STEPS
from graph.policy.policy import NO_POLICY, ApprovalMode, Policy
from graph.policy.replanning import Replan
from graph.record.budget import NO_BUDGET, Budget


@dataclass(frozen=True)
class Settings:
    """Names and limits; every limit is at least its least sensible value, checked by `build_graph`.

    `max_repairs` bounds how often a model is told what is wrong with its plan, `max_feedback` how often a person may
    ask for another one, `max_replans` how often the replanner is called after failures, `max_rounds` how often a run
    is planned on step by step, `max_retries` how often a step is tried again whose result does not meet its criteria,
    `max_depth` how many refined steps may lie within one another. With `horizon` 1 the planner gives one step at a
    time. `budget` is what a new run may spend. `record_prompts` says whether the ledger keeps what models are asked;
    what they answer it always keeps. `instructions` adds to what a role is told.
    """

    approval: ApprovalMode = "always"
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET
    replan: Replan = "failure"
    horizon: Literal[1] | None = None
    max_concurrency: int = 16
    max_replans: int = 2
    max_rounds: int = 10
    max_retries: int = 1
    max_repairs: int = 1
    max_feedback: int = 10
    max_steps: int = MAX_STEPS
    max_depth: int = 2
    record_prompts: bool = True
    instructions: Mapping[str, str] = field(default_factory=dict)
