"""The arms with a plan: a whole run of the agent, in which a person who approves all plans is played."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from graph.agent import AsyncAgent
from graph.builder import compiled
from graph.calls.rate_limit import RateLimiter
from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import RoleModels
from graph.checkpoint import ledger_of, open_checkpointer
from graph.configuration import check_reach
from graph.context import Services, Settings
from graph.evaluation.direct import outage_in
from graph.evaluation.trial import Ending, Spent
from graph.record.events import BudgetReached, Event, ModelFinished
from graph.record.projection import project
from graph.runs import Run, open_runs

APPROVED = ("run_plan", "run_step")
"""What the played person approves; what else a person may be asked, nobody can answer here."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of the agent, on a thread of its own in the records of the evaluation."""

    thread: str
    database: Path
    models: RoleModels
    toolbox: Toolbox
    settings: Settings
    turns: RateLimiter

    async def run(self, goal: str, constraints: Sequence[str]) -> Ending:
        """Return how it ended.

        Raises:
            ConfigError: A tool could write the records.
            LedgerError: The records cannot be written.
        """
        async with open_runs(self.database) as runs, open_checkpointer(self.database) as checkpointer:
            ledger = ledger_of(runs.ledger, checkpointer, partial(check_reach, self.toolbox.specs))
            services = Services(self.settings, self.toolbox, self.models, ledger, self.turns)
            agent = AsyncAgent.over(compiled(services, checkpointer), runs)
            begun_s = time.perf_counter()
            run = await agent.start(goal, constraints=constraints, thread=self.thread)
            questions, last = 0, run.request
            while run.request is not None:
                last = run.request
                questions += last["error"] is None
                run = await agent.resume(run.id, decision_about(last), unseen=is_plan_alone(last))
            seconds = time.perf_counter() - begun_s
            answer = await agent.value(run.id) if run.answer is not None else None
            events = (await agent.log(run.id)).events
        if last is not None and (left := unanswered(last)) and run.status == "rejected":
            run = replace(run, reason=f"it asked what nobody answers in an evaluation: {left}")
        return ended(run, answer, events, seconds, questions)


def unanswered(request: Mapping[str, Any]) -> str:
    """Return what of a request nobody can answer here."""
    names = (action["name"] for action in request["action_requests"])
    return ", ".join(dict.fromkeys(name for name in names if name not in APPROVED))


def is_plan_alone(request: Mapping[str, Any]) -> bool:
    """Whether the approval can stand in the records as what it is: given with nobody looking; a plan's alone can."""
    names = {action["name"] for action in request["action_requests"]}
    return names == {"run_plan"} and request["error"] is None


def decision_about(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return an approval, or a rejection where it is asked again, or where it asks what nobody can answer."""
    fine = request["error"] is None and not unanswered(request)
    one = {"type": "approve"} if fine else {"type": "reject", "final": True}
    return {"decisions": [one for _ in request["action_requests"]], "digest": request["digest"]}


def ended(run: Run, answer: Any, events: Sequence[Event], seconds: float, questions: int) -> Ending:
    """Return how a run ended, from its record."""
    calls = project(events).calls.values()
    limits = [event.data.limit for event in events if isinstance(event.data, BudgetReached)]
    asked = [event.data for event in events if isinstance(event.data, ModelFinished)]
    outages = [outage_in([one.to_json() for one in call.attempts]) for call in asked if call.error is not None]
    return Ending(
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
    kinds = Counter(event.kind for event in events)
    finished = [event.data for event in events if isinstance(event.data, ModelFinished)]
    used = [call.usage for call in finished if call.usage is not None]
    costs_usd = [call.cost_usd for call in finished if call.usage is not None]
    priced = [cost_usd for cost_usd in costs_usd if cost_usd is not None]
    return Spent(
        model_calls=kinds["model_started"],
        input_tokens=sum(tokens.input_tokens for tokens in used),
        output_tokens=sum(tokens.output_tokens for tokens in used),
        estimated=any(tokens.estimated for tokens in used),
        cost_usd=sum(priced) if len(priced) == len(costs_usd) else None,
        tool_calls=kinds["call_started"],
        seconds=seconds,
        questions=questions,
    )
