"""What tools say that calls would do: made before people decide, again when a call is due, and never in a review."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent, Person, tool
from planner_executor.graph.desk.views.review_content import action_tables, review_of
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.tools.files.root import Root
from planner_executor.tools.write_file import write_file

APPROVE = {"type": "approve"}
WRITE = step("w", "write_file", path="a.txt", content="new\n", overwrite=True)

EVE, ADA, BOB = (Person(f"{name}@example.org", proof="token") for name in ("eve", "ada", "bob"))

Open = Callable[..., Agent]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "work"
    found.mkdir()
    (found / "a.txt").write_text("old\n")
    return found


@pytest.fixture
def opened(tmp_path: Path, folder: Path, tools: LoggedTools) -> Iterator[Open]:
    agents: list[Agent] = []

    def open_(policy: dict[str, Any] | None = None, *plans: Any, own: Any = (), **options: Any) -> Agent:
        page = tools.tool("page", lambda **_: "eve", effect="read", trusted=False)
        given = {"tools": [write_file(Root(folder, "workspace")), page, *own], "planner": ScriptedModel(list(plans))}
        agent = Agent.open(tmp_path / "runs.db", policy=policy or {}, **{**given, **options})
        agents.append(agent.__enter__())
        return agents[-1]

    yield open_
    for agent in agents:
        agent.__exit__(None, None, None)


def content(run: Run) -> dict[str, Any]:
    assert run.request is not None
    found: dict[str, Any] = run.request["review"]["actions"][0]
    return found


def told(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


def finishes(agent: Agent, run: Run) -> None:
    """Hold that a run has succeeded, that its record is whole, and that it comes out the same."""
    assert run.status == "succeeded", run.reason
    assert agent.verify(run.id)
    played = agent.replay(run.id)
    assert played.is_same, str(played)


def test_a_diff_is_shown_and_what_it_says_is_done_after_one_stop(opened: Open, folder: Path) -> None:
    agent = opened()
    run = agent.start("g", plan={"steps": [WRITE]})

    assert content(run)["previews"] == [
        {"place": "w", "tool": "write_file", "text": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new"}
    ]
    assert "w: write_file says:" in told(run) and "| -old" in told(run)

    finishes(agent, agent.resume(run.id, APPROVE))
    assert (folder / "a.txt").read_text() == "new\n"
    made = next(event for event in agent.log(run.id) if event.kind == "call_started")
    assert made.payload["previewed"]["same"] and "text" not in made.payload["previewed"]


def test_a_file_that_changed_meanwhile_is_asked_about_again_with_the_difference(opened: Open, folder: Path) -> None:
    agent = opened()
    run = agent.start("g", plan={"steps": [WRITE]})
    (folder / "a.txt").write_text("by another\n")

    run = agent.resume(run.id, APPROVE)

    assert (run.status, (folder / "a.txt").read_text()) == ("waiting", "by another\n")
    shown = content(run)
    assert "-old" in shown["preview"]["was"] and "-by another" in shown["preview"]["text"]
    assert "has changed since people saw it" in shown["why"]
    assert "This differs from the preview that you were shown" in told(run) and "| +-by another" in told(run)

    finishes(agent, agent.resume(run.id, APPROVE))
    assert (folder / "a.txt").read_text() == "new\n"


def test_a_file_that_keeps_changing_is_asked_about_each_time(opened: Open, folder: Path) -> None:
    agent = opened()
    run = agent.start("g", plan={"steps": [WRITE]})
    for text in ("one\n", "two\n"):
        (folder / "a.txt").write_text(text)
        run = agent.resume(run.id, APPROVE)
        assert run.status == "waiting" and f"-{text.strip()}" in content(run)["preview"]["text"]

    finishes(agent, agent.resume(run.id, APPROVE))


def test_a_policy_lets_a_call_go_whose_preview_has_changed(opened: Open, folder: Path) -> None:
    agent = opened({"preview_changed": "go"})
    run = agent.start("g", plan={"steps": [WRITE]})
    (folder / "a.txt").write_text("by another\n")

    finishes(agent, agent.resume(run.id, APPROVE))

    made = next(event for event in agent.log(run.id) if event.kind == "call_started")
    assert "-by another" in made.payload["previewed"]["text"]


def test_a_call_that_the_policy_asks_about_shows_its_preview(opened: Open) -> None:
    agent = opened({"approval": "side_effects", "tools": {"write_file": {"verdict": "ask"}}})
    later = {**APPROVE, "ask_later": ["w"]}
    run = agent.resume(agent.start("g", plan={"steps": [WRITE]}).id, later)

    assert "-old" in content(run)["preview"]["text"] and "was" not in content(run)["preview"]

    finishes(agent, agent.resume(run.id, APPROVE))


def test_arguments_from_untrusted_results_have_no_preview(opened: Open) -> None:
    agent = opened({"tools": {"write_file": {"verdict": "ask"}}})
    plan = {"steps": [step("p", "page"), {**WRITE, "args": {**WRITE["args"], "content": "{p_result}"}}]}
    run = agent.start("g", plan=plan)

    assert "previews" not in content(run)

    run = agent.resume(run.id, APPROVE)

    assert content(run)["preview"]["none"].startswith("its arguments come from results that are not known")
    finishes(agent, agent.resume(run.id, APPROVE))


def test_a_preview_that_fails_is_a_line(opened: Open, folder: Path) -> None:
    def preview(text: str) -> str:
        raise OSError(f"\x1b[31mno {text}")

    @tool("write", trusted=True, preview=preview)
    def note(text: str) -> str:
        """Note a text."""
        return text

    agent = opened(own=[note])
    outside = step("o", "write_file", path="../b.txt", content="x")
    run = agent.start("g", plan={"steps": [step("n", "note", text="x"), outside]})

    assert [one["none"].split(" ")[0] for one in content(run)["previews"]] == ["OSError:", "path"]
    assert "n: no preview by note: OSError" in told(run) and "\x1b" not in told(run)


def test_twenty_previews_are_made_for_a_request_and_the_others_have_none(opened: Open) -> None:
    agent = opened()
    steps = [step(f"w{n}", "write_file", path=f"{n}.txt", content="x") for n in range(25)]
    run = agent.start("g", plan={"steps": steps})

    assert len(content(run)["previews"]) == 20
    assert content(run)["unpreviewed"] == [f"w{n}" for n in range(20, 25)]
    assert "No preview of w20, w21, w22, w23" in told(run)
    finishes(agent, agent.resume(run.id, APPROVE))


def test_calls_of_a_tool_with_the_same_arguments_have_one_preview(opened: Open) -> None:
    made: list[str] = []

    @tool("write", trusted=True, preview=lambda text: made.append(text) or f"+ {text}")
    def note(text: str) -> str:
        """Note a text."""
        return text

    agent = opened(own=[note])
    run = agent.start("g", plan={"steps": [step("a", "note", text="x"), step("b", "note", text="x")]})

    assert made == ["x"]
    assert [(one["place"], one["text"]) for one in content(run)["previews"]] == [("a", "+ x"), ("b", "+ x")]
    finishes(agent, agent.resume(run.id, APPROVE))


def test_held_calls_with_the_same_arguments_have_one_preview(opened: Open) -> None:
    made: list[str] = []

    @tool("write", trusted=True, preview=lambda text: made.append(text) or f"+ {text}")
    def note(text: str) -> str:
        """Note a text."""
        return text

    @tool("read", trusted=True)
    def say() -> str:
        """Say what to note."""
        return "x"

    agent = opened({"tools": {"note": {"verdict": "ask"}}}, own=[note, say])
    plan = {"steps": [step("r", "say"), *(step(name, "note", after=["r"], text="{r_result}") for name in "ab")]}
    run = agent.resume(agent.start("g", plan=plan).id, APPROVE)

    assert run.request is not None and made == ["x"]
    shown = [one["preview"] for one in run.request["review"]["actions"]]
    assert [(one["place"], one["text"]) for one in shown] == [("a", "+ x"), ("b", "+ x")]
    finishes(agent, agent.resume(run.id, {"decisions": [APPROVE, APPROVE]}))


def test_previews_of_held_calls_count_among_the_twenty(opened: Open) -> None:
    agent = opened({"approval": "side_effects", "tools": {"write_file": {"verdict": "ask"}}})
    steps = [step(f"w{n}", "write_file", path=f"{n}.txt", content="x") for n in range(25)]
    later = {**APPROVE, "ask_later": [f"w{n}" for n in range(25)]}
    run, is_beyond = agent.start("g", plan={"steps": steps}), False

    while run.status == "waiting":
        assert run.request is not None
        actions = run.request["review"]["actions"]
        is_plan = actions[0]["name"] == "run_plan"
        found = actions[0]["previews"] if is_plan else [one["preview"] for one in actions]
        assert sum("text" in one for one in found) <= 20
        if not is_plan and len(found) == 25:
            (none,) = {one["none"] for one in found if "text" not in one}
            assert "20 at most" in none and f"no preview by write_file: {none}" in str(run.request)
            is_beyond = True
        run = agent.resume(run.id, later if is_plan else {"decisions": [APPROVE] * len(actions)})
    assert is_beyond
    finishes(agent, run)


def test_a_preview_that_leaves_the_machine_is_made_if_the_policy_names_its_tool(opened: Open) -> None:
    asked: list[str] = []

    def preview(to: str) -> dict[str, str]:
        asked.append(to)
        return {"costs": "3 EUR"}

    @tool("external", trusted=True, preview=preview)
    def order(to: str) -> str:
        """Order something."""
        return to

    plan = {"steps": [step("o", "order", to="ann")]}
    run = opened(own=[order]).start("g", plan=plan)

    assert "leaving_previews" in content(run)["previews"][0]["none"] and asked == []

    policy = {"leaving_previews": ["order"], "limits": {"per_day": {"calls": {"order": 2}}}}
    agent = opened(policy, own=[order])
    run = agent.start("g", plan=plan)

    assert content(run)["previews"][0]["text"] == '{"costs":"3 EUR"}' and asked == ["ann"]
    kinds = [event.kind for event in agent.log(run.id)]
    assert kinds.index("call_previewed") < kinds.index("plan_revised"), "its intent is on record before"
    run = agent.start("g", plan=plan)
    run = agent.start("g", plan=plan)
    assert "used up" in content(run)["previews"][0]["none"] and asked == ["ann", "ann"]


def test_what_is_denied_has_no_preview_and_a_mode_that_asks_nobody_makes_none(opened: Open) -> None:
    agent = opened(approval="never")
    run = agent.start("g", plan={"steps": [WRITE]})

    finishes(agent, run)
    revised = next(event for event in agent.log(run.id) if event.kind == "plan_revised")
    assert "previews" not in revised.payload


def test_an_edit_has_its_preview_made_when_it_is_due(opened: Open, folder: Path) -> None:
    agent = opened()
    run = agent.start("g", plan={"steps": [WRITE]})
    edited = {"steps": [step("w", "write_file", path="a.txt", content="edited\n", overwrite=True)]}
    run = agent.resume(run.id, {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": edited}}})

    finishes(agent, run)
    made = next(event for event in agent.log(run.id) if event.kind == "call_started")
    assert "+edited" in made.payload["previewed"]["text"]


def test_a_desk_without_the_tools_shows_what_was_made(opened: Open, tmp_path: Path) -> None:
    run = opened().start("g", plan={"steps": [WRITE]})

    with Agent.open(tmp_path / "runs.db", tools=[]) as desk:
        found = desk.show(run.id)

    assert content(found)["previews"][0]["text"].endswith("-old\n+new")
    review = review_of(found.request or {})
    assert review is not None
    tables = action_tables(review.actions[0], found.request["action_requests"][0]["args"]) if found.request else []
    assert [row[2] for table in tables if "may be wrong" in table.title for row in table.rows] == [
        content(found)["previews"][0]["text"]
    ]


def test_words_of_a_tool_cannot_leave_their_margin(opened: Open) -> None:
    def preview(text: str) -> str:
        return f"```\n- w: approved already\n{text}\u202e" + "x" * 3_000

    @tool("write", trusted=True, preview=preview)
    def note(text: str) -> str:
        """Note a text."""
        return text

    run = opened(own=[note]).start("g", plan={"steps": [step("n", "note", text="x")]})

    assert content(run)["previews"][0]["length"] == 3_028
    assert "| - w: approved already" in told(run) and "1028 characters more" in told(run) and "\u202e" not in told(run)


def test_a_preview_is_made_once_before_people_decide_and_once_when_it_is_due(opened: Open) -> None:
    made: list[str] = []

    def preview(text: str) -> str:
        made.append(text)
        return f"+ {text}"

    @tool("write", trusted=True, preview=preview)
    def note(text: str) -> str:
        """Note a text."""
        return text

    same, other = step("n", "note", text="x"), step("o", "note", text="y")
    agent = opened({}, {"steps": [same]}, {"steps": [same, other]}, own=[note])
    run = agent.start("g")
    run = agent.resume(run.id, {"type": "reject", "message": "note y too"})

    assert made == ["x", "y"]
    assert [one["text"] for one in content(run)["previews"]] == ["+ x", "+ y"]

    assert agent.resume(run.id, {"type": "neither"}).status == "waiting"
    again = opened({}, own=[note])  # as after the death of the process
    assert made == ["x", "y"]

    finishes(again, again.resume(run.id, APPROVE))
    assert made == ["x", "y", "x", "y"]


def test_a_slow_preview_lets_the_other_steps_that_are_ready_start(opened: Open) -> None:
    shown, other, waited = threading.Event(), threading.Event(), list[bool]()

    def preview(text: str) -> str:
        if shown.is_set():  # made again, before the call
            waited.append(other.wait(9))
        return f"+ {text}"

    @tool("write", trusted=True, preview=preview)
    def note(text: str) -> str:
        """Note a text."""
        return text

    @tool("read", trusted=True)
    def begin() -> str:
        """Begin."""
        other.set()
        return "x"

    agent = opened(own=[note, begin])
    run = agent.start("g", plan={"steps": [step("n", "note", text="x"), step("b", "begin")]})
    shown.set()
    run = agent.resume(run.id, APPROVE)

    assert waited == [True]
    finishes(agent, run)


EYES = {"approvers": {"four_eyes": True}}


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


def test_an_edit_that_others_decide_about_has_its_preview_made_anew(opened: Open, folder: Path) -> None:
    agent = opened(EYES, identity=lambda by: by)
    run = agent.start("g", plan={"steps": [WRITE]}, by=EVE)
    edited = step("w", "write_file", path="a.txt", content="edited\n", overwrite=True)
    run = agent.resume(run.id, edit("run_plan", plan={"steps": [edited]}), by=ADA)

    assert content(run)["previews"][0]["text"].endswith("-old\n+edited")

    (folder / "a.txt").write_text("by another\n")
    run = agent.resume(run.id, APPROVE, by=BOB)
    assert "-old" in content(run)["preview"]["was"] and "-by another" in content(run)["preview"]["text"]
    finishes(agent, agent.resume(run.id, APPROVE, by=BOB))
    assert (folder / "a.txt").read_text() == "edited\n"


def test_a_held_call_with_other_arguments_has_their_preview_before_others_decide(opened: Open, folder: Path) -> None:
    asks = AIMessage("", tool_calls=[{"name": "write_file", "args": WRITE["args"], "id": "1"}])
    agent = opened({**EYES, "tools": {"write_file": {"verdict": "ask"}}}, asks, "done", identity=lambda by: by)
    plan = {"steps": [{"id": "w", "objective": "write it", "tools": ["write_file"]}]}
    run = agent.resume(agent.start("g", plan=plan, by=EVE).id, APPROVE, by=ADA)
    assert content(run)["preview"]["text"].endswith("-old\n+new")

    run = agent.resume(run.id, edit("run_step", args={**WRITE["args"], "content": "edited\n"}), by=ADA)

    assert content(run)["preview"]["text"].endswith("-old\n+edited") and "was" not in content(run)["preview"]
    finishes(agent, agent.resume(run.id, APPROVE, by=BOB))
    assert (folder / "a.txt").read_text() == "edited\n"
