"""A run that ended goes on: what succeeded stays, what failed is tried again, and no effect happens twice."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import JsonValue

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.errors import InputError, OtherTermsError
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, drafted, on_thread, step

OUTAGE = "the service is out"


class Service:
    """A service that is out until it is said to be back."""

    def __init__(self) -> None:
        self.is_out = True

    def ask(self, **args: Any) -> Any:
        if self.is_out:
            raise ConnectionError(OUTAGE)
        return args


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def own(tools: LoggedTools, service: Service) -> list[Any]:
    return [
        tools.tool("mail", effect="external"),
        tools.tool("look", service.ask, effect="read", idempotent=True),
        tools.tool("pay", service.ask, effect="external"),
    ]


def mails_and_a_failure(failing: str = "look") -> dict[str, JsonValue]:
    return {
        "steps": [
            step("first", "mail", to="ada"),
            step("second", "mail", to="bo", after=["first"]),
            step("third", failing, at="x", after=["second"]),
            step("fourth", "mail", to="cy", after=["third"]),
        ]
    }


def failed(agent: Agent, plan: JsonValue = None) -> Run:
    run = agent.start("g", plan=plan or mails_and_a_failure())
    run = agent.resume(run.id, "approve")
    assert run.status in ("failed", "partial"), run.reason
    return run


@pytest.fixture
def options(own: list[Any]) -> dict[str, Any]:
    return {"planner": ScriptedModel([]), "tools": own, "replan": "never"}


def test_what_succeeded_stays_and_only_the_rest_is_done(
    database: str, options: dict[str, Any], tools: LoggedTools, service: Service
) -> None:
    with Agent.open(database, **options) as agent:
        run = failed(agent)
    service.is_out = False

    with Agent.open(database, **options) as agent:
        again = agent.retry(run.id)
        log = agent.log(run.id)
        verified, replay = agent.verify(run.id), agent.replay(run.id)

    assert (again.id, again.status) == (run.id, "succeeded")
    assert [args.get("to") for name, args in tools.calls if name == "mail"] == ["ada", "bo", "cy"]
    assert [event.kind for event in log.events].count("run_started") == 1
    assert verified.is_whole and replay.is_same, str(replay)


def test_a_retry_that_fails_again_can_be_retried_again(
    database: str, options: dict[str, Any], tools: LoggedTools, service: Service
) -> None:
    with Agent.open(database, **options) as agent:
        run = failed(agent)
        assert agent.retry(run.id).status == run.status
        service.is_out = False
        assert agent.retry(run.thread).status == "succeeded"
        assert agent.replay(run.id).is_same

    assert [name for name, _ in tools.calls] == ["mail", "mail", "look", "look", "look", "mail"]


def test_a_call_that_may_have_happened_is_settled_first(
    database: str, options: dict[str, Any], tools: LoggedTools, service: Service
) -> None:
    with Agent.open(database, **options) as agent:
        run = agent.start("g", plan=mails_and_a_failure("pay"))
        run = agent.resume(run.id, "approve")
        assert run.status in ("failed", "partial")
        service.is_out = False

        waiting = agent.retry(run.id)
        assert [action["name"] for action in waiting.request["action_requests"]] == ["settle_effect"]
        assert [name for name, _ in tools.calls].count("pay") == 1
        ended = agent.resume(run.id, waiting.decide(happened=(False,)))
        assert agent.replay(run.id).is_same

    assert ended.status == "succeeded" and [name for name, _ in tools.calls].count("pay") == 2


@pytest.mark.parametrize(("decision", "status"), [("reject", "rejected"), ("approve", "succeeded")])
def test_a_run_that_was_rejected_or_succeeded_is_final(
    database: str, options: dict[str, Any], service: Service, decision: str, status: str
) -> None:
    service.is_out = False
    with Agent.open(database, **options) as agent:
        run = agent.resume(agent.start("g", plan=mails_and_a_failure()).id, decision)
        with pytest.raises(InputError, match=f"ended as {status}, which is final; start a new run"):
            agent.retry(run.id)
        assert agent.show(run.id).status == status


def test_a_run_that_waits_is_not_retried_and_its_request_stays_open(database: str, options: dict[str, Any]) -> None:
    with Agent.open(database, **options) as agent:
        run = agent.start("g", plan=mails_and_a_failure())
        with pytest.raises(InputError, match="has not ended; continue it instead"):
            agent.retry(run.id)
        assert agent.show(run.id).request == run.request


def test_a_raised_limit_alone_keeps_the_approval(
    database: str, options: dict[str, Any], tools: LoggedTools, service: Service
) -> None:
    service.is_out = False
    with Agent.open(database, **options, budget={"tool_calls": 2}) as agent:
        run = agent.resume(agent.start("g", plan=mails_and_a_failure()).id, "approve")
        ended = agent.resume(run.id, run.decide(finish=True))
        assert ended.status == "budget_exhausted"

        with pytest.raises(InputError, match="tool_call"):
            agent.retry(run.id, limits={"tool_cals": 9})
        again = agent.retry(run.id, limits={"tool_calls": 9})
        assert agent.replay(run.id).is_same

    assert again.status == "succeeded"
    assert [args.get("to") for name, args in tools.calls if name == "mail"] == ["ada", "bo", "cy"]


@pytest.mark.parametrize(
    ("limits", "after"),
    [
        ({"tool_calls": 9}, {"tool_calls": 9, "model_calls": 3, "calls": {"mail": 4, "look": 2}}),
        ({"calls": {"mail": 6}}, {"tool_calls": 2, "model_calls": 3, "calls": {"mail": 6, "look": 2}}),
    ],
)
def test_a_raised_limit_leaves_all_others_as_they_were(
    database: str, options: dict[str, Any], limits: dict[str, Any], after: dict[str, Any]
) -> None:
    budget = {"tool_calls": 2, "model_calls": 3, "calls": {"mail": 4, "look": 2}}
    with Agent.open(database, **options, budget=budget) as agent:
        run = agent.resume(agent.start("g", plan=mails_and_a_failure()).id, "approve")
        agent.resume(run.id, run.decide(finish=True))
        agent.retry(run.id, limits=limits)
        (reopened,) = [event.payload for event in agent.log(run.id).events if event.kind == "run_reopened"]

    assert reopened["budget"] == after


def test_a_later_deadline_alone_keeps_the_approval(database: str, options: dict[str, Any]) -> None:
    with Agent.open(database, **options, budget={"elapsed_s": 0}) as agent:
        run = agent.resume(agent.start("g", plan={"steps": [step("a", "mail", to="ada")]}).id, "approve")
        assert agent.resume(run.id, run.decide(finish=True)).status == "budget_exhausted"

        assert agent.retry(run.id, limits={"elapsed_s": 1e6}).status == "succeeded"
        assert agent.replay(run.id).is_same


def test_without_a_raised_limit_the_budget_is_asked_about_again(database: str, options: dict[str, Any]) -> None:
    with Agent.open(database, **options, budget={"tool_calls": 2}) as agent:
        run = agent.resume(agent.start("g", plan=mails_and_a_failure()).id, "approve")
        agent.resume(run.id, run.decide(finish=True))
        again = agent.retry(run.id)

    assert [action["name"] for action in again.request["action_requests"]] == ["raise_budget"]


def test_another_plan_is_reviewed_and_what_succeeded_stays(
    database: str, options: dict[str, Any], tools: LoggedTools
) -> None:
    with Agent.open(database, **options) as agent:
        run = failed(agent)
        other = {"steps": [step("third", "mail", to="dee"), step("fourth", "mail", to="cy", after=["third"])]}
        waiting = agent.retry(run.id, plan=other)
        assert waiting.status == "waiting" and asked_for(waiting) == ["run_plan"]
        ended = agent.resume(run.id, "approve")
        assert agent.replay(run.id).is_same

    assert [args.get("to") for name, args in tools.calls if name == "mail"] == ["ada", "bo", "dee", "cy"]
    assert ended.step_status == dict.fromkeys(("first", "second", "third", "fourth"), "succeeded")


async def test_a_retry_without_a_valid_plan_leaves_the_plan_and_what_was_done_in_the_state(
    database: str, own: list[Any]
) -> None:
    agent = AsyncAgent.open(database, planner=ScriptedModel(["Hm."] * 2), tools=own, approval="never", replan="never")
    async with agent:
        run = await agent.start("g", plan=mails_and_a_failure(), thread="t")
        assert (await agent.retry("t", feedback="hurry")).status == "failed"
        state = (await agent.graph.aget_state(on_thread("t"))).values

    assert run.plan is not None and (state["status"], state["plan"]) == ("failed", run.plan.to_json())
    assert [state["results"][name]["status"] for name in ("first", "second")] == ["succeeded", "succeeded"]


async def test_a_retry_whose_process_died_after_the_run_was_reopened_may_be_sent_again(
    saver: InMemorySaver, own: list[Any], service: Service
) -> None:
    graph = build_graph(ScriptedModel([]), tools=own, checkpointer=saver, approval="never", replan="never")
    graph.invoke({"goal": "g", "plan": mails_and_a_failure()}, on_thread())

    ledger, run = await ledger_of(None, saver, lambda _: None)(), RunKey("thread", 1)
    async with ledger.owned(run) as lease:
        await ledger.append(lease, [drafted("run_reopened", {"again": ["third"]})])
    service.is_out = False
    assert graph.invoke({"operation": "retry"}, on_thread())["status"] == "succeeded"


def test_feedback_asks_the_planner_for_what_is_left(database: str, own: list[Any], tools: LoggedTools) -> None:
    other = {"steps": [step("third", "mail", to="dee"), step("fourth", "mail", to="cy", after=["third"])]}
    planner = ScriptedModel([other])
    with Agent.open(database, planner=planner, tools=own, replan="never") as agent:
        run = failed(agent)
        waiting = agent.retry(run.id, feedback="write to Dee instead of looking")
        assert waiting.status == "waiting" and asked_for(waiting) == ["run_plan"]
        agent.resume(run.id, "approve")
        assert agent.replay(run.id).is_same

    assert "write to Dee instead of looking" in planner.prompts[0][-1].text
    assert [args.get("to") for name, args in tools.calls if name == "mail"] == ["ada", "bo", "dee", "cy"]


def test_a_run_that_is_taken_over_with_other_tools_is_reviewed(
    database: str, options: dict[str, Any], tools: LoggedTools
) -> None:
    with Agent.open(database, **options) as agent:
        run = failed(agent)
    others = [*options["tools"][1:], tools.tool("mail", lambda **args: args, effect="external", idempotent=True)]

    with Agent.open(database, **{**options, "tools": others}) as agent:
        with pytest.raises(OtherTermsError, match="mail has changed"):
            agent.retry(run.id)
        assert asked_for(agent.retry(run.id, take_over=True)) == ["run_plan"]


def test_a_cancelled_run_asks_again(database: str, options: dict[str, Any], service: Service) -> None:
    service.is_out = False
    with Agent.open(database, **options) as agent:
        run = agent.start("g", plan=mails_and_a_failure())
        assert agent.cancel(run.id).status == "cancelled"
        assert asked_for(agent.retry(run.id)) == ["run_plan"]
        assert agent.resume(run.id, "approve").status == "succeeded"
        assert agent.replay(run.id).is_same


def test_a_run_whose_planner_gave_no_plan_asks_it_anew(database: str, own: list[Any], service: Service) -> None:
    service.is_out = False
    planner = ScriptedModel(["no plan", "still none", mails_and_a_failure()])
    with Agent.open(database, planner=planner, tools=own) as agent:
        run = agent.start("g")
        assert run.status == "failed"
        assert asked_for(agent.retry(run.id)) == ["run_plan"]
        assert agent.resume(run.id, "approve").status == "succeeded"
        assert agent.replay(run.id).is_same


def test_a_sealed_export_of_before_stays_valid(
    tmp_path: Path, database: str, options: dict[str, Any], service: Service
) -> None:
    with Agent.open(database, **options) as agent:
        run = failed(agent)
        agent.export(run.id, tmp_path / "before.json")
        head = agent.verify(run.id).head
        service.is_out = False
        agent.retry(run.id)

        assert agent.verify(tmp_path / "before.json").is_whole
        assert agent.verify(run.id, head=head).is_whole


def asked_for(run: Run) -> list[str]:
    assert run.request is not None, (run.status, run.reason)
    return [action["name"] for action in run.request["action_requests"]]


class TestInAChat:
    @pytest.fixture
    def graph(self, saver: InMemorySaver, options: dict[str, Any]) -> Any:
        return build_graph(checkpointer=saver, **options)

    @pytest.fixture
    def ended(self, graph: Any) -> dict[str, Any]:
        asked(graph.invoke({**said("g"), "plan": mails_and_a_failure()}, on_thread()))
        state: dict[str, Any] = graph.invoke(Command(resume="approve"), on_thread())
        assert state["status"] in ("failed", "partial")
        return state

    @pytest.mark.usefixtures("ended")
    def test_the_word_retry_reopens_the_run(self, graph: Any, tools: LoggedTools, service: Service) -> None:
        service.is_out = False
        state = graph.invoke(said("Retry"), on_thread())

        assert (state["run"]["id"], state["status"]) == ("thread.1", "succeeded")
        assert [args.get("to") for name, args in tools.calls if name == "mail"] == ["ada", "bo", "cy"]

    @pytest.mark.parametrize("word", ["resume", "continue"])
    def test_continue_names_the_next_move_and_is_no_goal(
        self, graph: Any, ended: dict[str, Any], tools: LoggedTools, word: str
    ) -> None:
        state = graph.invoke(said(word), on_thread())

        assert (state["run"]["id"], state["status"]) == ("thread.1", ended["status"])
        assert "Write `retry` to try again what failed" in state["messages"][-1].text
        assert [name for name, _ in tools.calls] == ["mail", "mail", "look"]

    @pytest.mark.usefixtures("ended")
    def test_the_operation_reopens_the_run_it_names(self, graph: Any, service: Service) -> None:
        service.is_out = False
        state = graph.invoke({"operation": "retry", "run": "thread.1"}, on_thread())

        assert (state["run"]["id"], state["status"]) == ("thread.1", "succeeded")

    @pytest.mark.usefixtures("ended")
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"operation": "retry", "run": "thread.7"}, "'thread.7' is not the latest run of this thread"),
            ({"operation": "continue"}, "thread.1 has ended as [a-z]+; retry it instead"),
            ({"operation": "repeat"}, "there is no operation 'repeat'; give continue or retry"),
        ],
    )
    def test_an_operation_that_cannot_be_is_refused_and_changes_nothing(
        self, graph: Any, tools: LoggedTools, service: Service, given: dict[str, Any], words: str
    ) -> None:
        service.is_out = False
        with pytest.raises(InputError, match=words):
            graph.invoke(given, on_thread())
        assert [name for name, _ in tools.calls] == ["mail", "mail", "look"]

        state = graph.invoke({"operation": "retry", "run": "thread.1"}, on_thread())
        assert state["status"] == "succeeded"

    @pytest.mark.usefixtures("ended")
    def test_a_refused_operation_does_not_meet_the_next_goal(self, graph: Any) -> None:
        with pytest.raises(InputError):
            graph.invoke({"operation": "continue"}, on_thread())

        state = graph.invoke({"goal": "another", "plan": {"steps": [step("one", "mail", to="ed")]}}, on_thread())
        assert state["run"]["id"] == "thread.2"

    def test_an_operation_on_a_thread_without_a_run_is_refused(self, graph: Any) -> None:
        with pytest.raises(InputError, match="there is no run to retry on this thread; give a goal"):
            graph.invoke({"operation": "retry", "run": "thread.1"}, on_thread())


def said(words: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": words}]}
