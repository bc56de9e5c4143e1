"""Caps across runs: limits of a day and rates that hold over all runs of a database."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent, Person
from planner_executor.graph.ledger.sqlite.connection import Connection
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.tools.errors import NothingHappened

ADA, BOB = (Person(f"{name}@example.org", proof=True) for name in ("ada", "bob"))
CAP = "at most 2 calls of send a day"
OF_EACH = "at most 1 call of send a day for each user"
Open = Callable[..., Agent]


@pytest.fixture
def opened(tmp_path: Path, tools: LoggedTools) -> Iterator[Open]:
    """Return a function that opens an agent with a policy over one database."""
    agents: list[Agent] = []

    def open_agent(policy: Mapping[str, Any], *answers: Any, **send: Any) -> Agent:
        own = [tools.tool("send", *send.pop("does", ()), effect="external", trusted=True, **send), tools.tool("look")]
        agent = Agent.open(
            tmp_path / "runs.db",
            planner=ScriptedModel(list(answers)),
            tools=own,
            policy=policy,
            approval="never",
            identity=lambda by: by if by is not None and by.proof else None,
        )
        agents.append(agent.__enter__())
        return agents[-1]

    yield open_agent
    for agent in agents:
        agent.close()


def per_day(**limits: Any) -> dict[str, Any]:
    return {"limits": {"per_day": limits}}


def sends(*to: str) -> dict[str, Any]:
    return {"steps": [step(f"s{at}", "send", to=name) for at, name in enumerate(to)]}


def test_a_cap_of_the_day_holds_over_runs_and_pauses_before_the_call(opened: Open, tools: LoggedTools) -> None:
    one, other = (opened(per_day(calls={"send": 2})) for _ in range(2))
    assert one.start("g", plan=sends("ann")).status == "succeeded"
    plan = sends("bob", "cy")
    plan["steps"].append(step("l", "look"))

    run = other.start("g", plan=plan)

    assert run.status == "paused"
    assert (run.reason or "").startswith(f"{CAP}, used up until 2")
    assert len(tools.named("send")) == 2 and len(tools.named("look")) == 1
    kinds = [event.kind for event in other.log(run.id)]
    assert kinds[-2:] == ["cap_reached", "paused"] or kinds[-1] == "paused"
    assert CAP in str(other.audit(run.id))


def test_a_run_over_its_cap_goes_on_from_there_when_the_cap_allows_it(opened: Open, tools: LoggedTools) -> None:
    run = opened(per_day(calls={"send": 1})).start("g", plan=sends("ann", "bob"))
    assert run.status == "paused"

    agent = opened(per_day(calls={"send": 2}))
    assert agent.resume(run.id).status == "paused"  # the cap that it was begun under holds
    run = agent.resume(run.id, take_over=True)

    assert run.status == "succeeded"
    assert sorted(args["to"] for args in tools.named("send")) == ["ann", "bob"]
    assert agent.replay(run.id).is_same


@pytest.mark.parametrize("named", ["claimed", "another claimed", "unverified"])
def test_a_name_that_a_client_claims_gets_round_no_cap_of_each_user(
    opened: Open, tools: LoggedTools, named: str
) -> None:
    agent = opened(per_day(per_user={"calls": {"send": 1}}))
    assert agent.start("g", plan=sends("x"), by=ADA).status == "succeeded"
    assert agent.start("g", plan=sends("x"), by=BOB).status == "succeeded"
    assert agent.start("g", plan=sends("x"), by=Person("ada@example.org")).status == "succeeded"

    by = {"claimed": Person("ada@example.org"), "another claimed": Person("eve"), "unverified": Person("x" * 9)}[named]
    run = agent.start("g", plan=sends("x"), by=by)

    assert run.status == "paused" and (run.reason or "").startswith(OF_EACH)
    assert agent.start("g", plan=sends("y"), by=Person(" ADA@example.org", proof=True)).status == "paused"
    assert len(tools.named("send")) == 3


def test_a_model_at_the_cap_of_a_tool_is_not_told_but_waits(opened: Open, tools: LoggedTools) -> None:
    ask = AIMessage("", tool_calls=[{"name": "send", "args": {"to": "ann"}, "id": "1"}])
    plan = {"steps": [{"id": "m", "objective": "tell them", "tools": ["send"], "max_calls": 9}]}
    agent = opened(per_day(calls={"send": 1}), ask)
    agent.start("g", plan=sends("bob"))
    run = agent.start("g", plan=plan)
    assert (run.status, len(tools.calls)) == ("paused", 1)

    agent = opened(per_day(calls={"send": 2}), "told")
    run = agent.resume(run.id, take_over=True)

    assert (run.status, run.answer, len(tools.named("send"))) == ("succeeded", "told", 2)
    assert agent.replay(run.id).is_same


def test_a_model_step_over_the_tokens_of_the_day_pauses_before_it_is_asked(opened: Open) -> None:
    plan = {"steps": [{"id": "m", "objective": "think"}]}
    agent = opened(per_day(tokens=10), "thought")

    run = agent.start("g", plan=plan)

    assert run.status == "paused" and (run.reason or "").startswith(
        "at most 10 tokens a day, which this call alone exceeds on any day ("
    )
    assert [event.kind for event in agent.log(run.id)][-2:] == ["cap_reached", "paused"]
    assert opened(per_day(tokens=10_000), "thought").resume(run.id, take_over=True).answer == "thought"


def test_planning_over_the_model_calls_of_the_day_pauses_and_goes_on_later(opened: Open) -> None:
    four = {"steps": [], "answer": "four"}
    agent = opened(per_day(model_calls=1), four, four)
    agent.start("What is 2 + 2?")
    run = agent.start("What is 2 + 2?")
    assert run.status == "paused" and (run.reason or "").startswith("at most 1 model call a day")

    agent = opened(per_day(model_calls=2), four)
    run = agent.resume(run.id, take_over=True)

    assert (run.status, run.answer) == ("succeeded", "four")
    assert agent.replay(run.id).is_same


def test_only_what_did_not_happen_is_given_back(opened: Open, tools: LoggedTools) -> None:
    down: Any = {"does": (_down(NothingHappened("it is down")),)}
    once = per_day(calls={"send": 1})
    assert opened(once, **down).start("g", plan=sends("ann")).status == "failed"
    assert opened(once, does=(_down(ConnectionError("lost")),)).start("g", plan=sends("ann")).status != "succeeded"

    assert opened(once).start("g", plan=sends("bob")).status == "paused"


def test_a_call_that_a_person_says_did_not_happen_is_given_back(opened: Open, tools: LoggedTools) -> None:
    broken, agent = opened(per_day(calls={"send": 1}), does=(_down(ConnectionError("lost")),)), None
    run = broken.start("g", plan=sends("ann"))
    while run.request is None and run.status != "waiting":
        run = broken.retry(run.id)
    agent = opened(per_day(calls={"send": 1}))

    run = agent.resume(run.id, {"decisions": [{"type": "edit", "edited_action": _settled(run)}]})

    assert run.status == "succeeded" and len(tools.named("send")) == 2
    assert agent.start("g", plan=sends("bob")).status == "paused"


def test_a_rate_of_calls_an_hour_pauses_the_run_with_a_due_time(opened: Open, tools: LoggedTools) -> None:
    agent = opened({"rates": {"send": "2/hour"}})
    assert agent.start("g", plan=sends("ann")).status == "succeeded"

    run = agent.start("g", plan=sends("bob"))

    (pause,) = [event.payload for event in agent.log(run.id) if event.kind == "paused"]
    assert pause["reason"] == "at most 2 calls of send an hour, used up"
    assert 1700 < pause["due_at"] - run.updated_at <= 1800
    assert agent.replay(run.id).is_same


class Killed(BaseException):
    """The process dies within a call."""


def test_a_call_whose_process_died_counts(opened: Open, tools: LoggedTools) -> None:
    once = per_day(calls={"send": 1})
    with pytest.raises(Killed):
        opened(once, does=(_down(Killed()),)).start("g", plan=sends("ann"))

    run = opened(once).start("g", plan=sends("bob"))

    assert run.status == "paused" and len(tools.named("send")) == 1


def test_only_calls_with_a_cap_pay_for_it(opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    opens = Connection.__init__

    def traced(self: Connection, *args: Any, **options: Any) -> None:
        opens(self, *args, **options)
        self.set_trace_callback(seen.append)

    monkeypatch.setattr(Connection, "__init__", traced)

    def statements(policy: Mapping[str, Any], tool: str) -> Counter[str]:
        agent = opened(policy)
        assert agent.start("g", plan={"steps": [step("s", "look")]}).status == "succeeded"  # the tables are made
        seen.clear()
        assert agent.start("g", plan={"steps": [step("s", tool)]}).status == "succeeded"
        return Counter(" ".join(line.split()[:3]) for line in seen if "ledger_" in line)

    limits = {"limits": {"per_day": {"calls": {"send": 9}}}, "rates": {"send": 1e6}}
    free, other, capped = (
        statements({"limits": {"steps": 9}}, "look"),
        statements(limits, "look"),
        statements(limits, "send"),
    )

    assert free == other
    assert not [line for line in free if "caps" in line or "counted" in line or "turns" in line]
    assert capped["INSERT INTO ledger_caps"] == capped["INSERT INTO ledger_counted"] == 1


def _down(error: BaseException) -> Callable[..., Any]:
    def fail(**_: Any) -> Any:
        raise error

    return fail


def _settled(run: Any) -> dict[str, Any]:
    action = run.request["action_requests"][0]
    return {"name": action["name"], "args": {**action["args"], "happened": False}}
