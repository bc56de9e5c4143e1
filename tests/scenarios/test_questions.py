"""The human side: how often a run without an attack asks, counted; each question too many is one that is not read."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import build_graph, default_tools
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

REPOSITORY = Path(__file__).parents[2]
Build = Callable[..., Any]


def questions(graph: Any, goal: str = "g", **given: Any) -> list[list[str]]:
    """Return what was asked, request by request, of somebody who approves; the run has to succeed."""
    asked: list[list[str]] = []
    state = graph.invoke({"goal": goal, **given}, on_thread())
    while "__interrupt__" in state:
        request = state["__interrupt__"][0].value
        asked.append([action["name"] for action in request["action_requests"]])
        decisions = [{"type": "approve"}] * len(request["action_requests"])
        state = graph.invoke(Command(resume={"decisions": decisions}), on_thread())
    assert state["status"] in ("succeeded", "partial"), state["reason"]
    return asked


@pytest.mark.parametrize(("mode", "count"), [("always", 1), ("side_effects", 1), ("never", 0)])
def test_the_main_job_is_asked_about_once(tmp_path: Path, saver: Any, mode: str, count: int) -> None:
    tools = default_tools(documents=REPOSITORY / "docs", workspace=tmp_path / "workspace")
    graph = build_graph(tools=tools, checkpointer=saver, approval=mode)

    asked = questions(graph, "Research how this agent keeps side effects safe and write a brief report with sources")

    assert asked == [["run_plan"]] * count and (tmp_path / "workspace" / "report.md").exists()


@pytest.mark.parametrize(("mode", "count"), [("always", 2), ("side_effects", 2), ("never", 0)])
def test_the_incident_is_asked_about_twice_because_its_revision_comes_before_a_write(
    tmp_path: Path, saver: Any, mode: str, count: int
) -> None:
    tools = default_tools(documents=REPOSITORY / "examples" / "incident", workspace=tmp_path / "workspace")
    graph = build_graph(tools=tools, checkpointer=saver, approval=mode)

    assert questions(graph, "Audit why the checkout service is failing and draft a fix") == [["run_plan"]] * count


READS = {"steps": [step("a", "search", query="q"), step("b", "search", query="{a_result.items[0]}")]}
WRITES = {"steps": [*READS["steps"], step("w", "write", text="{b_result.items[0]}")]}
SENDS = {"steps": [*READS["steps"], step("s", "send", to="{b_result.items[0]}")]}


@pytest.mark.parametrize(
    ("plan", "mode", "count"),
    [
        (READS, "always", 1), (READS, "side_effects", 0), (READS, "never", 0),
        (WRITES, "always", 1), (WRITES, "side_effects", 1), (WRITES, "never", 0),
        (SENDS, "always", 1), (SENDS, "side_effects", 1), (SENDS, "never", 0),
    ],
)  # fmt: skip
def test_reads_need_nobody_where_side_effects_do_and_effects_are_asked_about_once(
    build: Build, plan: Any, mode: str, count: int
) -> None:
    assert questions(build(plan, approval=mode)) == [["run_plan"]] * count


def flaky(tools: LoggedTools, failures: int = 1) -> Any:
    left = [failures]

    def work(**_: Any) -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise ValueError("not now")
        return "there"

    return tools.tool("flaky", work, effect="read")


def tools_with(tools: LoggedTools, failures: int = 1) -> list[Any]:
    return [
        flaky(tools, failures),
        tools.tool("search", lambda query: query, effect="read"),
        tools.tool("write", lambda text: text, effect="write", idempotent=True),
    ]


FLAKY = {"steps": [step("f", "flaky"), step("w", "write", text="{f_result}")]}


@pytest.mark.parametrize(
    ("revision", "count"),
    [
        ({"keep": ["f", "w"], "steps": []}, 1),
        ({"keep": ["w"], "steps": [step("f", "flaky")]}, 1),
        ({"steps": [], "answer": "it is not there"}, 1),
        ({"keep": ["w"], "steps": [step("f", "search", query="instead")]}, 2),
    ],
    ids=["the same again", "the read given again", "given up", "another read before the write"],
)
def test_a_revision_is_asked_about_only_where_it_goes_beyond_what_was_approved(
    build: Build, tools: LoggedTools, revision: Any, count: int
) -> None:
    plan = {"steps": [*FLAKY["steps"], step("s", "search", query="more")]}
    graph = build(plan, revision, tools=tools_with(tools))

    assert len(questions(graph)) == count


def test_a_read_that_is_tried_elsewhere_needs_nobody_where_side_effects_do(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [step("f", "flaky"), step("w", "write", text="t"), step("s", "search", query="q")]}
    revision = {"keep": ["w", "s"], "steps": [step("f", "search", query="instead")]}

    graph = build(plan, revision, tools=tools_with(tools), approval="side_effects")

    assert len(questions(graph)) == 1


def test_a_chain_of_revisions_that_only_read_is_asked_about_once_also_when_the_write_is_done(
    build: Build, tools: LoggedTools
) -> None:
    plan = {"steps": [step("f", "flaky"), step("w", "write", text="t"), step("s", "search", query="q")]}
    once = {"keep": [], "steps": [step("f", "flaky", n=1)]}
    twice = {"keep": [], "steps": [step("f", "search", query="instead")]}
    graph = build(plan, once, twice, tools=tools_with(tools, 2), approval="side_effects")

    assert len(questions(graph)) == 1


@pytest.mark.parametrize("declared", [{}, {"trusted": True}])
def test_values_of_tools_that_say_nothing_of_trust_are_approved_with_the_plan(
    build: Build, tools: LoggedTools, declared: dict[str, Any]
) -> None:
    own = [
        tools.tool("look", lambda: "ann@example.com", effect="read", **declared),
        tools.tool("send", lambda to: to, effect="external"),
    ]
    graph = build({"steps": [step("a", "look"), step("s", "send", to="{a_result}")]}, tools=own)

    state = graph.invoke({"goal": "g"}, on_thread())

    told = state["__interrupt__"][0].value["action_requests"][0]["description"]
    assert ("uses what look returns" in told) is not declared
    assert ("The tool look does not declare whether its results can be trusted; " in told) is not declared
    assert graph.invoke(Command(resume=True), on_thread())["status"] == "succeeded"


def test_untrusted_words_may_go_where_they_are_free_without_a_question(build: Build, tools: LoggedTools) -> None:
    own = [
        tools.tool("page", lambda: "words of a stranger", effect="read", trusted=False),
        tools.tool("save", lambda path, text: path, effect="write", free_args=("text",)),
    ]

    graph = build({"steps": [step("p", "page"), step("s", "save", path="out.md", text="{p_result}")]}, tools=own)

    assert questions(graph) == [["run_plan"]]


def test_a_model_step_with_plain_tools_that_declare_nothing_is_asked_about_once(saver: Any, tools: LoggedTools) -> None:
    calls = [AIMessage("", tool_calls=[{"name": name, "args": {"q": "x"}, "id": name}]) for name in ("look", "post")]
    plan = {"steps": [{"id": "m", "objective": "look and post", "tools": ["look", "post"]}]}
    own = [tools.tool(name) for name in ("look", "post")]
    graph = build_graph(ScriptedModel([plan]), ScriptedModel([*calls, "done"]), tools=own, checkpointer=saver)

    assert questions(graph) == [["run_plan"]] and len(tools.calls) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_calls_that_are_held_side_by_side_are_asked_about_at_once(build: Build, tools: LoggedTools, count: int) -> None:
    own = [
        tools.tool("page", lambda: "x", effect="read", trusted=False),
        tools.tool("send", lambda to, n: n, effect="external"),
    ]
    plan = {"steps": [step("p", "page"), *(step(f"s{n}", "send", to="{p_result}", n=n) for n in range(count))]}

    assert questions(build(plan, tools=own)) == [["run_plan"], ["run_step"] * count]


@pytest.mark.parametrize(
    ("policy", "count"),
    [
        ({"effects": {"write": "allow"}}, 0),
        ({"effects": {"write": "review"}}, 1),
        ({"tools": {"search": {"verdict": "review"}}, "effects": {"write": "allow"}}, 1),
        ({"approval": "always"}, 1),
    ],
)
def test_a_policy_takes_questions_away_or_brings_them(build: Build, policy: Any, count: int) -> None:
    assert len(questions(build(WRITES, approval="side_effects", policy=policy))) == count


def test_a_source_that_a_policy_lets_in_is_not_asked_about(build: Build, tools: LoggedTools) -> None:
    own: Sequence[Any] = [
        tools.tool("contacts", lambda: "ann@example.com", effect="read", trusted=False),
        tools.tool("send", lambda to: to, effect="external"),
    ]
    policy = {"tools": {"send": {"args": {"to": {"untrusted_from": ["contacts"]}}}}}
    plan = {"steps": [step("c", "contacts"), step("s", "send", to="{c_result}")]}

    assert questions(build(plan, tools=own, policy=policy)) == [["run_plan"]]


def test_a_budget_that_suffices_asks_nothing(build: Build) -> None:
    budget = {"tool_calls": 3, "steps": 3, "model_calls": 1, "calls": {"search": 2}}

    assert questions(build(WRITES, budget=budget)) == [["run_plan"]]
