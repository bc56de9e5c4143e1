"""What happens when reality differs: blocked steps, revisions, and an honest end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.errors import InputError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]


def approve_all(graph: Any, given: Any, times: int = 9) -> Any:
    state = graph.invoke(given, on_thread())
    for _ in range(times):
        if "__interrupt__" not in state:
            return state
        state = graph.invoke(Command(resume="approve"), on_thread())
    raise AssertionError("asked without end")


BROKEN = {
    "steps": [step("a", "search", query="q"), step("b", "broken", after=["a"]), step("c", "write", text="{b_result}")]
}


def test_a_failed_step_blocks_its_dependants_and_everything_else_finishes(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [*BROKEN["steps"], step("d", "search", query="other")]}

    state = approve_all(build(plan, replan="never"), {"goal": "g"})

    assert {name: result["status"] for name, result in state["results"].items()} == {
        "a": "succeeded", "b": "failed", "c": "blocked", "d": "succeeded",
    }  # fmt: skip
    assert "the service is down" in state["results"]["b"]["error"] and "b" in state["results"]["c"]["error"]
    assert state["status"] == "partial" and state["answer"] == {"d": {"items": ["OTHER"]}}
    assert "b failed" in state["reason"] and tools.named("write") == []


def test_a_revision_replaces_the_failed_step_and_finished_steps_do_not_run_again(
    build: Build, tools: LoggedTools
) -> None:
    revision = {"keep": ["c"], "steps": [step("b", "search", query="instead")]}

    state = approve_all(build(BROKEN, revision), {"goal": "g"})

    assert state["status"] == "succeeded" and state["revision"] == 2
    assert tools.named("search") == [{"query": "q"}, {"query": "instead"}]
    assert [s["id"] for s in state["plan"]["steps"]] == ["a", "b", "c"]


def test_a_revision_is_shown_with_its_difference_before_it_runs(build: Build, tools: LoggedTools) -> None:
    graph = build(BROKEN, {"keep": ["c"], "steps": [step("b", "search", query="instead")]})
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume="approve"), on_thread()))

    assert request["revision"] == 2 and request["diff"]["changed"] == ["b"]
    assert "changed: b" in request["action_requests"][0]["description"]
    assert len(tools.named("search")) == 1


async def test_a_step_that_a_revision_changed_is_pending_until_it_runs_and_its_old_failure_is_told_on(
    saver: Any, build: Build, tools: LoggedTools
) -> None:
    changed = {"keep": ["c"], "steps": [step("b", "search", query="instead")]}
    graph = build(BROKEN, changed, {"keep": ["c"], "steps": [step("b", "search", query="other")]})
    graph.invoke({"goal": "g"}, on_thread())

    shown = graph.invoke(Command(resume="approve"), on_thread())
    run = await _recorded(saver)
    told = graph.invoke(Command(resume="look elsewhere"), on_thread())
    ended = graph.invoke(Command(resume="approve"), on_thread())

    assert shown["results"]["b"]["status"] == told["results"]["b"]["status"] == "pending"
    assert set(run.results) == {"a"} and run.step_status["b"] == "pending"
    drawn = asked(shown)["action_requests"][0]["description"]
    assert "b failed: `ValueError: the service is down`" in drawn
    assert ended["results"]["b"]["value"] == {"items": ["OTHER"]} and ended["status"] == "succeeded"


async def _recorded(saver: Any) -> Run:
    runs = Runs(await ledger_of(None, saver, lambda _: None)())
    return await runs.show(on_thread()["configurable"]["thread_id"])


def test_a_revision_that_only_drops_steps_needs_no_person(build: Build) -> None:
    plan = {"steps": [step("a", "search", query="q"), step("b", "broken"), step("d", "write", after=["a"], text="t")]}
    graph = build(plan, {"steps": [], "keep": ["d"], "answer": "{a_result}"})

    graph.invoke({"goal": "g"}, on_thread())
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert state["status"] == "partial" and "b failed and was dropped" in state["reason"]


def test_the_replanner_learns_what_failed_and_what_is_there(build: Build) -> None:
    graph = build(BROKEN, {"steps": [], "answer": "nothing more"})

    state = approve_all(graph, {"goal": "find it", "constraints": ["be quick"]})

    prompt = str(graph.model.prompts[1][-1].content)
    for words in ("find it", "be quick", "the service is down", "items", '"pending"'):
        assert words in prompt or words == '"pending"'
    assert state["status"] == "partial" and state["answer"] == "nothing more"


def test_the_replanner_sees_all_failures_at_once_and_a_step_that_others_need_is_no_step_to_drop(
    build: Build, tools: LoggedTools
) -> None:
    plan = [
        step("a", "broken"),
        step("b", "broken"),
        step("c", "search", query="{a_result.items[0]}"),
        step("d", "write", text="{c_result.items[0]}"),
    ]
    dropping = {"keep": ["c", "d"], "steps": [step("b", "search", query="b")]}
    whole = {"keep": ["c", "d"], "steps": [step("a", "search", query="a"), step("b", "search", query="b")]}
    lone = step("e", "search", query="e")
    graph = build({"steps": [*plan, lone, step("f", "write", text="t")]}, dropping, whole)

    state = approve_all(graph, {"goal": "g"})

    document = json.loads(str(graph.model.prompts[1][1].content))
    assert document["failed"] == dict.fromkeys("ab", "ValueError: the service is down")
    assert {name: shown["status"] for name, shown in document["results"].items()} == {
        "a": "failed", "b": "failed", "c": "blocked", "d": "blocked", "e": "succeeded", "f": "succeeded",
    }  # fmt: skip
    assert "c.args.query: {a_result.items[0]} refers to no step" in str(graph.model.prompts[2][-1].content)
    assert state["status"] == "succeeded" and [len(tools.named(name)) for name in ("broken", "write")] == [2, 2]


def test_at_most_two_replans_and_then_an_honest_end(build: Build, tools: LoggedTools) -> None:
    retry = {"keep": ["c"], "steps": [step("b", "broken", after=["a"])]}
    graph = build(BROKEN, retry, retry)

    state = approve_all(graph, {"goal": "g"})

    assert state["status"] == "failed" and "the service is down" in state["reason"] and state["answer"] is None
    assert len(tools.named("broken")) == 3 and len(graph.model.prompts) == 3 and len(tools.named("search")) == 1


def test_without_a_person_a_revision_that_cannot_be_read_ends_the_run_with_its_issues(build: Build) -> None:
    bad = {"steps": [step("a", "search", query="again")]}

    state = build(BROKEN, bad, bad, approval="never").invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed"
    assert {issue["step"] for issue in state["issues"]} >= {"a"} and "succeeded and cannot change" in state["reason"]


def test_a_revision_may_be_repaired_once(build: Build) -> None:
    bad = {"steps": [step("a", "search", query="again")]}
    good = {"keep": ["c"], "steps": [step("b", "search", query="instead")]}

    assert approve_all(build(BROKEN, bad, good), {"goal": "g"})["status"] == "succeeded"


def test_a_model_that_breaks_down_ends_the_run_with_the_reason(build: Build) -> None:
    state = approve_all(build(RuntimeError("rate limit")), {"goal": "g"})

    assert state["status"] == "failed" and "rate limit" in state["reason"]


def test_a_plan_is_repaired_once_with_all_its_issues(build: Build) -> None:
    bad = {"steps": [step("a", "nope"), step("b", "search", query=5)]}
    graph = build(bad, {"steps": [step("a", "search", query="q")]})

    state = approve_all(graph, {"goal": "g"})

    told = str(graph.model.prompts[1][-1].content)
    assert state["status"] == "succeeded" and "nope" in told and "a.tool" in told


def test_a_plan_that_stays_wrong_is_refused_before_any_tool_runs(build: Build, tools: LoggedTools) -> None:
    bad = {
        "steps": [
            step("a", "nope"),
            step("b", "search", after=["b"], query="q"),
            step("c", "search", query="{z_result}"),
        ]
    }

    state = build(bad, bad).invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "__interrupt__" not in state and tools.calls == []
    assert {(issue["step"], issue["field"]) for issue in state["issues"]} == {
        ("a", "tool"), ("b", "depends_on"), ("c", "args.query"),
    }  # fmt: skip


def test_a_direct_answer_needs_no_review(build: Build) -> None:
    graph = build({"steps": [], "answer": "Paris"})

    state = graph.invoke({"goal": "What is the capital of France?"}, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "Paris") and len(graph.model.prompts) == 1
    assert state["messages"][-1].text == "Paris"


def test_prose_instead_of_a_plan_ends_with_the_models_words(build: Build) -> None:
    state = build("I would rather not.", "No, really.").invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "No, really." in state["reason"]


def test_a_brought_plan_needs_no_planner(build: Build, tools: LoggedTools) -> None:
    graph = build()

    state = approve_all(graph, {"goal": "g", "plan": [step("a", "search", query="q")]})

    assert state["answer"] == {"items": ["Q"]} and graph.model.prompts == []


def test_the_same_plan_may_be_brought_twice(build: Build, tools: LoggedTools) -> None:
    graph = build()
    plan = {"steps": [step("a", "search", query="q")]}

    approve_all(graph, {"goal": "g", "plan": plan})
    approve_all(graph, {"goal": "g", "plan": plan})

    assert len(tools.calls) == 2


def test_a_new_goal_is_planned_although_the_state_holds_the_last_plan(build: Build, tools: LoggedTools) -> None:
    graph = build({"steps": [step("z", "write", text="new")]})
    approve_all(graph, {"goal": "old", "plan": {"steps": [step("a", "search", query="q")]}})

    state = approve_all(graph, {"goal": "new"})

    assert state["answer"] == 3 and len(graph.model.prompts) == 1


def test_a_brought_plan_that_is_wrong_is_refused_with_its_issues(build: Build, tools: LoggedTools) -> None:
    state = build().invoke({"goal": "g", "plan": {"steps": [step("a", "nope")]}}, on_thread())

    assert state["status"] == "failed" and state["issues"][0]["step"] == "a" and tools.calls == []


def test_a_call_that_may_have_happened_is_not_repeated_by_a_revision_without_a_person(
    build: Build, tools: LoggedTools
) -> None:
    pay = tools.tool("pay", lambda amount: 1 / 0)
    plan = {"steps": [step("a", "pay", amount=5)]}
    graph = build(plan, {"steps": [step("b", "pay", amount=5)]}, tools=[pay], approval="never", max_replans=1)

    request = asked(graph.invoke({"goal": "g"}, on_thread()))

    assert tools.calls == [("pay", {"amount": 5})]
    assert request["action_requests"][0]["name"] == "settle_effect"
    assert request["action_requests"][0]["args"]["happened"] is None


def test_what_a_person_says_happened_is_not_done_again(build: Build, tools: LoggedTools) -> None:
    pay = tools.tool("pay", lambda amount: 1 / 0)
    graph = build(
        {"steps": [step("a", "pay", amount=5)]}, {"steps": [step("b", "pay", amount=5)]},
        tools=[pay], approval="never", max_replans=1,
    )  # fmt: skip
    asked(graph.invoke({"goal": "g"}, on_thread()))

    for odd in (
        True,
        "approve",
        {"type": "approve"},
        {"type": "edit", "edited_action": {"name": "settle_effect", "args": {}}},
    ):
        assert asked(graph.invoke(Command(resume=odd), on_thread()))["error"]
    args = {"happened": "True", "result": "receipt 7"}
    edit = {"type": "edit", "edited_action": {"name": "settle_effect", "args": args}}
    state = graph.invoke(Command(resume=edit), on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "receipt 7") and len(tools.calls) == 1


def test_what_a_person_says_did_not_happen_is_done(build: Build, tools: LoggedTools) -> None:
    answers = iter([ZeroDivisionError("down"), None])

    def work(amount: int) -> str:
        if failure := next(answers):
            raise failure
        return "paid"

    graph = build(
        {"steps": [step("a", "pay", amount=5)]}, {"steps": [step("b", "pay", amount=5)]},
        tools=[tools.tool("pay", work)], approval="never",
    )  # fmt: skip
    asked(graph.invoke({"goal": "g"}, on_thread()))

    edit = {"type": "edit", "edited_action": {"name": "settle_effect", "args": {"happened": False}}}
    state = graph.invoke(Command(resume={"decisions": [edit]}), on_thread())

    assert state["answer"] == "paid" and len(tools.calls) == 2


def test_a_model_in_both_roles_may_be_the_same(build: Build, saver: Any, tools: LoggedTools) -> None:
    graph = build({"steps": [step("a", "search", query="q"), step("think", after=["a"])]}, "it is windy")

    assert approve_all(graph, {"goal": "g"})["answer"] == "it is windy"
    assert "items" in str(graph.model.prompts[1][-1].content)
    assert isinstance(graph.model, ScriptedModel)


@pytest.mark.parametrize("given", [{"goal": "\ud800"}, {"goal": "g", "constraints": ["\ud800"]}, {"goal": " "}, {}])
def test_a_goal_that_cannot_be_kept_is_an_error_of_the_caller(build: Build, given: Any) -> None:
    with pytest.raises(InputError):
        build().invoke({"messages": [], **given}, on_thread())


def test_each_replan_is_told_of_every_call_that_failed_in_the_run(saver: Any, tools: LoggedTools) -> None:
    def fetch(url: str) -> str:
        raise ValueError(f"no {url}")

    plans = [{"steps": [step(name, "fetch", url=url)]} for name, url in (("a", "one"), ("b", "two"), ("c", "three"))]
    model = ScriptedModel([*plans, {"steps": [], "answer": "none"}])
    graph = build_graph(
        planner=model,
        tools=[tools.tool("fetch", fetch, effect="read")],
        checkpointer=saver,
        approval="never",
        max_replans=3,
    )

    graph.invoke({"goal": "g"}, on_thread())

    told = json.loads(str(model.prompts[-1][-1].text))["failed_calls"]
    assert [(one["step"], one["tool"], one["args"], one["error"]) for one in told] == [
        ("a", "fetch", {"url": "one"}, "ValueError: no one"),
        ("b", "fetch", {"url": "two"}, "ValueError: no two"),
        ("c", "fetch", {"url": "three"}, "ValueError: no three"),
    ]
