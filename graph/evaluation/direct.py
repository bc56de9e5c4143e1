"""The arm without a plan: LangChain's agent, under the same terms as the other arms (decision 0020).

Tools, toolbox, policy, time limits, budget and prices are those of the other arms. Calls work on a copy and need no
approval; the run counts how often a person would have been asked.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import ToolException

from planner_executor.graph.calls.bound_tool import BoundTool
from planner_executor.graph.calls.call_timeout import within
from planner_executor.graph.calls.failures import ERROR_CHARACTERS
from planner_executor.graph.calls.meter import LimitReached, Meter
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.answer import Flaw, ModelAnswer, flaw_of
from planner_executor.graph.chat_models.chat import ModelRequest
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import ModelCallError
from planner_executor.graph.evaluation.direct_model import DirectModel
from planner_executor.graph.evaluation.trial import OUTAGES, Spent, TrialEnding
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.shortening import shortened
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.prompts.direct import DIRECT, direct_message
from planner_executor.graph.record.budget import Usage
from planner_executor.graph.record.cost import NO_COST, cost_with
from planner_executor.graph.record.events import ModelFinished, Tokens
from planner_executor.graph.record.run_status import EndStatus
from planner_executor.graph.record.values import normalise, to_text
from planner_executor.graph.settings.settings import Settings
from planner_executor.tools.idempotency import with_idempotency_key

MAX_TURNS = 100
"""Model calls of one run, at most, independent of the budget."""


FLAWS: Mapping[Flaw, str] = {
    "refused": "the model refuses to answer",
    "truncated": "the answer was cut off at the model's token limit",
    "empty": "the answer is empty",
}


class NoAnswer(Exception):
    """The agent ended without an answer. Internal to this module."""


@dataclass
class DirectRun:
    """One run of the agent; its unique `name` is part of the idempotency keys of its calls."""

    name: str
    model: RoleModel
    toolbox: Toolbox
    settings: Settings
    rate_limiter: RateLimiter
    spent: Spent = field(default_factory=lambda: Spent(cost_usd=0.0))
    called: Counter[str] = field(default_factory=Counter)
    outage: str | None = None

    def __post_init__(self) -> None:
        self._started_s = time.perf_counter()
        self._meter = Meter(self.settings.budget, Usage(), self.settings.policy.prices, self._elapsed_s)
        self._reached: LimitReached | None = None
        self._cost = NO_COST

    async def run(self, goal: str, constraints: Sequence[str]) -> TrialEnding:
        """Run the agent to its final message, to a limit of the budget, or to a failure of its model."""
        status: EndStatus = "succeeded"
        reason, answer, limit = None, "", None
        try:
            answer = await self._invoke(goal, constraints)
        except LimitReached as reached:
            status, reason, limit = "budget_exhausted", str(reached), reached.limit
        except (ModelCallError, NoAnswer) as failure:
            status, reason = "failed", str(failure)
        spent = replace(self.spent, seconds=self._elapsed_s())
        return TrialEnding(
            status=status,
            reason=reason,
            answer=answer,
            spent=spent,
            called=dict(self.called),
            limit=limit,
            outage=self.outage,
        )

    async def _invoke(self, goal: str, constraints: Sequence[str]) -> str:
        from langchain.agents import create_agent
        from langchain.agents.middleware import wrap_tool_call

        @wrap_tool_call
        async def through_toolbox(request: Any, _: Any) -> ToolMessage:
            return await self._call_tool(request.tool_call)

        policy = self.settings.policy
        tools = [bound.tool for bound in self.toolbox.values() if policy.verdict(bound.spec) != "deny"]
        agent = create_agent(DirectModel(self._ask_model), tools, system_prompt=DIRECT, middleware=[through_toolbox])
        agent_input: Any = {"messages": [direct_message(goal, constraints)]}
        last = (await agent.ainvoke(agent_input))["messages"][-1]
        text = str(last.text).strip()
        if flaw := flaw_of(last) or (None if text else "empty"):
            raise NoAnswer(f"{FLAWS[flaw]}: {text[:ERROR_CHARACTERS]}" if text else FLAWS[flaw])
        return text

    async def _ask_model(self, request: ModelRequest) -> AIMessage:
        # Here the run ends: LangChain's agent has no other place where it could be stopped after a call.
        if self._reached:
            raise self._reached
        if self.spent.model_calls == MAX_TURNS:
            raise NoAnswer(f"the agent did not finish within {MAX_TURNS} turns")
        characters = sum(len(str(message.content)) for message in request.messages)
        reservation = self._meter.reserve_model(self.model.name, characters)
        await asyncio.sleep(self.rate_limiter.wait_s(self.model.name))
        self._add(model_calls=1)
        try:
            answer = await self.model.ask(request)
        except ModelCallError as failure:
            self.outage = find_outage(failure.attempts)
            raise
        self._count(answer, self._meter.settle(reservation, answer.usage, answer.model))
        return answer.message

    def _count(self, answer: ModelAnswer, paid_usd: float | None) -> None:
        used = Tokens.from_json(answer.usage)
        self._cost = cost_with(self._cost, ModelFinished(key="", usage=used, cost_usd=paid_usd))
        self._add(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            other_tokens=used.other_tokens,
            questions=self._needs_review(answer.message),
        )
        estimated = self.spent.estimated or used.estimated
        self.spent = replace(self.spent, cost_usd=self._cost.cost_usd, estimated=estimated)

    def _needs_review(self, message: AIMessage) -> bool:
        """Whether the tool calls of this turn would need a person; one question covers all of them."""
        named = [call["name"] for call in message.tool_calls if call["name"] in self.toolbox]
        # The policy judges plans: the calls of one turn are one, as they would be in a planned run.
        plan = Plan(steps=tuple(Step(id=f"call_{n}", objective=name, tool=name) for n, name in enumerate(named)))
        policy, mode = self.settings.policy, self.settings.approval
        return bool(named) and policy.needs_person(plan, self.toolbox.specs, mode)

    async def _call_tool(self, request: Mapping[str, Any]) -> ToolMessage:
        """Make a tool call and return its result, or the reason for its refusal or failure."""
        name, args = request["name"], request["args"]
        try:
            text = await self._execute(name, args)
        except (Refused, LimitReached) as refusal:
            # The agent gets a tool message; its next model call then ends the run (decision 0020).
            self._reached = refusal if isinstance(refusal, LimitReached) else self._reached
            return ToolMessage(f"refused: {refusal}", tool_call_id=request["id"], status="error")
        except Exception as failure:  # noqa: BLE001  (around a tool call, where it becomes data)
            error = str(failure) if isinstance(failure, ToolException) else f"{type(failure).__name__}: {failure}"
            return ToolMessage(shortened(error, ERROR_CHARACTERS), tool_call_id=request["id"], status="error")
        self.called[name] += 1
        return ToolMessage(text, tool_call_id=request["id"])

    async def _execute(self, name: str, args: Mapping[str, Any]) -> str:
        bound = self.toolbox.get(name)
        if bound is None:
            raise Refused(f"there is no tool {name}")
        if faults := bound.spec.argument_faults(args) or self.settings.policy.faults(bound.spec, args):
            raise Refused("; ".join(f"{place}: {fault}" for place, fault in faults))
        # Before the wait: a call that the budget does not permit need not wait for its turn.
        self._meter.reserve_call(name, self.name, begins=False)
        await asyncio.sleep(self.rate_limiter.wait_s(name))
        self._add(tool_calls=1)
        # By its number: the same arguments again are another call, as a model that calls twice means it.
        with with_idempotency_key(digest([self.name, self.spent.tool_calls])):
            return to_text(normalise(await _with_time_limit(bound, args)))

    def _add(self, **more: int) -> None:
        self.spent = replace(self.spent, **{name: getattr(self.spent, name) + count for name, count in more.items()})

    def _elapsed_s(self) -> float:
        return time.perf_counter() - self._started_s


def find_outage(attempts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the server failure behind a failed model call, or None if the server was not at fault."""
    last = attempts[-1] if attempts else {}
    return f"{last['model']}: {last['error']}" if last.get("kind") in OUTAGES else None


async def _with_time_limit(bound: BoundTool, args: Mapping[str, Any]) -> Any:
    work, limit_s = bound.call(args), bound.spec.timeout_s
    return await (work if limit_s is None else within(limit_s, work, bound.awaitable))
