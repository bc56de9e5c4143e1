"""Success criteria in whole runs: checks, a judge, what is tried again, and what never counts as success."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]
YES, NO = {"met": True, "why": "it is there"}, {"met": False, "why": "nothing of the sort"}
APPROVE = {"type": "approve"}


def checked(name: str, tool: str | None, *checks: dict[str, Any], **args: Any) -> dict[str, Any]:
    return {**step(name, tool, **args), "checks": list(checks)}


def answering(*values: Any) -> Callable[..., Any]:
    """Return work that gives one value after the other, and then the last one again and again."""
    left: Iterator[Any] = iter(values)
    return lambda **_: next(left, values[-1])


@pytest.mark.parametrize(
    ("check", "value", "met"),
    [
        ({"schema": {"type": "object", "required": ["total"]}}, {"total": 3}, True),
        ({"schema": {"type": "object", "required": ["total"]}}, {"sum": 3}, False),
        ({"condition": "total <= `200`"}, {"total": 200}, True),
        ({"condition": "total <= `200`"}, {"total": 201}, False),
        ({"matches": "wind|sun"}, "much sun", True),
        ({"matches": "wind|sun"}, "rain", False),
        ({"range": [0, 10], "of": "total"}, {"total": 10}, True),
        ({"range": [0, 10], "of": "total"}, {"total": 11}, False),
        ({"non_empty": True, "of": "items"}, {"items": [1]}, True),
        ({"non_empty": True, "of": "items"}, {"items": []}, False),
        ({"cites": 2}, "As a.md:3 says, and https://b.org/c.", True),
        ({"cites": 2}, "As a.md:3 says, and a.md:3 again.", False),
        ({"called": "look"}, "anything", True),
    ],
    ids=str,
)
def test_a_check_decides_whether_a_step_succeeds(
    build: Build, tools: LoggedTools, check: dict[str, Any], value: Any, met: bool
) -> None:
    plan = {"steps": [checked("a", "look", check), step("b", "write", after=["a"], text="t")]}
    own = [tools.tool("look", lambda: value, effect="read"), tools.tool("write", effect="write")]

    state = build(plan, tools=own, approval="never", replan="never").invoke({"goal": "g"}, on_thread())

    assert state["status"] == ("succeeded" if met else "failed")
    assert len(tools.named("write")) == met
    assert met or next(iter(check)) in state["reason"]


def test_a_file_that_the_step_was_to_write_is_looked_for_in_the_workspace(
    build: Build, tools: LoggedTools, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("not ours")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link.md").symlink_to(tmp_path / "outside.md")
    writing = tools.tool(
        "put", lambda path: (workspace / path).write_text("x"), effect="write", idempotent=True, folder=str(workspace)
    )
    steps = [checked(name, "put", {"file_exists": there}, path=f"{name}.md") for name, there in FILES.items()]

    state = build({"steps": steps}, tools=[writing], approval="never", replan="never").invoke(
        {"goal": "g"}, on_thread()
    )

    found = {name: result["status"] for name, result in state["results"].items()}
    assert found == {"there": "succeeded", "other": "failed", "linked": "failed", "hidden": "failed"}


FILES = {"there": "there.md", "other": "report.md", "linked": "link.md", "hidden": ".hidden"}


def test_an_unmet_check_is_never_a_success_and_its_evidence_is_on_record(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [checked("a", "search", {"range": [0, 1], "of": "length(items)"}, {"matches": "x"}, query="q")]}
    graph = build(plan, approval="never", replan="never", max_check_attempts=1)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and state["answer"] is None
    assert "matches x" in state["reason"] and "range" not in state["reason"]
    assert state["results"]["a"]["status"] == "failed" and "value" not in state["results"]["a"]


def test_a_read_is_tried_again_once(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("look", answering([], ["now"]), effect="read")]
    plan = {"steps": [checked("a", "look", {"non_empty": True})]}

    state = build(plan, tools=own, approval="never", replan="never").invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and state["answer"] == ["now"] and len(tools.calls) == 2


@pytest.mark.parametrize(("max_check_attempts", "calls"), [(1, 1), (2, 2), (4, 4)])
def test_how_often_is_bounded(build: Build, tools: LoggedTools, max_check_attempts: int, calls: int) -> None:
    own = [tools.tool("look", lambda: [], effect="read")]
    plan = {"steps": [checked("a", "look", {"non_empty": True})]}
    graph = build(plan, tools=own, approval="never", replan="never", max_check_attempts=max_check_attempts)

    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "failed"
    assert len(tools.calls) == calls


def test_trying_again_counts_against_the_budget(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("look", answering([], ["now"]), effect="read")]
    graph = build({"steps": [checked("a", "look", {"non_empty": True})]}, tools=own, budget={"tool_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=True), on_thread()))
    raised = {"type": "edit", "edited_action": {"name": "raise_budget", "args": {"budget": {"tool_calls": 2}}}}
    state = graph.invoke(Command(resume={"decisions": [raised]}), on_thread())

    assert [action["name"] for action in request["action_requests"]] == ["raise_budget"]
    assert state["status"] == "succeeded" and len(tools.calls) == 2


def test_an_effect_whose_result_will_not_do_is_not_repeated(build: Build, tools: LoggedTools) -> None:
    failing = checked("a", "send", {"matches": "accepted"}, to="ann")
    graph = build({"steps": [failing]}, {"keep": ["a"], "steps": []}, {"keep": ["a"], "steps": []}, approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "matches accepted" in state["reason"]
    assert tools.named("send") == [{"to": "ann"}]


@pytest.mark.parametrize("weaker", [[], [{"non_empty": True}]], ids=["no check", "a weaker check"])
def test_an_effect_whose_result_did_not_do_may_do_in_another_plan(
    build: Build, tools: LoggedTools, weaker: list[dict[str, Any]]
) -> None:
    strict, mild = (checked("a", "send", *checks, to="ann") for checks in ([{"matches": "accepted"}], weaker))
    after = step("b", "send", after=["a"], to="{a_result}")
    graph = build({"steps": [strict, after]}, {"keep": ["b"], "steps": [mild]}, approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and len(tools.named("send")) == 2
    assert {name: result["status"] for name, result in state["results"].items()} == {"a": "succeeded", "b": "succeeded"}


def test_a_model_step_whose_result_did_not_do_may_do_in_another_plan(build: Build, tools: LoggedTools) -> None:
    sends = {"id": "a", "objective": "tell ann", "tools": ["send"]}
    call = AIMessage("", tool_calls=[{"name": "send", "args": {"to": "ann"}, "id": "1"}])
    plans = ({"steps": [{**sends, "checks": [{"matches": "accepted"}]}]}, {"steps": [sends]})
    graph = build(*plans, executor=ScriptedModel([call, "told", call, "told"]), approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and tools.named("send") == [{"to": "ann"}]


@pytest.mark.parametrize(
    ("said", "calls"), [({"happened": False}, 2), ({"happened": True, "result": "ok"}, 1)], ids=["it did not", "it did"]
)
def test_the_same_effect_under_another_name_is_a_question_to_a_person(
    build: Build, tools: LoggedTools, said: dict[str, Any], calls: int
) -> None:
    failing = checked("a", "send", {"matches": "accepted"}, to="ann")
    again = {**step("b", "send", to="ann"), "replaces": "a"}
    graph = build({"steps": [failing]}, {"steps": [again]}, approval="never")

    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    assert tools.named("send") == [{"to": "ann"}]
    answer = {"type": "edit", "edited_action": {"name": "settle_effect", "args": said}}
    state = graph.invoke(Command(resume={"decisions": [answer]}), on_thread())

    (action,) = request["action_requests"]
    assert action["name"] == "settle_effect" and "It took effect, but its result will not do" in action["description"]
    assert len(tools.named("send")) == calls and state["results"]["b"]["status"] == "succeeded"
    assert state["status"] == "succeeded"


def test_a_person_is_told_that_a_revision_would_repeat_the_effect(build: Build, tools: LoggedTools) -> None:
    failing = checked("a", "send", {"matches": "accepted"}, to="ann")
    graph = build({"steps": [failing]}, {"steps": [step("b", "send", to="bob")]})
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=True), on_thread()))

    assert "a called send, which took effect although the step failed" in request["action_requests"][0]["description"]


def test_the_replanner_sees_what_was_found(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("look", lambda: {"total": 250}, effect="read")]
    graph = build(
        {"steps": [checked("a", "look", {"condition": "total <= `200`"})]},
        {"steps": [], "answer": "too dear"},
        tools=own,
        approval="never",
        max_check_attempts=1,
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    assert '"total":250' in str(graph.model.prompts[1][-1].content).replace("\\", "")
    assert state["status"] == "partial" and "condition total <= `200`: it is false" in state["reason"]


def thinking(
    saver: Any, tools: LoggedTools, plan: dict[str, Any], *words: Any, **more: Any
) -> tuple[Any, ScriptedModel]:
    executor = ScriptedModel(words)
    own = [tools.tool("search", effect="read"), tools.tool("send")]
    settings = {"tools": own, "checkpointer": saver, "approval": "never", "replan": "never", **more}
    return build_graph(ScriptedModel([plan]), executor, **settings), executor


def test_a_model_is_told_what_its_result_does_not_meet(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "a", "objective": "cite", "checks": [{"cites": 1}]}]}
    graph, executor = thinking(saver, tools, plan, "wind is cheap", "wind is cheap (a.md:3)")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and state["answer"] == "wind is cheap (a.md:3)"
    assert "cites 1: 0 citations" in str(executor.prompts[1][-1].content)


def test_a_model_that_may_act_is_not_asked_again(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "a", "objective": "send", "tools": ["send"], "checks": [{"called": "send"}]}]}
    graph, executor = thinking(saver, tools, plan, "done already")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "called send: 0 calls" in state["reason"] and len(executor.prompts) == 1


def test_a_call_that_a_model_made_is_seen(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "a", "objective": "send", "tools": ["search"], "checks": [{"called": "search"}]}]}
    call = AIMessage("", tool_calls=[{"name": "search", "args": {"q": 1}, "id": "1"}])
    graph, _ = thinking(saver, tools, plan, call, "found")

    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"


def test_the_results_of_a_list_are_looked_at_as_a_whole(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("fetch", lambda n: n, effect="read")]
    each = {**step("a", "fetch", n="{item_result}"), "for_each": [1, 2, 3]}
    checks = [{"condition": "length(@) == `3`"}, {"range": [1, 1], "of": "[0]"}, {"called": "fetch"}]
    good, bad = {**each, "checks": checks}, {**each, "id": "b", "checks": [{"condition": "max(@) < `3`"}]}

    state = build({"steps": [good, bad]}, tools=own, approval="never", replan="never").invoke(
        {"goal": "g"}, on_thread()
    )

    assert {name: result["status"] for name, result in state["results"].items()} == {"a": "succeeded", "b": "failed"}
    assert len(tools.calls) == 6


def test_what_is_put_together_is_checked_too(build: Build) -> None:
    gather = {"id": "b", "objective": "both", "gather": ["{a_result.items[0]}", None], "checks": [{"matches": "WIND"}]}
    graph = build({"steps": [step("a", "search", query="wind"), gather]}, approval="never")

    assert graph.invoke({"goal": "g"}, on_thread())["answer"] == ["WIND", None]


def test_the_checks_of_a_refined_step_hold_for_what_it_became(build: Build) -> None:
    vague = {"id": "work", "objective": "do it", "refine": True, "tools": ["search"], "checks": [{"matches": "SUN"}]}
    graph = build({"steps": [vague]}, {"steps": [step("x", "search", query="wind")]}, approval="never", replan="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "work failed: its result will not do: matches SUN" in state["reason"]


def judged(build: Build, *opinions: Any, plan: Any = None, **more: Any) -> tuple[Any, ScriptedModel]:
    judge = ScriptedModel(opinions)
    plan = plan or {"steps": [{**step("a", "search", query="wind"), "success_criteria": "at least one passage"}]}
    return build(plan, judge=judge, **{"approval": "never", "replan": "never", **more}), judge


def test_a_judge_that_did_not_do_the_work_decides_about_words(build: Build) -> None:
    graph, judge = judged(build, YES)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and len(judge.prompts) == 1
    question = json.loads(str(judge.prompts[0][-1].content))
    assert question["criterion"] == "at least one passage" and question["result"] == {"items": ["WIND"]}


def test_what_a_judge_turns_down_is_no_success(build: Build, tools: LoggedTools) -> None:
    graph, judge = judged(build, NO)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "'at least one passage' is not met: nothing of the sort" in state["reason"]
    assert len(tools.named("search")) == 2 and len(judge.prompts) == 1  # the same result is not judged twice


@pytest.mark.parametrize(
    "answer", ["It looks fine to me.", '{"met": "yes"}', '{"met": true} but also {"met": false}', ""]
)
def test_what_a_judge_did_not_say_clearly_does_not_count(build: Build, answer: str) -> None:
    graph, judge = judged(build, answer, answer, max_check_attempts=1)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "was not judged" in state["reason"] and len(judge.prompts) == 2


def test_a_judge_is_asked_once_more_when_its_answer_cannot_be_used(build: Build) -> None:
    graph, _ = judged(build, "hm", YES)

    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"


def test_a_judge_that_fails_has_not_judged(build: Build) -> None:
    graph, _ = judged(build, ValueError("no service"), max_check_attempts=1)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "was not judged: the judge model" in state["reason"]


def test_without_a_judge_words_are_for_people(build: Build) -> None:
    plan = {"steps": [{**step("a", "search", query="wind"), "success_criteria": "at least ten passages"}]}

    assert build(plan, approval="never").invoke({"goal": "g"}, on_thread())["status"] == "succeeded"


def test_a_judge_is_not_asked_where_a_check_is_unmet(build: Build) -> None:
    plan = {"steps": [{**checked("a", "search", {"matches": "SUN"}, query="wind"), "success_criteria": "some"}]}
    graph, judge = judged(build, plan=plan)

    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "failed" and judge.prompts == []


def test_the_judge_counts_against_the_budget_and_nothing_is_repeated_for_it(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [{**step("a", "send", to="ann"), "success_criteria": "it was sent"}]}
    graph, judge = judged(build, YES, plan=plan, approval="always", budget={"model_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=True), on_thread())
    assert asked(state)["action_requests"][0]["name"] == "raise_budget" and judge.prompts == []
    assert state["results"]["a"]["status"] == "pending"
    raised = {"type": "edit", "edited_action": {"name": "raise_budget", "args": {"budget": {"model_calls": 2}}}}
    state = graph.invoke(Command(resume={"decisions": [raised]}), on_thread())

    assert state["status"] == "succeeded" and tools.named("send") == [{"to": "ann"}] and len(judge.prompts) == 1


def test_what_was_not_judged_for_want_of_budget_is_not_counted_as_met(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [{**step("a", "send", to="ann"), "success_criteria": "it was sent"}]}
    graph, _ = judged(build, YES, plan=plan, approval="always", budget={"model_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume=True), on_thread())

    state = graph.invoke(Command(resume={"decisions": [{"type": "reject"}]}), on_thread())

    assert state["status"] == "budget_exhausted" and state["answer"] is None
    assert "a interrupted: its result has not been checked yet" in state["reason"]


def test_a_check_that_goes_from_before_a_write_is_for_a_person(build: Build, tools: LoggedTools) -> None:
    looks, writes = checked("a", "search", {"matches": "SUN"}, query="wind"), step("b", "write", after=["a"], text="t")
    weaker = checked("a", "search", {"matches": "WIND"}, query="wind")
    graph = build({"steps": [looks, writes]}, {"keep": ["b"], "steps": [weaker]}, approval="side_effects")
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume={"decisions": [APPROVE]}), on_thread()))

    assert request["diff"]["changed"] == ["a"] and tools.named("write") == []


def test_the_review_says_what_is_checked(build: Build) -> None:
    plan = {"steps": [checked("a", "search", {"range": [0, None], "of": "total"}, {"non_empty": True}, query="q")]}

    request = asked(build(plan).invoke({"goal": "g"}, on_thread()))

    assert (
        "a step fails if one of these does not hold:\n\n```text\n- a: range [0,null] of total; non_empty\n```"
        in request["action_requests"][0]["description"]
    )


def paused_after(*steps: dict[str, Any]) -> dict[str, Any]:
    """Return a plan whose run comes to a stop when these steps have ended, and is taken up by an approval."""
    gate = {"id": "gate", "objective": "see", "gate": "Go on?", "depends_on": ["first"]}
    return {
        "steps": [*steps, step("first", "search", query="x"), gate, step("last", "search", after=["gate"], query="y")]
    }


@pytest.mark.parametrize(("opinion", "status"), [(YES, "succeeded"), (NO, "failed")], ids=["met", "unmet"])
def test_a_verdict_on_record_is_not_asked_for_again(
    build: Build, tools: LoggedTools, opinion: Any, status: str
) -> None:
    plan = paused_after({**step("a", "send", to="ann"), "success_criteria": "it was sent"})
    graph, judge = judged(build, opinion, plan=plan)
    paused = graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume={"decisions": [APPROVE]}), on_thread())

    assert paused["results"]["a"]["status"] == state["results"]["a"]["status"] == status
    assert len(judge.prompts) == 1 and len(tools.named("send")) == 1
    assert state["results"]["last"]["status"] == "succeeded"


def test_tries_are_counted_across_a_stop(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("look", lambda: [], effect="read"), tools.tool("search", effect="read")]
    plan = paused_after(checked("a", "look", {"non_empty": True}))
    graph = build(plan, tools=own, approval="never", replan="never", max_check_attempts=3)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume={"decisions": [APPROVE]}), on_thread())

    assert state["results"]["a"]["status"] == "failed" and len(tools.named("look")) == 3


def test_what_a_person_says_came_of_a_call_has_to_meet_the_criteria_too(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("pay", answering_error, effect="external")]
    plan = {"steps": [checked("a", "pay", {"matches": "receipt"}, to="ann")]}
    graph = build(plan, plan, tools=own, approval="never")
    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    args = {"happened": True, "result": "a receipt"}
    settled = {"type": "edit", "edited_action": {"name": "settle_effect", "args": args}}

    state = graph.invoke(Command(resume={"decisions": [settled]}), on_thread())

    assert request["action_requests"][0]["name"] == "settle_effect"
    assert state["status"] == "succeeded" and state["answer"] == "a receipt" and len(tools.calls) == 1


def answering_error(**_: Any) -> Any:
    raise ValueError("the line went dead")


@pytest.mark.parametrize(("judge", "said"), [(None, True), (ScriptedModel([YES]), False)], ids=["nobody", "a judge"])
def test_the_end_names_the_criteria_that_nobody_judged(
    build: Build, tools: LoggedTools, judge: Any, said: bool
) -> None:
    plan = {"steps": [{**step("a", "look"), "success_criteria": "some"}, step("b", "look", after=["a"])]}
    look = tools.tool("look", lambda: "wind", effect="read")

    state = build(plan, tools=[look], approval="never", judge=judge).invoke({"goal": "g"}, on_thread())

    note = "; success criteria that nobody judged: a" if said else ""
    assert (state["status"], state["reason"]) == ("succeeded", f"2 of 2 steps succeeded{note}")
