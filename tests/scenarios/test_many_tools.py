"""Runs with more tools than a prompt shows whole: those that fit stand whole, and a fault shows the one it is about."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.types import Command

from planner_executor import build_graph, default_tools
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.prompts.offer import MOST_BY_WORDS
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.testing import LoggedTools, asked, on_thread, step

Build = Callable[..., Any]

INVOICES = ("list_invoices", "read_invoice", "send_invoice")
THINGS = tuple(
    f"{verb}_{noun}{n}" for noun in ("boat", "house", "tree") for n in range(8) for verb in ("paint", "sell")
)
NAMES = (*THINGS, *INVOICES, *(f"measure_{n}" for n in range(100 - len(THINGS) - len(INVOICES))))
SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
GOAL = "Send the invoice of March again"
FAULTY = {"steps": [step("a", "measure_7", size="large"), step("b", "send_invoice", number=3)]}
RIGHT = {"steps": [step("a", "measure_7", number=7), step("b", "send_invoice", number=3)]}


@pytest.fixture
def build_many(build: Build, tools: LoggedTools) -> Build:
    """Build a graph with a hundred tools, of which three are about invoices."""

    def work(number: int) -> int:
        return 100 // number

    def make(*answers: Any, **options: Any) -> Any:
        own = [tools.tool(name, work, schema=SCHEMA, effect="read") for name in NAMES]
        return build(*answers, tools=own, **options)

    return make


def shown(messages: list[BaseMessage]) -> list[str]:
    """Return the names of the tools that stand whole after the goal."""
    return [line.partition("(")[0] for line in json.loads(str(messages[1].text)).get("tools", [])]


def test_a_goal_about_invoices_is_shown_the_tools_for_invoices_whole(build_many: Build) -> None:
    app = build_many(RIGHT)

    asked(app.invoke({"goal": GOAL}, on_thread()))

    (prompt,) = app.model.prompts
    assert shown(prompt) == [*INVOICES]
    assert all(f"{name}(…): {name}, for tests" in str(prompt[0].text) for name in NAMES)


def test_a_plan_with_a_tool_that_only_its_name_was_shown_of_is_repaired_in_one_round(build_many: Build) -> None:
    app = build_many(FAULTY, RIGHT)

    plan = asked(app.invoke({"goal": GOAL}, on_thread()))

    correction = str(app.model.prompts[1][-1].text)
    assert "a.args: measure_7 has no argument 'size'; it takes number" in correction
    assert "\nTools in it take:\nmeasure_7(number: integer): measure_7, for tests\nAnswer" in correction
    assert len(app.model.prompts) == 2 and "measure_7" in json.dumps(plan)


def test_feedback_constraints_and_the_plan_in_force_add_to_what_is_shown(build_many: Build) -> None:
    app = build_many(RIGHT, RIGHT)

    app.invoke({"goal": GOAL, "constraints": ["sell no house3"]}, on_thread())
    app.invoke(Command(resume="paint boat5 first"), on_thread())

    first, second = map(shown, app.model.prompts)
    assert "sell_house3" in first and not {"paint_boat5", "measure_7"} & {*first}
    assert {"sell_house3", "paint_boat5", "measure_7", "send_invoice"} <= {*second} and len(second) <= MOST_BY_WORDS


def test_in_a_chat_the_words_of_the_user_before_choose_and_those_of_tools_do_not(build_many: Build) -> None:
    app = build_many(RIGHT)

    said = [("human", "Paint boat5"), ("ai", "Done, now use sell_house3 on house3"), ("human", "Do it again")]
    app.invoke({"messages": said}, on_thread())

    assert "paint_boat5" in shown(app.model.prompts[0]) and "sell_house3" not in shown(app.model.prompts[0])


def test_the_replanner_and_the_refiner_are_shown_the_tools_of_the_plan_whole(build_many: Build) -> None:
    vague = {"id": "b", "objective": "sell a boat", "refine": True, "depends_on": ["a"]}
    own = {"id": "c", "objective": "go on", "refine": True, "tools": ["measure_8"], "depends_on": ["b"]}
    app = build_many(
        {"steps": [step("a", "measure_7", number=7), vague, own]},
        {"steps": [step("x", "measure_9", number=0)]},
        {"steps": [], "cannot": "no"},
        approval="never",
    )

    app.invoke({"goal": "Go on"}, on_thread())

    planned, refined, replanned = app.model.prompts
    assert shown(planned) == []
    assert {"sell_boat0", "sell_boat7"} <= {*shown(refined)}
    assert {"measure_7", "measure_8", "measure_9"} <= {*shown(replanned)}


async def test_a_run_with_many_tools_is_played_again_with_the_same_prompts(build_many: Build, saver: Any) -> None:
    build_many(FAULTY, RIGHT, approval="never").invoke({"goal": GOAL}, on_thread())

    ledger = await ledger_of(None, saver, lambda _: None)()
    assert (await replayed(await ledger.transcript(RunKey("thread", 1)))).is_same


def test_the_embedded_rules_plan_with_tools_of_which_they_see_the_names(tools: LoggedTools, tmp_path: Any) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "wind.md").write_text("# Wind\n\nWind power costs little.\n")
    own = default_tools(tmp_path / "documents", tmp_path / "workspace")
    app = build_graph(tools=[*own, *(tools.tool(name, schema=SCHEMA, effect="read") for name in NAMES)])

    state = app.invoke({"goal": "Write a brief about wind power"}, on_thread())

    assert asked(state) and "search_documents" in {one.get("tool") for one in state["plan"]["steps"]}
