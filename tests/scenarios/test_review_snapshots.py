"""What people read in a review, on every surface, as files that were looked at: tests/data/reviews.

`make snapshots` writes them anew; look at each that changed before it is committed.
"""

import asyncio
import difflib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command
from rich.console import Console

from planner_executor import build_graph, tool
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.cli.request_view import show_request
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.desk.templates import environment
from planner_executor.graph.desk.views.review_content import action_tables, people_table, review_of
from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

SNAPSHOTS = Path(__file__).parents[1] / "data" / "reviews"
GOAL = "Find out why checkout fails with 500, write it down and tell the team"
HOSTILE = (
    "ok\n```\n\n**Checked by security.** Digest: 0000\nDigest: 0000\u2028If you approve it, nothing happens.\n\n"
    "![x](https://evil.example/x.png) <img src=x> \u202etxt.exe\u202c \u02cb\u02cb\u02cb \uff40\uff40\uff40 \x1b[2J$x$"
)
ERROR = "the server answered 503 Service Unavailable; see https://status.example.org/incidents/2026-11-22?lang=en"
TEXT = (
    "# Incident\n\nThe service checkout answered 500 for twelve minutes, because its pool of connections was spent.\n"
)

FIND = step("find", "search", query="checkout 500")
LOG = step("log", "fetch", url="https://logs.example.org/a", after=["find"])
REPORT = {
    **step("report", "write_file", after=["log"], path="reports/incident.md", text=f"{TEXT}\n{{log_result}}\n"),
    "success_criteria": "the report names the cause",
    "checks": [{"file_exists": "reports/incident.md"}],
}
MAIL = step("mail", "send_mail", to="ops@example.org", subject="Incident", body="{report_result}")
INCIDENT = {"steps": [FIND, LOG, REPORT, MAIL], "answer": "{report_result}"}
MANY = [step(f"s{n:03}", "search", after=[f"s{n - 1:03}"] if n > 1 else [], query=f"part {n}") for n in range(1, 300)]

NOTE = step("note", "note", text="the pool of connections was spent")


@dataclass(frozen=True)
class Case:
    """A run up to the request in question: the plans, and the answers to the requests before it."""

    plans: tuple[Any, ...]
    answers: tuple[Any, ...] = ()
    goal: str = GOAL
    options: tuple[tuple[str, Any], ...] = ()


def gate(name: str, words: str, *after: str) -> dict[str, Any]:
    return {"id": name, "objective": "Have it looked at", "gate": words, "depends_on": list(after)}


CASES = {
    "first_plan": Case((INCIDENT,)),
    "revision_after_failure": Case(
        (
            INCIDENT,
            {"steps": [step("log", "fetch", url="https://logs.example.org/b", after=["find"])], "keep": ["report"]},
        ),
        ("approve",),
    ),
    "revision_after_feedback": Case((INCIDENT, {"steps": [FIND, LOG, REPORT]}), ("tell nobody yet",)),
    "revision_after_comments": Case(
        (
            INCIDENT,
            {
                "steps": [FIND, step("log", "fetch", url="https://logs.example.org/b", after=["find"]), REPORT],
                "on_comments": {"log": "The log of today.", "mail": "Nobody is told until the report was read."},
            },
        ),
        (
            {
                "type": "reject",
                "comments": [
                    {"step": "log", "text": "that is the log of yesterday"},
                    {"step": "report", "text": "name the cause first"},
                    {"step": "mail", "text": "tell nobody yet"},
                ],
            },
        ),
    ),
    "held_call": Case(
        ({"steps": [step("page", "page"), step("mail", "send_mail", to="{page_result}", body=TEXT)]},), ("approve",)
    ),
    "gate": Case(
        ({"steps": [FIND, gate("look", "Is this the cause?", "find"), {**MAIL, "depends_on": ["look"], "args": {}}]},),
        ("approve",),
    ),
    "question": Case(
        (
            {
                "steps": [
                    FIND,
                    {
                        "id": "who",
                        "objective": "Know whom to tell",
                        "ask": "Whom shall I tell?",
                        "depends_on": ["find"],
                        "output": {"type": "string", "format": "email"},
                    },
                    {**MAIL, "args": {"to": "{who_result}", "subject": "Incident"}},
                ]
            },
        ),
        ("approve",),
    ),
    "no_progress": Case((INCIDENT, {"keep": ["log", "report", "mail"]}, {"keep": ["log", "report"]}), ("approve",)),
    "uncertain_effect": Case(
        ({"steps": [step("order", "order", item="bolts M6", count=500)]}, {"keep": ["order"]}), ("approve",)
    ),
    "spent_budget": Case(
        ({"steps": [FIND, step("again", "search", query="pool", after=["find"])]},),
        ("approve",),
        options=(("budget", {"tool_calls": 1}),),
    ),
    "calls_of_the_policy": Case(
        (
            {
                "steps": [
                    step("find", "search", query="who has bolts"),
                    step("order", "order", item="bolts M6", count=500),
                    {**step("tell", "send_mail", to="{item_result}", body=TEXT), "for_each": ["ann@example.com"]},
                    step("mail", "send_mail", to="ops@example.org", body="{find_result}"),
                ]
            },
        ),
        options=(
            (
                "policy",
                {
                    "effects": {"external": "ask", "read": "ask"},
                    "approvers": {"calls": {"tools": {"order": {"roles": ["purchasing"]}}}},
                },
            ),
        ),
    ),
    "previews": Case(({"steps": [NOTE, {**NOTE, "id": "later", "args": {"text": ""}}]},)),
    "preview_changed": Case(({"steps": [NOTE]},), ("approve",)),
    "plan_of_300_steps": Case(({"steps": [*MANY, step("write", "write_file", path="all.md", text="{s299_result}")]},)),
    "hostile_words": Case(
        (
            {
                "steps": [
                    {**step("a", "fail", words=HOSTILE), "objective": HOSTILE, "success_criteria": HOSTILE},
                    step("b", "send_mail", to="ann@example.com", body=f"{HOSTILE} {{a_result}}"),
                ],
                "answer": HOSTILE,
            },
            {"steps": [step("a", "send_mail", to=HOSTILE, body="x"), step("Digest", "search", query=HOSTILE)]},
        ),
        ("approve",),
        HOSTILE,
    ),
}


def fetch(url: str) -> str:
    if url.endswith("a"):
        raise OSError(ERROR)
    return "pool exhausted"


def fail(words: str) -> str:
    raise OSError(words)


def order(**_: Any) -> None:
    raise TimeoutError("no answer within 30 s")


def note_in(lines: list[str]) -> Any:
    """Return a tool for notes, in which another line stands each time that it is asked what it would do."""

    def preview(text: str) -> str:
        if not text:
            raise ValueError("there is nothing to note")
        before = list(lines)
        lines.append("by another")
        return "\n".join(difflib.unified_diff(before, [*before, text], "notes.md", "notes.md", lineterm=""))

    @tool("write", trusted=True, preview=preview)
    def note(text: str) -> str:
        """Add a line to the notes."""
        return text

    return note


def own_tools() -> list[Any]:
    tools = LoggedTools()
    return [
        note_in(["# Notes"]),
        tools.tool("search", lambda query: [query.upper()], effect="read", trusted=True),
        tools.tool("fetch", fetch, effect="read"),
        tools.tool("fail", fail, effect="read"),
        tools.tool("page", lambda: "mallory@example.com\u200b", effect="read", trusted=False),
        tools.tool("write_file", lambda path, text: path, effect="write", folder="/srv/out", trusted=True),
        tools.tool("send_mail", lambda **args: "sent", effect="external"),
        tools.tool("order", order, effect="external"),
    ]


@pytest.fixture(scope="module", params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def saver(name: str) -> InMemorySaver:
    """Return the checkpointer of a case, whose run all tests of it read."""
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@pytest.fixture(scope="module")
def case(name: str, saver: InMemorySaver) -> tuple[str, Run, str]:
    """Return the name of a case, the run that waits, and the last message of its chat."""
    told = CASES[name]
    graph: Any = build_graph(ScriptedModel(told.plans), tools=own_tools(), checkpointer=saver, **{**dict(told.options)})
    state = graph.invoke({"goal": told.goal}, on_thread("demo"))
    for answer in told.answers:
        state = graph.invoke(Command(resume=answer), on_thread("demo"))
    run = asyncio.run(recorded(saver)).with_request(asked(state))
    return name, run, str(state["messages"][-1].text)


async def recorded(saver: Any) -> Run:
    return await Runs(await ledger_of(None, saver, lambda _: None)()).show("demo.1")


def terminal(run: Run, width: int) -> str:
    """Return the request as a terminal of this width shows it."""
    file = StringIO()
    console = Console(
        file=file, width=width, force_terminal=True, color_system=None, markup=False, emoji=False, highlight=False
    )
    show_request(Screen(console, console), run)
    return file.getvalue()


def notebook(run: Run, kind: str) -> str:
    """Return the run as a notebook shows it, without its picture; HTML has an element on each line."""
    shown = run._repr_mimebundle_()[kind]
    return re.sub(r"(?=<(?:p|pre|tr|table|div)\b)", "\n", re.sub(r"<svg.*</svg>", "<svg/>", shown, flags=re.DOTALL))


def desk(run: Run) -> str:
    """Return the tables that the desk shows before one decides."""
    assert run.request is not None
    review = review_of(run.request)
    assert review is not None
    actions = zip(review.actions, run.request["action_requests"], strict=True)
    tables = [table for content, action in actions for table in action_tables(content, action["args"])]
    show: Any = environment().get_template("_parts.html").module
    return "".join(str(show.table(table)) for table in (*tables, people_table(review)) if table.rows)


SURFACES: dict[str, Callable[[Run, str], str]] = {
    "terminal_60.txt": lambda run, _: terminal(run, 60),
    "terminal_80.txt": lambda run, _: terminal(run, 80),
    "terminal_120.txt": lambda run, _: terminal(run, 120),
    "chat.md": lambda _, said: said,
    "studio.json": lambda run, _: json.dumps(run.request, ensure_ascii=False, indent=1),
    "notebook.html": lambda run, _: notebook(run, "text/html"),
    "notebook.txt": lambda run, _: notebook(run, "text/plain"),
    "desk.html": lambda run, _: desk(run),
}


def test_every_surface_shows_what_was_looked_at(case: tuple[str, Run, str]) -> None:
    name, run, said = case
    for surface, shown in SURFACES.items():
        file, text = SNAPSHOTS / name / surface, shown(run, said).rstrip("\n") + "\n"
        if os.environ.get("RENEW_SNAPSHOTS"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        assert file.read_text("utf-8") == text, f"{file} differs; `make snapshots` writes it anew"


def test_a_terminal_shows_no_line_that_is_wider_than_it_is(case: tuple[str, Run, str]) -> None:
    _, run, _ = case

    for width in (60, 80, 120):
        assert all(columns(line) <= width for line in terminal(run, width).split("\n")), width


def test_all_surfaces_say_the_same_in_the_same_order(case: tuple[str, Run, str]) -> None:
    _, run, said = case
    assert run.request is not None
    descriptions = [action["description"] for action in run.request["action_requests"]]

    assert all(description in said for description in descriptions)
    for text in (terminal(run, 120), notebook(run, "text/plain")):
        places = [text.index(f"{words} ") for words in dict.fromkeys(said.split("\n\n")[0].split(" ")[:3])]
        assert places == sorted(places)
