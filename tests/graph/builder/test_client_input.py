"""Input that no serializer can keep is refused by its reader, in words; all other input stays as it is."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.builder.client_input import NO_DECISION, keepable_input
from planner_executor.graph.errors import InputError
from planner_executor.graph.testing import on_thread, step

INTERRUPT = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("value", "why"),
    [(2**70, "beyond 64 bits"), ({"deep": [-(2**64)]}, "beyond 64 bits"), ({"\ud800": 1}, "not plain text")],
)
def test_a_plan_of_values_that_no_serializer_keeps_is_refused_with_its_issues(value: Any, why: str) -> None:
    graph = build_graph(tools=[], checkpointer=InMemorySaver())

    state = graph.invoke({"goal": "g", "plan": {"steps": [step("a", x=value)]}}, on_thread())

    assert state["status"] == "failed"
    assert [(issue["step"], why in issue["message"]) for issue in state["issues"]] == [("a", True)]


@pytest.mark.parametrize(
    "given",
    [
        {"goal": 2**70},
        {"goal": "g", "constraints": [2**70]},
        {"goal": "g", "plan": {"steps": [object()]}},
        {"plan": [2**70, float("nan")]},
    ],
)
def test_other_input_of_that_kind_is_a_fault_of_the_caller(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="it holds what JSON"):
        keepable_input(given)
    with pytest.raises(InputError):
        build_graph(tools=[], checkpointer=InMemorySaver()).invoke(given, on_thread())


@pytest.mark.parametrize("given", [None, "approve", 1, [], {}, {"steps": [{"x": (1, {2})}]}, {"a": float("nan")}])
def test_what_a_serializer_keeps_stays_as_it_is(given: Any) -> None:
    whole = {"goal": "g", "plan": given}
    assert keepable_input(whole) is whole and whole["plan"] is given
    assert keepable_input(Command(resume=given)).resume is given


def test_a_response_by_the_id_of_its_interrupt_stays_with_it() -> None:
    given = {INTERRUPT: {"type": "edit", "edited_action": {"args": {"answer": 2**70}}}}

    resume = keepable_input(Command(resume=given)).resume

    assert list(resume) == [INTERRUPT] and str(2**70) in resume[INTERRUPT]
    assert keepable_input(Command(resume={INTERRUPT: object()})).resume == {INTERRUPT: NO_DECISION}


def test_a_plan_and_a_response_in_words_are_left_to_their_reader_whatever_they_hold() -> None:
    text = "half \ud800"

    assert keepable_input({"goal": "g", "plan": text}) == {"goal": "g", "plan": text}
    assert keepable_input(Command(resume=text)).resume is text


def test_only_the_plan_is_read_as_json_text() -> None:
    given = {"goal": "g", "plan": {"steps": [2**70]}}

    assert keepable_input(given) == {"goal": "g", "plan": f'{{"steps": [{2**70}]}}'}
    assert keepable_input({"goal": "g"}) == {"goal": "g"}


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        ([2**70], f"[{2**70}]"),
        ({"a": 2**70, INTERRUPT: 1}, f'{{"a": {2**70}, "{INTERRUPT}": 1}}'),
        (2**70, NO_DECISION),
        ([2**70, float("nan")], NO_DECISION),
        ({1: "approve"}, NO_DECISION),
        ({INTERRUPT: "approve", 1: "approve"}, NO_DECISION),
        ({1: "approve", INTERRUPT: "approve"}, NO_DECISION),
    ],
)
def test_a_response_that_no_serializer_keeps_is_json_text_or_no_decision(response: Any, kept: Any) -> None:
    assert keepable_input(Command(resume=response)).resume == kept


@pytest.mark.parametrize("field", ["goal", "run", "operation", "fork_from"])
def test_a_text_with_a_nul_is_refused_before_a_saver_has_to_keep_it(field: str) -> None:
    with pytest.raises(InputError, match="NUL character cannot be kept"):
        keepable_input({field: "a\0b"})


@pytest.mark.parametrize(
    "given",
    [
        {"goal": "a\0b"},
        {"goal": "g", "constraints": ["a\0b"]},
        {"messages": [{"role": "user", "content": "a\0b"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a\0b"}]}]},
    ],
)
def test_a_nul_is_refused_in_words_on_every_way_in(given: Any) -> None:
    with pytest.raises(InputError, match="NUL character cannot be kept; remove it"):
        build_graph(tools=[], checkpointer=InMemorySaver()).invoke(given, on_thread())
