"""A run that gets no further asks a person, with a summary, or ends where nobody is asked; it never goes in circles."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Start = Callable[..., Any]
MANY = 30
"""More rounds than any of these runs may take: what stops them is not how often it may be planned again."""


@pytest.fixture
def start(saver: Any, tools: LoggedTools) -> Start:
    """Start a run whose steps fail, until it needs a person for more than its first plan."""
    errors = count()

    def fail(**_: Any) -> None:
        raise ValueError("the service is down")

    def fail_anew(**_: Any) -> None:
        words = "abcdefghijklmnopqrstuvwxyz"[next(errors)]
        raise ValueError(f"failed in the {words} way")

    own = [
        tools.tool("search", lambda query: query.upper(), effect="read"),
        tools.tool("broken", fail, effect="read"),
        tools.tool("moody", fail_anew, effect="read"),
    ]

    def start(first: Any, *revisions: Any, mode: str = "always") -> Any:
        models = {"planner": ScriptedModel([first]), "replanner": ScriptedModel(revisions)}
        graph: Any = build_graph(**models, tools=own, checkpointer=saver, approval=mode, max_replans=MANY)
        graph.planner, graph.replanner = models["planner"], models["replanner"]
        graph.state = graph.invoke({"goal": "g"}, on_thread())
        while "__interrupt__" in graph.state and not warned(graph.state):
            graph.state = graph.invoke(Command(resume="approve"), on_thread())
        return graph

    return start


def warned(state: Any) -> str:
    """Return what a person is told of the lack of progress."""
    text = asked(state)["action_requests"][0]["description"]
    return next((line for line in text.splitlines() if line.startswith("No progress")), "")


def plan(tool: str, name: str = "b", **args: Any) -> dict[str, Any]:
    return {"steps": [step("a", "search", query="q"), step(name, tool, after=["a"], **args)]}


def revision(tool: str, name: str = "b", **args: Any) -> dict[str, Any]:
    return {"steps": [step(name, tool, after=["a"], **args)]}


NONSENSE = {"steps": [step("b", "no_such_tool")]}

CASES: dict[str, tuple[list[Any], list[str], int, str]] = {
    # the plan and its revisions, what is called, how often the replanner is asked, what is said
    "the same failure under another name": (
        [plan("broken"), revision("broken", "other"), revision("broken", "third")],
        ["search", "broken", "broken"], 2, "the same failure came again",
    ),
    "an identical revision": (
        [plan("broken"), revision("broken"), revision("broken")],
        ["search", "broken", "broken"], 2, "the same failure came again",
    ),
    "an identical revision, with other errors": (
        [plan("moody"), revision("moody"), revision("moody")],
        ["search", "moody", "moody"], 2, "went back to revision 1",
    ),
    "there and back": (
        [plan("moody", n=1), revision("moody", n=2), revision("moody", n=1)],
        ["search", "moody", "moody"], 2, "went back to revision 1",
    ),
    "around by a third": (
        [plan("moody", n=1), revision("moody", n=2), revision("moody", n=3), revision("moody", n=2)],
        ["search", "moody", "moody", "moody"], 3, "went back to revision 2",
    ),
    "revisions that cannot run": ([plan("broken"), NONSENSE, NONSENSE], ["search", "broken"], 2, "unknown tool"),
    "a replanner that breaks down": ([plan("broken"), RuntimeError("no luck")], ["search", "broken"], 1, "no luck"),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["always", "side_effects"])
@pytest.mark.parametrize("case", CASES)
def test_a_person_is_asked_with_a_summary(start: Start, tools: LoggedTools, case: str, mode: str) -> None:
    script, called, replanned, words = CASES[case]

    graph = start(*script, mode=mode)

    assert words in warned(graph.state) and [name for name, _ in tools.calls] == called
    assert len(graph.planner.prompts) == 1 and len(graph.replanner.prompts) == replanned
    assert "approve" in asked(graph.state)["review_configs"][0]["allowed_decisions"]


@pytest.mark.parametrize("case", CASES)
def test_where_nobody_is_asked_the_run_ends_with_the_reason(start: Start, tools: LoggedTools, case: str) -> None:
    script, called, replanned, words = CASES[case]

    graph = start(*script, mode="never")

    assert (graph.state["status"], graph.state["answer"]) == ("failed", None) and words in graph.state["reason"]
    assert [name for name, _ in tools.calls] == called
    assert len(graph.planner.prompts) == 1 and len(graph.replanner.prompts) == replanned


@pytest.mark.parametrize("case", CASES)
def test_each_further_try_takes_a_person_who_wants_it(start: Start, tools: LoggedTools, case: str) -> None:
    script, called, replanned, _ = CASES[case]
    graph = start(*script, *[script[-1]] * 20)

    for _ in range(3):
        before = len(tools.calls)
        graph.state = graph.invoke(Command(resume="approve"), on_thread())
        assert warned(graph.state) and len(tools.calls) == before + 1

    state = graph.invoke(Command(resume="reject"), on_thread())
    assert state["status"] == "rejected" and len(tools.calls) == len(called) + 3
    assert len(graph.planner.prompts) == 1 and len(graph.replanner.prompts) <= replanned + 3 * 2


def test_another_way_that_works_after_a_warning_is_a_success(start: Start, tools: LoggedTools) -> None:
    graph = start(plan("broken"), revision("broken"), revision("broken"))

    edited = {"steps": [step("b", "search", after=["a"], query="instead")]}
    state = graph.invoke(Command(resume=edited), on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "INSTEAD")
    assert len(graph.replanner.prompts) == 2


def test_an_approval_given_in_advance_approves_no_plan_without_progress(tmp_path: Path, tools: LoggedTools) -> None:
    def fail(**_: Any) -> None:
        raise ValueError("the service is down")

    own = [tools.tool("search", lambda query: query, effect="read"), tools.tool("broken", fail, effect="read")]
    models = {"planner": ScriptedModel([plan("broken")]), "replanner": ScriptedModel([revision("broken")] * 9)}
    with Agent.open(tmp_path / "runs.db", **models, tools=own, max_replans=MANY) as agent:
        run = agent.start("g")
        while "No progress" not in run.request["action_requests"][0]["description"]:
            run = agent.resume(run.id, "approve", unseen=True)
        called = len(tools.calls)
        refused = agent.resume(run.id, "approve", unseen=True)
        assert refused.request["error"] == "the plan makes no progress; a person has to review it"
        assert len(tools.calls) == called

        assert agent.resume(run.id, "approve").status == "waiting" and len(tools.calls) == called + 1
