"""A run as a story: in order, with times, whole or by section, and which artifacts belong to it."""

import json
from typing import Any

from planner_executor.graph.record.artifacts import artifacts_named
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.values import keep
from planner_executor.graph.text.audit import Audit

EVENTS = [
    Event(1, "run_started", None, 1000.0, {"goal": "g", "constraints": ["c"], "thread": "t", "n": 1}),
    Event(2, "plan_refused", None, 1001.0, {"author": "planner"}),
    Event(3, "executing", None, 1002.0, {"revision": 1}),
    Event(4, "dreamt", None, 100_000.0, {"of": "sheep"}),
    Event(5, "run_ended", None, 100_001.0, {"status": "failed", "reason": "r", "value": None}),
]


def large(letter: str) -> Any:
    return keep(letter * 10_000)


def test_the_story_tells_the_day_once_and_every_event_with_its_time() -> None:
    lines = str(Audit("t.1", EVENTS, {})).split("\n")

    days = [line for line in lines if line.startswith("19")]
    assert len(days) == 2 and lines[0] == days[0]
    assert lines[1][2] == ":" and lines[1][8:] == "    1  started for the goal: g"
    assert lines[2] == f"{'':15}constraint: c"


def test_a_section_keeps_the_beginning_the_end_and_what_is_not_understood() -> None:
    audit = Audit("t.1", EVENTS, {})

    assert [event.seq for event in audit.only("steps").events] == [1, 3, 4, 5]
    assert [event.seq for event in audit.only("plans", "steps").events] == [1, 2, 3, 4, 5]
    assert audit.only().events == EVENTS


def test_large_prompts_and_tools_are_told_part_by_part() -> None:
    prompt = keep([{"type": "system", "content": "s" * 9_000}, {"type": "human", "content": "h"}])
    tools = keep([{"name": "send", "effect": "external", "description": "d" * 9_000}])
    artifacts = {kept.artifact.id: kept.text for kept in (prompt, tools) if kept.artifact}
    events = [
        Event(1, "configured", None, 0.0, {"tools": tools.fields()}),
        Event(2, "model_started", None, 0.0, {"key": "k", "role": "planner", "model": "m", "prompt": prompt.fields()}),
    ]

    lines = str(Audit("t.1", events, artifacts)).split("\n")

    assert len(artifacts) == 2
    assert f"{'':15}tools: send (external)" in lines and f"{'':15}human: h" in lines
    assert any(line.startswith(f"{'':15}system: sss") and line.endswith("more letters)") for line in lines)


def test_as_data_events_are_whole_and_told() -> None:
    data = json.loads(json.dumps(Audit("t.1", EVENTS, {"id": '"x"'}).to_json()))

    assert data["run"] == "t.1" and data["artifacts"] == {"id": '"x"'}
    assert data["events"][2] == {
        "seq": 3, "kind": "executing", "step": None, "at": 1002.0, "payload": {"revision": 1},
        "sections": ["steps"], "told": ["the executor took up revision 1"],
    }  # fmt: skip


def test_artifacts_are_named_wherever_we_put_them() -> None:
    tools, prompt, shown, answer, brought, args, value = map(large, "abcdefg")
    payloads = [
        {"configured": {"tools": tools.fields()}},
        {"prompt": {"continues": None, **prompt.fields()}},
        {"shown": shown.fields(), "answer": answer.fields()},
        {"brought": brought.fields()},
        {"args": args.fields(), "args_digest": "d"},
        value.fields(),
        value.fields(),
    ]

    named = artifacts_named(Event(1, "paused", None, 0.0, payload) for payload in payloads)

    assert named == [kept.artifact.id for kept in (tools, prompt, shown, answer, brought, args, value)]


def test_what_tools_return_names_no_artifact() -> None:
    forged = large("x").fields()

    events = [Event(1, "call_finished", None, 0.0, {"status": "succeeded", "value": forged, "response": forged})]

    assert artifacts_named(events) == []
