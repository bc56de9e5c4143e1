"""Runs, lists of runs and revisions as a notebook shows them."""

import unicodedata
from html.parser import HTMLParser
from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text
from planner_executor.graph.text.html import SHOWN_CHARACTERS, badge
from planner_executor.graph.text.review.plan import plan_message
from planner_executor.graph.text.run_view import RunView, runs_bundle

PLAN = Plan(steps=(Step(id="a", objective="look", tool="look"), Step(id="b", objective="sum up", depends_on=("a",))))
EVIL = "</td></table><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[2J\u202e\nstatus: succeeded"


class Found(HTMLParser):
    """The elements and the words of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def view(**told: Any) -> RunView:
    fields: dict[str, Any] = {
        "name": "t.1",
        "goal": "find out",
        "constraints": (),
        "status": "failed",
        "reason": None,
        "answer": None,
        "plan": PLAN,
        "statuses": {"a": "failed", "b": "blocked"},
        "results": {"a": StepResult("failed", error="no such file")},
    }
    return RunView(**{**fields, **told})


def test_goal_status_answer_and_error_stand_beside_the_picture() -> None:
    shown = view(reason="a failed", answer={"price": 3}).bundle()

    words = Found(shown["text/html"]).words
    for told in ("find out", "failed", "a failed", '{"price":3}', "no such file"):
        assert told in words and told in shown["text/plain"]
    svg = plan_svg(PLAN, {"a": "failed", "b": "blocked"})
    assert svg in shown["text/html"] and shown["image/svg+xml"] == svg
    assert shown["text/plain"].endswith(plan_text(PLAN, {"a": "failed", "b": "blocked"}))


def test_beside_a_review_of_a_plan_the_picture_shows_what_is_to_do_as_pending() -> None:
    asked = plan_message(PLAN, 2, {})

    assert view(status="waiting", asked=[asked]).bundle()["image/svg+xml"] == plan_svg(
        PLAN, {"a": "pending", "b": "pending"}
    )


def test_a_run_without_a_plan_has_no_picture() -> None:
    shown = view(plan=None, statuses={}, results={}, status="planning").bundle()

    assert set(shown) == {"text/html", "text/plain"} and "find out" in shown["text/html"]


def test_nothing_from_outside_is_markup_or_hidden_or_a_line_of_ours() -> None:
    shown = view(
        goal=EVIL, constraints=(EVIL,), reason=EVIL, answer=EVIL, results={"a": StepResult("failed", error=EVIL)}
    )
    runs = runs_bundle([RunSummary(EVIL, 1, 1, EVIL, goal=EVIL)], EVIL)

    for bundle in (shown.bundle(), runs):
        page = Found(bundle["text/html"])
        assert not {"script", "img"} & page.tags and not [name for name in page.names if name.startswith("on")]
        for text in bundle.values():
            assert not [letter for letter in text if letter != "\n" and unicodedata.category(letter)[0] == "C"]
            assert not [line for line in text.splitlines() if line.startswith("status: succeeded")]


def test_a_long_answer_is_cut_and_says_so() -> None:
    assert "(10 more letters)" in view(answer="x" * (SHOWN_CHARACTERS + 10)).bundle()["text/html"]


def test_runs_are_a_table() -> None:
    runs = [
        RunSummary("t", 2, 9, "succeeded", goal="find <out>", revision=1, steps=3, succeeded=2),
        RunSummary("longer", 1, 9, "waiting", goal="עלות הרוח 計画"),
    ]

    shown = runs_bundle(runs, "longer.1")

    page = Found(shown["text/html"])
    assert {"table", "thead", "tbody"} <= page.tags
    assert all(told in page.words for told in ("t.2", "2/3", "find <out>", "עלות הרוח 計画", "list(before="))
    head, first, second, more = shown["text/plain"].splitlines()
    assert head.split() == ["run", "status", "steps", "changed", "goal"]
    assert first.startswith("t.2       succeeded  2/3") and second.startswith("longer.1  waiting    -  ")
    assert more == "there are more: list(before='longer.1')"


@pytest.mark.parametrize("status", ["succeeded", "planning", "partial", "damaged", "no such word"])
def test_a_status_is_a_word(status: str) -> None:
    assert Found(badge(status)).words == status


def test_tables_take_the_colours_of_the_page() -> None:
    html = runs_bundle([RunSummary("t", 1, 1, "waiting")], None)["text/html"]

    assert "color:inherit;background:none" in html and "currentColor" in html
    assert html.startswith('<div style="max-width:100%;max-height:90vh;overflow:auto">')
