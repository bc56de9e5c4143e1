"""A model whose call with an effect was refused cannot say that it was made: the step and the run end as they did."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatResult

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel

LIE = "The rent is now 1200."
PLAN = {"steps": [{"id": "m", "objective": "set the rent", "tools": ["rent", "note"]}], "answer": "{m_result}"}
CAPPED = {"tools": {"rent": {"args": {"amount": {"maximum": 1000}}}}}
ASKED = {"tools": {"rent": {"verdict": "ask"}}}
RENT = {"type": "object", "properties": {"amount": {"type": "number"}, "who": {}}, "required": ["amount"]}
NO = {"type": "reject", "message": "not that much"}


def rents(*amounts: Any, tool: str = "rent") -> AIMessage:
    made = [{"name": tool, "args": {"amount": one}, "id": f"{at}"} for at, one in enumerate(amounts)]
    return AIMessage("", tool_calls=made)


Start = Callable[..., tuple[Any, Run]]


@pytest.fixture
def opened(database: str, tools: LoggedTools) -> Callable[..., Any]:
    def open_(*answers: Any, replans: Any = ({"keep": ["m"]},), **options: Any) -> Any:
        own = [
            tools.tool("rent", lambda amount, who="": amount, schema=RENT, effect="external", trusted=True),
            tools.tool("note", effect="write", trusted=True),
        ]
        models = {"planner": ScriptedModel([]), "executor": ScriptedModel(answers), "replanner": ScriptedModel(replans)}
        return Agent.open(database, tools=own, **{**models, "replan": "never", **options})

    return open_


def approved(agent: Any, plan: Any = PLAN) -> Run:
    run: Run = agent.resume(agent.start("g", thread="t", plan=plan).id, "approve")
    return run


def ends_the_same(agent: Any, run: Run) -> Run:
    assert agent.replay(run.id).is_same, str(agent.replay(run.id))
    return run


PINNED = {"steps": [{**PLAN["steps"][0], "tools": ["rent"], "args": {"amount": 900}}]}


@pytest.mark.parametrize(
    ("policy", "plan", "asked", "why"),
    [
        (CAPPED, PLAN, [rents(1200)], "the policy forbids this value to rent: it is not at most 1000"),
        ({}, PINNED, [rents(1200)], "amount is fixed by the plan: use 900"),
        ({}, PLAN, [rents(800, 1200)], "rent may be called 1 time"),
        ({}, PLAN, [rents("a lot")], "is not of type 'number'"),
        ({}, {"steps": [{**PLAN["steps"][0], "tools": ["note"]}]}, [rents(1200)], "m may not call 'rent'"),
        (CAPPED, PLAN, [rents(1200), rents(1, tool="note")], "it is not at most 1000"),
    ],
    ids=["policy", "pinned", "number of calls", "schema", "another tool", "another effect after it"],
)
def test_a_step_whose_call_was_refused_has_failed_with_that_sentence_whatever_the_model_says(
    opened: Any, policy: Any, plan: Any, asked: Any, why: str
) -> None:
    with opened(*asked, LIE, policy=policy) as agent:
        run = ends_the_same(agent, approved(agent, plan))

    assert run.status == "failed" and run.answer is None
    assert why in str(run.results["m"].error) and why in str(run.reason)


@pytest.mark.parametrize("again", [[rents(900)], [rents(1200), rents(900)]])
def test_a_later_call_of_the_tool_makes_up_for_a_refused_one(opened: Any, tools: LoggedTools, again: Any) -> None:
    with opened(rents(1100), *again, "The rent is 900.", policy=CAPPED) as agent:
        run = ends_the_same(agent, approved(agent))

    assert (run.status, tools.named("rent")) == ("succeeded", [{"amount": 900}])


def test_after_a_refused_call_the_replanner_is_asked(opened: Any, tools: LoggedTools) -> None:
    other = {"steps": [{"id": "m", "objective": "set it", "tool": "rent", "args": {"amount": 1000}}]}

    with opened(rents(1200), LIE, policy=CAPPED, replans=[other], replan="failure") as agent:
        run = ends_the_same(agent, agent.resume(approved(agent).id, "approve"))

    assert (run.status, tools.named("rent")) == ("succeeded", [{"amount": 1000}])


def test_a_person_who_rejects_a_call_leaves_the_step_to_its_checks_and_the_run_partial(opened: Any) -> None:
    with opened(rents(1200), LIE, policy=ASKED) as agent:
        run = ends_the_same(agent, agent.resume(approved(agent).id, NO))

    assert (run.status, run.answer, run.results["m"].status) == ("partial", LIE, "succeeded")
    assert run.reason == "missing: m did not call rent: a person rejected this call: not that much"


@pytest.mark.parametrize(
    ("then", "heeded"), [(rents(900), [{"amount": 900}]), (rents(900, tool="note"), [])], ids=["the tool", "another"]
)
def test_words_that_another_call_heeded_leave_nothing_missing(
    opened: Any, tools: LoggedTools, then: Any, heeded: Any
) -> None:
    twice = {"steps": [{**PLAN["steps"][0], "max_calls": 2}]}
    with opened(rents(1200), then, "Done.", policy=ASKED) as agent:
        run = agent.resume(approved(agent, twice).id, NO)
        run = agent.resume(run.id, {"type": "approve"}) if heeded else run

    assert (run.status, tools.named("rent")) == ("succeeded", heeded)


def test_a_rejected_call_whose_step_misses_its_checks_fails_the_run(opened: Any) -> None:
    checked = {"steps": [{**PLAN["steps"][0], "checks": [{"called": "rent"}]}]}

    with opened(rents(1200), LIE, LIE, policy=ASKED) as agent:
        assert agent.resume(approved(agent, checked).id, NO).status == "failed"


EACH = {
    "steps": [
        {
            **PLAN["steps"][0],
            "for_each": [800, 1200],
            "max_failures": 1,
            "tools": ["rent"],
            "args": {"of": "{item_result}"},
        }
    ]
}


class Asks(ScriptedModel):
    """Asks for the rent that its item names, and says that it is set."""

    def __init__(self) -> None:
        super().__init__([])

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        amount = 1200 if "1200" in str(messages[1].content) else 800
        answer = LIE if isinstance(messages[-1], ToolMessage) else rents(amount)
        self._answers.append(answer)
        return super()._generate(messages, *args, **kwargs)


def test_an_item_whose_call_was_refused_has_failed_and_one_that_a_person_rejected_is_missing(
    opened: Any, tools: LoggedTools, tmp_path: Path
) -> None:
    each = {"steps": [{**EACH["steps"][0], "args": {}}]}
    with opened(policy=CAPPED, executor=Asks()) as agent:
        refused = ends_the_same(agent, approved(agent, each))
    with opened(policy=ASKED, executor=Asks()) as agent:
        run = agent.resume(agent.start("g", thread="u", plan=each).id, "approve")
        run = agent.resume(run.id, {"decisions": [answer_to(action) for action in run.request["action_requests"]]})
        rejected = ends_the_same(agent, run)

    assert (refused.status, rejected.status) == ("partial", "partial")
    assert "m[1] failed: its call of rent was refused: args.amount: the policy" in str(refused.reason)
    assert rejected.reason == "missing: m[1] did not call rent: a person rejected this call: not that much"
    assert rejected.results["m"].value == [LIE, LIE] and tools.named("rent") == [{"amount": 800}] * 2


def answer_to(action: Any) -> dict[str, Any]:
    return NO if action["args"]["args"]["amount"] > 1000 else {"type": "approve"}


def test_a_run_that_is_taken_up_elsewhere_comes_to_the_same(opened: Any, tools: LoggedTools) -> None:
    with opened(rents(1200), policy=ASKED) as agent:
        run = approved(agent)
        assert [action["name"] for action in run.request["action_requests"]] == ["run_step"]
    with opened(LIE, policy=ASKED) as agent:
        run = ends_the_same(agent, agent.resume(run.id, NO))

    assert (run.status, tools.calls) == ("partial", []) and "m did not call rent" in str(run.reason)


def test_a_fork_that_takes_the_result_over_lacks_the_same(opened: Any) -> None:
    both = {"steps": [*PLAN["steps"], {"id": "n", "objective": "think", "depends_on": ["m"]}]}
    with opened(rents(1200), LIE, "thought", "thought again", policy=ASKED) as agent:
        run = agent.resume(approved(agent, both).id, NO)
        fork = agent.fork(run.id, "n")
        fork = agent.resume(fork.id, "approve")

    assert (run.status, fork.status, fork.reason) == ("partial", "partial", run.reason)


def test_a_retry_asks_the_model_anew_and_what_was_refused_before_counts_no_more(
    opened: Any, tools: LoggedTools
) -> None:
    with opened(rents(1200), LIE, rents(900), "The rent is 900.", policy=CAPPED) as agent:
        run = approved(agent)
        assert run.status == "failed"
        run = agent.retry(run.id)
        run = ends_the_same(agent, agent.resume(run.id, "approve") if run.request else run)

    assert (run.status, tools.named("rent")) == ("succeeded", [{"amount": 900}])
