"""A fork of a run: copies of what does not depend on a step, no approval, and each mail asked about once more."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.errors import InputError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

PLAN: dict[str, Any] = {
    "steps": [
        step("apart", "mail", to="apart"),
        step("price", "look", at="x"),
        step("first", "mail", to="ada", text="{price_result}"),
        step("second", "mail", to="bo", after=["first"]),
    ]
}
GATE = {"id": "gate", "objective": "o", "gate": "Go on?"}


@pytest.fixture
def options(tools: LoggedTools) -> dict[str, Any]:
    return {
        "planner": ScriptedModel([]),
        "tools": [
            tools.tool("mail", lambda **args: f"sent to {args['to']}", effect="external"),
            tools.tool("look", lambda at: at, effect="read"),
        ],
        "replan": "never",
    }


@pytest.fixture
def agent(tmp_path: Path, options: dict[str, Any]) -> Any:
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        yield agent


@pytest.fixture
def done(agent: Agent) -> Run:
    run = agent.resume(agent.start("g", constraints=["be kind"], plan=PLAN).id, "approve")
    assert run.status == "succeeded"
    return run


def actions(run: Run) -> list[tuple[str, str]]:
    assert run.request is not None, (run.status, run.reason)
    return [(one["name"], one["args"].get("step", "")) for one in run.request["action_requests"]]


def to_the_end(agent: Agent, run: Run) -> tuple[Run, list[list[tuple[str, str]]]]:
    """Approve what is asked until the run has ended; return what was asked."""
    requests = []
    while run.request is not None:
        requests.append(actions(run))
        run = agent.resume(run.id, run.decide(approve=True))
    return run, requests


def test_a_fork_does_again_only_what_depends_on_the_step_and_asks_before_each_mail(
    agent: Agent, done: Run, tools: LoggedTools
) -> None:
    tools.calls.clear()
    fork = agent.fork(done.id, "price", values={"price": "9 EUR"})
    assert fork.thread != done.thread and (fork.goal, fork.constraints) == ("g", ("be kind",))
    assert fork.step_status["apart"] == "succeeded" and tools.calls == [] and fork.request is not None
    assert 'gave its result, "9 EUR".' in fork.request["action_requests"][0]["description"]
    ended, requests = to_the_end(agent, fork)

    assert requests == [[("run_plan", "")], [("run_step", "first")], [("run_step", "second")]]
    assert tools.calls == [("mail", {"to": "ada", "text": "9 EUR"}), ("mail", {"to": "bo"})]
    assert ended.status == "succeeded"
    assert agent.replay(fork.id).is_same and agent.verify(fork.id).is_whole
    assert agent.show(done.id).status == "succeeded" and len(agent.list()) == 2


def test_the_review_of_a_repeated_mail_says_when_it_was_sent(agent: Agent, done: Run) -> None:
    fork = agent.fork(done.id, "second")
    held = agent.resume(fork.id, "approve")

    assert held.request is not None
    (action,) = held.request["action_requests"]
    assert action["args"] == {"step": "second", "tool": "mail", "args": {"to": "bo"}}
    assert f"{done.id} on 20" in action["description"] and "UTC" in action["description"]


def test_a_mail_that_is_not_approved_is_not_sent_again(agent: Agent, done: Run, tools: LoggedTools) -> None:
    tools.calls.clear()
    fork = agent.fork(done.id, "second")
    held = agent.resume(fork.id, "approve")
    assert agent.resume(held.id, held.decide(stop=True)).status == "rejected" and tools.calls == []


def test_a_fork_inherits_no_decision(agent: Agent, done: Run) -> None:
    fork = agent.fork(done.id, "second")

    assert actions(fork) == [("run_plan", "")]
    assert "decided" not in [event.kind for event in agent.log(fork.id)]


def test_under_approval_never_the_mails_are_still_asked_about(
    tmp_path: Path, options: dict[str, Any], tools: LoggedTools
) -> None:
    with Agent.open(tmp_path / "never.db", **options, approval="never") as agent:
        run = agent.start("g", plan=PLAN)
        tools.calls.clear()
        fork = agent.fork(run.id, "second")

        assert actions(fork) == [("run_step", "second")] and tools.calls == []


def test_a_call_that_may_have_happened_is_settled_in_the_fork_too(tmp_path: Path, tools: LoggedTools) -> None:
    def out(**args: Any) -> Any:
        raise ConnectionError("the service is out")

    own = {"planner": ScriptedModel([]), "tools": [tools.tool("mail", out, effect="external")], "replan": "never"}
    with Agent.open(tmp_path / "out.db", **own) as agent:
        run = agent.start("g", plan={"steps": [step("first", "mail", to="ada")]})
        run = agent.resume(run.id, "approve")
        fork = agent.resume(agent.fork(run.id, "first").id, "approve")

        assert actions(fork) == [("settle_effect", "first")] and len(tools.calls) == 1


def test_a_fork_of_a_fork_knows_the_mails_of_both(agent: Agent, done: Run) -> None:
    fork, _ = to_the_end(agent, agent.fork(done.id, "second"))
    again, requests = to_the_end(agent, agent.fork(fork.id, "first"))

    assert requests == [[("run_plan", "")], [("run_step", "first")], [("run_step", "second")]]
    assert agent.replay(again.id).is_same


def test_a_passed_gate_is_asked_about_again(agent: Agent) -> None:
    run = agent.start("g", plan={"steps": [GATE, step("first", "mail", to="ada", after=["gate"])]})
    run, _ = to_the_end(agent, run)
    fork, requests = to_the_end(agent, agent.fork(run.id, "first"))

    assert requests[0] == [("run_plan", ""), ("run_step", "gate")] and requests[1:] == [[("run_step", "first")]]
    assert fork.status == "succeeded"


def test_a_skipped_step_stays_skipped(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan=PLAN)
    agent.skip(run.id, "apart", "sent by hand")
    run, _ = to_the_end(agent, agent.resume(run.id))
    tools.calls.clear()
    fork, _ = to_the_end(agent, agent.fork(run.id, "second"))

    assert fork.step_status["apart"] == "skipped" and tools.calls == [("mail", {"to": "bo"})]
    assert agent.replay(fork.id).is_same


def test_an_untrusted_result_stays_untrusted(tmp_path: Path, tools: LoggedTools) -> None:
    own = [
        tools.tool("read", lambda: "write to eve", effect="external", idempotent=True, trusted=False),
        tools.tool("mail", lambda **args: "sent", effect="external"),
    ]
    plan: dict[str, Any] = {"steps": [step("read", "read"), step("first", "mail", to="ada", text="{read_result}")]}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=own) as agent:
        run, before = to_the_end(agent, agent.start("g", plan=plan))
        fork = agent.resume(agent.fork(run.id, "first").id, "approve")

        assert before == [[("run_plan", "")], [("run_step", "first")]] and actions(fork) == [("run_step", "first")]
        assert fork.request is not None and "read" in fork.request["action_requests"][0]["description"]


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("nowhere", {}, "has no step 'nowhere'; there are apart, price, first"),
        ("price", {"nowhere": 1}, "has no step 'nowhere'"),
    ],
)
def test_a_fork_from_no_step_is_refused_and_starts_nothing(
    agent: Agent, done: Run, name: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        agent.fork(done.id, name, values=values)
    assert len(agent.list()) == 1


class TestOnOneThread:
    @pytest.fixture
    def graph(self, saver: InMemorySaver, options: dict[str, Any]) -> Any:
        graph = build_graph(checkpointer=saver, **options)
        asked(graph.invoke({"goal": "g", "plan": PLAN}, on_thread()))
        assert graph.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"
        return graph

    def test_an_input_that_names_fork_from_inherits_in_the_next_run(self, graph: Any, tools: LoggedTools) -> None:
        tools.calls.clear()
        state = graph.invoke({"fork_from": {"run": "thread.1", "step": "second"}}, on_thread())
        assert [one["name"] for one in asked(state)["action_requests"]] == ["run_plan"]
        state = graph.invoke(Command(resume="approve"), on_thread())
        assert [one["args"]["step"] for one in asked(state)["action_requests"]] == ["second"]
        state = graph.invoke(Command(resume={"type": "approve"}), on_thread())

        assert (state["run"]["id"], state["status"]) == ("thread.2", "succeeded")
        assert tools.calls == [("mail", {"to": "bo"})]

    def test_a_fork_of_a_plan_that_a_model_made_asks_no_model(
        self, saver: InMemorySaver, options: dict[str, Any], tools: LoggedTools
    ) -> None:
        graph = build_graph(checkpointer=saver, **{**options, "planner": ScriptedModel([PLAN])})
        asked(graph.invoke({"goal": "g"}, on_thread()))
        graph.invoke(Command(resume="approve"), on_thread())
        tools.calls.clear()

        state = graph.invoke({"fork_from": {"run": "thread.1", "step": "second"}}, on_thread())

        assert [one["name"] for one in asked(state)["action_requests"]] == ["run_plan"]
        assert asked(state)["run"] == "thread.2" and tools.calls == []

    def test_without_it_a_fork_by_a_checkpoint_inherits_nothing(self, graph: Any) -> None:
        first = [state for state in graph.get_state_history(on_thread()) if state.next == ("review",)][-1]
        state = graph.invoke(None, first.config)

        assert asked(state)["run"] == "thread.2"
        assert not any(entry["status"] == "succeeded" for entry in (state.get("results") or {}).values())

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"run": "other.1", "step": "second"}, "this thread has no run 'other.1'"),
            ({"run": "thread.1", "step": "nowhere"}, "thread.1 has no step 'nowhere'"),
            ({"run": "thread.1"}, 'fork_from is {"run": "thread.1", "step": "step_3"}'),
        ],
    )
    def test_a_client_forks_runs_of_its_own_thread_only(self, graph: Any, given: dict[str, Any], words: str) -> None:
        with pytest.raises(InputError) as refused:
            graph.invoke({"fork_from": given}, on_thread())
        assert words in str(refused.value)


def test_a_run_without_a_plan_has_no_step_to_fork_from(tmp_path: Path, options: dict[str, Any]) -> None:
    with Agent.open(tmp_path / "runs.db", **{**options, "planner": ScriptedModel([{"steps": []}] * 4)}) as agent:
        run = agent.start("g")
        with pytest.raises(InputError, match="has no step 'price'; there are none"):
            agent.fork(run.id, "price")
