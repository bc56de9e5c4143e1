"""Two revisions of a plan side by side: each field that differs, before and after."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.revisions import (
    FieldChange,
    argument_changes,
    plan_of_revision,
    revisions_in,
    step_changes,
)
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Event
from planner_executor.graph.testing import LEAST
from planner_executor.graph.text.word_diff import Piece, word_diff

PLANS: list[dict[str, Any]] = [{"steps": [{"id": name, "objective": "o"}]} for name in "ab"]
EVENTS = [
    Event(1, "run_started", None, 0.0, LEAST["run_started"]),
    *(Event(2 + at, "plan_revised", None, 0.0, {**LEAST["plan_revised"], "revision": 1 + at, "plan": plan})
      for at, plan in enumerate(PLANS)),
]  # fmt: skip


def test_the_plan_of_a_revision_is_found_by_its_number() -> None:
    assert [data.revision for _, data in revisions_in(EVENTS)] == [1, 2]
    assert [plan_of_revision(EVENTS, number) for number in (1, 2, 3)] == [*map(Plan.model_validate, PLANS), None]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("pay 1", "pay 2", word_diff("pay 1", "pay 2")),
        (None, "new", ([], [Piece("changed", "new")])),
        ("old", None, ([Piece("changed", "old")], [])),
    ],
)
def test_words_are_compared_where_there_are_two_texts(before: str | None, after: str | None, words: Any) -> None:
    assert FieldChange("f", before, after).words == words


def differences(before: dict[str, Any] | None, after: dict[str, Any]) -> list[tuple[str, str, list[Any]]]:
    was = Plan.model_validate(before) if before is not None else None
    found = step_changes(was, Plan.model_validate(after))
    return [(one.step, one.how, [(one.field, one.before, one.after) for one in one.fields]) for one in found]


def test_steps_and_the_answer_are_told_with_each_field_that_differs() -> None:
    before = {
        "steps": [
            {"id": "a", "objective": "o", "tool": "t", "args": {"n": 1, "text": "x"}},
            {"id": "b", "objective": "o", "max_calls": 2},
        ],
        "answer": "y",
    }
    after = {
        "steps": [
            {"id": "a", "objective": "o", "tool": "t", "args": {"n": 2, "text": "x"}},
            {"id": "c", "objective": "p"},
        ]
    }

    assert differences(before, after) == [
        ("c", "added", [("objective", None, "p")]),
        ("a", "changed", [("args.n", "1", "2")]),
        ("b", "removed", [("objective", "o", None), ("max_calls", "2", None)]),
        ("answer", "changed", [("answer", "y", None)]),
    ]
    assert differences(None, {**PLANS[0], "answer": 1}) == [
        ("a", "added", [("objective", None, "o")]),
        ("answer", "changed", [("answer", None, "1")]),
    ]
    assert differences(PLANS[0], {**PLANS[0], "answer": 1})[0][2] == [("answer", None, "1")]
    assert differences(PLANS[0], PLANS[0]) == []


def test_arguments_of_a_call_differ_or_do_not() -> None:
    changed = argument_changes("s", {"n": 1, "text": "x"}, {"n": 2, "text": "x"})

    assert [(one.step, one.how, one.fields) for one in changed] == [("s", "changed", [FieldChange("args.n", "1", "2")])]
    assert argument_changes("s", {"n": 1}, {"n": 1}) == []
