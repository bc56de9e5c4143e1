"""The arms with a plan: a run of the agent in which a simulated person approves every plan."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from planner_executor.graph.agent import AsyncAgent
from planner_executor.graph.builder.configuration import check_reach
from planner_executor.graph.builder.graph_builder import compiled
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.checkpoints.checkpoint import ledger_of, open_checkpointer
from planner_executor.graph.context import Services
from planner_executor.graph.evaluation.direct import find_outage
from planner_executor.graph.evaluation.trial import Spent, TrialEnding
from planner_executor.graph.plan.library import NO_LIBRARY, Library
from planner_executor.graph.record.events import BudgetReached, Event, ModelFinished
from planner_executor.graph.record.projection import project
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.settings.settings import Settings

APPROVED = ("run_plan", "run_step")
"""Actions that the simulated person approves; it cannot answer any other request."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of the agent, on its own thread in the evaluation's database."""

    thread: str
    database: Path
    models: RoleModels
    toolbox: Toolbox
    settings: Settings
    rate_limiter: RateLimiter
    library: Library = field(default_factory=lambda: NO_LIBRARY)
    decide: Callable[[Mapping[str, Any]], Any] = field(default_factory=lambda: decide)

    async def run(self, given: Mapping[str, Any]) -> TrialEnding:
        """Run the agent with these arguments of `AsyncAgent.start`, and return how the run ended.

        Raises:
            ConfigError: A tool could write to the records.
            LedgerError: The records cannot be written.
        """
        async with open_runs(self.database) as runs, open_checkpointer(self.database) as checkpointer:
            ledger = ledger_of(runs.ledger, checkpointer, partial(check_reach, self.toolbox.specs))
            services = Services(
                self.settings, self.toolbox, self.models, ledger, self.rate_limiter, library=self.library
            )
            agent = AsyncAgent.over(compiled(services, checkpointer), runs)
            started_s = time.perf_counter()
            run, asked = await decided(agent, await agent.start(**given, thread=self.thread), self.decide)
            # A request that is asked again because of a fault is no second question.
            questions, last = sum(one["error"] is None for one in asked), asked[-1] if asked else None
            seconds = time.perf_counter() - started_s
            answer = await agent.value(run.id) if run.answer is not None else None
            events = (await agent.log(run.id)).events
        if last is not None and (actions := unanswerable(last)) and run.status == "rejected":
            run = replace(run, reason=f"an evaluation cannot answer these requests: {actions}")
        return ended(run, answer, events, seconds, questions)


async def decided(
    agent: AsyncAgent, run: Run, decide: Callable[[Mapping[str, Any]], Any]
) -> tuple[Run, list[Mapping[str, Any]]]:
    """Return a run that waits for nobody any more, after these decisions, and the requests that it had."""
    asked: list[Mapping[str, Any]] = []
    while run.request is not None:
        asked.append(run.request)
        run = await agent.resume(run.id, decide(run.request), unseen=is_single_plan(run.request))
    return run, asked


def unanswerable(request: Mapping[str, Any]) -> str:
    """Return the actions of a request that only a real person could decide."""
    names = (action["name"] for action in request["action_requests"])
    return ", ".join(dict.fromkeys(name for name in names if name not in APPROVED))


def is_single_plan(request: Mapping[str, Any]) -> bool:
    """Whether the request is for one plan only: the only approval that can be recorded as unseen."""
    names = {action["name"] for action in request["action_requests"]}
    return names == {"run_plan"} and request["error"] is None


def decide(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return an approval, or a rejection if the request is repeated or cannot be answered."""
    can_approve = request["error"] is None and not unanswerable(request)
    decision = {"type": "approve"} if can_approve else {"type": "reject", "final": True}
    return {"decisions": [decision for _ in request["action_requests"]], "digest": request["digest"]}


def ended(run: Run, answer: Any, events: Sequence[Event], seconds: float, questions: int) -> TrialEnding:
    """Return how a run ended, as recorded."""
    calls = project(events).calls.by_key.values()
    # A run may reach a limit, have it raised and reach another: the last one ended it.
    limits = [event.data.limit for event in events if isinstance(event.data, BudgetReached)]
    asked = [event.data for event in events if isinstance(event.data, ModelFinished)]
    # An outage of a provider says nothing about the agent, so such a trial is told apart from a failure.
    outages = [
        find_outage([attempt.to_json() for attempt in call.attempts]) for call in asked if call.error is not None
    ]
    return TrialEnding(
        status=run.status,
        reason=run.reason,
        answer=answer,
        spent=_spent(events, seconds, questions),
        called=Counter(call.tool for call in calls if call.result and call.result.status == "succeeded"),
        limit=limits[-1] if limits and run.status != "succeeded" else None,
        outage=next((outage for outage in outages if outage), None),
        run=run.id,
    )


def _spent(events: Sequence[Event], seconds: float, questions: int) -> Spent:
    total = project(events).spending.total
    finished = [event.data for event in events if isinstance(event.data, ModelFinished)]
    used = [call.usage for call in finished if call.usage is not None]
    return Spent(
        model_calls=total.model_calls,
        input_tokens=sum(tokens.input_tokens for tokens in used),
        output_tokens=sum(tokens.output_tokens for tokens in used),
        other_tokens=sum(tokens.other_tokens for tokens in used),
        estimated=any(tokens.estimated for tokens in used),
        cost_usd=total.cost_usd,
        tool_calls=total.tool_calls,
        seconds=seconds,
        questions=questions,
    )
