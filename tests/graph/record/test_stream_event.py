"""The contract of the `custom` stream, field by field; who changes one raises the version and the page."""

import re
from pathlib import Path
from typing import get_args

from planner_executor.graph.record.cost import StepCost
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.stream_event import (
    PREVIEW_CHARACTERS,
    VERSION,
    Kind,
    StepEvent,
    preview_of,
    step_event,
)

PAGE = Path(__file__).parents[3] / "docs" / "observability.md"


def event(result: StepResult) -> StepEvent:
    return step_event(
        kind="step",
        run="t.1",
        revision=2,
        sequence=40,
        step="a",
        attempt=3,
        result=result,
        cost=StepCost(1, 2, 340, 0.5),
    )


def test_an_event_has_every_field_always() -> None:
    assert event(StepResult("succeeded", {"n": 14}, started_at=1.0, ended_at=2.5)) == {
        "version": 1,
        "kind": "step",
        "run": "t.1",
        "revision": 2,
        "sequence": 40,
        "step": "a",
        "item": None,
        "attempt": 3,
        "status": "succeeded",
        "error": None,
        "started_at": 1.0,
        "ended_at": 2.5,
        "preview": '{"n":14}',
        "cost": {"tool_calls": 1, "model_calls": 2, "tokens": 340, "cost_usd": 0.5},
        "progress": None,
    }


def test_the_page_documents_the_version_and_every_field() -> None:
    page = PAGE.read_text()

    documented = re.findall(r"^\| `(\w+)` \|", page.split("| Kind |")[0], re.MULTILINE)
    assert documented == list(event(StepResult("running")))
    assert f"version {VERSION}" in page


def test_every_kind_is_documented() -> None:
    named = re.search(r"^\| `kind` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert named is not None
    assert re.findall(r"`(\w+)`", named[1]) == list(get_args(Kind))


def test_a_preview_is_one_short_line_without_hidden_characters() -> None:
    shown = preview_of(StepResult("succeeded", "pay\u202e\nnow " + "x" * 10_000))

    assert shown is not None and shown.startswith("pay\\u{202e}\\u{a}now x")
    assert len(shown) == PREVIEW_CHARACTERS and "\n" not in shown and "\u202e" not in shown


def test_the_preview_of_an_artifact_is_the_artifacts() -> None:
    assert preview_of(StepResult("succeeded", artifact={"id": "1", "preview": "the beginning"})) == "the beginning"


def test_a_preview_is_the_beginning_of_the_value_on_one_line() -> None:
    assert PREVIEW_CHARACTERS == 200
    assert preview_of(StepResult("succeeded", "x" * 201)) == "x" * 199 + "…"
    assert preview_of(StepResult("succeeded", " " * 150 + "x" * 60)) == "x" * 60
    assert preview_of(StepResult("succeeded", " " * 399 + "ab")) == "a"
