"""Looking before a plan: which tools may, in which bounds, what is on record, and what it taints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command
from typer.testing import CliRunner

from planner_executor import Agent, build_graph, default_tools
from planner_executor.graph.builder.configuration import LOOK
from planner_executor.graph.cli import app
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

CSV = {"columns": ["cust", "eur"], "rows": [{"cust": "Tern", "eur": 9}]}
Make = Callable[..., Any]


def look(tool: str = "head", **args: Any) -> dict[str, Any]:
    return {"look": [{"tool": tool, "args": args}]}


SEND = {"steps": [step("a", "send", to="x@tern.example")]}


@pytest.fixture
def make(saver: Any, tools: LoggedTools) -> Make:
    """Build a graph with a marked tool that gives `seen`, one that queries, and one that sends."""

    def made(*answers: Any, seen: Any = CSV, trusted: bool | None = False, **options: Any) -> Any:
        own = [
            tools.tool("head", lambda **_: seen, effect="read", look=True, trusted=trusted),
            tools.tool("query", lambda sql: [{"top": "Tern"}], effect="read", trusted=True),
            tools.tool("send", lambda to: f"sent to {to}", effect="external"),
            tools.tool("fetch", lambda **_: "page", effect="external", look=True, trusted=False),
        ]
        model = ScriptedModel(answers)
        graph = build_graph(model, **{"tools": own, "checkpointer": saver, **options})
        graph.model = model
        return graph

    return made


def told(app: Any, turn: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(app.model.prompts[turn][-1].content))
    return found


def test_a_table_whose_columns_nobody_knew_is_planned_right_at_the_first_review(make: Make, tools: LoggedTools) -> None:
    app = make(look(path="sales.csv"), {"steps": [step("a", "query", sql="SELECT cust FROM data ORDER BY eur")]})

    state = app.invoke({"goal": "Who buys most by sales.csv?"}, on_thread())
    request = asked(state)
    ended = app.invoke(Command(resume="approve"), on_thread())

    assert told(app, 1) == {
        "seen": [{"tool": "head", "args": {"path": "sales.csv"}, "result": CSV}],
        "looks_left": 7,
    }
    description = request["action_requests"][0]["description"]
    assert "Looked at before planning (look 1): head" in description and "sales.csv" in description
    assert ended["status"] == "succeeded" and set(ended["results"]) == {"a"}
    assert tools.named("query") == [{"sql": "SELECT cust FROM data ORDER BY eur"}]


def test_without_a_mark_there_is_one_request_and_no_word_of_looking(make: Make) -> None:
    app = build_graph(
        model := ScriptedModel([look("head"), SEND, SEND]), tools=[LoggedTools().tool("head", effect="read")]
    )

    state = app.invoke({"goal": "g"}, on_thread())

    assert "look" not in str(model.prompts[0][0].content).partition("Tools:")[2]
    assert "no tool may look before the plan" in str(model.prompts[1][-1].content)
    assert state["status"] == "failed"


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ({}, ["head"]),
        ({"look": ["fetch", "query"]}, ["fetch", "head", "query"]),
        ({"policy": {"tools": {"head": {"verdict": "ask"}}}}, []),
        ({"policy": {"tools": {"head": {"verdict": "deny"}}}}, []),
        ({"approval": "never"}, []),
        ({"approval": "never", "look": ["query"]}, ["query"]),
    ],
    ids=str,
)
def test_only_marked_reads_and_named_tools_look_and_none_that_the_policy_shows(
    make: Make, options: Any, offered: list[str]
) -> None:
    app = make({"steps": [], "answer": "x"}, **options)

    app.invoke({"goal": "g"}, on_thread())

    text = str(app.model.prompts[0][0].content)
    assert (f"you may look, by {', '.join(offered)}:" in text) == bool(offered)
    assert bool(offered) == ("you may look" in text)


def test_a_call_that_meets_a_condition_of_the_policy_is_refused_and_nobody_is_asked(
    make: Make, tools: LoggedTools
) -> None:
    policy = {"tools": {"head": {"ask_when": {"path": {"pattern": "secret.*"}}}}}
    app = make(look(path="secret.csv"), SEND, policy=policy)

    app.invoke({"goal": "g"}, on_thread())

    assert "the policy asks if path" in told(app, 1)["seen"][0]["refused"] and tools.calls == []


def test_a_proposal_looks_eight_times_and_a_budget_counts_it(make: Make, tools: LoggedTools) -> None:
    many = {"look": [{"tool": "head", "args": {"n": n}} for n in range(9)]}
    app = make(many, SEND)

    app.invoke({"goal": "g"}, on_thread())

    assert len(tools.calls) == 8 and told(app, 1)["seen"][8]["refused"] == "no looks are left; answer with a plan"

    small = make(many, SEND, budget={"tool_calls": 2})
    tools.calls.clear()
    small.invoke({"goal": "g"}, on_thread("small"))

    assert len(tools.calls) == 2 and "tool_calls is reached" in told(small, 1)["seen"][2]["refused"]


def test_a_model_that_only_looks_gives_no_plan(make: Make) -> None:
    many = {"look": [{"tool": "head", "args": {"n": n}} for n in range(8)]}
    app = make(many, look(), look())

    state = app.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "no looks are left" in state["reason"]


def test_a_look_fails_like_any_call_and_the_model_is_told(make: Make) -> None:
    app = make(look("query", n=1), SEND, look=["query"])

    app.invoke({"goal": "g"}, on_thread())

    assert "error" in told(app, 1)["seen"][0]


@pytest.mark.parametrize(
    ("goal", "args", "is_held"),
    [
        ("write to the best customer", {"to": "x@tern.example"}, True),
        ("write to x@tern.example", {"to": "x@tern.example"}, False),
        ("write to x@tern.example.org", {"to": "x@tern.example"}, True),
    ],
)
def test_after_an_untrusted_look_what_the_user_did_not_say_is_shown_before_it_acts(
    make: Make, tools: LoggedTools, goal: str, args: Any, is_held: bool
) -> None:
    plan = {"steps": [step("a", "send", **args)]}
    app = make(look(), plan, approval="side_effects", policy={"effects": {"external": "allow"}})

    state = app.invoke({"goal": goal}, on_thread())

    assert ("__interrupt__" in state) == is_held and tools.named("send") == ([] if is_held else [args])
    if is_held:
        assert asked(state)["action_requests"][0]["name"] == "run_step"


def test_under_deny_no_plan_has_an_effect_with_what_an_untrusted_look_saw(make: Make, tools: LoggedTools) -> None:
    goal, other = "write to ann@tern.example", {"steps": [step("a", "send", to="ann@tern.example")]}
    app = make(look(), SEND, other, policy={"new_effects": "deny"})

    request = asked(app.invoke({"goal": goal}, on_thread()))

    assert "a.args.to: the policy denies what an effect has from an untrusted look" in str(
        app.model.prompts[2][-1].text
    )
    assert request["action_requests"][0]["args"]["plan"]["steps"][0]["args"] == {"to": "ann@tern.example"}


def test_of_a_run_24_looks_are_made(make: Make, tools: LoggedTools) -> None:
    many = [{"look": [{"tool": "head", "args": {"n": 10 * at + n}} for n in range(8)]} for at in range(4)]
    plans = [{"steps": [step(f"s{at}", "query", sql="s")]} for at in range(4)]
    app = make(*[answer for pair in zip(many, plans, strict=True) for answer in pair])

    app.invoke({"goal": "g"}, on_thread())
    for _ in range(3):
        app.invoke(Command(resume={"type": "reject", "message": "look again"}), on_thread())

    assert len(tools.named("head")) == 24 and len(app.model.prompts) == 8
    assert "no looks are left" in str(app.model.prompts[-1][-1].text)


def test_a_spent_cap_holds_a_look_back(make: Make, tools: LoggedTools) -> None:
    policy = {"limits": {"per_day": {"calls": {"head": 1}}}}
    app = make({"look": [{"tool": "head", "args": {"n": n}} for n in range(2)]}, SEND, policy=policy)

    app.invoke({"goal": "g"}, on_thread())

    assert len(tools.named("head")) == 1 and "1 call of head a day" in told(app, 1)["seen"][1]["refused"]


@pytest.mark.parametrize("trusted", [True, False])
def test_no_standing_approval_covers_what_an_untrusted_look_saw(make: Make, tools: LoggedTools, trusted: bool) -> None:
    steps = [step("a", "send", to="a@tern.example"), step("b", "send", after=["a"], to="b@tern.example")]
    policy = {"tools": {"send": {"verdict": "ask"}}}
    app = make(look(), {"steps": steps}, trusted=trusted, approval="never", look=["head"], policy=policy)
    if not trusted:  # under `never` only trusted tools look, so people see the plan but not its calls
        app = make(look(), {"steps": steps}, approval="side_effects", policy={"effects": {"external": "allow"}})
    app.invoke({"goal": "g"}, on_thread())
    ahead = {"type": "approve", "standing": {"args": {"to": {"pattern": ".*"}}, "at_most": 5}}

    state = app.invoke(Command(resume={"decisions": [ahead]}), on_thread())

    assert ("__interrupt__" in state) != trusted and len(tools.named("send")) == 1 + trusted


def test_what_a_trusted_look_saw_taints_nothing(make: Make, tools: LoggedTools) -> None:
    app = make(look(), SEND, trusted=True, approval="side_effects", policy={"effects": {"external": "allow"}})

    state = app.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and tools.named("send") == [{"to": "x@tern.example"}]


def test_an_argument_approved_with_its_mark_shown_is_not_held_again(make: Make, tools: LoggedTools) -> None:
    app = make(look(), SEND)

    request = asked(app.invoke({"goal": "g"}, on_thread()))
    state = app.invoke(Command(resume="approve"), on_thread())

    assert "a: to was written after an untrusted look" in request["action_requests"][0]["description"]
    assert state["status"] == "succeeded" and tools.named("send") == [{"to": "x@tern.example"}]


def test_the_replanner_may_look_too(make: Make, tools: LoggedTools) -> None:
    broken = {"steps": [step("a", "query", wrong=1)]}
    app = make(
        broken, look(n=1), {"steps": [step("a", "query", sql="s")]}, approval="never", look=["head"], trusted=True
    )

    state = app.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and tools.named("head") == [{"n": 1}]


def test_the_settings_file_names_tools_that_look_if_it_is_trusted(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "planner-executor.toml"
    file.write_text('look = ["query"]')

    app = make({"steps": [], "answer": "x"}, config=file)
    app.invoke({"goal": "g"}, on_thread())

    assert "you may look, by head, query:" in str(app.model.prompts[0][0].content)
    assert LOOK.acts_in(settings_file(file)) == ["lets planners call query before anybody is asked"]


@pytest.mark.parametrize("odd", [{"look": "head"}, {"look": [1]}, {"look": ["haed"]}], ids=str)
def test_a_setting_of_looks_that_names_no_tools_is_refused(make: Make, odd: Any) -> None:
    with pytest.raises(ConfigError, match="look"):
        make(**odd)


class Died(BaseException):
    """The process dies."""


def test_looks_on_record_are_not_repeated_after_a_crash(make: Make, tools: LoggedTools) -> None:
    def query(sql: str) -> str:
        if len(tools.named("query")) == 1:
            raise Died
        return sql

    own = [
        tools.tool("head", lambda **_: CSV, effect="read", look=True),
        tools.tool("query", query, effect="read", look=True),
    ]
    two = {"look": [{"tool": "head", "args": {}}, {"tool": "query", "args": {"sql": "s"}}]}
    app = make(two, {"steps": [], "answer": "x"}, tools=own)

    with pytest.raises(Died):
        app.invoke({"goal": "g"}, on_thread())
    state = app.invoke(None, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "x") and len(app.model.prompts) == 2
    assert (len(tools.named("head")), len(tools.named("query"))) == (1, 2)
    assert [seen["tool"] for seen in told(app, 1)["seen"]] == ["head", "query"]


@pytest.mark.parametrize("in_file", [True, False])
def test_the_word_packs_stands_for_the_tools_that_the_packs_mark(tmp_path: Path, in_file: bool) -> None:
    file = tmp_path / "planner-executor.toml"
    file.write_text('look = "packs"' if in_file else "")
    options: dict[str, Any] = {} if in_file else {"look": "packs"}
    tools = default_tools(tmp_path, tmp_path / "workspace", packs=["documents", "tables"])

    build_graph(model := ScriptedModel([{"steps": [], "answer": "x"}]), tools=tools, config=file, **options).invoke(
        {"goal": "g"}, on_thread()
    )

    assert "you may look, by list_documents, query_csv, query_sqlite:" in str(model.prompts[0][0].content)


def test_the_whole_of_a_look_is_read_under_its_name(tmp_path: Path, tools: LoggedTools) -> None:
    head = tools.tool("head", lambda path: f"{path}: " + "wind " * 10_000, effect="read", look=True)
    planner = ScriptedModel([look(path="a.csv"), look(path="b.csv"), {"steps": [], "answer": "calm"}])

    with Agent.open(tmp_path / "runs.db", planner=planner, tools=[head]) as agent:
        run = agent.start("g")
    shown = CliRunner().invoke(app, ["show", run.id, "--value", "look 2", "--db", str(tmp_path / "runs.db")])

    assert shown.stdout.startswith("b.csv: wind") and len(shown.stdout) > 50_000


@pytest.mark.parametrize("trusted", [True, False])
def test_approving_a_plan_settles_no_call_that_rests_on_an_untrusted_look(
    make: Make, tools: LoggedTools, trusted: bool
) -> None:
    app = make(look(), SEND, trusted=trusted, policy={"tools": {"send": {"verdict": "ask"}}})

    (content,) = asked(app.invoke({"goal": "g"}, on_thread()))["review"]["actions"]
    state = app.invoke(Command(resume="approve"), on_thread())

    assert content["steps"][0].get("asked_later") == (None if trusted else "untrusted")
    assert ("__interrupt__" in state) != trusted and len(tools.named("send")) == trusted
