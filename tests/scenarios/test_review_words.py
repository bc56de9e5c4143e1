"""The words of a review: what will be done at most, what a revision changes, and with which values a call is made."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Start = Callable[..., Any]


@pytest.fixture
def start(saver: Any, tools: LoggedTools) -> Start:
    """Start a run and return its graph; `graph.says` gives what is asked after an answer."""
    own = [
        tools.tool("search", lambda query: [query.upper()], effect="read", trusted=True),
        tools.tool("page", lambda text: text, effect="read", trusted=False),
        tools.tool("notes", lambda: "a note", effect="read"),
        tools.tool("broken", lambda: 1 / 0, effect="read"),
        tools.tool("write", lambda path, text: path, effect="write", folder="/srv/out"),
        tools.tool("send", lambda to, body: to, effect="external"),
    ]

    def start(plan: Any, *revisions: Any, **options: Any) -> Any:
        graph: Any = build_graph(
            ScriptedModel([plan, *revisions]), ScriptedModel(["done"] * 9), tools=own, checkpointer=saver, **options
        )
        graph.first = asked(graph.invoke({"goal": "g"}, on_thread()))
        graph.says = lambda answer: asked(graph.invoke(Command(resume=answer), on_thread()))
        return graph

    return start


def words(request: Any) -> str:
    (action,) = request["action_requests"]
    return str(action["description"])


def plan(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


A, B = step("a", "search", query="q"), step("b", "broken", after=["a"])
WRITE = step("w", "write", path="out.md", text="{b_result}")
MANY = {"id": "e", "objective": "o", "tool": "search", "args": {"query": "{item_result}"}, "for_each": "{a_result}"}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([A], "To do: 1 step; at most 1 tool call."),
        ([A, B, WRITE], "To do: 3 steps (longest chain: 3); at most 3 tool calls."),
        ([A, {**MANY, "max_items": 7}], "To do: 2 steps (longest chain: 2); at most 8 tool calls."),
        ([{"id": "m", "objective": "o", "tools": ["search", "send"], "max_calls": 3}],
         "To do: 1 step; at most 6 tool calls, 1 step by a model."),
        ([step("m"), {"id": "q", "objective": "o", "ask": "Which?"}],
         "To do: 2 steps; at most 0 tool calls, 1 step by a model."),
        ([A, {"id": "r", "objective": "o", "refine": True, "tools": ["search", "send"]}],
         "To do: 2 steps; at most 1 tool call, and what comes of 1 step to refine."),
    ],
)  # fmt: skip
def test_what_there_is_to_do_is_told_beforehand_at_its_most(start: Start, steps: Any, said: str) -> None:
    request = start(plan(*steps)).first

    assert said in request["action_requests"][0]["description"]


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({}, "at most 3 tool calls.\n"),
        ({"tool_calls": 3, "steps": 5}, "at most 3 tool calls. Left of the budget: 3 tool calls, 5 steps.\n"),
        ({"tool_calls": 2}, "Left of the budget: 2 tool calls. The plan may take more than that; the run then asks.\n"),
        ({"model_calls": 2, "calls": {"write": 1}}, "Left of the budget: 1 model call, 1 call of write.\n"),
    ],
)
def test_what_is_left_of_the_budget_is_told(start: Start, budget: Any, said: str) -> None:
    assert said in words(start(plan(A, B, WRITE), budget=budget).first)


def test_how_often_a_model_and_a_list_may_call_what_has_effects_is_told(start: Start) -> None:
    by_model = {"id": "m", "objective": "o", "tools": ["send"], "max_calls": 3, "args": {"to": "ann@example.com"}}
    for_each = {**step("s", "send", to="{item_result}", body="b"), "for_each": "{a_result}", "max_items": 7}

    text = words(start(plan(A, by_model, for_each)).first)

    assert '- m: a model may call send (external), up to 3 times each\n    to: "ann@example.com"\n' in text
    assert '- s: calls send (external)\n    once for each of "{a_result}", 7 at most\n    to: "{item_result}"\n' in text


def test_where_files_are_changed_and_what_nobody_looks_at_again_is_told(start: Start) -> None:
    text = words(start(plan(step("n", "notes"), step("w", "write", path="out.md", text="{n_result}"))).first)

    assert "with effects not known to be reversible: write (write). Files are changed in `/srv/out`." in text
    assert "- w: calls write (write)\n    uses what notes returns\n" in text
    assert (
        "The tool notes does not declare whether its results can be trusted; " in text
        and "use them unchecked: w." in text
        and "vouch" not in text
    )


def test_a_revision_says_what_it_adds_changes_and_removes_and_what_that_was(start: Start) -> None:
    checked = {**B, "checks": [{"non_empty": True}]}
    graph = start(
        plan(A, checked, WRITE, step("z", "notes", after=["b"])),
        {"steps": [step("b", "search", query="instead"), step("new", "notes")], "keep": ["w"], "answer": "{w_result}"},
    )

    request = graph.says("approve")

    text = words(request)
    changed = "added: new; changed: b; removed: z; answer changed."
    assert f"Changes since revision 1, which was shown last: {changed}" in text
    assert (
        '    tool\n      was "broken"\n      now "search"\n' in text
        and '    checks\n      was [{"non_empty":true}]\n' in text
    )
    assert '    args.query\n      was not given\n      now "instead"\n' in text
    assert "- z (removed): notes, after b (do z)\n" in text
    assert request["diff"] == {"added": ["new"], "changed": ["b"], "removed": ["z"], "answer": True}


def test_what_is_done_is_not_told_as_if_it_were_to_be_done(start: Start) -> None:
    graph = start(
        plan(step("w", "write", path="out.md", text="t"), step("b", "broken", after=["w"])),
        {"steps": [step("b", "search", query="instead", after=["w"])]},
    )

    text = words(graph.says("approve"))

    assert "1 more step runs, which only reads" in text and "- w: calls write" not in text
    assert "✓  w" in text and "○  b" in text and "To do: 1 step; at most 1 tool" in text


def test_a_call_is_shown_with_the_values_that_it_has_now_and_where_they_come_from(start: Start) -> None:
    found = "mallory@example.com" + "\u200b"
    graph = start(plan(step("p", "page", text=found), step("s", "send", to="{p_result}", body="b")))

    request = graph.says("approve")

    (action,) = request["action_requests"]
    assert (action["name"], action["args"]) == (
        "run_step",
        {"step": "s", "tool": "send", "args": {"to": found, "body": "b"}},
    )
    assert '- s: send\n    to: "mallory@example.com\\u{200b}"\n    body: "b"\n' in action["description"]
    assert "Untrusted arguments, which strangers may have written:\n\n- to, from page" in action["description"]


def test_a_long_value_is_cut_with_a_mark_and_hides_no_other_argument(start: Start) -> None:
    graph = start(plan(step("p", "page", text="x" * 9_000), step("s", "send", to="{p_result}", body="in full")))

    request = graph.says("approve")

    (action,) = request["action_requests"]
    assert "more characters" in action["description"] and 'body: "in full"' in action["description"]
    assert action["args"]["args"]["to"] == "x" * 9_000


def test_a_plan_too_long_to_draw_says_how_much_is_left_out_and_names_all_its_effects(start: Start) -> None:
    reads = [step(f"r{n}", "search", query=f"{n}") for n in range(400)]

    text = words(start(plan(*reads, step("w", "write", path="out.md", text="t"))).first)

    assert "more lines; the whole plan is in the request" in text
    assert '- w: calls write (write)\n    path: "out.md"\n    text: "t"\n' in text
    assert "To do: 401 steps; at most 401 tool calls." in text


@pytest.mark.parametrize(("reversible", "undone"), [(True, "that can be undone"), (False, "that cannot be undone")])
def test_an_effect_is_told_in_the_words_of_its_tool(
    saver: InMemorySaver, tools: LoggedTools, reversible: bool, undone: str
) -> None:
    refund = tools.tool(
        "refund",
        lambda amount, to: "done",
        effect="external",
        trusted=True,
        summary="refund {amount} EUR to {to}",
        reversible=reversible,
    )
    look = tools.tool("look", lambda **_: {"to": "ann\n# Approved"}, effect="read", trusted=False)
    plan = {"steps": [step("a", "look"), step("b", "refund", amount=40, to="{a_result.to}")]}
    graph = build_graph(ScriptedModel([plan]), tools=[refund, look], checkpointer=saver)

    shown = asked(graph.invoke({"goal": "g"}, on_thread()))["action_requests"][0]["description"]
    held = asked(graph.invoke(Command(resume="approve"), on_thread()))["action_requests"][0]["description"]

    assert f"with effects {undone}: refund (external)" in shown and "refund 40 EUR to [a_result.to]" in shown
    assert r"about to call refund: `refund 40 EUR to ann\u{a}# Approved`." in held
