"""Calls, tokens and dollars are counted once: whatever events a run has, every surface has the same numbers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.cli.commands.show import as_data, lines
from planner_executor.graph.cli.recorded_run import RecordedRun
from planner_executor.graph.evaluation.planned_arm import ended
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.cost import NO_COST, StepCost, cost_with
from planner_executor.graph.record.counters import RunCounter
from planner_executor.graph.record.events import (
    Arguments,
    CallStarted,
    Draft,
    Event,
    ModelFinished,
    ModelStarted,
    RunStarted,
    Tokens,
)
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.step_costs import step_costs
from planner_executor.graph.record.summarizer import Summarizer
from planner_executor.graph.runs.run import run_of

STEPS = st.sampled_from([None, "a", "b"])
COUNTS = st.integers(0, 5_000)


@st.composite
def asked(draw: Any, key: str) -> list[Draft]:
    """A request to a model: answered, failed or cut off; reasoning may be counted beside prompt and answer."""
    step, read, written = draw(STEPS), draw(COUNTS), draw(COUNTS)
    reserved = {"tokens": draw(COUNTS), "cost_usd": draw(COUNTS) / 1_000}
    begun = Draft(ModelStarted(key=key, role="executor", model="m", reserved=reserved), step)
    usage = Tokens(input_tokens=read, output_tokens=written, total_tokens=read + written + draw(COUNTS))
    price = draw(st.none() | st.integers(0, 100).map(lambda cents: cents / 100))
    answered = ModelFinished(
        key=key, role="executor", model="m", usage=usage, cost_usd=price, again=draw(st.booleans())
    )
    failed = ModelFinished(key=key, role="executor", error="the server is down", again=draw(st.booleans()))
    end = draw(st.sampled_from([answered, failed, None]))
    return [begun] if end is None else [begun, Draft(end, step)]


@st.composite
def records(draw: Any) -> list[Event]:
    drafts = [Draft(RunStarted(goal="g", budget=Budget(tokens=9), thread="t", n=1))]
    for number in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            drafts += draw(asked(f"m{number}"))
        else:
            call = CallStarted(
                key=f"c{number}", call=number, tool="look", args=Arguments({}), repeatable=False, revision=1
            )
            drafts.append(Draft(call, draw(st.sampled_from(["a", "b"]))))
    return [Event.written(seq, float(seq), draft) for seq, draft in enumerate(drafts, 1)]


def sum_of(costs: dict[str, StepCost]) -> StepCost:
    return StepCost(*(sum(getattr(cost, name) for cost in costs.values()) for name in NO_COST._fields))


@given(records())
def test_every_surface_has_the_same_numbers_whatever_events_a_run_has(events: list[Event]) -> None:
    record = project(events)
    total, listed = record.spending.total, Summarizer("t", 1).apply(events).summary
    metrics = RunCounter().count(events)
    trial = ended(run_of(record, worked_on=False), None, events, 0.0, 0).spent

    by_step = sum_of(step_costs(events))
    assert by_step._replace(known_usd=0) == total._replace(known_usd=0)
    assert by_step.known_usd == pytest.approx(total.known_usd) == pytest.approx(listed.cost_usd)
    assert {total.tokens} == {
        listed.tokens,
        record.spent.tokens,
        trial.tokens,
        sum(count for (name, _), count in metrics.items() if name == "tokens_total"),
    }
    assert metrics["cost_usd_total", ()] == pytest.approx(total.known_usd) == pytest.approx(record.spent.cost_usd)
    assert trial.cost_usd == total.cost_usd
    assert total.model_calls == listed.model_calls == record.spent.model_calls == trial.model_calls
    assert total.tool_calls == listed.tool_calls == record.spent.tool_calls == trial.tool_calls


@given(records())
def test_what_limits_count_is_what_was_spent_and_the_reserves_of_what_has_no_end(events: list[Event]) -> None:
    spending = project(events).spending
    ended_keys = {event.payload["key"] for event in events if event.kind == ModelFinished.kind}
    open_calls = [e.payload for e in events if e.kind == ModelStarted.kind and e.payload["key"] not in ended_keys]

    assert spending.aside.tokens == sum(call["reserved"]["tokens"] for call in open_calls)
    assert spending.aside.cost_usd == pytest.approx(sum(call["reserved"]["cost_usd"] for call in open_calls))
    assert spending.usage.tokens == spending.total.tokens + spending.aside.tokens


def test_what_is_set_aside_for_a_call_that_died_is_told_beside_its_limit_and_not_as_spent() -> None:
    drafts = [
        Draft(RunStarted(goal="g", budget=Budget(tokens=5_000), thread="t", n=1)),
        Draft(ModelStarted(key="a", role="planner", reserved={"tokens": 1_200, "cost_usd": 0.5})),
        Draft(ModelStarted(key="b", role="planner", reserved={"tokens": 900})),
        Draft(ModelFinished(key="b", role="planner", usage=Tokens(total_tokens=700), cost_usd=0.25)),
    ]
    events = [Event.written(seq, 0.0, draft) for seq, draft in enumerate(drafts, 1)]
    found = RecordedRun(run_of(project(events), worked_on=False), events, project(events))

    data = as_data(found)

    aside = "700 of 5000 tokens and 1200 set aside for a model without an answer"
    assert f"spent   2 model calls, {aside}, 0.25 US dollars" in list(lines(found, 80))
    assert data["usage"] == {"model_calls": 2, "tokens": 700, "cost_usd": 0.25}
    assert data["reserved"] == {"tokens": 1_200, "cost_usd": 0.5}


def test_a_call_costs_when_it_begins_and_tokens_when_it_is_answered() -> None:
    begun = cost_with(NO_COST, ModelStarted(key="k", reserved={"tokens": 900}))

    assert begun == StepCost(model_calls=1)
    assert cost_with(begun, ModelFinished(key="k", usage=Tokens(total_tokens=7), cost_usd=0.5)) == StepCost(
        0, 1, 7, 0.5
    )
