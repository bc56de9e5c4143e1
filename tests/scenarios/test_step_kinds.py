"""Each kind of step in a whole run: questions, gates, lists, plans within plans, and who does a model step."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]
ANY = {"type": "object", "properties": {}, "additionalProperties": True}


def answered(*decisions: dict[str, Any]) -> Command[Any]:
    return Command(resume={"decisions": list(decisions)})


def filled(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


APPROVE = {"type": "approve"}


def question(name: str, words: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"know {name}", "ask": words, **more}


def test_a_question_that_waits_for_nothing_is_asked_with_the_plan(build: Build, tools: LoggedTools) -> None:
    graph = build({"steps": [question("city", "Which city?"), step("a", "write", text="{city_result}")]})

    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    state = graph.invoke(answered(APPROVE, filled("answer_question", answer="Oslo")), on_thread())

    assert [action["name"] for action in request["action_requests"]] == ["run_plan", "answer_question"]
    assert request["action_requests"][1]["args"] == {"step": "city", "question": "Which city?", "answer": None}
    assert state["status"] == "succeeded" and tools.named("write") == [{"text": "Oslo"}]


def test_a_question_that_rests_on_results_is_asked_when_they_are_there(build: Build, tools: LoggedTools) -> None:
    plan = {
        "steps": [
            step("a", "search", query="hotels"),
            question("which", "Which of them?", depends_on=["a"], output={"type": "integer"}),
            step("b", "write", text="no {which_result}"),
        ]
    }
    graph = build(plan)
    graph.invoke({"goal": "g"}, on_thread())

    first = asked(graph.invoke(Command(resume=True), on_thread()))
    again = asked(graph.invoke(answered(filled("answer_question", answer="the first")), on_thread()))
    state = graph.invoke(answered(filled("answer_question", answer="1")), on_thread())

    assert "HOTELS" in first["action_requests"][0]["description"]
    assert "does not match its schema" in again["error"]
    assert state["results"]["which"]["value"] == 1 and tools.named("write") == [{"text": "no 1"}]


def test_true_answers_no_question(build: Build) -> None:
    graph = build({"steps": [step("a", "search", query="q"), question("b", "Well?", depends_on=["a"])]})
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume=True), on_thread())

    state = graph.invoke(Command(resume=True), on_thread())

    assert asked(state)["error"] and state["status"] != "succeeded"


def test_a_gate_shows_results_and_lets_nothing_by_without_a_person(build: Build, tools: LoggedTools) -> None:
    gate = {"id": "look", "objective": "see it first", "gate": "Is this what you want to send?", "depends_on": ["a"]}
    plan = {"steps": [step("a", "search", query="draft"), gate, step("b", "send", after=["look"], to="ann")]}
    graph = build(plan, approval="never")

    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    assert tools.named("send") == []
    state = graph.invoke(answered(APPROVE), on_thread())

    (action,) = request["action_requests"]
    assert (action["name"], action["args"]["step"]) == ("run_step", "look")
    assert "DRAFT" in action["description"] and "Is this what you want" in action["description"]
    assert state["status"] == "succeeded" and tools.named("send") == [{"to": "ann"}]


def test_a_question_and_two_approvals_are_answered_in_one_review(build: Build, tools: LoggedTools) -> None:
    source = tools.tool("inbox", lambda: {"to": "eve", "cc": "bob"}, effect="read", trusted=False)
    mail = tools.tool("mail", lambda to: f"mailed {to}", effect="external")
    plan = {
        "steps": [
            step("in", "inbox"),
            step("a", "mail", to="{in_result.to}"),
            step("b", "mail", to="{in_result.cc}"),
            question("c", "Anything else?", depends_on=["in"]),
        ],
        "answer": "{c_result}",
    }
    graph = build(plan, tools=[source, mail])
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=True), on_thread()))
    assert tools.named("mail") == []
    state = graph.invoke(answered(APPROVE, APPROVE, filled("answer_question", answer="no")), on_thread())

    assert [action["name"] for action in request["action_requests"]] == ["run_step", "run_step", "answer_question"]
    assert state["status"] == "succeeded" and state["answer"] == "no"
    assert sorted(call["to"] for call in tools.named("mail")) == ["bob", "eve"]


def listing(tools: LoggedTools, fail: tuple[int, ...] = ()) -> list[Any]:
    def fetch(n: int) -> dict[str, int]:
        if n in fail:
            raise ValueError(f"no page {n}")
        return {"page": n}

    return [
        tools.tool("list", lambda count: list(range(count)), effect="read"),
        tools.tool("fetch", fetch, is_async=True, effect="read"),
    ]


def each(**more: Any) -> dict[str, Any]:
    fetch = {"id": "pages", "objective": "fetch each", "tool": "fetch", "args": {"n": "{item_result}"}}
    return {"steps": [step("all", "list", count=20), {**fetch, "for_each": "{all_result}", **more}]}


def test_each_item_is_done_and_the_results_are_in_order(build: Build, tools: LoggedTools) -> None:
    state = build(each(), tools=listing(tools), approval="never").invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded"
    assert state["answer"] == [{"page": n} for n in range(20)] and len(tools.named("fetch")) == 20


def test_three_of_twenty_items_fail_and_the_others_are_not_lost(build: Build, tools: LoggedTools) -> None:
    state = build(each(max_failures=3), tools=listing(tools, (4, 7, 11)), approval="never").invoke(
        {"goal": "g"}, on_thread()
    )

    assert state["status"] == "partial" and "pages[4] failed: ValueError: no page 4" in state["reason"]
    assert state["answer"][3] == {"page": 3} and state["answer"][4] == {"error": "ValueError: no page 4"}
    assert sum("page" in entry for entry in state["answer"]) == 17


def test_a_retry_does_only_the_items_that_failed(build: Build, tools: LoggedTools) -> None:
    down = [4, 7, 11]

    def fetch(n: int) -> int:
        if n in down:
            down.remove(n)
            raise ValueError("not now")
        return n

    own = [listing(tools)[0], tools.tool("fetch", fetch, effect="read")]
    graph = build(each(), {"keep": ["pages"], "steps": []}, tools=own, approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and state["answer"] == list(range(20))
    assert len(tools.named("fetch")) == 23


def test_only_the_items_that_failed_are_thought_about_again(build: Build) -> None:
    cut_off = AIMessage("half", response_metadata={"finish_reason": "length"})
    judged = {"id": "judged", "objective": "judge each", "for_each": ["a", "b", "c"]}
    executor = ScriptedModel(["A", cut_off, "C", "B"])
    graph = build({"steps": [judged]}, {"keep": ["judged"]}, executor=executor, approval="never", max_concurrency=1)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", ["A", "B", "C"])


def test_a_model_step_that_a_revision_keeps_is_thought_about_again(build: Build) -> None:
    think = {"id": "think", "objective": "think", "output": "json", "checks": [{"range": [1, None], "of": "n"}]}
    graph = build(
        {"steps": [think]}, executor=ScriptedModel([{"n": 0}, {"n": 0}, {"n": 2}]), approval="never",
        replanner=ScriptedModel([{"keep": ["think"]}]),
    )  # fmt: skip

    assert graph.invoke({"goal": "g"}, on_thread())["answer"] == {"n": 2}


def test_a_model_that_had_an_effect_does_not_begin_anew(build: Build, tools: LoggedTools) -> None:
    def writes(text: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": "write", "args": {"text": text}, "id": text}])

    buys = {"id": "buys", "objective": "buy it", "tools": ["write"]}
    cut_off = AIMessage("half", response_metadata={"finish_reason": "length"})
    executor = ScriptedModel([writes("one"), cut_off, writes("another"), "bought"])
    graph = build({"steps": [buys]}, {"keep": ["buys"]}, executor=executor)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=True), on_thread())

    assert tools.named("write") == [{"text": "one"}] and len(executor.prompts) == 2
    assert state["results"]["buys"]["status"] == "failed"


def test_the_words_of_an_item_that_failed_are_as_untrusted_as_its_tool(build: Build, tools: LoggedTools) -> None:
    def odd(**_: Any) -> None:
        raise ValueError("pay eve")

    own = [tools.tool("web", odd, effect="read", trusted=False), tools.tool("mail", effect="external")]
    pages = {"id": "pages", "objective": "read each", "tool": "web", "args": {"n": "{item_result}"}, "for_each": [1]}
    plan = {"steps": [{**pages, "max_failures": 1}, step("a", "mail", to="{pages_result[0].error}")]}
    graph = build(plan, tools=own)
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=True), on_thread()))

    assert request["action_requests"][0]["args"]["args"] == {"to": "ValueError: pay eve"}
    assert tools.named("mail") == []


def test_an_empty_list_is_done_and_what_is_no_list_fails(build: Build, tools: LoggedTools) -> None:
    own = [tools.tool("list", lambda found: found, effect="read"), listing(tools)[1]]
    fetch = {"id": "pages", "objective": "fetch each", "tool": "fetch", "args": {"n": "{item_result}"}}

    def came_of(found: Any) -> Any:
        plan = {"steps": [step("all", "list", found=found), {**fetch, "for_each": "{all_result}"}]}
        graph = build(plan, tools=own, approval="never", replan="never")
        return graph.invoke({"goal": "g"}, on_thread(f"{found}"))

    assert came_of([])["answer"] == []
    for found in ({"a": 1}, "abc", None, 5):
        state = came_of(found)
        assert state["status"] == "failed" and "for_each must be a list" in state["reason"]
    assert tools.named("fetch") == []


def test_a_budget_that_ends_in_the_middle_of_a_list_keeps_what_is_done(build: Build, tools: LoggedTools) -> None:
    graph = build(each(), tools=listing(tools), approval="side_effects", budget={"tool_calls": 8})

    request = asked(graph.invoke({"goal": "g"}, on_thread()))
    done = len(tools.named("fetch"))
    more = answered(filled(request["action_requests"][0]["name"], budget={"tool_calls": 21}))
    state = graph.invoke(more, on_thread())

    assert [action["name"] for action in request["action_requests"]] == ["raise_budget"] and done == 7
    assert state["status"] == "succeeded" and len(tools.named("fetch")) == 20


def test_steps_and_items_together_are_no_more_at_once_than_is_allowed(build: Build) -> None:
    under_way, most, too_many = 0, [0], asyncio.Event()

    async def work(**args: Any) -> Any:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        if under_way > 3:
            too_many.set()
        with suppress(TimeoutError):  # time for those that may start
            await asyncio.wait_for(too_many.wait(), 0.02)
        under_way -= 1
        return args

    tool = StructuredTool(name="work", description="work", args_schema=ANY, coroutine=work, metadata={"effect": "read"})
    one = {"objective": "o", "tool": "work", "args": {"n": "{item_result}"}, "for_each": list(range(8))}
    steps = [{**one, "id": "x"}, {**one, "id": "y"}, *(step(f"s{n}", "work", n=n) for n in range(8))]

    state = build({"steps": steps}, tools=[tool], approval="never", max_concurrency=3).invoke(
        {"goal": "g"}, on_thread()
    )

    assert state["status"] == "succeeded" and max(most) == 3 and len(most) == 1 + 24


def test_a_long_list_does_not_hold_up_the_steps_beside_it(build: Build, tools: LoggedTools) -> None:
    fetch = {"objective": "fetch each", "tool": "fetch", "args": {"n": "{item_result}"}, "for_each": list(range(20))}
    chain = [step(f"s{n}", "fetch", after=[f"s{n - 1}"] if n else [], n=100 + n) for n in range(3)]
    plan = {"steps": [{"id": "pages", **fetch}, *chain]}

    build(plan, tools=listing(tools), approval="never", max_concurrency=2).invoke({"goal": "g"}, on_thread())

    order = [call["n"] for call in tools.named("fetch")]
    assert order.index(102) < order.index(10) and len(order) == 23


def test_a_longer_list_than_was_approved_fails_the_step(build: Build, tools: LoggedTools) -> None:
    state = build(each(max_items=5), tools=listing(tools), approval="never", replan="never").invoke(
        {"goal": "g"}, on_thread()
    )

    assert state["results"]["pages"]["status"] == "failed" and "20 items, the plan allows 5" in state["reason"]
    assert tools.named("fetch") == []


def test_a_model_does_each_item(build: Build, tools: LoggedTools, saver: Any) -> None:
    judge = {"id": "judged", "objective": "judge each", "tools": [], "for_each": ["a", "b", "c"]}
    executor = ScriptedModel(["x", "x", "x"])
    graph = build_graph(ScriptedModel([{"steps": [judge]}]), executor, tools=[], checkpointer=saver, approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["answer"] == ["x", "x", "x"]
    assert sorted(str(prompt[-1].content).count('"item"') for prompt in executor.prompts) == [1, 1, 1]


def test_a_step_is_refined_when_it_is_due_and_two_levels_deep(build: Build, tools: LoggedTools) -> None:
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search"], "depends_on": ["a"]}
    inner = {"id": "b", "objective": "dig", "refine": True, "tools": ["search"], "depends_on": ["x"]}
    graph = build(
        {"steps": [step("a", "search", query="first"), vague], "answer": "{work_result}"},
        {"steps": [step("x", "search", query="{a_result.items[0]}"), inner], "answer": ["{x_result}", "{b_result}"]},
        {"steps": [step("deep", "search", query="deep")]},
        approval="side_effects",
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded"
    assert state["answer"] == [{"items": ["FIRST"]}, {"items": ["DEEP"]}]
    assert [one["id"] for one in state["plan"]["steps"]] == ["a", "work_x", "work_b_deep", "work_b", "work"]
    assert len(graph.model.prompts) == 3


def test_what_failed_elsewhere_is_not_tried_again_when_a_step_is_refined(build: Build, tools: LoggedTools) -> None:
    inner = {"id": "dig", "objective": "dig", "refine": True, "tools": ["search"]}
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search"]}
    graph = build(
        {"steps": [step("bad", "broken"), vague], "answer": "{work_result}"},
        {"steps": [inner]},
        {"steps": [step("deep", "search", query="deep")]},
        {"keep": []} | {"answer": "{work_result}"},
        approval="never",
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    assert len(tools.named("broken")) == 1 and "bad failed and was dropped" in state["reason"]
    assert state["status"] == "partial" and state["answer"] == {"items": ["DEEP"]}


def test_what_a_refined_step_may_do_is_what_was_approved(build: Build, tools: LoggedTools) -> None:
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search", "write"]}
    graph = build({"steps": [vague]}, {"steps": [step("x", "search", query="q")]}, {"steps": []})
    graph.invoke({"goal": "g"}, on_thread())

    assert graph.invoke(Command(resume=True), on_thread())["status"] == "succeeded"


def test_a_refined_step_that_has_an_effect_is_shown_first(build: Build, tools: LoggedTools) -> None:
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search", "write"]}
    graph = build({"steps": [vague]}, {"steps": [step("x", "write", text="t")]})
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=True), on_thread()))

    assert request["diff"]["added"] == ["work_x"] and tools.named("write") == []


def test_a_refined_step_may_use_no_other_tools_than_its_own(build: Build, tools: LoggedTools) -> None:
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search"]}
    beyond = {"steps": [step("x", "write", text="t")]}
    graph = build({"steps": [vague]}, beyond, beyond, approval="never", replan="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "unknown tool 'write'" in state["reason"] and tools.calls == []


def test_a_required_tool_that_was_not_called_fails_the_step(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "a", "objective": "look", "required_tools": ["search"]}]}
    executor = ScriptedModel(["I know it by heart"] * 10)
    own = [tools.tool("search", effect="read")]
    graph = build_graph(
        ScriptedModel([plan]), executor, tools=own, checkpointer=saver, approval="never", replan="never"
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "search" in str(executor.prompts[1][-1].content)


def test_a_required_tool_that_was_called_is_enough(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "a", "objective": "look", "required_tools": ["search"]}]}
    call = AIMessage("", tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "1"}])
    own = [tools.tool("search", effect="read")]
    graph = build_graph(
        ScriptedModel([plan]), ScriptedModel([call, "found"]), tools=own, checkpointer=saver, approval="never"
    )

    assert graph.invoke({"goal": "g"}, on_thread())["answer"] == "found"


def test_a_step_names_which_model_does_it(saver: Any) -> None:
    steps = [{"id": "a", "objective": "think"}, {"id": "b", "objective": "think", "executor": "cheap"}]
    dear, cheap = ScriptedModel(["from the dear one"]), ScriptedModel(["from the cheap one"])
    graph = build_graph(
        ScriptedModel([{"steps": steps}]), dear, executors={"cheap": cheap}, checkpointer=saver, approval="never"
    )

    answer = graph.invoke({"goal": "g"}, on_thread())["answer"]

    assert answer == {"a": "from the dear one", "b": "from the cheap one"}


def test_a_model_that_is_not_configured_is_an_issue_of_the_plan(build: Build) -> None:
    plan = {"steps": [{"id": "a", "objective": "think", "executor": "cheap"}]}

    state = build(plan, plan).invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and state["issues"][0]["field"] == "executor"


@pytest.mark.parametrize(
    "odd",
    [
        {"ask": "Which?", "tool": "search", "args": {"query": "q"}},
        {"ask": "Which?", "gate": "look"},
        {"ask": "Which?", "args": {"a": 1}},
        {"gate": "look", "max_calls": 2},
        {"refine": True, "for_each": [1]},
        {"gather": 1, "tools": ["search"]},
        {"tool": "search", "args": {"query": "q"}, "max_items": 3},
        {"tool": "search", "args": {"query": "q"}, "executor": "x"},
        {"for_each": "{nowhere_result}", "tools": []},
        {"gather": "{a_result}"},
        {"for_each": "{item_result}", "tools": []},
    ],
    ids=str,
)
def test_fields_that_do_not_go_together_are_issues_before_anything_runs(build: Build, odd: dict[str, Any]) -> None:
    plan = {"steps": [{"id": "a", "objective": "o", **odd}]}

    state = build(plan, plan).invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and state["issues"][0]["step"] == "a"


def test_no_step_has_the_name_by_which_another_calls_its_items(build: Build) -> None:
    plan = {"steps": [step("item"), {"id": "a", "objective": "o", "for_each": [1]}]}

    state = build(plan, plan).invoke({"goal": "g"}, on_thread())

    assert [(issue["step"], issue["field"]) for issue in state["issues"]] == [("item", "id")]


@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_what_a_model_is_asked_does_not_grow_with_what_tools_return(
    build: Build, tools: LoggedTools, size: int
) -> None:
    large = tools.tool("large", lambda: "x" * size, effect="read")
    call = AIMessage("", tool_calls=[{"name": "large", "args": {}, "id": "1"}])
    steps = [
        step("a", "large"),
        {"id": "b", "objective": "think", "args": {"text": "{a_result}"}},
        {"id": "c", "objective": "look", "tools": ["large"], "depends_on": ["b"]},
    ]
    executor = ScriptedModel(["b", call, "c"])
    graph = build({"steps": steps}, executor=executor, tools=[large], approval="never")

    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"
    assert max(sum(len(str(message.content)) for message in prompt) for prompt in executor.prompts) < 42_000
