"""A desk keeps to the terms that a run was begun under, and takes none over."""

from pathlib import Path
from typing import Any

import pytest
from desk_server import DeskServer, Visit, decide, ended, query, served

from planner_executor.graph.testing import step

PAY = {"steps": [step("one", "mail", to="ann@example.com"), step("two", "mail", after=["one"], to="ben@example.com")]}
ADA_DECIDES = {"approvers": {"names": ["ada@example.com"]}}


def begun(server: DeskServer, **options: Any) -> str:
    with server.agent(**options) as agent:
        return agent.start("pay", plan=PAY, thread="pay").id


def test_a_desk_without_the_policy_of_a_run_keeps_to_it(server: DeskServer, visit: Visit) -> None:
    run = begun(server, policy=ADA_DECIDES)

    for _ in range(3):
        decide(visit, run, decision="approve")
        assert ended(server, run) == "waiting"
        assert "ada@example.com" in visit.get(query("/review", run)).text

    assert server.tools.calls == []


def test_a_desk_without_the_policy_of_a_run_lifts_no_limit_of_it(server: DeskServer, visit: Visit) -> None:
    run = begun(server, policy={"limits": {"tool_calls": 1}})
    decide(visit, run, decision="approve")
    assert ended(server, run) == "waiting"

    decide(visit, run, decision="approve", **{"limit:tool_calls": "9"})

    assert ended(server, run) == "waiting" and len(server.tools.named("mail")) == 1
    assert "tool_calls" in visit.get(query("/review", run)).text


OTHER = [({}, {"planner": "offline"}), ({"policy": {"approvers": {"names": ["cleo"]}}}, {"policy": ADA_DECIDES})]


def test_a_desk_retries_no_run_under_other_terms_and_says_so_once(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        run = begun(server, planner="offline")
        with server.agent() as agent:
            agent.cancel(run)
            before = len(agent.log(run))
        answer = visit.post(query("/control", run), {"token": visit.hidden("/")["token"], "act": "retry"})

        told = answer.text + visit.get(query("", run)).text
        assert "was begun under other terms" in told and "--take-over" in told, told[:500]
        with server.agent() as agent:
            assert len(agent.log(run)) == before


@pytest.mark.parametrize(("here", "then"), OTHER)
def test_a_desk_leaves_a_run_under_other_terms_and_says_what_to_do(
    tmp_path: Path, here: dict[str, Any], then: dict[str, Any]
) -> None:
    with served(tmp_path / "runs.db", options=here) as server, server.visit() as visit:
        run = begun(server, **{"policy": ADA_DECIDES, **then})
        answer = decide(visit, run, decision="approve")

        told = answer.text + visit.get(query("", run)).text
        assert "was begun under other terms" in told and "--take-over" in told
        with server.agent() as agent:
            kinds = [event.kind for event in agent.log(run)]
        assert "decided" not in kinds and "configured" not in kinds and server.tools.calls == []
