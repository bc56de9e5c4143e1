"""The direct agent: LangChain's, through our toolbox, under our terms."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from planner_executor import idempotency_key
from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.evaluation.direct import MAX_TURNS, DirectRun
from planner_executor.graph.evaluation.trial import TrialEnding
from planner_executor.graph.testing import LoggedTools


class Agent(BaseChatModel):
    """Asks for the calls of each turn in turn, and then answers; `seen` keeps what it was last shown."""

    _turns: list[list[dict[str, Any]]] = PrivateAttr()
    _answer: AIMessage = PrivateAttr()
    _seen: list[BaseMessage] = PrivateAttr(default_factory=list)
    _bound: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, *rate_limiter: list[dict[str, Any]], answer: AIMessage | str = "done") -> None:
        super().__init__()
        self._turns = list(rate_limiter)
        self._answer = answer if isinstance(answer, AIMessage) else AIMessage(answer)

    @property
    def _llm_type(self) -> str:
        return "agent"

    @property
    def seen(self) -> Sequence[BaseMessage]:
        return self._seen

    @property
    def results(self) -> list[tuple[str, str]]:
        return [(found.status, str(found.text)) for found in self._seen if isinstance(found, ToolMessage)]

    @property
    def bound(self) -> list[str]:
        return self._bound

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self._bound = [tool.name for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self._seen = list(messages)
        turn = self._turns.pop(0) if self._turns else None
        calls = [{"id": f"{len(self._turns)}-{n}", **call} for n, call in enumerate(turn or [])]
        answer = self._answer if turn is None else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def ended(agent: Agent, tools: Sequence[BaseTool], constraints: Sequence[str] = (), **terms: Any) -> TrialEnding:
    settings = settings_of({"approval": "side_effects", **terms})
    run = DirectRun("run", role_model(agent), Toolbox(tools), settings, RateLimiter({}, time.monotonic))
    return asyncio.run(run.run("Do it", constraints))


@pytest.fixture
def log() -> LoggedTools:
    return LoggedTools()


def test_it_calls_tools_as_it_goes_and_answers(log: LoggedTools) -> None:
    agent = Agent([call("look", at="a"), call("look", at="b")], [call("write", text="c")], answer=" done \n")

    ending = ended(agent, [log.tool("look", effect="read"), log.tool("write", effect="write")], ["Be quick"])

    assert (ending.status, ending.answer, ending.called) == ("succeeded", "done", {"look": 2, "write": 1})
    assert (ending.spent.model_calls, ending.spent.tool_calls, ending.spent.questions) == (3, 3, 1)
    assert ending.spent.estimated and ending.spent.cost_usd is None  # this model counts no tokens and has no price
    assert sorted(asked["at"] for asked in log.named("look")) == ["a", "b"]  # two threads at once
    assert str(agent.seen[1].text) == "Do it\n\nConstraints:\n- Be quick"


def test_tokens_and_dollars_are_counted_as_of_a_planned_run() -> None:
    counts: Any = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 160}
    answer = AIMessage("done", usage_metadata=counts)
    prices = {"Agent": {"input": 1_000.0, "output": 10_000.0}}

    spent = ended(Agent(answer=answer), [], policy={"prices": prices}).spent

    assert (spent.tokens, spent.other_tokens, spent.cost_usd) == (160, 50, pytest.approx(0.2))


def test_failures_and_refusals_are_told_to_the_model(log: LoggedTools) -> None:
    def fail() -> str:
        raise RuntimeError("broken")

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    agent = Agent([call("fail"), call("nothing"), call("count", n="two")])

    ending = ended(agent, [log.tool("fail", fail, effect="read"), log.tool("count", effect="read", schema=schema)])

    assert [status for status, _ in agent.results] == ["error"] * 3
    told = [text for _, text in agent.results]
    assert told[0] == "RuntimeError: broken"
    assert told[1] == "refused: there is no tool nothing"
    assert told[2].startswith("refused: args.n")
    assert (ending.called, log.named("count")) == ({}, [])


def test_what_the_policy_denies_is_neither_offered_nor_called(log: LoggedTools) -> None:
    agent = Agent([call("send"), call("pay", amount=100)])
    tools = [log.tool("send"), log.tool("pay", effect="write", schema=AMOUNT)]
    policy = {"effects": {"external": "deny"}, "tools": {"pay": {"args": {"amount": {"maximum": 10}}}}}

    ended(agent, tools, policy=policy)

    assert agent.bound == ["pay"]
    assert [status for status, _ in agent.results] == ["error", "error"]
    assert log.calls == []


AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


def test_the_time_limit_of_a_tool_holds(log: LoggedTools) -> None:
    async def slow(**_: Any) -> None:
        await asyncio.Event().wait()

    tool = log.tool("slow", effect="read", timeout_s=0.01).model_copy(update={"coroutine": slow})
    agent = Agent([call("slow")])

    ended(agent, [tool])

    assert "no answer within 0.01 s" in agent.results[0][1]


def test_a_spent_budget_ends_it_and_no_call_of_the_turn_is_made_beyond_it(log: LoggedTools) -> None:
    agent = Agent([call("look"), call("look"), call("look")])

    ending = ended(agent, [log.tool("look", effect="read", is_async=True)], budget={"tool_calls": 2})

    assert (ending.status, ending.limit, ending.spent.tool_calls) == ("budget_exhausted", "tool_calls", 2)
    assert len(log.calls) == 2


def test_an_agent_that_goes_on_and_on_is_stopped(log: LoggedTools) -> None:
    agent = Agent(*([call("look")] for _ in range(MAX_TURNS + 10)))

    ending = ended(agent, [log.tool("look", effect="read")])

    assert (ending.status, ending.spent.model_calls) == ("failed", MAX_TURNS)


@pytest.mark.parametrize(
    "answer", ["", "  ", AIMessage("It is", response_metadata={"finish_reason": "length"})], ids=["", "blank", "cut"]
)
def test_an_answer_that_is_none_does_not_claim_success(answer: AIMessage | str) -> None:
    ending = ended(Agent(answer=answer), [])

    assert (ending.status, ending.answer) == ("failed", "")


def test_each_call_has_a_key_of_its_own(log: LoggedTools) -> None:
    keys: list[str] = []
    tool = log.tool("write", lambda: keys.append(idempotency_key()), effect="write")

    ended(Agent([call("write")], [call("write")]), [tool])

    assert len(set(keys)) == 2


@pytest.mark.parametrize(("approval", "questions"), [("always", 2), ("side_effects", 1), ("never", 0)])
def test_a_person_would_be_asked_once_for_each_turn_with_calls_to_approve(
    log: LoggedTools, approval: str, questions: int
) -> None:
    agent = Agent([call("look"), call("look")], [call("write"), call("write")])

    ending = ended(agent, [log.tool("look", effect="read"), log.tool("write", effect="write")], approval=approval)

    assert ending.spent.questions == questions
