"""The events about a call: what its intent names, and why it is held."""

from typing import Any

import pytest

from planner_executor.graph.calls.call_events import hold, intent
from planner_executor.graph.calls.ruled_calls import Unmet
from planner_executor.graph.calls.tool_call import Admitted, ToolCall
from planner_executor.graph.plan.attempts import NO_LIMITS
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.events import CallStarted, StepHeld, ValueShown
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.values import keep

VALUES = (ValueShown("a result", ("os:ann",), "b", "4"),)
SEND, READ = ToolSpec("send", "", {}), ToolSpec("read", "", {}, "read")


def call(**fields: Any) -> ToolCall:
    return ToolCall(**{"key": "k", "step": "a", "number": 1, "tool": "send", "args": {}, "args_digest": "d", **fields})


@pytest.mark.parametrize(
    ("spec", "same_digest", "same"), [(SEND, "d", None), (SEND, "e", "e"), (READ, "", None), (READ, "e", None)]
)
def test_an_intent_names_the_digest_of_identical_calls_if_it_is_another_than_that_of_its_arguments(
    spec: ToolSpec, same_digest: str, same: str | None
) -> None:
    event = intent(Admitted(call(same_digest=same_digest), NO_LIMITS), spec, keep({}), Pass(1))

    assert isinstance(event.data, CallStarted) and event.data.same == same


@pytest.mark.parametrize(("step", "named"), [("a", "a"), ("", None)])
@pytest.mark.parametrize(("reopened", "told"), [(0, None), (2, 2)])
def test_an_intent_names_its_step_and_how_often_the_run_was_reopened_if_there_is_any(
    step: str, named: str | None, reopened: int, told: int | None
) -> None:
    event = intent(Admitted(call(step=step), NO_LIMITS), SEND, keep({}), Pass(3, reopened))

    assert isinstance(event.data, CallStarted)
    assert (event.step, event.data.revision, event.data.reopened) == (named, 3, told)


@pytest.mark.parametrize(
    ("asked", "unmet", "why"),
    [
        (None, None, None),
        ("it is dear", None, "it is dear"),
        (None, "ann has to", "ann has to"),
        ("it is", "ann", "it is"),
    ],
)
def test_a_call_is_held_for_what_the_policy_asks_or_else_for_who_has_to_decide(
    asked: str | None, unmet: str | None, why: str | None
) -> None:
    event, _ = hold(call(), 1, {}, (), asked, Unmet(unmet, VALUES) if unmet is not None else None)

    assert isinstance(event.data, StepHeld)
    assert (event.data.asked, event.data.values) == (why, VALUES if unmet is not None else ())
